package dev.carillon;

import dev.carillon.api.error.ClosedException;
import dev.carillon.engine.Node;
import dev.carillon.store.Store;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.LongConsumer;
import java.util.function.Predicate;

/**
 * How a Carillon ends, in order: no attempt starts any more and running handlers may finish; those
 * that do not are interrupted; new calls are refused; what was asked for is written; the shards are
 * given back; the loop and the store end. Each step has a limit, so that neither a handler nor a
 * store that hangs keeps the process.
 */
final class Shutdown {
  /** The longest and shortest of the steps after the grace; a short grace means impatience. */
  private static final Duration LONGEST_STEP = Duration.ofSeconds(5);

  private static final Duration SHORTEST_STEP = Duration.ofSeconds(1);
  private static final int STEPS = 5;

  private final NodeLoop loop;
  private final Store store;
  private final ListenerRelay relay;
  private final Reports reports;
  private final Duration grace;
  private final Duration step;
  private final LongConsumer whenClosed;
  private final AtomicReference<Phase> phase = new AtomicReference<>(Phase.OPEN);
  private final CountDownLatch closed = new CountDownLatch(1);

  private enum Phase {
    OPEN,
    /** Handlers finish; what they ask is still answered. */
    STOPPING,
    CLOSED
  }

  Shutdown(
      NodeLoop loop,
      Store store,
      ListenerRelay relay,
      Reports reports,
      Duration grace,
      LongConsumer whenClosed) {
    this.whenClosed = whenClosed;
    this.loop = loop;
    this.store = store;
    this.relay = relay;
    this.reports = reports;
    this.grace = grace;
    this.step = grace.compareTo(SHORTEST_STEP) < 0 ? SHORTEST_STEP : shorter(grace, LONGEST_STEP);
  }

  private static Duration shorter(Duration one, Duration other) {
    return one.compareTo(other) < 0 ? one : other;
  }

  void requireOpen() {
    if (phase.get() == Phase.CLOSED) {
      throw new ClosedException("Carillon is closed (expected: an open one)");
    }
  }

  boolean isClosing() {
    return phase.get() != Phase.OPEN;
  }

  void run() {
    Closer closer = new Closer();
    if (phase.compareAndSet(Phase.OPEN, Phase.STOPPING)) {
      long begun = System.nanoTime();
      try {
        closer.close();
      } finally {
        phase.set(Phase.CLOSED);
        whenClosed.accept(System.nanoTime() - begun);
        closed.countDown();
      }
    } else {
      closer.await(closed, grace.plus(step.multipliedBy(STEPS + 1)));
    }
    if (closer.interrupted) {
      Thread.currentThread().interrupt();
    }
  }

  /** One caller of close, with its own interrupts. */
  private final class Closer {
    private final StringBuilder steps = new StringBuilder();
    private long fromNanos = System.nanoTime();
    private boolean interrupted;

    void close() {
      onNode(Node::beginStop);
      if (!awaitThat(node -> node.running() == 0, grace)) {
        onNode(Node::interruptRunning);
        awaitThat(node -> node.running() == 0, step);
      }
      ends("handlers");
      phase.set(Phase.CLOSED);
      CountDownLatch released = new CountDownLatch(1);
      CountDownLatch quiet = new CountDownLatch(1);
      loop.when(
          node -> node.quiet() && loop.isAnswered(),
          () -> {
            loop.refuseQuestions(); // before the next event, so that nothing is asked after it
            quiet.countDown();
          });
      await(quiet, step);
      ends("what was asked");
      onNode(
          node -> {
            loop.refuseQuestions();
            node.release(released::countDown);
          });
      await(released, step);
      ends("shards");
      loop.stop();
      loop.awaitEnd(step);
      relay.stop();
      ends("loop");
      closeStore();
      ends("store");
      reports.tell("closed, in milliseconds:" + steps);
    }

    private void ends(String what) {
      long now = System.nanoTime();
      steps.append(' ').append(what).append(' ').append((now - fromNanos) / 1_000_000).append(';');
      fromNanos = now;
    }

    /** On a thread of its own: a store may wait for a call that never ends. */
    private void closeStore() {
      CountDownLatch done = new CountDownLatch(1);
      Thread.ofPlatform()
          .daemon()
          .name("carillon-close")
          .start(
              () -> {
                try {
                  store.close();
                } catch (Throwable e) {
                  reports.report("closing the store failed", e);
                } finally {
                  done.countDown();
                }
              });
      if (!await(done, step)) {
        reports.report("the store does not close; left to the end of the process", null);
      }
    }

    private void onNode(java.util.function.Consumer<Node> action) {
      loop.post(new OnNode(loop, action));
    }

    private boolean awaitThat(Predicate<Node> condition, Duration limit) {
      CountDownLatch holds = new CountDownLatch(1);
      loop.when(condition, holds::countDown);
      return await(holds, limit);
    }

    /** Waits; interrupted, it waits no longer, here and in what follows, than a moment. */
    private boolean await(CountDownLatch latch, Duration limit) {
      long deadline = System.nanoTime() + limit.toNanos();
      while (true) {
        long left = deadline - System.nanoTime();
        try {
          return latch.await(
              interrupted ? Math.min(left, 500_000_000L) : left, TimeUnit.NANOSECONDS);
        } catch (InterruptedException e) {
          interrupted = true;
        }
      }
    }
  }
}
