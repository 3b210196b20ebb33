package dev.carillon.server.jobs;

import dev.carillon.api.FailurePolicy;
import dev.carillon.server.json.InvalidBody;
import dev.carillon.server.json.Shape;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** A failure policy in a body. */
final class PolicyBody {
  static final Shape<PolicyBody> SHAPE =
      Shape.of(PolicyBody::new)
          .constant("kind", FailurePolicy.Kind.class, (p, v) -> p.kind = v)
          .duration("interval", (p, v) -> p.interval = v)
          .number("factor", (p, v) -> p.factor = v)
          .duration("cap", (p, v) -> p.cap = v)
          .integer("maxRetries", (p, v) -> p.maxRetries = v)
          .number("jitter", (p, v) -> p.jitter = v)
          .object("schedule", ScheduleBody.SHAPE, (p, v) -> p.schedule = v)
          .texts("except", (p, v) -> p.except = v);

  private FailurePolicy.@Nullable Kind kind;
  private @Nullable Duration interval;
  private @Nullable Double factor;
  private @Nullable Duration cap;
  private @Nullable Integer maxRetries;
  private @Nullable Double jitter;
  private @Nullable ScheduleBody schedule;
  private List<String> except = List.of();

  FailurePolicy policy() {
    FailurePolicy policy =
        switch (kind) {
          case DROP -> {
            refuse("maxRetries", maxRetries);
            refuse("interval", interval);
            refuse("schedule", schedule);
            yield FailurePolicy.drop();
          }
          case CONSTANT -> {
            refuse("schedule", schedule);
            yield FailurePolicy.constant(needed("interval", interval), retries());
          }
          case CRON -> {
            refuse("interval", interval);
            yield FailurePolicy.cron(needed("schedule", schedule).schedule(), retries());
          }
          case EXPONENTIAL -> {
            refuse("schedule", schedule);
            yield exponential();
          }
          case null -> throw new InvalidBody("onFailure.kind: missing (expected: a kind)");
        };
    if (kind != FailurePolicy.Kind.EXPONENTIAL) {
      refuse("factor", factor);
      refuse("cap", cap);
      refuse("jitter", jitter);
    }
    return except.isEmpty() ? policy : policy.except(except);
  }

  private FailurePolicy exponential() {
    FailurePolicy policy = FailurePolicy.exponential();
    policy = interval != null ? policy.from(interval) : policy;
    policy = cap != null ? policy.cap(cap) : policy;
    policy = factor != null ? policy.factor(factor) : policy;
    policy = jitter != null ? policy.jitter(jitter) : policy;
    return maxRetries != null ? policy.maxRetries(maxRetries) : policy;
  }

  private int retries() {
    return maxRetries != null ? maxRetries : FailurePolicy.UNLIMITED;
  }

  private <T> T needed(String name, @Nullable T value) {
    if (value == null) {
      throw new InvalidBody(
          "onFailure.%s: missing (expected: one for kind %s)".formatted(name, kind));
    }
    return value;
  }

  private void refuse(String name, @Nullable Object value) {
    if (value != null) {
      throw new InvalidBody(
          "onFailure.%s: given (expected: none for kind %s)".formatted(name, kind));
    }
  }
}
