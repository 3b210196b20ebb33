package dev.carillon.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import dev.carillon.api.DeadLetterGroup;
import dev.carillon.api.FailurePolicy;
import dev.carillon.api.JobId;
import dev.carillon.api.JobInfo;
import dev.carillon.api.JobQuery;
import dev.carillon.api.JobState;
import dev.carillon.api.Page;
import dev.carillon.api.TaskType;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Lists that are read for a limited time: short pages, of which none is left out. */
class ShortPagesTest {
  private static final TaskType<Integer> SEND = TaskType.of("send", Integer.class);
  private static final Instant START = Instant.parse("2026-03-01T00:10:00Z");
  private static final FailurePolicy ONCE = FailurePolicy.constant(Duration.ofSeconds(1), 0);
  private static final Duration NO_TIME = Duration.ofNanos(1);
  private static final int JOBS = 120;

  private final CarillonTest world = CarillonTest.at(START);

  @BeforeEach
  void fill() {
    world
        .carillon()
        .handle(
            SEND,
            (number, job) -> {
              if (number % 3 == 0) {
                throw new IllegalStateException(number % 2 == 0 ? "refused" : "no route");
              }
            });
    for (int i = 0; i < JOBS; i++) {
      world.carillon().schedule(SEND.job(i).in(Duration.ofMinutes(47L * i)).onFailure(ONCE));
    }
    world.advance(Duration.ofDays(4));
  }

  @AfterEach
  void close() {
    world.close();
  }

  private List<JobId> all(JobQuery query) {
    List<JobId> found = new ArrayList<>();
    String cursor = null;
    int pages = 0;
    do {
      Page<JobInfo> page = world.carillon().list(query.cursor(cursor));
      page.items().forEach(job -> found.add(job.id()));
      cursor = page.next();
      assertThat(++pages).isLessThan(10 * JOBS);
    } while (cursor != null);
    return found;
  }

  @Test
  void theNewestFirstAreTheSameJobsInTheSameOrder() {
    for (JobQuery query :
        List.of(
            JobQuery.all().newestFirst(),
            JobQuery.all().newestFirst().states(JobState.DEAD),
            JobQuery.all().newestFirst().type("nobody"))) {
      List<JobId> whole = all(query.limit(1_000));
      assertThat(all(query.limit(1_000).within(NO_TIME))).isEqualTo(whole);
      assertThat(all(query.limit(7).within(NO_TIME))).isEqualTo(whole);
    }
    assertThat(all(JobQuery.all().newestFirst())).hasSize(JOBS);
  }

  @Test
  void anyOthersAreTheSameJobsToo() {
    for (JobQuery query : List.of(JobQuery.all(), JobQuery.all().states(JobState.DEAD))) {
      assertThat(all(query.limit(7).within(NO_TIME))).isEqualTo(all(query.limit(1_000)));
    }
  }

  @Test
  void groupsOfShortPagesAreTogetherThoseOfAll() {
    List<DeadLetterGroup> whole = world.carillon().deadLetters().groups(JobQuery.all());

    Map<String, DeadLetterGroup> joined = new LinkedHashMap<>();
    String cursor = null;
    int pages = 0;
    Instant before = Instant.MAX;
    do {
      Page<DeadLetterGroup> page =
          world.carillon().deadLetters().groups(JobQuery.all().cursor(cursor), NO_TIME);
      for (DeadLetterGroup group : page.items()) {
        assertThat(group.latestAt()).as("what ended later was on the page before").isBefore(before);
        joined.merge(group.fingerprint(), group, DeadLetterGroup::and);
      }
      before =
          page.items().stream()
              .map(DeadLetterGroup::earliestAt)
              .min(Instant::compareTo)
              .orElse(before);
      cursor = page.next();
      assertThat(++pages).isLessThan(10 * JOBS);
    } while (cursor != null);

    assertThat(pages).isGreaterThan(3);
    assertThat(joined.values()).containsExactlyInAnyOrderElementsOf(whole);
  }

  @Test
  void groupsTellWhenTheirsEnded() {
    DeadLetterGroup refused =
        world.carillon().deadLetters().groups(JobQuery.all()).stream()
            .filter(group -> group.error().message().equals("refused"))
            .findFirst()
            .orElseThrow();

    assertThat(refused.count()).isEqualTo(JOBS / 6);
    assertThat(refused.earliestAt()).isBetween(START, START.plusSeconds(60));
    Instant last = START.plus(Duration.ofMinutes(47L * 114));
    assertThat(refused.latestAt()).isBetween(last, last.plusSeconds(60));
    assertThat(refused.byHour().values().stream().mapToLong(n -> n).sum()).isEqualTo(JOBS / 6);
    assertThat(refused.byHour().keySet())
        .allMatch(hour -> hour.truncatedTo(ChronoUnit.HOURS).equals(hour));
    assertThat(refused.byHour()).containsEntry(last.truncatedTo(ChronoUnit.HOURS), 1L);
  }
}
