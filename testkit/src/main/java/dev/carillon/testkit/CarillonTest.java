package dev.carillon.testkit;

import dev.carillon.Carillon;
import dev.carillon.CarillonBuilder;
import dev.carillon.LoopControl.Quiet;
import dev.carillon.RecordedWorkflow;
import dev.carillon.WorkflowReplay;
import dev.carillon.api.JobType;
import dev.carillon.api.TaskType;
import dev.carillon.api.error.InvalidArgumentException;
import dev.carillon.api.workflow.StepBody;
import dev.carillon.api.workflow.WorkflowHandler;
import dev.carillon.api.workflow.WorkflowTask;
import dev.carillon.store.MemoryStore;
import dev.carillon.store.Store;
import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.CancellationException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;
import java.util.function.Supplier;

/**
 * A Carillon with a clock that is moved by hand, for tests: no sleeping, no waiting, the same order
 * every time.
 *
 * <pre>{@code
 * try (var world = CarillonTest.at("2026-03-29T00:00:00Z")) {
 *   world.carillon().handle(SEND, (mail, job) -> sent.add(mail));
 *   world.carillon().schedule(SEND.job(mail).in(Duration.ofDays(3)));
 *   world.advance(Duration.ofDays(3));
 *   assertThat(sent).containsExactly(mail);
 * }
 * }</pre>
 *
 * <p>{@link #advance} goes from one due time to the next, lets what is due then run, and returns
 * when all is quiet: handlers have returned, their outcomes are stored, listeners were told, and
 * workflows that have not ended wait for a time, a signal or a child. Jobs due at different times
 * run one after the other, jobs due at the same time together. It is the real engine and, by
 * default, a store in memory. For use by one thread.
 */
public final class CarillonTest implements AutoCloseable {

  /** Far ahead, so that every job is in memory and time can be skipped in few steps. */
  private static final Duration LOAD_HORIZON = Duration.ofDays(100);

  /** In real time: whoever is not quiet then waits for something that will not come. */
  private static final Duration QUIET_LIMIT = Duration.ofSeconds(30);

  private static final int MAX_STEPS_WITHOUT_TIME = 10_000;

  private final ManualTime time;
  private final Supplier<Store> store;
  private final Consumer<CarillonBuilder> options;
  private final StepStubs stubs = new StepStubs();
  private Carillon carillon;

  private CarillonTest(Instant start, Supplier<Store> store, Consumer<CarillonBuilder> options) {
    this.time = new ManualTime(start);
    this.store = store;
    this.options = options;
    this.carillon = open();
  }

  /**
   * A world in memory whose clock stands at a time.
   *
   * @param start such as {@code 2026-03-29T00:00:00Z}
   * @return the world, to be closed
   */
  public static CarillonTest at(String start) {
    return at(Instant.parse(start));
  }

  /**
   * A world in memory whose clock stands at a time.
   *
   * @param start when it begins
   * @return the world, to be closed
   */
  public static CarillonTest at(Instant start) {
    return at(start, options -> {});
  }

  /**
   * A world in memory with options of its own.
   *
   * @param start when it begins
   * @param options sets codecs, interceptors, listeners and the like
   * @return the world, to be closed
   */
  public static CarillonTest at(Instant start, Consumer<CarillonBuilder> options) {
    Store memory = new MemoryStore();
    return at(start, () -> memory, options);
  }

  /**
   * A world on a store of the test's choice.
   *
   * @param start when it begins
   * @param store opens the store, again at each {@link #restart()}
   * @param options sets codecs, interceptors, listeners and the like
   * @return the world, to be closed
   */
  public static CarillonTest at(
      Instant start, Supplier<Store> store, Consumer<CarillonBuilder> options) {
    return new CarillonTest(start, store, options);
  }

  private Carillon open() {
    CarillonBuilder builder =
        Carillon.builder()
            .store(store.get())
            .advanced(a -> a.timeSource(time).loadHorizon(LOAD_HORIZON).slowStart(Duration.ZERO))
            .daemon(true);
    options.accept(builder);
    return builder.intercept(stubs).open();
  }

  /**
   * The Carillon under test; another one after {@link #restart()}.
   *
   * @return what handlers and jobs are given to
   */
  public Carillon carillon() {
    return carillon;
  }

  /**
   * The time it is in this world.
   *
   * @return what the clock shows
   */
  public Instant now() {
    return time.now();
  }

  /**
   * Lets time pass, and everything that becomes due happen.
   *
   * @param duration not negative
   * @throws IllegalStateException if it does not become quiet, for example because a handler waits
   *     for something that only happens later
   */
  public void advance(Duration duration) {
    advanceToMicros(ManualTime.plus(time.wallMicros(), duration));
  }

  /**
   * Lets time pass until a time, and everything that becomes due happen.
   *
   * @param target not before {@link #now()}
   * @throws IllegalStateException if it does not become quiet
   */
  public void advanceTo(Instant target) {
    advance(Duration.between(now(), target));
  }

  private void advanceToMicros(long target) {
    if (target < time.wallMicros()) {
      throw new InvalidArgumentException(
          "time: back from %s (expected: not before it)".formatted(now()));
    }
    int stepsWithoutTime = 0;
    while (true) {
      Quiet quiet = awaitQuiet();
      long now = time.wallMicros();
      long next = Math.max(now, Math.min(quiet.nextDueMicros(), nextTimer(now, quiet)));
      if (next > target) {
        break;
      }
      stepsWithoutTime = next == now ? stepsWithoutTime + 1 : 0;
      if (stepsWithoutTime > MAX_STEPS_WITHOUT_TIME) {
        throw new IllegalStateException("at " + now() + ": something is due again and again");
      }
      time.moveTo(next);
    }
    time.moveTo(target);
    settle();
  }

  private static long nextTimer(long now, Quiet quiet) {
    long micros = quiet.nanosToNextTimer() / 1_000 + 1;
    return quiet.nanosToNextTimer() == Long.MAX_VALUE ? Long.MAX_VALUE : now + micros;
  }

  /**
   * Lets everything happen that is due now.
   *
   * @throws IllegalStateException if it does not become quiet
   */
  public void settle() {
    var unused = awaitQuiet();
  }

  private Quiet awaitQuiet() {
    try {
      return time.whenQuiet().get(QUIET_LIMIT.toSeconds(), TimeUnit.SECONDS);
    } catch (TimeoutException e) {
      throw new IllegalStateException(
          "at %s: not quiet after %s: %s".formatted(now(), QUIET_LIMIT, carillon.node().stats()),
          e);
    } catch (ExecutionException | CancellationException e) {
      throw new IllegalStateException("world: closed (expected: an open one)", e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("interrupted while waiting for quiet", e);
    }
  }

  /**
   * Moves the clock and does not wait: for handlers that run while time passes, such as those that
   * are to run into their timeout.
   *
   * @param duration not negative
   */
  public void moveClock(Duration duration) {
    time.moveTo(ManualTime.plus(time.wallMicros(), duration));
  }

  /**
   * Closes the Carillon and opens another one on the same store, as a restart of the program does.
   * Handlers have to be registered again.
   */
  public void restart() {
    carillon.close();
    carillon = open();
  }

  // ---- workflows

  /**
   * Replaces the body of every step, or compensation, of a name by another one, in all workflows of
   * this world and after a {@link #restart} too. What the stub returns is recorded like the result
   * of the step, so it has to be of the step's type; what it throws is retried by the step's
   * policy. A step whose result is recorded does not run again, and so does not run the stub.
   *
   * @param step the name of the steps
   * @param stub runs instead; replaces an earlier one of the same name
   */
  public void stubStep(String step, StepBody<?> stub) {
    stubs.put(step, stub);
  }

  /**
   * Lets the steps of a name run their own bodies again.
   *
   * @param step the name of the steps
   */
  public void unstubStep(String step) {
    stubs.remove(step);
  }

  /**
   * Runs the code of a workflow against a recorded history: does this code fit the workflows that
   * run already? No step runs, no child starts and nothing is written. The codecs of this world
   * read the payloads; the clock of this world does not matter.
   *
   * @param history what {@link Carillon#recordedWorkflow} or {@code ./carillon history --recorded}
   *     gave
   * @param type the type of the workflow
   * @param handler its code as it is now
   * @param <I> the input
   * @param <O> the result
   * @return how far the code came; what it returned, where it did
   * @throws AssertionError if a running job with this history would be blocked as diverged or
   *     undecodable, or if the job had succeeded and the code does not come to its end
   */
  public <I, O> WorkflowReplay.Result replay(
      RecordedWorkflow history,
      JobType<I, O> type,
      WorkflowHandler<? super I, ? extends O> handler) {
    return fitting(history, WorkflowReplay.run(carillon, history, type, handler));
  }

  /**
   * The same for a workflow without a result.
   *
   * @param history what {@link Carillon#recordedWorkflow} or {@code ./carillon history --recorded}
   *     gave
   * @param type the type of the workflow
   * @param handler its code as it is now
   * @param <I> the input
   * @return how far the code came
   * @throws AssertionError as for the other
   */
  public <I> WorkflowReplay.Result replay(
      RecordedWorkflow history, TaskType<I> type, WorkflowTask<? super I> handler) {
    return fitting(history, WorkflowReplay.run(carillon, history, type, handler));
  }

  private static WorkflowReplay.Result fitting(
      RecordedWorkflow history, WorkflowReplay.Result met) {
    if (!WorkflowReplay.fits(history, met)) {
      throw new AssertionError(
          "workflow %s %s, recorded as %s: %s %s (expected: code that fits its history)"
              .formatted(history.type(), history.id(), history.state(), met.end(), met.detail()));
    }
    return met;
  }

  /** Closes the Carillon. */
  @Override
  public void close() {
    carillon.close();
  }
}
