package dev.carillon.api;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import dev.carillon.api.error.InvalidJobException;
import dev.carillon.api.schedule.Due;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.function.UnaryOperator;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.assertj.core.api.ThrowableAssertAlternative;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class JobTest {

  private static final Instant NOON = Instant.parse("2026-03-29T12:00:00Z");
  private static final Job<Void> JOB = TaskType.of("send", String.class).job("secret");

  @Test
  void defaultsAreNowUnnamedAndPlain() {
    assertThat(JOB.due()).isEqualTo(new Due.Now());
    assertThat(JOB.name()).isNull();
    assertThat(JOB.ifExists()).isEqualTo(IfExists.FAIL);
    assertThat(JOB.key()).isNull();
    assertThat(JOB.namespace()).isEqualTo("default");
    assertThat(JOB.queue()).isEqualTo("default");
    assertThat(JOB.priority()).isZero();
    assertThat(JOB.metadata()).isEmpty();
    assertThat(JOB.timeout()).isNull();
    assertThat(JOB.deadline()).isNull();
  }

  @Test
  void everyPartIsKeptByTheChangesAfterIt() {
    Job<Void> job =
        JOB.at(NOON)
            .named("report")
            .ifExists(IfExists.REPLACE)
            .key("request-7")
            .namespace("acme")
            .queue("mail")
            .priority(-100)
            .meta("tenant", "7")
            .timeout(Duration.ofMillis(1))
            .deadline(NOON.plusSeconds(1))
            .meta("region", "");

    assertThat(job.typeName()).isEqualTo("send");
    assertThat(job.input()).isEqualTo("secret");
    assertThat(job.due()).isEqualTo(new Due.At(NOON));
    assertThat(job.name()).isEqualTo("report");
    assertThat(job.ifExists()).isEqualTo(IfExists.REPLACE);
    assertThat(job.key()).isEqualTo("request-7");
    assertThat(job.namespace()).isEqualTo("acme");
    assertThat(job.queue()).isEqualTo("mail");
    assertThat(job.priority()).isEqualTo(-100);
    assertThat(job.metadata()).containsExactly(Map.entry("region", ""), Map.entry("tenant", "7"));
    assertThat(job.timeout()).isEqualTo(Duration.ofMillis(1));
    assertThat(job.deadline()).isEqualTo(NOON.plusSeconds(1));
    assertThat(job.in(Duration.ZERO).due()).isEqualTo(new Due.In(Duration.ZERO));
  }

  @Test
  void changingACopyLeavesTheOriginal() {
    Job<Void> named = JOB.named("a").meta("k", "1");

    assertThat(named.named("b").meta("k", "2").meta("l", "3").name()).isEqualTo("b");
    assertThat(named.name()).isEqualTo("a");
    assertThat(named.metadata()).containsExactly(Map.entry("k", "1"));
    assertThat(JOB.name()).isNull();
  }

  @Test
  void metadataIsCopiedInKeyOrder() {
    var given = new HashMap<String, String>();
    for (int i = 0; i < 50; i++) {
      given.put("key" + i, "v");
    }
    Job<Void> job = JOB.metadata(given);
    given.clear();

    assertThat(job.metadata()).hasSize(50);
    assertThat(List.copyOf(job.metadata().keySet())).isSorted();
    assertThatExceptionOfType(UnsupportedOperationException.class)
        .isThrownBy(() -> job.metadata().put("x", "y"));
  }

  @Test
  void textSaysNothingOfTheInput() {
    assertThat(JOB.named("n").toString()).contains("send v1", "name=n").doesNotContain("secret");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"a", " a b ", "a|b@c", "\"quoted\" 'n' \\", "a/b/../c", "鐘", "🔔", "é", "%00"})
  void namesMayHoldAnyReadableText(String text) {
    assertThat(JOB.named(text).name()).isEqualTo(text);
    assertThat(JOB.key(text).key()).isEqualTo(text);
    assertThat(JOB.namespace(text).namespace()).isEqualTo(text);
    assertThat(JOB.queue(text).queue()).isEqualTo(text);
    assertThat(JOB.meta(text, text).metadata()).containsEntry(text, text);
  }

  @ParameterizedTest
  @ValueSource(strings = {"", " ", "\u2003", "a\0b", "a\rb", "\u0085", "\u007F", "\uDC00\uD800"})
  void blankControlAndMalformedNamesAreRefused(String text) {
    refused(() -> JOB.named(text)).withMessageStartingWith("name: ");
    refused(() -> JOB.key(text)).withMessageStartingWith("key: ");
    refused(() -> JOB.namespace(text)).withMessageStartingWith("namespace: ");
    refused(() -> JOB.queue(text)).withMessageStartingWith("queue: ");
    refused(() -> JOB.meta(text, "v")).withMessageStartingWith("metadata key: ");
  }

  @Test
  void nullsAreRefusedByName() {
    refused(() -> JOB.at(null)).withMessage("due: null (expected: not null)");
    refused(() -> JOB.in(null)).withMessage("delay: null (expected: not null)");
    refused(() -> JOB.named(null)).withMessage("name: null (expected: not null)");
    refused(() -> JOB.ifExists(null)).withMessage("ifExists: null (expected: not null)");
    refused(() -> JOB.key(null)).withMessage("key: null (expected: not null)");
    refused(() -> JOB.namespace(null)).withMessage("namespace: null (expected: not null)");
    refused(() -> JOB.queue(null)).withMessage("queue: null (expected: not null)");
    refused(() -> JOB.meta(null, "v")).withMessage("metadata key: null (expected: not null)");
    refused(() -> JOB.meta("k", null)).withMessage("metadata value: null (expected: not null)");
    refused(() -> JOB.metadata(null)).withMessage("metadata: null (expected: not null)");
    refused(() -> JOB.timeout(null)).withMessage("timeout: null (expected: not null)");
    refused(() -> JOB.deadline(null)).withMessage("deadline: null (expected: not null)");
  }

  @Test
  void nullsInsideMetadataAreRefused() {
    var nullKey = new HashMap<String, String>();
    nullKey.put(null, "v");
    var nullValue = new HashMap<String, String>();
    nullValue.put("k", null);

    refused(() -> JOB.metadata(nullKey)).withMessageStartingWith("metadata key: null");
    refused(() -> JOB.metadata(nullValue)).withMessageStartingWith("metadata value: null");
  }

  @Test
  void lengthsCountUtf8Bytes() {
    sizes(JOB::named, Limits.NAME_MAX_BYTES);
    sizes(JOB::key, Limits.KEY_MAX_BYTES);
    sizes(JOB::namespace, Limits.NAMESPACE_MAX_BYTES);
    sizes(JOB::queue, Limits.QUEUE_MAX_BYTES);
    sizes(text -> TaskType.of(text, Void.class).job(null), Limits.TYPE_MAX_BYTES);
  }

  private static void sizes(Function<String, Job<Void>> set, int maxBytes) {
    for (String letter : new String[] {"a", "é", "鐘", "🔔"}) {
      int bytes = letter.getBytes(StandardCharsets.UTF_8).length;
      String fits = letter.repeat(maxBytes / bytes) + "a".repeat(maxBytes % bytes);

      assertThat(set.apply(fits)).isNotNull();
      refused(() -> set.apply(fits + "a"))
          .withMessageContaining("at most %d UTF-8 bytes, is %d", maxBytes, maxBytes + 1);
    }
  }

  @Test
  void refusedTextIsShownEscapedAndCut() {
    refused(() -> JOB.named("a\n\"b\""))
        .withMessage("name: \"a\\u000A\\\"b\\\"\" (expected: no control characters)");
    refused(() -> JOB.named("x".repeat(1_000_000)))
        .satisfies(e -> assertThat(e.getMessage()).contains("x…\"").hasSizeLessThan(200));
  }

  @Test
  void dueTimesHaveARange() {
    assertThat(JOB.at(Limits.EARLIEST_DUE).at(Limits.LATEST_DUE)).isNotNull();
    refused(() -> JOB.at(Limits.EARLIEST_DUE.minusNanos(1))).withMessageStartingWith("due: 1969-");
    refused(() -> JOB.at(Limits.LATEST_DUE.plusNanos(1)))
        .withMessage(
            "due: 9999-12-31T23:59:59.000000001Z"
                + " (expected: 1970-01-01T00:00:00Z to 9999-12-31T23:59:59Z)");
    refused(() -> JOB.at(Instant.MAX));
    refused(() -> JOB.at(Instant.MIN));
  }

  @Test
  void delaysAreNotNegativeAndEndInRange() {
    refused(() -> JOB.in(Duration.ofNanos(-1))).withMessageStartingWith("delay: PT-0.000000001S");
    refused(() -> JOB.in(Duration.ofSeconds(Long.MAX_VALUE)));
    refused(() -> JOB.in(Duration.ofDays(365L * 8_030)).due().from(NOON))
        .withMessageStartingWith("due: ");
  }

  @Test
  void dueIsResolvedAgainstTheTimeOfAcceptance() {
    assertThat(new Due.Now().from(NOON)).isEqualTo(NOON);
    assertThat(new Due.At(Instant.EPOCH).from(NOON)).isEqualTo(Instant.EPOCH);
    assertThat(new Due.In(Duration.ofMinutes(10)).from(NOON)).isEqualTo(NOON.plusSeconds(600));
  }

  @Test
  void deadlinesHaveTheRangeOfDueTimes() {
    assertThat(JOB.deadline(Limits.LATEST_DUE).deadline()).isEqualTo(Limits.LATEST_DUE);
    refused(() -> JOB.deadline(Instant.MAX)).withMessageStartingWith("deadline: ");
    refused(() -> JOB.deadline(Instant.MIN)).withMessageStartingWith("deadline: ");
  }

  @Test
  void timeoutsHaveARange() {
    assertThat(JOB.timeout(Limits.TIMEOUT_MIN).timeout(Limits.TIMEOUT_MAX)).isNotNull();
    refused(() -> JOB.timeout(Duration.ZERO))
        .withMessage("timeout: PT0S (expected: PT0.001S to PT87672H)");
    refused(() -> JOB.timeout(Duration.ofSeconds(-1)));
    refused(() -> JOB.timeout(Limits.TIMEOUT_MAX.plusNanos(1)));
  }

  @Test
  void prioritiesHaveARange() {
    assertThat(JOB.priority(100).priority()).isEqualTo(100);
    refused(() -> JOB.priority(101)).withMessage("priority: 101 (expected: -100 to 100)");
    refused(() -> JOB.priority(Integer.MIN_VALUE));
  }

  @Test
  void metadataIsLimitedInEntriesAndBytes() {
    UnaryOperator<Job<Void>> fill =
        job -> {
          for (int i = 0; i < Limits.METADATA_MAX_ENTRIES; i++) {
            job = job.meta("k" + i, "v");
          }
          return job;
        };
    Job<Void> full = fill.apply(JOB);

    assertThat(full.meta("k0", "changed").metadata()).hasSize(64).containsEntry("k0", "changed");
    refused(() -> full.meta("one more", "v"))
        .withMessage("metadata entries: 65 (expected: at most 64)");
    assertThat(JOB.meta("k", "v".repeat(Limits.METADATA_MAX_BYTES - 1))).isNotNull();
    refused(() -> JOB.meta("k", "v".repeat(Limits.METADATA_MAX_BYTES)))
        .withMessage("metadata bytes: 16385 (expected: at most 16384)");
    refused(() -> JOB.meta("k", "\uD83D")).withMessageStartingWith("metadata value: ");
    assertThat(JOB.meta("k", "two\nlines").metadata()).containsEntry("k", "two\nlines");
  }

  private static ThrowableAssertAlternative<InvalidJobException> refused(ThrowingCallable call) {
    return assertThatExceptionOfType(InvalidJobException.class)
        .isThrownBy(call)
        .withMessageMatching("(?s).+: .+ \\(expected: .+\\)");
  }
}
