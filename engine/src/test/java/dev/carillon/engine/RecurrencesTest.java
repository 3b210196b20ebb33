package dev.carillon.engine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.carillon.api.JobListener;
import dev.carillon.api.Metrics;
import dev.carillon.api.schedule.Misfire;
import dev.carillon.api.schedule.Overlap;
import dev.carillon.api.schedule.Schedule;
import dev.carillon.engine.attempt.Recurrences;
import dev.carillon.engine.attempt.Recurrences.Run;
import dev.carillon.engine.attempt.Recurrences.Step;
import dev.carillon.engine.environment.NodeEnvironment;
import dev.carillon.engine.format.ByteReader;
import dev.carillon.engine.format.ByteWriter;
import dev.carillon.engine.format.Micros;
import dev.carillon.engine.job.ScheduleState;
import dev.carillon.store.Store;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Objects;
import java.util.Random;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Where a recurring job goes from one occurrence. Times are seconds after 2026. */
class RecurrencesTest {
  private static final long ORIGIN = Micros.ceil(Instant.parse("2026-01-01T00:00:00Z"));
  private static final Schedule MINUTELY = Schedule.every(Duration.ofMinutes(1));

  private final Recurrences recurrences = new Recurrences(new Lots());

  private static long at(double seconds) {
    return ORIGIN + Math.round(seconds * 1e6);
  }

  private static double seconds(Step step) {
    return (move(step).timeMicros() - ORIGIN) / 1e6;
  }

  private static ScheduleState move(Step step) {
    return Objects.requireNonNull(step.move());
  }

  private static ScheduleState first(double seconds) {
    return new ScheduleState(at(seconds), 0, 0, Long.MIN_VALUE, 0);
  }

  /** As a restart finds it. */
  private static ScheduleState reread(ScheduleState move) {
    ByteWriter out = new ByteWriter(32);
    move.write(out);
    byte[] bytes = out.toBytes();
    return ScheduleState.read(new ByteReader(bytes));
  }

  private Step afterRun(Schedule schedule, ScheduleState move, double started, double ended) {
    return recurrences.afterRun(schedule, move, new Run(move.timeMicros(), at(started), at(ended)));
  }

  private Step afterSpawn(Schedule schedule, ScheduleState move, double started) {
    return recurrences.afterSpawn(
        schedule, move, new Run(move.timeMicros(), at(started), at(started)));
  }

  // ---- overlap

  @Test
  void skipPassesOverWhatWasDueMeanwhile() {
    assertThat(seconds(afterRun(MINUTELY, first(60), 60, 119))).isEqualTo(120);
    assertThat(seconds(afterRun(MINUTELY, first(60), 60, 120))).isEqualTo(180);
    assertThat(seconds(afterRun(MINUTELY, first(60), 60, 210))).isEqualTo(240);
  }

  @Test
  void bufferOneKeepsOneOfThoseThatWereDueMeanwhile() {
    Schedule schedule = MINUTELY.overlap(Overlap.BUFFER_ONE);
    assertThat(seconds(afterRun(schedule, first(60), 60, 110))).isEqualTo(120);
    Step buffered = afterRun(schedule, first(60), 60, 250);
    assertThat(seconds(buffered)).isEqualTo(120);
    Step after = afterRun(schedule, move(buffered), 250, 251);
    assertThat(seconds(after)).isEqualTo(300);
    assertThat(move(after).count()).isEqualTo(2);
  }

  @Test
  void bufferedOneThatRunsLongBuffersAgain() {
    Schedule schedule = MINUTELY.overlap(Overlap.BUFFER_ONE);
    Step buffered = afterRun(schedule, first(60), 60, 250);
    Step again = afterRun(schedule, move(buffered), 250, 400);
    assertThat(seconds(again)).isEqualTo(300);
  }

  // ---- misfire

  @Test
  void upToASecondIsNotLate() {
    assertThat(new Run(at(60), at(61), at(61)).late()).isFalse();
    assertThat(new Run(at(60), at(61.000001), at(62)).late()).isTrue();
  }

  @Test
  void missedOnesAreMadeUpForOneByOneAcrossRestarts() {
    Schedule schedule = MINUTELY.misfire(Misfire.runAll(100));
    ScheduleState move = first(60);
    for (int i = 2; i <= 4; i++) {
      move = reread(move(afterRun(schedule, move, 250 + i, 250 + i)));
      assertThat(move.timeMicros()).isEqualTo(at(60 * i));
      assertThat(move.count()).isEqualTo(i - 1);
      assertThat(move.madeUp()).isEqualTo(i - 1);
    }
    ScheduleState after = reread(move(afterRun(schedule, move, 255, 255)));
    assertThat(after).isEqualTo(new ScheduleState(at(300), 0, 4, Long.MIN_VALUE, 0));
  }

  @Test
  void capIsForEachOutage() {
    Schedule schedule = MINUTELY.misfire(Misfire.runAll(2));
    Step second = afterRun(schedule, first(60), 250, 250);
    assertThat(seconds(second)).isEqualTo(120);
    Step third = afterRun(schedule, reread(move(second)), 250, 250);
    assertThat(seconds(third)).isEqualTo(300);
    Step later = afterRun(schedule, reread(move(third)), 500, 500);
    assertThat(seconds(later)).isEqualTo(360);
    assertThat(move(later).madeUp()).isEqualTo(1);
    assertThat(seconds(afterRun(schedule, move(later), 500, 500))).isEqualTo(540);
  }

  @Test
  void spawnedOnesAreMadeUpForByTheirRule() {
    assertThat(seconds(afterSpawn(MINUTELY, first(60), 60))).isEqualTo(120);
    assertThat(seconds(afterSpawn(MINUTELY, first(60), 250))).isEqualTo(300);
    assertThat(seconds(afterSpawn(MINUTELY.misfire(Misfire.runAll(9)), first(60), 250)))
        .isEqualTo(120);
    assertThat(seconds(afterSpawn(MINUTELY.misfire(Misfire.runAll(1)), first(60), 250)))
        .isEqualTo(300);
    assertThat(seconds(afterSpawn(MINUTELY.misfire(Misfire.skip()), first(180), 235)))
        .isEqualTo(240);
  }

  // ---- grace

  static List<Misfire> misfires() {
    return List.of(Misfire.runOne(), Misfire.runAll(5), Misfire.skip());
  }

  @ParameterizedTest
  @MethodSource("misfires")
  void graceIsTheSameForEveryMisfireRule(Misfire misfire) {
    Schedule schedule = MINUTELY.misfire(misfire).grace(Duration.ofSeconds(10));
    assertThat(Recurrences.tooLate(schedule, at(60), at(70))).isFalse();
    assertThat(Recurrences.tooLate(schedule, at(60), at(70.000001))).isTrue();
    assertThat(seconds(recurrences.skipLate(schedule, first(60), at(210)))).isEqualTo(240);
    assertThat(seconds(recurrences.skipLate(schedule, first(60), at(190)))).isEqualTo(180);
    assertThat(seconds(recurrences.skipLate(schedule, first(60), at(190.000001)))).isEqualTo(240);
  }

  @Test
  void withoutAGraceOnlySkipHasOneOfAMinute() {
    Schedule skip = MINUTELY.misfire(Misfire.skip());
    assertThat(Recurrences.tooLate(skip, at(60), at(120))).isFalse();
    assertThat(Recurrences.tooLate(skip, at(60), at(120.000001))).isTrue();
    assertThat(Recurrences.tooLate(MINUTELY, at(60), at(1e8))).isFalse();
    assertThat(Recurrences.tooLate(MINUTELY.misfire(Misfire.runAll(1)), at(60), at(1e8))).isFalse();
  }

  @Test
  void whatIsTooLateDoesNotUseUpWhatIsMadeUpFor() {
    Schedule schedule = MINUTELY.misfire(Misfire.runAll(3)).grace(Duration.ofSeconds(90));
    Step skipped = recurrences.skipLate(schedule, first(60), at(250));
    assertThat(seconds(skipped)).isEqualTo(180);
    Step second = afterRun(schedule, reread(move(skipped)), 250, 250);
    assertThat(seconds(second)).isEqualTo(240);
    assertThat(seconds(afterRun(schedule, reread(move(second)), 250, 250))).isEqualTo(300);
  }

  @Test
  void fixedDelayThatIsTooLateGoesOnWithinItsGrace() {
    Schedule schedule = Schedule.afterEach(Duration.ofMinutes(1)).grace(Duration.ofSeconds(10));
    Step skipped = recurrences.skipLate(schedule, first(60), at(215));
    assertThat(seconds(skipped)).isBetween(205.0, 275.0);
    assertThat(move(skipped).count()).isZero();
    assertThat(seconds(afterRun(schedule, move(skipped), 300, 330))).isEqualTo(390);
  }

  // ---- how many, and the end

  @Test
  void skippedOnesAreNotCounted() {
    Schedule schedule = MINUTELY.times(2).grace(Duration.ofSeconds(10));
    ScheduleState skipped = move(recurrences.skipLate(schedule, first(60), at(210)));
    assertThat(skipped.count()).isZero();
    ScheduleState crowded = move(recurrences.skipOne(schedule, skipped, at(240)));
    assertThat(crowded.count()).isZero();
    ScheduleState one = move(afterRun(schedule, crowded, 300, 300));
    assertThat(one.count()).isEqualTo(1);
    assertThat(afterRun(schedule, one, 360, 360).over()).isTrue();
    assertThat(afterSpawn(schedule, one, 360).over()).isTrue();
  }

  @Test
  void nothingComesAfterTheEnd() {
    Schedule schedule = MINUTELY.until(Micros.toInstant(at(180))).grace(Duration.ofSeconds(10));
    assertThat(seconds(afterRun(schedule, first(60), 60, 130))).isEqualTo(180);
    assertThat(afterRun(schedule, first(60), 60, 180).over()).isTrue();
    assertThat(afterSpawn(schedule, first(180), 180).over()).isTrue();
    assertThat(recurrences.skipLate(schedule, first(60), at(191)).over()).isTrue();
    assertThat(recurrences.skipOne(schedule, first(180), at(180)).over()).isTrue();
  }

  @Test
  void anotherScheduleBeginsNowUnlessItHasHadItsTimes() {
    assertThat(seconds(recurrences.begin(MINUTELY.times(5), 4, at(10)))).isEqualTo(70);
    assertThat(recurrences.begin(MINUTELY.times(5), 5, at(10)).over()).isTrue();
    assertThat(recurrences.begin(MINUTELY.until(Micros.toInstant(at(60))), 0, at(10)).over())
        .isTrue();
  }

  @Test
  void jitterIsBesideTheTime() {
    Schedule schedule = MINUTELY.jitter(Duration.ofSeconds(30));
    for (int i = 0; i < 1000; i++) {
      Step step = afterRun(schedule, first(60), 60, 60);
      assertThat(seconds(step)).isEqualTo(120);
      assertThat(move(step).jitterMicros()).isBetween(0L, 30_000_000L);
      assertThat(step.dueMicros(0)).isEqualTo(at(120) + move(step).jitterMicros());
    }
  }

  /** An environment that has nothing but random numbers. */
  private static final class Lots implements NodeEnvironment {
    private final Random random = new Random(1);

    @Override
    public long random() {
      return random.nextLong();
    }

    @Override
    public String firstCopy() {
      throw new UnsupportedOperationException();
    }

    @Override
    public long wallMicros() {
      throw new UnsupportedOperationException();
    }

    @Override
    public long monotonicNanos() {
      throw new UnsupportedOperationException();
    }

    @Override
    public <T> void submit(Channel channel, Function<Store, T> work, Consumer<T> done) {
      throw new UnsupportedOperationException();
    }

    @Override
    public Metrics metrics() {
      throw new UnsupportedOperationException();
    }

    @Override
    public @Nullable JobListener listener() {
      throw new UnsupportedOperationException();
    }

    @Override
    public void report(String problem, @Nullable Throwable cause) {
      throw new UnsupportedOperationException();
    }
  }
}
