package dev.carillon.engine.history;

import dev.carillon.engine.fold.FoldedJob;
import dev.carillon.engine.fold.OperationBody;
import dev.carillon.engine.fold.ShardFold;
import dev.carillon.engine.format.DamagedException;
import dev.carillon.engine.format.Frame;
import dev.carillon.engine.format.Kind;
import dev.carillon.engine.format.UnknownFormatException;
import dev.carillon.store.Entry;
import dev.carillon.store.Journals.ReadPage;
import dev.carillon.store.Outcome;
import dev.carillon.store.ShardId;
import dev.carillon.store.Store;
import java.util.ArrayList;
import java.util.List;

/** Reads a shard's journal up to a number and folds it; runs beside the loop. */
public sealed interface ShardLoad<J extends FoldedJob> {

  /**
   * The fold, and the ended jobs whose names may still be held.
   *
   * @param bytes of the generation
   * @param pastBytes those of them that tell {@link PastAttempts}
   */
  record Folded<J extends FoldedJob>(
      ShardFold<J> fold,
      long bytes,
      long pastBytes,
      List<J> endedWithName,
      List<OperationBody.End> ends)
      implements ShardLoad<J> {}

  /** The store did not answer; worth trying again. */
  record Failed<J extends FoldedJob>() implements ShardLoad<J> {}

  /** The shard is gone. */
  record Gone<J extends FoldedJob>() implements ShardLoad<J> {}

  /** The generation is not the shard's any more. */
  record Replaced<J extends FoldedJob>() implements ShardLoad<J> {}

  /** It cannot be read by this code, or by nobody. */
  record Refused<J extends FoldedJob>(String why) implements ShardLoad<J> {}

  /** Bytes asked for at a time. */
  int PAGE_BYTES = 4 << 20;

  static <J extends FoldedJob> ShardLoad<J> read(
      Store store, ShardFold.Maker<J> maker, ShardId shard, int generation, long upTo) {
    List<J> named = new ArrayList<>();
    List<OperationBody.End> ends = new ArrayList<>();
    ShardFold<J> fold =
        new ShardFold<>(
            maker,
            (job, end) -> {
              if (job.hasName()) {
                named.add(job);
                ends.add(end);
              }
            });
    PastAttempts past = new PastAttempts();
    long next = 1;
    long bytes = 0;
    while (next <= upTo) {
      switch (store.journals().read(shard, generation, next, PAGE_BYTES)) {
        case Outcome.Ok<ReadPage>(ReadPage page) -> {
          if (page.entries().isEmpty()) {
            return new Refused<>("shard " + shard + ": entry " + next + " is missing");
          }
          for (Entry entry : page.entries()) {
            if (entry.number() > upTo) {
              break;
            }
            bytes += entry.data().length;
            fold.at(entry.number());
            try {
              for (Frame frame : Frame.decode(entry.data())) {
                past.note(frame, apply(frame, fold), fold);
              }
            } catch (DamagedException | UnknownFormatException | IllegalArgumentException e) {
              return new Refused<>(
                  "shard " + shard + ", entry " + entry.number() + ": " + e.getMessage());
            }
          }
          next = page.entries().getLast().number() + 1;
        }
        case Outcome.Fenced<ReadPage> gone -> {
          return new Gone<>();
        }
        case Outcome.Conflict<ReadPage> replaced -> {
          return new Replaced<>();
        }
        case Outcome.Damaged<ReadPage>(String where) -> {
          return new Refused<>(where);
        }
        case Outcome<ReadPage> other -> {
          return new Failed<>();
        }
      }
    }
    return new Folded<>(fold, bytes, past.bytes(), named, ends);
  }

  private static ShardFold.Answer apply(Frame frame, ShardFold<?> fold) {
    ShardFold.Answer answer = fold.apply(frame);
    boolean begins = frame.kind() == Kind.STATE || frame.kind() == Kind.ADD;
    if (begins && answer == ShardFold.Answer.NO_SUCH_JOB) {
      throw new DamagedException("the payload of job " + frame.job() + " is missing");
    }
    return answer;
  }
}
