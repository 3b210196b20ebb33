package dev.carillon.api;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import dev.carillon.api.error.InvalidArgumentException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class JobQueryTest {

  private static final Instant NOON = Instant.parse("2026-03-29T12:00:00Z");

  @Test
  void allHasNoConditionsAndFiftyToAPage() {
    assertThat(JobQuery.all())
        .isEqualTo(
            new JobQuery(
                EnumSet.noneOf(JobState.class),
                null,
                null,
                null,
                null,
                null,
                null,
                Map.of(),
                null,
                null,
                null,
                false,
                50,
                Duration.ofSeconds(2),
                null));
  }

  @Test
  void everyConditionIsKeptByTheOnesAfterIt() {
    JobQuery query =
        JobQuery.all()
            .states(JobState.DEAD, JobState.READY, JobState.DEAD)
            .type("send")
            .namespace("acme")
            .queue("mail")
            .dueFrom(NOON)
            .dueTo(NOON.plusSeconds(1))
            .namePrefix("order-")
            .meta("region", "eu")
            .meta("size", "big")
            .endedFrom(NOON)
            .endedTo(NOON.plusSeconds(2))
            .occurrencesOf(new JobId("j1"))
            .newestFirst()
            .limit(1_000)
            .within(Duration.ofMillis(300))
            .cursor("c");

    assertThat(query)
        .isEqualTo(
            new JobQuery(
                EnumSet.of(JobState.READY, JobState.DEAD),
                "send",
                "acme",
                "mail",
                NOON,
                NOON.plusSeconds(1),
                "order-",
                Map.of("region", "eu", "size", "big"),
                NOON,
                NOON.plusSeconds(2),
                new JobId("j1"),
                true,
                1_000,
                Duration.ofMillis(300),
                "c"));
    assertThat(query.cursor(null).cursor()).isNull();
    assertThat(query.states(List.of()).states()).isEmpty();
  }

  @Test
  void statesAreCopied() {
    var states = EnumSet.of(JobState.DEAD);
    JobQuery query = JobQuery.all().states(states);
    states.clear();

    assertThat(query.states()).containsExactly(JobState.DEAD);
    assertThatExceptionOfType(UnsupportedOperationException.class)
        .isThrownBy(() -> query.states().clear());
  }

  @ParameterizedTest
  @ValueSource(ints = {-1, 0, 1_001})
  void limitOutOfRangeIsRefused(int limit) {
    assertThatExceptionOfType(InvalidArgumentException.class)
        .isThrownBy(() -> JobQuery.all().limit(limit))
        .withMessage("limit: " + limit + " (expected: 1 to 1000)");
  }

  @Test
  void reversedRangeOfEndsIsRefused() {
    JobQuery query = JobQuery.all().endedTo(NOON);

    assertThatExceptionOfType(InvalidArgumentException.class)
        .isThrownBy(() -> query.endedFrom(NOON.plusSeconds(1)))
        .withMessage("endedFrom: 2026-03-29T12:00:01Z (expected: not after endedTo, " + NOON + ")");
  }

  @Test
  void reversedDueRangeIsRefused() {
    JobQuery query = JobQuery.all().dueTo(NOON);

    assertThat(query.dueFrom(NOON).dueFrom()).isEqualTo(NOON);
    assertThatExceptionOfType(InvalidArgumentException.class)
        .isThrownBy(() -> query.dueFrom(NOON.plusNanos(1)))
        .withMessageContaining("(expected: not after dueTo, 2026-03-29T12:00:00Z)");
  }

  @Test
  void nullConditionsAreRefused() {
    assertThatExceptionOfType(InvalidArgumentException.class)
        .isThrownBy(() -> JobQuery.all().type(null));
    assertThatExceptionOfType(InvalidArgumentException.class)
        .isThrownBy(() -> JobQuery.all().states((JobState) null));
  }

  @Test
  void pageCopiesItsItems() {
    var items = new ArrayList<>(List.of("a"));
    var page = new Page<>(items, "next", List.of());
    items.clear();

    assertThat(page.items()).containsExactly("a");
  }
}
