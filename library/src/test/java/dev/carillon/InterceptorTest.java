package dev.carillon;

import static dev.carillon.Types.LONG;
import static dev.carillon.Types.NOTE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.carillon.api.FailurePolicy;
import dev.carillon.api.Job;
import dev.carillon.api.JobContext;
import dev.carillon.api.JobInterceptor;
import dev.carillon.api.JobQuery;
import dev.carillon.api.error.InvalidArgumentException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

@Timeout(60)
class InterceptorTest {
  /** What a tracing library keeps for the thread. */
  private static final ThreadLocal<String> TRACE = ThreadLocal.withInitial(() -> "none");

  @TempDir Path folder;

  /** Takes the trace of the caller along, as one for a tracing library does. */
  private static final class Tracing implements JobInterceptor {
    @Override
    public <O> Job<O> scheduling(Job<O> job) {
      return job.meta("traceparent", TRACE.get());
    }

    @Override
    public @Nullable Object around(JobContext job, Invocation next) throws Exception {
      TRACE.set(job.metadata().getOrDefault("traceparent", "lost"));
      return next.proceed();
    }
  }

  @ParameterizedTest
  @EnumSource
  void whatIsKnownWhenSchedulingIsThereAtEveryAttempt(Place.Kind kind) {
    List<String> seen = new CopyOnWriteArrayList<>();
    try (Carillon carillon = new Place(kind, folder).builder().intercept(new Tracing()).open()) {
      carillon.handle(
          NOTE,
          (text, job) -> {
            seen.add(text + job.attempt() + " " + TRACE.get());
            if (text.equals("again") && job.attempt() == 1) {
              throw new IllegalStateException("try again");
            }
          });
      TRACE.set("trace 1");
      Job<Void> again =
          NOTE.job("again").onFailure(FailurePolicy.constant(Duration.ofMillis(1), 3));
      carillon.schedule(again).result(LONG);
      TRACE.set("trace 2");
      carillon.scheduleAll(List.of(NOTE.job("batch"))).getFirst().result(LONG);
    } finally {
      TRACE.remove();
    }
    assertThat(seen).containsExactly("again1 trace 1", "again2 trace 1", "batch1 trace 2");
  }

  @Test
  void anInterceptorThatThrowsKeepsTheJobFromBeingScheduled() {
    JobInterceptor strict =
        new JobInterceptor() {
          @Override
          public <O> Job<O> scheduling(Job<O> job) {
            throw new IllegalStateException("no tenant");
          }

          @Override
          public @Nullable Object around(JobContext job, Invocation next) throws Exception {
            return next.proceed();
          }
        };
    try (Carillon carillon =
        new Place(Place.Kind.MEMORY, folder).builder().intercept(strict).open()) {
      assertThatThrownBy(() -> carillon.schedule(NOTE.job("x"))).hasMessage("no tenant");
      assertThatThrownBy(() -> carillon.scheduleAll(List.of(NOTE.job("x"))))
          .hasMessage("no tenant");
      assertThat(carillon.list(JobQuery.all()).items()).isEmpty();
    }
  }

  @Test
  void anInterceptorMayNotForgetTheJob() {
    JobInterceptor careless =
        new JobInterceptor() {
          @Override
          @SuppressWarnings("NullAway") // what a careless one does
          public <O> Job<O> scheduling(Job<O> job) {
            return null;
          }

          @Override
          public @Nullable Object around(JobContext job, Invocation next) throws Exception {
            return next.proceed();
          }
        };
    try (Carillon carillon =
        new Place(Place.Kind.MEMORY, folder).builder().intercept(careless).open()) {
      assertThatThrownBy(() -> carillon.schedule(NOTE.job("x")))
          .isInstanceOf(InvalidArgumentException.class)
          .hasMessage("job of an interceptor: null (expected: not null)");
    }
  }
}
