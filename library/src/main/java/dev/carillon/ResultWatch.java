package dev.carillon;

import dev.carillon.api.JobInfo;
import dev.carillon.api.JobState;
import dev.carillon.api.TypeToken;
import dev.carillon.api.error.CarillonException;
import dev.carillon.api.error.ClosedException;
import dev.carillon.api.error.JobFailedException;
import dev.carillon.api.error.JobNotFoundException;
import dev.carillon.api.error.JobTimeoutException;
import dev.carillon.api.error.StoreCorruptedException;
import dev.carillon.api.error.WaitInterruptedException;
import dev.carillon.engine.Node;
import dev.carillon.engine.job.JobRef;
import dev.carillon.engine.job.JobView;
import dev.carillon.store.Outcome;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Waits for the end of a job. It watches first and looks afterwards, so an end in between is not
 * missed; a look that the store does not answer is repeated.
 */
final class ResultWatch<O> {
  private static final Executor LATER =
      CompletableFuture.delayedExecutor(250, TimeUnit.MILLISECONDS);

  private final NodeLoop loop;
  private final JobRef ref;
  private final CountDownLatch over = new CountDownLatch(1);
  private final Consumer<JobView> watcher = this::seen;
  private final @Nullable Consumer<ResultWatch<O>> whenOver;

  private volatile @Nullable JobView ended;
  private volatile @Nullable CarillonException failure;

  /**
   * A watch that has not begun.
   *
   * @param whenOver called on the loop at the end, or null
   */
  ResultWatch(NodeLoop loop, JobRef ref, @Nullable Consumer<ResultWatch<O>> whenOver) {
    this.loop = loop;
    this.ref = ref;
    this.whenOver = whenOver;
  }

  void begin() {
    post(
        node -> {
          node.watch(ref, watcher);
          look(node);
        });
  }

  private void post(Consumer<Node> action) {
    loop.post(new OnNode(loop, action));
  }

  private void look(Node node) {
    node.get(
        ref,
        outcome -> {
          switch (outcome) {
            case Outcome.Ok<Optional<JobView>>(Optional<JobView> found) -> {
              if (found.isEmpty()) {
                fail(new JobNotFoundException(ref.id()));
              } else {
                seen(found.get());
              }
            }
            case Outcome.Damaged<Optional<JobView>>(String where) ->
                fail(new StoreCorruptedException(where, "the job cannot be read"));
            default -> LATER.execute(() -> post(this::lookAgain));
          }
        });
  }

  private void lookAgain(Node node) {
    if (over.getCount() > 0) {
      look(node);
    }
  }

  private void seen(JobView view) {
    if (view.info().state().ended() && over.getCount() > 0) {
      ended = view;
      done();
    }
  }

  private void fail(CarillonException why) {
    if (over.getCount() > 0) {
      failure = why;
      done();
    }
  }

  private void done() {
    over.countDown();
    end();
    if (whenOver != null) {
      whenOver.accept(this);
    }
  }

  /** Carillon is closed: nothing will be seen any more. */
  void closed() {
    fail(new ClosedException("waiting for job " + ref.id() + ": Carillon is closed"));
  }

  /** Watches no longer. */
  void end() {
    post(node -> node.unwatch(ref, watcher));
  }

  /** Waits for the end. */
  void await(Duration timeout) {
    boolean inTime;
    try {
      inTime = over.await(nanos(timeout), TimeUnit.NANOSECONDS);
    } catch (InterruptedException e) {
      end();
      Thread.currentThread().interrupt();
      throw new WaitInterruptedException("waiting for job " + ref.id() + ": interrupted", e);
    }
    if (!inTime) {
      end();
      throw new JobTimeoutException(ref.id(), timeout);
    }
  }

  private static long nanos(Duration timeout) {
    try {
      return timeout.toNanos();
    } catch (ArithmeticException e) {
      return timeout.isNegative() ? 0 : Long.MAX_VALUE;
    }
  }

  /** The result of a job that has ended; user code decodes it, so not on the loop. */
  @Nullable O result(TypeToken<O> type, Payloads payloads) {
    CarillonException why = failure;
    if (why != null) {
      var unused = why.fillInStackTrace();
      throw why;
    }
    JobView view = ended;
    if (view == null) {
      throw new IllegalStateException("job " + ref.id() + ": not ended (expected: an end)");
    }
    JobInfo info = view.info();
    if (info.state() != JobState.SUCCEEDED) {
      throw new JobFailedException(info.id(), info.state(), info.lastError(), info.reason());
    }
    byte[] bytes = view.result();
    return bytes == null ? null : payloads.decode(bytes, type);
  }
}
