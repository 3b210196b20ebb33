package dev.carillon.api;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.carillon.api.error.InvalidJobException;
import dev.carillon.api.error.NotRetryableException;
import dev.carillon.api.error.RunAgainException;
import dev.carillon.api.schedule.Schedule;
import java.time.Duration;
import java.time.Instant;
import java.util.Collections;
import java.util.List;
import java.util.stream.Stream;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

class FailurePolicyTest {
  private static final Duration SECOND = Duration.ofSeconds(1);
  private static final Duration HOUR = Duration.ofHours(1);
  private static final Schedule DAILY = Schedule.cron("@daily");

  private static Arguments refused(String message, ThrowingCallable call) {
    return Arguments.of(message, call);
  }

  static Stream<Arguments> refusedPolicies() {
    FailurePolicy policy = FailurePolicy.standard();
    return Stream.of(
        refused(
            "interval: PT-0.000000001S (expected: PT0S to PT876600H)",
            () -> FailurePolicy.constant(Duration.ofNanos(-1), 1)),
        refused(
            "interval: PT876600H0.000000001S (expected: PT0S to PT876600H)",
            () -> FailurePolicy.constant(Limits.PERIOD_MAX.plusNanos(1), 1)),
        refused(
            "maxRetries: -1 (expected: 0 to 2147483647)", () -> FailurePolicy.constant(SECOND, -1)),
        refused("maxRetries: -1 (expected: 0 to 2147483647)", () -> FailurePolicy.cron(DAILY, -1)),
        refused(
            "schedule: EVERY (expected: one by cron)",
            () -> FailurePolicy.cron(Schedule.every(SECOND), 1)),
        refused(
            "cap: PT0.5S (expected: PT1S to PT876600H)",
            () -> FailurePolicy.exponential().cap(Duration.ofMillis(500))),
        refused(
            "factor: CONSTANT (expected: an exponential policy to change)",
            () -> FailurePolicy.constant(SECOND, 1).factor(2)),
        refused(
            "maxRetries: 3 (expected: a policy that retries)",
            () -> FailurePolicy.drop().maxRetries(3)),
        refused(
            "schedule: AFTER_EACH (expected: one by cron)",
            () -> FailurePolicy.cron(Schedule.afterEach(SECOND), 1)),
        refused(
            "base: PT0S (expected: PT0.000001S to PT876600H)",
            () -> FailurePolicy.exponential(Duration.ZERO, 2, HOUR, 1, 0)),
        refused(
            "factor: 0.5 (expected: 1.0 to 1000.0)",
            () -> FailurePolicy.exponential(SECOND, 0.5, HOUR, 1, 0)),
        refused(
            "factor: NaN (expected: 1.0 to 1000.0)",
            () -> FailurePolicy.exponential(SECOND, Double.NaN, HOUR, 1, 0)),
        refused(
            "cap: PT0.5S (expected: PT1S to PT876600H)",
            () -> FailurePolicy.exponential(SECOND, 2, Duration.ofMillis(500), 1, 0)),
        refused(
            "maxRetries: -7 (expected: 0 to 2147483647)",
            () -> FailurePolicy.exponential(SECOND, 2, HOUR, -7, 0)),
        refused(
            "jitter: 1.5 (expected: 0.0 to 1.0)",
            () -> FailurePolicy.exponential(SECOND, 2, HOUR, 1, 1.5)),
        refused(
            "jitter: -0.1 (expected: 0.0 to 1.0)",
            () -> FailurePolicy.exponential(SECOND, 2, HOUR, 1, -0.1)),
        refused(
            "errors: 33 (expected: 0 to 32)", () -> policy.except(Collections.nCopies(33, "x"))));
  }

  @ParameterizedTest
  @MethodSource("refusedPolicies")
  void badPoliciesAreRefusedWithValueAndRange(String message, ThrowingCallable call) {
    assertThatThrownBy(call).isInstanceOf(InvalidJobException.class).hasMessage(message);
  }

  @SuppressWarnings("NullAway") // what a caller without a checker may do
  @Test
  void nullsAreRefusedByName() {
    assertThatThrownBy(() -> FailurePolicy.constant(null, 1))
        .isInstanceOf(InvalidJobException.class)
        .hasMessage("interval: null (expected: not null)");
    assertThatThrownBy(() -> FailurePolicy.cron(null, 1))
        .isInstanceOf(InvalidJobException.class)
        .hasMessage("schedule: null (expected: not null)");
    assertThatThrownBy(() -> FailurePolicy.exponential(SECOND, 2, null, 1, 0))
        .isInstanceOf(InvalidJobException.class)
        .hasMessage("cap: null (expected: not null)");
    assertThatThrownBy(() -> FailurePolicy.drop().except(Collections.singletonList(null)))
        .isInstanceOf(InvalidJobException.class)
        .hasMessage("error: null (expected: not null)");
  }

  @Test
  void limitsThemselvesAreAccepted() {
    assertThat(FailurePolicy.constant(Duration.ZERO, 0).interval()).isZero();
    assertThat(FailurePolicy.constant(Limits.PERIOD_MAX, FailurePolicy.UNLIMITED).maxRetries())
        .isEqualTo(FailurePolicy.UNLIMITED);
    FailurePolicy widest =
        FailurePolicy.exponential(
            Duration.ofNanos(1000), 1000, Limits.PERIOD_MAX, FailurePolicy.UNLIMITED, 1);
    assertThat(widest.factor()).isEqualTo(1000);
    assertThat(widest.jitter()).isEqualTo(1);
    assertThat(FailurePolicy.drop().except(Collections.nCopies(32, "x")).except()).hasSize(32);
  }

  @Test
  void finerThanMicrosecondsIsRoundedUp() {
    assertThat(FailurePolicy.constant(Duration.ofNanos(1), 1).interval())
        .isEqualTo(Duration.ofNanos(1000));
    FailurePolicy policy =
        FailurePolicy.exponential(Duration.ofNanos(1001), 2, Duration.ofNanos(3001), 1, 0);
    assertThat(policy.interval()).isEqualTo(Duration.ofNanos(2000));
    assertThat(policy.cap()).isEqualTo(Duration.ofNanos(4000));
  }

  @Test
  void partsAreKept() {
    FailurePolicy policy =
        FailurePolicy.exponential(SECOND, 2.5, HOUR, 7, 0.25).except(RuntimeException.class);
    assertThat(policy.kind()).isEqualTo(FailurePolicy.Kind.EXPONENTIAL);
    assertThat(policy.interval()).isEqualTo(SECOND);
    assertThat(policy.factor()).isEqualTo(2.5);
    assertThat(policy.cap()).isEqualTo(HOUR);
    assertThat(policy.maxRetries()).isEqualTo(7);
    assertThat(policy.jitter()).isEqualTo(0.25);
    assertThat(policy.schedule()).isNull();
    assertThat(policy.except()).containsExactly("java.lang.RuntimeException");
    assertThat(FailurePolicy.cron(DAILY, 3).schedule()).isEqualTo(DAILY);
  }

  @Test
  void standardIsTheOneDocumented() {
    assertThat(FailurePolicy.standard())
        .isEqualTo(FailurePolicy.exponential(SECOND, 2, Duration.ofMinutes(30), 60, 0.2));
  }

  @Test
  void standardOutlivesADayOfOutage() {
    FailurePolicy policy = FailurePolicy.standard();
    Duration wait = policy.interval();
    Duration total = Duration.ZERO;
    for (int retry = 0; retry < policy.maxRetries(); retry++) {
      total = total.plus(wait);
      Duration longer = Duration.ofNanos((long) (wait.toNanos() * policy.factor()));
      wait = longer.compareTo(policy.cap()) > 0 ? policy.cap() : longer;
    }
    assertThat(total).isBetween(Duration.ofHours(24), Duration.ofHours(48));
  }

  @Test
  void exponentialPolicyIsSaidPartByPart() {
    assertThat(FailurePolicy.exponential()).isEqualTo(FailurePolicy.standard());
    assertThat(
            FailurePolicy.exponential()
                .from(Duration.ofSeconds(5))
                .factor(3)
                .cap(HOUR)
                .jitter(0)
                .maxRetries(7)
                .except(Error.class))
        .isEqualTo(
            FailurePolicy.exponential(Duration.ofSeconds(5), 3, HOUR, 7, 0).except(Error.class));
    assertThat(FailurePolicy.exponential().except(Error.class).factor(3).except())
        .containsExactly("java.lang.Error");
    assertThat(FailurePolicy.exponential().from(Duration.ofHours(2)).cap())
        .isEqualTo(Duration.ofHours(2));
    assertThat(FailurePolicy.constant(SECOND, 1).maxRetries(4))
        .isEqualTo(FailurePolicy.constant(SECOND, 4));
  }

  /** Policies that differ from each other in one part at least. */
  private static List<FailurePolicy> different() {
    FailurePolicy exponential = FailurePolicy.exponential(SECOND, 2, HOUR, 3, 0);
    return List.of(
        FailurePolicy.drop(),
        FailurePolicy.drop().except(Error.class),
        FailurePolicy.constant(SECOND, 3),
        FailurePolicy.constant(HOUR, 3),
        FailurePolicy.constant(SECOND, 4),
        FailurePolicy.constant(SECOND, 3).except(Error.class),
        FailurePolicy.constant(SECOND, 3).except(Exception.class),
        FailurePolicy.cron(DAILY, 3),
        FailurePolicy.cron(DAILY.in("Europe/Berlin"), 3),
        exponential,
        FailurePolicy.exponential(Duration.ofSeconds(2), 2, HOUR, 3, 0),
        FailurePolicy.exponential(SECOND, 3, HOUR, 3, 0),
        FailurePolicy.exponential(SECOND, 2, SECOND, 3, 0),
        FailurePolicy.exponential(SECOND, 2, HOUR, 4, 0),
        FailurePolicy.exponential(SECOND, 2, HOUR, 3, 0.5));
  }

  @Test
  void equalByAllParts() {
    List<FailurePolicy> policies = different();
    List<FailurePolicy> again = different();
    for (int i = 0; i < policies.size(); i++) {
      for (int j = 0; j < again.size(); j++) {
        assertThat(policies.get(i).equals(again.get(j)))
            .as("%s and %s", policies.get(i), again.get(j))
            .isEqualTo(i == j);
      }
      assertThat(policies.get(i)).hasSameHashCodeAs(again.get(i));
    }
    assertThat(policies.stream().map(FailurePolicy::toString)).doesNotHaveDuplicates();
  }

  @Test
  void textSaysAllOfIt() {
    assertThat(FailurePolicy.drop()).hasToString("drop");
    assertThat(FailurePolicy.constant(SECOND, 3)).hasToString("constant(PT1S, 3 retries)");
    assertThat(FailurePolicy.constant(SECOND, FailurePolicy.UNLIMITED))
        .hasToString("constant(PT1S, unlimited)");
    assertThat(FailurePolicy.cron(DAILY, 2)).hasToString("cron(" + DAILY + ", 2 retries)");
    assertThat(FailurePolicy.standard().except(Error.class))
        .hasToString(
            "exponential(PT1S × 2.0 up to PT30M, 60 retries, jitter 0.2), except"
                + " [java.lang.Error]");
  }

  @Test
  void subclassesOfExceptedErrorsAreNotRetriedAndNothingElse() {
    FailurePolicy policy = FailurePolicy.standard().except(IllegalArgumentException.class);
    assertThat(policy.retries(new IllegalArgumentException())).isFalse();
    assertThat(policy.retries(new NumberFormatException())).isFalse();
    assertThat(policy.retries(new RuntimeException(new IllegalArgumentException()))).isTrue();
    assertThat(policy.retries(new NotRetryableException("never"))).isFalse();
    assertThat(policy.retries(new StackOverflowError())).isTrue();
  }

  @Test
  void runningAgainNeedsATimeThereIs() {
    Instant noon = Instant.parse("2026-03-29T12:00:00Z");
    assertThat(RunAgainException.in(SECOND).from(noon)).isEqualTo(noon.plusSeconds(1));
    assertThat(RunAgainException.at(noon).from(noon.plusSeconds(9))).isEqualTo(noon);
    assertThat(RunAgainException.in(SECOND, "not ready")).hasMessage("not ready");
    assertThat(RunAgainException.in(SECOND).getStackTrace()).isEmpty();
    assertThatThrownBy(() -> RunAgainException.in(Duration.ofNanos(-1)))
        .isInstanceOf(InvalidJobException.class)
        .hasMessage("delay: PT-0.000000001S (expected: PT0S to PT876600H)");
    assertThatThrownBy(() -> RunAgainException.at(Instant.MAX))
        .isInstanceOf(InvalidJobException.class)
        .hasMessageContaining("due: ");
  }

  @Test
  void longNoteOfRunningAgainIsCut() {
    assertThat(RunAgainException.in(SECOND, "x".repeat(1024))).hasMessage("x".repeat(1024));
    assertThat(RunAgainException.in(SECOND, "x".repeat(9999))).hasMessage("x".repeat(1024));
    assertThat(RunAgainException.in(SECOND, "é".repeat(1024))).hasMessage("é".repeat(512));
    assertThat(RunAgainException.in(SECOND, "x" + "€".repeat(400)))
        .hasMessage("x" + "€".repeat(341));
    assertThat(RunAgainException.in(SECOND, "x" + "😀".repeat(400)))
        .hasMessage("x" + "😀".repeat(255));
    assertThat(RunAgainException.in(SECOND, "x\uD83D")).hasMessage("x\uFFFD");
  }
}
