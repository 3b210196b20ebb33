package dev.carillon.engine.commit;

import dev.carillon.engine.environment.NodeEnvironment;
import dev.carillon.engine.environment.Timers;
import dev.carillon.store.Outcome;
import dev.carillon.store.Records.Stored;
import dev.carillon.store.Store;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Idempotent store calls that are retried until the store answers, with a fixed pause between two
 * tries. Only the loop uses it.
 */
public final class StoreCalls {
  private static final long RETRY_NANOS = 50_000_000;

  private final NodeEnvironment env;
  private final Timers timers;

  public StoreCalls(NodeEnvironment env, Timers timers) {
    this.env = env;
    this.timers = timers;
  }

  /** All records of a prefix; not much more than {@code most} of them. */
  public static Outcome<List<Stored>> list(Store store, String prefix, int page, int most) {
    List<Stored> all = new ArrayList<>();
    String after = null;
    while (true) {
      Outcome<List<Stored>> outcome = store.records().list(prefix, after, page);
      if (!(outcome instanceof Outcome.Ok<List<Stored>>(List<Stored> found))) {
        return outcome;
      }
      all.addAll(found);
      if (found.size() < page || all.size() >= most) {
        return Outcome.ok(all);
      }
      after = found.getLast().key();
    }
  }

  /** Runs {@code action} after the pause between two tries. */
  public void later(Runnable action) {
    timers.at(env.monotonicNanos() + RETRY_NANOS, action);
  }

  /** Makes the same call until the store answers; {@code done} gets its answer. */
  public <T> void untilAnswered(
      NodeEnvironment.Channel channel, Function<Store, Outcome<T>> call, Consumer<T> done) {
    env.submit(
        channel,
        call,
        outcome -> {
          if (outcome instanceof Outcome.Ok<T>(T value)) {
            done.accept(value);
          } else {
            later(() -> untilAnswered(channel, call, done));
          }
        });
  }

  /**
   * Changes a shard under the fencing epoch of its journal until the store answers. Exactly one of
   * {@code done}, {@code ifLost} and {@code ifFull} runs, unless the node ends before.
   *
   * @param ifLost the store refused the epoch, or the shard was lost meanwhile
   * @param ifFull hears why there is no room; null where a full store is asked again
   */
  public <T> void write(
      ShardJournal journal,
      Function<Store, Outcome<T>> call,
      Consumer<T> done,
      Runnable ifLost,
      @Nullable Consumer<String> ifFull) {
    if (journal.isLost()) {
      ifLost.run(); // a write for it might meet another copy of the store
      return;
    }
    env.submit(
        NodeEnvironment.Channel.CONTROL,
        call,
        outcome -> {
          if (journal.isLost()) {
            ifLost.run();
            return;
          }
          switch (outcome) {
            case Outcome.Ok<T>(T value) -> done.accept(value);
            case Outcome.Fenced<T> fenced -> ifLost.run();
            case Outcome.Conflict<T> conflict -> ifLost.run();
            case Outcome.Full<T>(String detail) when ifFull != null -> ifFull.accept(detail);
            default -> {
              // An unknown write may still take effect: it is repeated until it has.
              var ifFullThen = outcome instanceof Outcome.Unknown ? null : ifFull;
              later(() -> write(journal, call, done, ifLost, ifFullThen));
            }
          }
        });
  }
}
