package dev.carillon;

import dev.carillon.api.error.StoreUnavailableException;
import dev.carillon.api.error.WaitInterruptedException;
import java.time.Duration;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Long reads for callers who wait: on threads of their own, so that a store that hangs holds up a
 * few of these and no caller. Not virtual ones, whose carrier a call into a database may keep.
 */
final class Reads {
  private static final int THREADS = 8;
  private static final long IDLE_SECONDS = 10;

  private final ThreadPoolExecutor threads =
      new ThreadPoolExecutor(
          THREADS,
          THREADS,
          IDLE_SECONDS,
          TimeUnit.SECONDS,
          new LinkedBlockingQueue<>(),
          Thread.ofPlatform().daemon().name("carillon-reader-", 1).factory());
  private final Duration limit;

  /**
   * Reads that callers wait for.
   *
   * @param limit how long
   */
  Reads(Duration limit) {
    this.limit = limit;
    threads.allowCoreThreadTimeOut(true);
  }

  /** What {@code read} answers, or throws. */
  <T> T await(String what, Supplier<T> read) {
    FutureTask<T> task = new FutureTask<>(read::get);
    threads.execute(task);
    try {
      return task.get(limit.toNanos(), TimeUnit.NANOSECONDS);
    } catch (ExecutionException e) {
      throw thrown(e.getCause());
    } catch (TimeoutException e) {
      throw new StoreUnavailableException(what + ": no answer from the store after " + limit);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new WaitInterruptedException(what + ": interrupted", e);
    } finally {
      task.cancel(false);
      threads.remove(task);
    }
  }

  private static RuntimeException thrown(@Nullable Throwable cause) {
    if (cause instanceof Error error) {
      throw error;
    }
    if (cause instanceof RuntimeException e) {
      // The stack that helps is the caller's.
      var unused = e.fillInStackTrace();
      return e;
    }
    return new IllegalStateException(cause);
  }
}
