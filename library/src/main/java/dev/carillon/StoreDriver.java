package dev.carillon;

import dev.carillon.engine.environment.NodeEnvironment.Channel;
import dev.carillon.store.Store;
import dev.carillon.store.StoreInfo.Capability;
import java.time.Duration;
import java.util.EnumMap;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Calls the store beside the loop: one thread per {@link Channel}, in order, and the answer goes
 * back to the loop as an event.
 *
 * <p>Work is not supposed to throw. If it does (the heap is full, a bug) it is done again after a
 * pause: every call of the contract may be repeated, and the loop must not wait for ever.
 */
final class StoreDriver {
  private static final long FIRST_PAUSE_NANOS = 20_000_000;
  private static final long LONGEST_PAUSE_NANOS = 1_000_000_000;

  private final Store store;
  private final NodeLoop loop;
  private final Reports reports;
  private final Map<Channel, WorkerLoop> workers = new EnumMap<>(Channel.class);
  private int inFlight;

  StoreDriver(Store store, NodeLoop loop, Reports reports) {
    this.store = store;
    this.loop = loop;
    this.reports = reports;
    for (Channel channel : Channel.values()) {
      Capability needed = needed(channel);
      if (needed != null && !store.info().can(needed)) {
        continue;
      }
      String name = "carillon-" + channel.name().toLowerCase(Locale.ROOT);
      workers.put(channel, new WorkerLoop(name, reports));
    }
  }

  /** What a store must declare for the channel to be of use; null if nothing. */
  private static @Nullable Capability needed(Channel channel) {
    return switch (channel) {
      case INBOX, COMPLETIONS -> Capability.TRANSACTIONS;
      case COMMIT_BESIDE -> Capability.CONCURRENT_APPENDS;
      default -> null;
    };
  }

  void start() {
    workers.values().forEach(WorkerLoop::start);
  }

  void stop() {
    workers.values().forEach(WorkerLoop::stop);
  }

  /** Waits until all that was asked of the store is answered; at most for the limit. */
  void awaitEnd(Duration limit) throws InterruptedException {
    long deadline = System.nanoTime() + limit.toNanos();
    for (WorkerLoop worker : workers.values()) {
      worker.awaitEnd(Duration.ofNanos(Math.max(1, deadline - System.nanoTime())));
    }
  }

  /** On the loop. */
  <T> void submit(Channel channel, Function<Store, T> work, Consumer<T> done) {
    inFlight++;
    worker(channel).post(new Work<>(channel, work, done));
  }

  private WorkerLoop worker(Channel channel) {
    WorkerLoop worker = workers.get(channel);
    if (worker == null) {
      throw new IllegalStateException("channel: " + channel + " (expected: one with a thread)");
    }
    return worker;
  }

  /** Calls that are not answered yet; on the loop. */
  int inFlight() {
    return inFlight;
  }

  /** How long the slowest call that is under way has taken. */
  long slowestNanos() {
    long slowest = 0;
    for (WorkerLoop worker : workers.values()) {
      slowest = Math.max(slowest, worker.busyNanos());
    }
    return slowest;
  }

  private final class Work<T> extends Event {
    private final Channel channel;
    private final Function<Store, T> work;
    private final Consumer<T> done;

    Work(Channel channel, Function<Store, T> work, Consumer<T> done) {
      this.channel = channel;
      this.work = work;
      this.done = done;
    }

    @Override
    void happen() {
      for (long pause = FIRST_PAUSE_NANOS;
          !worker(channel).isStopping();
          pause = Math.min(2 * pause, LONGEST_PAUSE_NANOS)) {
        try {
          T answer = work.apply(store);
          loop.post(new Answer<>(answer, done));
          return;
        } catch (Throwable e) {
          reports.report("work for the store failed (" + channel + "); it is done again", e);
          LockSupport.parkNanos(this, pause);
        }
      }
    }
  }

  private final class Answer<T> extends Event {
    private final T answer;
    private final Consumer<T> done;

    Answer(T answer, Consumer<T> done) {
      this.answer = answer;
      this.done = done;
    }

    @Override
    void happen() {
      inFlight--;
      done.accept(answer);
    }
  }
}
