package dev.carillon.simulator;

import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.carillon.api.schedule.Overlap;
import dev.carillon.api.schedule.Schedule;
import dev.carillon.simulator.UserOperations.Kind;
import dev.carillon.store.ShardId;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

/** Occurrences beyond a schedule that has a time each second. */
class RecurrenceJudgeTest {
  private static final long SECOND = 1_000_000;
  private static final long NOW = 100 * SECOND;

  private final ModelJob job = recurring(Schedule.every(Duration.ofSeconds(1)));

  @Test
  void oneThatIsDueNowMayBeAllOfABackfill() {
    backfill(NOW - SECOND / 2, NOW);
    written(NOW);
    assertNobodyAsksFor(NOW);
  }

  @Test
  void oneThatIsDueNowMayBeATrigger() {
    ask(Kind.TRIGGER, null);
    written(NOW);
    assertNobodyAsksFor(NOW);
  }

  @Test
  void backfillMayBeginNow() {
    backfill(NOW, NOW + SECOND);
    written(NOW, NOW + SECOND);
  }

  @Test
  void triggerAndABackfillHaveOneEach() {
    backfill(NOW, NOW);
    ask(Kind.TRIGGER, null);
    written(NOW);
    written(NOW);
    assertNobodyAsksFor(NOW);
  }

  @Test
  void backfillHasAllTimesOfItsRange() {
    backfill(NOW - SECOND, NOW);
    assertNobodyAsksFor(NOW);
    assertNobodyAsksFor(NOW - SECOND);
    written(NOW - SECOND, NOW);
  }

  @Test
  void triggerHasNoOtherTimeThanNow() {
    ask(Kind.TRIGGER, null);
    assertNobodyAsksFor(NOW - SECOND);
  }

  @Test
  void otherChangesAskForNone() {
    ask(Kind.DISCARD, null);
    ask(Kind.RESUME, null);
    assertNobodyAsksFor(NOW);
  }

  @Test
  void oneThatIsDueNowIsNotOfABackfillThatWasRefused() {
    backfill(NOW, NOW).told = Control.Told.NOT_DONE;
    assertNobodyAsksFor(NOW);
  }

  private void written(long... times) {
    assertThatCode(() -> RecurrenceJudge.adds(job, next(times))).doesNotThrowAnyException();
  }

  private void assertNobodyAsksFor(long... times) {
    assertThatThrownBy(() -> RecurrenceJudge.adds(job, next(times)))
        .isInstanceOf(Violation.class)
        .hasMessageContaining("nobody asks for");
  }

  private Control backfill(long from, long to) {
    return ask(Kind.BACKFILL, new ControlUsers.Range(from, to));
  }

  private Control ask(Kind kind, Object value) {
    Control control = new Control(kind, value);
    job.asked.add(control);
    return control;
  }

  private JournalFormat.Next next(long... times) {
    List<JournalFormat.Child> children =
        LongStream.of(times)
            .mapToObj(
                time ->
                    new JournalFormat.Child(
                        2,
                        Math.min(time, NOW),
                        new JournalFormat.Occurrence(job.number, 0, time, Overlap.ALLOW)))
            .toList();
    return new JournalFormat.Next(
        job.number, 0, 0, NOW, 0, null, null, null, children, null, false);
  }

  private static ModelJob recurring(Schedule schedule) {
    JournalFormat.More more =
        new JournalFormat.More(SECOND, schedule, null, null, null, List.of(), List.of());
    JournalFormat.Spec spec =
        new JournalFormat.Spec(
            SECOND,
            0,
            0,
            0,
            0,
            "type",
            "namespace",
            "queue",
            null,
            null,
            Map.of(),
            0,
            0,
            more,
            new byte[Long.BYTES],
            false);
    return new ModelJob(new ModelShard(null, 0, new ShardId(1, 1, 1), "node"), 1, spec, null);
  }
}
