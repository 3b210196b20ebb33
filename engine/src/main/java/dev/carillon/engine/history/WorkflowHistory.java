package dev.carillon.engine.history;

import dev.carillon.engine.fold.HistoryPlace;
import dev.carillon.engine.fold.OperationBody;
import dev.carillon.engine.format.DamagedException;
import dev.carillon.engine.format.Frame;
import dev.carillon.engine.format.UnknownFormatException;
import dev.carillon.engine.job.HistoryEntry;
import dev.carillon.engine.job.JobRef;
import dev.carillon.store.Entry;
import dev.carillon.store.Journals.ReadPage;
import dev.carillon.store.Outcome;
import dev.carillon.store.ShardId;
import dev.carillon.store.Store;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

/**
 * Reads the event history of one workflow from the entries of the journal that it stands in.
 * Changes nothing; runs beside the loop.
 */
public final class WorkflowHistory {
  /** About how much is read at once beyond the entry that is looked for. */
  private static final int PAGE_BYTES = 64 << 10;

  private WorkflowHistory() {}

  /**
   * Where a history stands.
   *
   * @param places of its operations, each a {@link HistoryPlace}, in order
   * @param count how many entries of the history there are to read
   */
  public record Place(ShardId shard, int generation, long[] places, int count) {}

  /** The first {@code count} entries of a history; conflict where the generation is gone. */
  public static Outcome<List<HistoryEntry>> read(Store store, Place place) {
    List<HistoryEntry> history = new ArrayList<>(place.count());
    long[] places = place.places();
    int next = 0;
    while (next < places.length && history.size() < place.count()) {
      long from = HistoryPlace.entry(places[next]);
      Outcome<ReadPage> outcome =
          store.journals().read(place.shard(), place.generation(), from, PAGE_BYTES);
      if (!(outcome instanceof Outcome.Ok<ReadPage>(ReadPage page)) || page.entries().isEmpty()) {
        return outcome.map(p -> history);
      }
      for (Entry entry : page.entries()) {
        if (next == places.length || entry.number() != HistoryPlace.entry(places[next])) {
          continue;
        }
        try {
          List<Frame> frames = Frame.decode(entry.data());
          for (;
              next < places.length && HistoryPlace.entry(places[next]) == entry.number();
              next++) {
            collect(frames.get(HistoryPlace.inEntry(places[next])), history);
          }
        } catch (DamagedException | UnknownFormatException | IndexOutOfBoundsException e) {
          return new Outcome.Damaged<>(
              "shard " + place.shard() + ", entry " + entry.number() + ": " + e.getMessage());
        }
      }
    }
    if (history.size() < place.count()) {
      return new Outcome.Damaged<>(
          "shard %s: %d entries of a workflow's history (expected: %d)"
              .formatted(place.shard(), history.size(), place.count()));
    }
    return Outcome.ok(List.copyOf(history.subList(0, place.count())));
  }

  private static void collect(Frame frame, List<HistoryEntry> history) {
    switch (frame.kind()) {
      case CHECKPOINT -> history.addAll(OperationBody.Checkpoint.decode(frame.reader()).entries());
      case HISTORY -> history.addAll(OperationBody.History.decode(frame.reader()).entries());
      case SIGNAL -> history.add(OperationBody.Signal.decode(frame.reader()).entry());
      case RENEW -> history.addAll(OperationBody.Renew.decode(frame.reader()).unread());
      case CHILD_ENDED -> {
        OperationBody.ChildEnded ended = OperationBody.ChildEnded.decode(frame.reader());
        history.add(ended.entry(callOf(ended.child(), history)));
      }
      case CANCEL -> {
        OperationBody.Cancel cancel = OperationBody.Cancel.decode(frame.reader());
        history.add(new HistoryEntry.CancelRequested(cancel.at(), cancel.why().reason()));
      }
      default ->
          throw new DamagedException("history of a workflow: " + frame.kind() + " (expected: one)");
    }
  }

  /** The first call that started the child, or waits for the same job, and has no end of it. */
  private static int callOf(JobRef child, List<HistoryEntry> history) {
    Set<Integer> calls = new LinkedHashSet<>();
    for (HistoryEntry entry : history) {
      if (entry instanceof HistoryEntry.ChildStarted started && started.child().equals(child)) {
        calls.add(started.call());
      } else if (entry instanceof HistoryEntry.ChildEnded ended) {
        calls.remove(ended.call());
      }
    }
    return calls.isEmpty() ? 0 : calls.iterator().next();
  }
}
