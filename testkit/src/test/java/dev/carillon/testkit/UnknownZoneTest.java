package dev.carillon.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.carillon.api.BlockReason;
import dev.carillon.api.FailurePolicy;
import dev.carillon.api.JobId;
import dev.carillon.api.JobInfo;
import dev.carillon.api.JobQuery;
import dev.carillon.api.JobState;
import dev.carillon.api.TaskType;
import dev.carillon.api.error.CarillonException;
import dev.carillon.api.schedule.Overlap;
import dev.carillon.api.schedule.Schedule;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.zone.ZoneRules;
import java.time.zone.ZoneRulesException;
import java.time.zone.ZoneRulesProvider;
import java.util.List;
import java.util.NavigableMap;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A job in a time zone that the JVM of another day does not know. */
@Timeout(60)
class UnknownZoneTest {
  private static final TaskType<String> NOTE = TaskType.of("note", String.class);
  private static final Instant START = Instant.parse("2026-03-01T00:00:00Z");
  private static final Duration HOUR = Duration.ofHours(1);
  private static final String ZONE = "Carillon/Somewhere";
  private static volatile boolean known = true;

  private final CarillonTest world = CarillonTest.at(START);
  private final List<String> starts = new CopyOnWriteArrayList<>();

  /** Knows the zone, or as well as does not. */
  private static final class Somewhere extends ZoneRulesProvider {
    @Override
    protected Set<String> provideZoneIds() {
      return Set.of(ZONE);
    }

    @Override
    protected ZoneRules provideRules(String zoneId, boolean forCaching) {
      if (!known) {
        throw new ZoneRulesException("Unknown time-zone ID: " + zoneId);
      }
      return ZoneRules.of(ZoneOffset.ofHours(1));
    }

    @Override
    protected NavigableMap<String, ZoneRules> provideVersions(String zoneId) {
      return new TreeMap<>();
    }
  }

  @BeforeAll
  static void provideTheZone() {
    ZoneRulesProvider.registerProvider(new Somewhere());
  }

  @AfterEach
  void close() {
    known = true;
    world.close();
  }

  private void restart(boolean zoneKnown) {
    known = zoneKnown;
    world.restart();
    world.carillon().handle(NOTE, (text, job) -> starts.add(text));
  }

  private static Schedule hourly() {
    return Schedule.cron("0 * * * *", ZONE);
  }

  private JobInfo info(JobId id) {
    return world.carillon().get(id).orElseThrow();
  }

  private void assertBlockedForItsZone(JobId id) {
    JobInfo info = info(id);
    assertThat(info.state()).isEqualTo(JobState.BLOCKED);
    assertThat(info.blockReason()).isEqualTo(BlockReason.UNDECODABLE);
    assertThat(Objects.requireNonNull(info.lastError()).message()).contains(ZONE);
    assertThat(info.attempt()).isZero();
  }

  @ParameterizedTest
  @EnumSource(names = {"SKIP", "ALLOW"})
  void recurringJobIsBlockedVisiblyAndGoesOnWhereItsZoneIsKnown(Overlap overlap) {
    JobId id = world.carillon().schedule(NOTE.job("x").on(hourly().overlap(overlap))).id();
    restart(false);
    JobId other = world.carillon().schedule(NOTE.job("other").in(HOUR)).id();
    world.advance(HOUR);
    assertBlockedForItsZone(id);
    assertThat(world.carillon().list(JobQuery.all().states(JobState.BLOCKED)).items())
        .extracting(JobInfo::id)
        .containsExactly(id);
    assertThat(info(other).state()).isEqualTo(JobState.SUCCEEDED);
    assertThat(world.carillon().history(id)).isPresent();
    assertThatThrownBy(() -> world.carillon().trigger(id))
        .isInstanceOf(CarillonException.class)
        .hasMessageContaining(ZONE);
    assertThat(starts).containsExactly("other");

    restart(true);
    world.settle();
    assertThat(starts).containsExactly("other", "x");
    world.advance(HOUR);
    assertThat(starts).containsExactly("other", "x", "x");
  }

  @Test
  void jobWithSuchAPolicyIsBlockedAndGoesOnWhenItsHandlerComesAgain() {
    FailurePolicy policy = FailurePolicy.cron(hourly(), 3);
    JobId id = world.carillon().schedule(NOTE.job("x").in(HOUR).onFailure(policy)).id();
    restart(false);
    world.advance(HOUR);
    assertBlockedForItsZone(id);

    restart(true);
    world.settle();
    assertThat(starts).containsExactly("x");
    assertThat(info(id).state()).isEqualTo(JobState.SUCCEEDED);
  }

  @Test
  void anotherScheduleHelps() {
    JobId id = world.carillon().schedule(NOTE.job("x").on(hourly())).id();
    restart(false);
    world.advance(HOUR);
    assertBlockedForItsZone(id);
    world.carillon().reschedule(id, Schedule.every(HOUR));
    world.advance(HOUR);
    assertThat(starts).containsExactly("x");
  }
}
