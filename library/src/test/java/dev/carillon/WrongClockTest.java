package dev.carillon;

import static dev.carillon.Types.NOTE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.carillon.api.JobInfo;
import dev.carillon.store.MemoryStore;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A node whose wall clock is far from the store's. */
@Timeout(60)
class WrongClockTest {
  private static final Duration HOUR = Duration.ofHours(1);

  /** The clocks of this machine, the wall clock so many minutes ahead. */
  private record Ahead(long minutes) implements TimeSource {
    @Override
    public long wallMicros() {
      return TimeSource.system().wallMicros() + minutes * 60_000_000;
    }

    @Override
    public long monotonicNanos() {
      return TimeSource.system().monotonicNanos();
    }
  }

  @ParameterizedTest
  @ValueSource(longs = {35, -35})
  void stampsByTheStoresClock(long minutesAhead) {
    try (Carillon carillon =
        Carillon.builder()
            .store(new MemoryStore())
            .daemon(true)
            .advanced(
                a ->
                    a.timeSource(new Ahead(minutesAhead))
                        .memberTimeout(Duration.ofSeconds(2))
                        .clockLimit(Duration.ofSeconds(30)))
            .open()) {
      // It finds out with its first look at the other nodes.
      Awaitility.await()
          .untilAsserted(
              () ->
                  assertThat(carillon.schedule(NOTE.job("now")).info().scheduledAt())
                      .isCloseTo(Instant.now(), within(20, ChronoUnit.SECONDS)));

      Instant before = Instant.now();
      JobInfo later = carillon.schedule(NOTE.job("later").in(HOUR)).info();
      JobInfo now = carillon.schedule(NOTE.job("now")).info();
      Instant after = Instant.now();

      // Not by a microsecond early; the store's clock is read to the millisecond.
      assertThat(later.dueAt()).isAfterOrEqualTo(before.plus(HOUR).minusMillis(1));
      assertThat(later.dueAt()).isBefore(after.plus(HOUR).plusSeconds(10));
      assertThat(now.dueAt()).isBetween(before.minusMillis(1), after.plusSeconds(10));
    }
  }
}
