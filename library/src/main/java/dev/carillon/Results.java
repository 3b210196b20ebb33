package dev.carillon;

import dev.carillon.api.JobId;
import dev.carillon.api.Limits;
import dev.carillon.api.TypeToken;
import dev.carillon.engine.job.JobRef;
import dev.carillon.engine.job.Ticket;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * Waits for the results of jobs, for callers who block and for futures. Owns the set of callers who
 * wait, whom {@link #close} answers. Thread-safe.
 */
final class Results {
  private final OpenNode opened;
  private final NodeLoop loop;
  private final Set<ResultWatch<?>> waiting = ConcurrentHashMap.newKeySet();

  Results(OpenNode opened) {
    this.opened = opened;
    this.loop = opened.loop;
  }

  <O> @Nullable O await(JobId id, TypeToken<O> type, Duration timeout) {
    opened.requireOpen();
    Limits.checkPresent("type", type);
    Limits.checkPresent("timeout", timeout);
    ResultWatch<O> watch = new ResultWatch<>(loop, opened.tickets.existing(id), null);
    waiting.add(watch);
    try {
      watch.begin();
      watch.await(timeout);
      return watch.result(type, opened.payloads);
    } finally {
      waiting.remove(watch);
    }
  }

  <O> CompletableFuture<@Nullable O> future(JobId id, TypeToken<O> type) {
    opened.requireOpen();
    Limits.checkPresent("id", id);
    Limits.checkPresent("type", type);
    var future = new CompletableFuture<@Nullable O>();
    if (!Ticket.is(id.value())) {
      watch(opened.tickets.existing(id), type, future);
      return future;
    }
    // To find a job that a transaction wrote may take reads of the store.
    Thread.ofVirtual()
        .name("carillon-ticket")
        .start(
            () -> {
              try {
                watch(opened.tickets.existing(id), type, future);
              } catch (Throwable e) {
                future.completeExceptionally(e);
              }
            });
    return future;
  }

  private <O> void watch(JobRef ref, TypeToken<O> type, CompletableFuture<@Nullable O> future) {
    ResultWatch<O> watch =
        new ResultWatch<>(
            loop,
            ref,
            over -> {
              waiting.remove(over);
              loop.outside(() -> complete(future, over, type));
            });
    waiting.add(watch);
    watch.begin();
  }

  private <O> void complete(
      CompletableFuture<@Nullable O> future, ResultWatch<O> watch, TypeToken<O> type) {
    try {
      future.complete(watch.result(type, opened.payloads));
    } catch (Throwable e) {
      future.completeExceptionally(e);
    }
  }

  /** The node is closed: everybody who waits hears that. */
  void close() {
    waiting.forEach(ResultWatch::closed);
  }
}
