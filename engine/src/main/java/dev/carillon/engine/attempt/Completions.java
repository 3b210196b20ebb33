package dev.carillon.engine.attempt;

import dev.carillon.engine.environment.NodeEnvironment;
import dev.carillon.engine.environment.Timers;
import dev.carillon.store.Outcome;
import dev.carillon.store.Transactions.Completion;
import dev.carillon.store.Transactions.Place;
import dev.carillon.store.Transactions.Settled;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Asks the store what handlers' transactions have completed, many jobs in one call. A job whose
 * transaction is still open is asked for again later, and holds up no other.
 */
public final class Completions {
  private static final int MAX_JOBS = 1_000;
  private static final long FIRST_WAIT_NANOS = 10_000_000;
  private static final int LONGEST_WAIT_DOUBLINGS = 6;

  private final NodeEnvironment env;
  private final Timers timers;
  private final ArrayDeque<Asked> queue = new ArrayDeque<>();
  private boolean busy;
  private int waiting;

  /** One job that is asked for. */
  private static final class Asked {
    final Place place;
    final BooleanSupplier ready;
    final Consumer<@Nullable Completion> done;
    int waits;

    Asked(Place place, BooleanSupplier ready, Consumer<@Nullable Completion> done) {
      this.place = place;
      this.ready = ready;
      this.done = done;
    }
  }

  public Completions(NodeEnvironment env, Timers timers) {
    this.env = env;
    this.timers = timers;
  }

  /** Jobs that wait for a transaction to end, or for the store to answer. */
  public int waiting() {
    return waiting;
  }

  /**
   * Asks for a job's completion; {@code done} hears it, or null where there is none and no
   * transaction can leave one any more.
   *
   * @param ready holds once no handler is about to write one
   */
  void settle(Place place, BooleanSupplier ready, Consumer<@Nullable Completion> done) {
    queue.add(new Asked(place, ready, done));
    send();
  }

  private void send() {
    if (busy) {
      return;
    }
    List<Asked> group = new ArrayList<>();
    while (!queue.isEmpty() && group.size() < MAX_JOBS) {
      Asked next = queue.remove();
      if (next.ready.getAsBoolean()) {
        group.add(next);
      } else {
        later(next);
      }
    }
    if (group.isEmpty()) {
      return;
    }
    busy = true;
    List<Place> places = group.stream().map(asked -> asked.place).toList();
    env.submit(
        NodeEnvironment.Channel.COMPLETIONS,
        store -> store.transactions().settle(places),
        outcome -> answered(group, outcome));
  }

  private void answered(List<Asked> group, Outcome<List<Settled>> outcome) {
    busy = false;
    if (outcome instanceof Outcome.Damaged<List<Settled>>(String where)) {
      env.report("what transactions have completed is damaged: " + where, null);
    }
    for (int i = 0; i < group.size(); i++) {
      Asked asked = group.get(i);
      if (outcome instanceof Outcome.Ok<List<Settled>>(List<Settled> settled)
          && !settled.get(i).open()) {
        waiting -= asked.waits > 0 ? 1 : 0;
        tell(asked, settled.get(i).completion());
      } else {
        later(asked);
      }
    }
    send();
  }

  /** What one of them makes of it must not hold up the others. */
  private void tell(Asked asked, @Nullable Completion completion) {
    try {
      asked.done.accept(completion);
    } catch (RuntimeException e) {
      env.report("what follows a completion failed: job " + asked.place, e);
    }
  }

  private void later(Asked asked) {
    if (asked.waits == 0) {
      waiting++;
      env.metrics().count("completions.waited", 1);
    }
    long wait = FIRST_WAIT_NANOS << Math.min(asked.waits++, LONGEST_WAIT_DOUBLINGS);
    timers.at(
        env.monotonicNanos() + wait,
        () -> {
          queue.add(asked);
          send();
        });
  }
}
