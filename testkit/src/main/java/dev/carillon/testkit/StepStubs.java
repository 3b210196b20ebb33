package dev.carillon.testkit;

import dev.carillon.api.JobContext;
import dev.carillon.api.JobInterceptor;
import dev.carillon.api.Limits;
import dev.carillon.api.workflow.StepBody;
import dev.carillon.api.workflow.StepContext;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/** Runs other bodies in place of those of steps, by name. Thread-safe. */
final class StepStubs implements JobInterceptor {
  private final Map<String, StepBody<?>> stubs = new ConcurrentHashMap<>();

  void put(String step, StepBody<?> stub) {
    stubs.put(Limits.checkCallName("step", step), Limits.checkPresent("stub", stub));
  }

  void remove(String step) {
    stubs.remove(Limits.checkCallName("step", step));
  }

  @Override
  public @Nullable Object around(JobContext job, Invocation next) throws Exception {
    return next.proceed();
  }

  @Override
  public @Nullable Object aroundStep(JobContext job, String name, StepContext step, Invocation next)
      throws Exception {
    StepBody<?> stub = stubs.get(name);
    return stub == null ? next.proceed() : stub.run(step);
  }
}
