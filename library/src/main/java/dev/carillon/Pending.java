package dev.carillon;

import dev.carillon.api.error.CarillonException;
import dev.carillon.api.error.ClosedException;
import dev.carillon.api.error.OutcomeUnknownException;
import dev.carillon.api.error.StoreUnavailableException;
import dev.carillon.api.error.WaitInterruptedException;
import dev.carillon.engine.Node;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * A question to the loop and its one answer. The asker either blocks in {@link #await()} or has
 * {@link #future()}.
 *
 * <p>The loop keeps it in {@link Unanswered} and gives it up at its deadline, so an asker is
 * answered truthfully even if the store is not. Answering twice does nothing: the first one counts.
 *
 * @param <T> the answer
 */
abstract class Pending<T> extends Event {
  private static final VarHandle STATE;

  static {
    try {
      STATE = MethodHandles.lookup().findVarHandle(Pending.class, "state", int.class);
    } catch (ReflectiveOperationException e) {
      throw new ExceptionInInitializerError(e);
    }
  }

  private static final int ASKED = 0;
  private static final int ANSWERING = 1;
  private static final int ANSWERED = 2;

  /** How long after its deadline a loop that says nothing is believed to be stuck. */
  private static final Duration LOOP_GRACE = Duration.ofSeconds(5);

  /** How often an interrupted asker that waits all the same looks whether it still may. */
  private static final long LOOK_AGAIN_NANOS = 100_000_000;

  // The loop's: links of Unanswered.
  @Nullable Pending<?> older;
  @Nullable Pending<?> younger;
  boolean linked;
  boolean asked;

  final NodeLoop loop;
  final long deadlineNanos;
  private final @Nullable CompletableFuture<T> future;

  private volatile int state;
  private volatile @Nullable Thread waiter;
  private @Nullable T value;
  private @Nullable CarillonException failure;

  /**
   * A question.
   *
   * @param future for askers who do not block
   */
  Pending(NodeLoop loop, @Nullable CompletableFuture<T> future) {
    this.loop = loop;
    this.future = future;
    this.deadlineNanos = System.nanoTime() + loop.answerTimeout().toNanos();
  }

  /** Asks the node; on the loop. */
  abstract void ask(Node node);

  /** The asker no longer waits: answers with what is known; on the loop. */
  void giveUp(Node node, String waited) {
    fail(new StoreUnavailableException("no answer from the store after " + waited));
  }

  /** Whether the request is refused while the store is away, instead of waiting for it. */
  boolean isRefusedWhileAway() {
    return false;
  }

  /** Gives the request up if nothing of it was sent to the store, which is away; on the loop. */
  void giveUpUnsent(Node node, String why) {}

  /** Whether giving up an asker that is interrupted leaves the fate of its request open. */
  boolean changesSomething() {
    return false;
  }

  /**
   * Whether an interrupt of the asker gives the request up, or only waits for its end. Asked again
   * while an interrupted asker waits.
   */
  boolean givesUpWhenInterrupted() {
    return true;
  }

  /** What an asker is told whose request may have been applied or not. */
  CarillonException unknown(String why) {
    return OutcomeUnknownException.ofRepeatable(what() + ": " + why);
  }

  /** What was asked for, for messages. */
  abstract String what();

  @Override
  final void happen() {
    loop.asked(this);
  }

  final boolean isBlocking() {
    return future == null;
  }

  final boolean isAnswered() {
    return state != ASKED;
  }

  /**
   * What it holds of the {@link Admission}, 0 for nothing; given back before the asker goes on: by
   * itself where it blocks, else by the loop.
   */
  long weight() {
    return 0;
  }

  final void answer(T answer) {
    if (STATE.compareAndSet(this, ASKED, ANSWERING)) {
      value = answer;
      answered();
    }
  }

  final void fail(CarillonException why) {
    if (STATE.compareAndSet(this, ASKED, ANSWERING)) {
      failure = why;
      answered();
    }
  }

  private void answered() {
    state = ANSWERED;
    if (future != null) {
      loop.complete(this);
    } else {
      Thread waiting = waiter;
      if (waiting != null) {
        LockSupport.unpark(waiting);
      }
    }
    loop.answered(this);
  }

  /** Completes the future, which may run code of the asker's. */
  final void completeFuture() {
    if (future == null) {
      return;
    }
    if (failure != null) {
      future.completeExceptionally(failure);
    } else {
      future.complete(value());
    }
  }

  @SuppressWarnings("NullAway") // null only where T is nullable
  private T value() {
    return value;
  }

  /** The future of an asker who has one. */
  final CompletableFuture<T> future() {
    if (future == null) {
      throw new IllegalStateException("future: null (expected: an asker that does not block)");
    }
    return future;
  }

  /**
   * Waits for the answer. Interrupted, the request is given up; the answer that it then gets is the
   * true one, and the interrupt flag is set again.
   */
  final T await() {
    waiter = Thread.currentThread();
    boolean interrupted = false;
    boolean givenUp = false;
    while (state != ANSWERED) {
      long left = deadlineNanos + LOOP_GRACE.toNanos() - System.nanoTime();
      if (left <= 0) {
        fail(unknown("the loop does not answer"));
        continue;
      }
      boolean looksAgain = interrupted && !givenUp;
      LockSupport.parkNanos(this, looksAgain ? Math.min(left, LOOK_AGAIN_NANOS) : left);
      interrupted |= Thread.interrupted();
      if (interrupted && !givenUp && givesUpWhenInterrupted()) {
        givenUp = true;
        loop.post(new GivenUp(this, "an interrupt of its caller"));
      }
    }
    if (weight() != 0) {
      loop.leave(weight());
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
    return answerOf(interrupted);
  }

  private T answerOf(boolean interrupted) {
    CarillonException why = failure;
    if (why == null) {
      return value();
    }
    if (interrupted && why instanceof StoreUnavailableException) {
      throw new WaitInterruptedException(what() + ": interrupted; nothing was changed", why);
    }
    // Made on the loop: the stack that helps is the caller's.
    var unused = why.fillInStackTrace();
    throw why;
  }

  /** Answers a question of a loop that asks no more: what was never asked has changed nothing. */
  final void closed() {
    fail(
        asked && changesSomething()
            ? unknown("closed before the store answered")
            : new ClosedException(what() + ": Carillon is closed"));
  }

  private static final class GivenUp extends Event {
    private final Pending<?> pending;
    private final String waited;

    GivenUp(Pending<?> pending, String waited) {
      this.pending = pending;
      this.waited = waited;
    }

    @Override
    void happen() {
      pending.loop.giveUp(pending, waited);
    }
  }
}
