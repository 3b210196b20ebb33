package dev.carillon.engine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.carillon.api.JobId;
import dev.carillon.api.JobInfo;
import dev.carillon.api.JobState;
import dev.carillon.engine.format.Micros;
import dev.carillon.engine.job.JobRef;
import dev.carillon.engine.life.LivePhases;
import dev.carillon.engine.message.RunningJob;
import dev.carillon.engine.query.JobReader;
import dev.carillon.engine.request.Questions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** What nodes tell each other from memory, in worlds that move together. */
class QuestionsTest {
  private static final Duration JOINED = Duration.ofSeconds(3);

  /** A store that does not carry notifications is polled. */
  private static final Duration PATIENCE = Duration.ofMillis(700);

  private static final Duration ANSWERED = PATIENCE.plusMillis(100);

  private final StillFleet fleet = new StillFleet(Duration.ofMillis(50));
  private final List<Questions.Answers<Questions.Running>> heard = new ArrayList<>();

  private Questions.Answers<Questions.Running> running(
      StillWorld asked, @Nullable String namespace, int most) {
    heard.clear();
    asked.node().questions().running(namespace, most, PATIENCE.toNanos(), heard::add);
    fleet.pass(ANSWERED);
    assertThat(heard).hasSize(1);
    return heard.getFirst();
  }

  private static List<JobId> ids(Questions.Running told) {
    return told.jobs().stream().map(RunningJob::id).toList();
  }

  private static JobRef addDueNow(StillWorld world) {
    return world.add(world.spec(world.nowMicros(), 0, 0, new byte[0]));
  }

  @Test
  void everyNodeTellsWhatRunsOnAll() {
    StillWorld a = fleet.node("a");
    StillWorld b = fleet.node("b");
    StillWorld client = fleet.client("client");
    fleet.pass(JOINED);
    JobRef first = addDueNow(a);
    JobRef second = addDueNow(b);
    b.add(b.spec(b.nowMicros() + Micros.ceil(Duration.ofHours(1)), 0, 0, new byte[0]));
    fleet.pass(Duration.ofMillis(100));
    for (StillWorld asked : List.of(a, b, client)) {
      Questions.Answers<Questions.Running> answers = running(asked, null, 10);
      assertThat(answers.silent()).isEmpty();
      assertThat(answers.of()).containsOnlyKeys("a", "b");
      assertThat(ids(answers.of().get("a"))).containsExactly(first.id());
      assertThat(ids(answers.of().get("b"))).containsExactly(second.id());
    }
    assertThat(running(a, "elsewhere", 10).of().values()).allMatch(told -> told.all() == 0);
    assertThat(fleet.work(Duration.ofMillis(100))).isEqualTo(2);
    assertThat(running(a, null, 10).of().values()).allMatch(told -> told.jobs().isEmpty());
  }

  @Test
  void lentAttemptIsToldByTheNodeThatRunsIt() {
    StillWorld owner = fleet.node(1, "owner", false);
    fleet.node(4, "helper", true);
    fleet.pass(JOINED);
    JobRef job = addDueNow(owner);
    fleet.pass(Duration.ofSeconds(1));
    Questions.Answers<Questions.Running> answers = running(owner, null, 10);
    assertThat(ids(answers.of().get("owner"))).isEmpty();
    assertThat(ids(answers.of().get("helper"))).containsExactly(job.id());
  }

  @Test
  void longListIsCutAndCounted() {
    StillWorld a = fleet.node("a");
    StillWorld b = fleet.node("b");
    fleet.pass(JOINED);
    List<JobRef> jobs = List.of(addDueNow(a), addDueNow(a), addDueNow(a));
    fleet.pass(Duration.ofMillis(100));
    Questions.Running told = running(b, null, 2).of().get("a");
    assertThat(told.all()).isEqualTo(3);
    assertThat(told.jobs()).hasSize(2);
    assertThat(jobs.stream().map(JobRef::id)).containsAll(ids(told));
  }

  @Test
  void nodeThatGivesNoAnswerIsNamed() {
    StillWorld a = fleet.node("a");
    StillWorld b = fleet.node("b");
    fleet.node("c");
    fleet.pass(JOINED);
    fleet.pause(b);
    Questions.Answers<Questions.Running> answers = running(a, null, 10);
    assertThat(answers.of()).containsOnlyKeys("a", "c");
    assertThat(answers.silent()).containsExactly("b");
    fleet.resume(b); // what it answers now is late, and counts for no other question
    assertThat(running(a, null, 10).of()).containsOnlyKeys("a", "b", "c");
  }

  @Test
  void questionsBeyondTheLimitAreAnsweredWithoutTheOthers() {
    StillWorld a = fleet.node("a");
    fleet.node("b");
    fleet.pass(JOINED);
    for (int i = 0; i < 1_001; i++) {
      a.node().questions().running(null, 1, PATIENCE.toNanos(), heard::add);
    }
    assertThat(heard).singleElement().satisfies(it -> assertThat(it.silent()).containsExactly("b"));
    fleet.pass(ANSWERED);
    assertThat(heard).hasSize(1_001);
  }

  @Test
  void jobOfAnotherNodeStandsAsItsOwnerSays() {
    StillWorld a = fleet.node("a");
    StillWorld b = fleet.node("b");
    fleet.pass(JOINED);
    JobRef job = addDueNow(a);
    fleet.pass(Duration.ofMillis(100));
    long owner = fleet.store().journals().head(job.shard()).orThrow().owner();
    JobInfo read = new JobReader(fleet.store()).find(job).orThrow().orElseThrow().view().info();
    assertThat(read.state()).isEqualTo(JobState.SCHEDULED);
    for (long number : new long[] {0, job.number()}) {
      List<@Nullable LivePhases> phases = new ArrayList<>();
      b.node().questions().phases(job.shard(), owner, number, PATIENCE.toNanos(), phases::add);
      fleet.pass(ANSWERED);
      assertThat(phases).hasSize(1);
      JobInfo seen = phases.getFirst().complete(job, read);
      assertThat(seen.state()).isEqualTo(JobState.RUNNING);
      assertThat(seen.attempt()).isEqualTo(1);
    }
    List<@Nullable LivePhases> nobody = new ArrayList<>();
    b.node().questions().phases(job.shard(), 77, 0, PATIENCE.toNanos(), nobody::add);
    assertThat(nobody).containsExactly((LivePhases) null);
  }
}
