package dev.carillon.engine.history;

import dev.carillon.engine.fold.HistoryPlace;
import dev.carillon.engine.format.DamagedException;
import dev.carillon.engine.format.Frame;
import dev.carillon.engine.format.Kind;
import dev.carillon.engine.format.UnknownFormatException;
import dev.carillon.engine.job.Report;
import dev.carillon.store.Entry;
import dev.carillon.store.Journals.ReadPage;
import dev.carillon.store.Outcome;
import dev.carillon.store.ShardId;
import dev.carillon.store.Store;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Reads a value that a workflow published from the entry of the journal that it stands in: the fold
 * keeps no values. Changes nothing; runs beside the loop.
 */
public final class PublishedValue {
  private PublishedValue() {}

  /**
   * Where one stands.
   *
   * @param place of its operation, a {@link HistoryPlace}
   */
  public record Place(ShardId shard, int generation, long place) {}

  /**
   * What there is of a job.
   *
   * @param value the value, encoded; null for none
   */
  @SuppressWarnings("ArrayRecordComponent") // bytes are handed over, never compared or copied
  public record Found(byte @Nullable [] value) {}

  /** The value, encoded; conflict where the generation is gone. */
  public static Outcome<byte[]> read(Store store, Place at) {
    long number = HistoryPlace.entry(at.place());
    Outcome<ReadPage> outcome = store.journals().read(at.shard(), at.generation(), number, 1);
    if (!(outcome instanceof Outcome.Ok<ReadPage>(ReadPage page))) {
      return outcome.map(none -> new byte[0]);
    }
    for (Entry entry : page.entries()) {
      if (entry.number() == number) {
        try {
          return Outcome.ok(value(Frame.decode(entry.data()), at));
        } catch (DamagedException | UnknownFormatException | IndexOutOfBoundsException e) {
          return damaged(at, e.getMessage());
        }
      }
    }
    return damaged(at, "is missing (expected: a published value)");
  }

  private static byte[] value(List<Frame> frames, Place at) {
    Frame frame = frames.get(HistoryPlace.inEntry(at.place()));
    if (frame.kind() != Kind.REPORT) {
      throw new DamagedException(frame.kind() + " (expected: a published value)");
    }
    Report report = Report.Recorded.decode(frame.reader()).report();
    return Objects.requireNonNull(report.published(), "published");
  }

  private static Outcome<byte[]> damaged(Place at, @Nullable String why) {
    return new Outcome.Damaged<>(
        "shard " + at.shard() + ", entry " + HistoryPlace.entry(at.place()) + ": " + why);
  }
}
