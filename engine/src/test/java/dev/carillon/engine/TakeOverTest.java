package dev.carillon.engine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.carillon.api.CancelResult;
import dev.carillon.api.ControlResult;
import dev.carillon.api.JobError;
import dev.carillon.api.JobId;
import dev.carillon.api.JobState;
import dev.carillon.engine.attempt.Attempt;
import dev.carillon.engine.environment.AttemptOutcome;
import dev.carillon.engine.environment.NodeEnvironment;
import dev.carillon.engine.format.Micros;
import dev.carillon.engine.job.JobRef;
import dev.carillon.engine.job.JobSpec;
import dev.carillon.engine.job.OptionalSpec;
import dev.carillon.store.Head;
import dev.carillon.store.Outcome;
import dev.carillon.store.Records;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** What a shard keeps when its owner dies or goes and another node has it. */
class TakeOverTest {
  private static final Duration STEP = Duration.ofMillis(100);
  private static final Duration SETTLED = Duration.ofSeconds(4);
  private static final int SHARDS = 8;

  private final StillFleet fleet = new StillFleet(STEP);
  private final StillWorld a = fleet.node("a");
  private final StillWorld b = fleet.node("b");

  private static JobSpec spec(StillWorld world, Duration delay, Map<String, String> metadata) {
    return new JobSpec(
        world.nowMicros() + Micros.ceil(delay),
        world.nowMicros(),
        0,
        Records.Stamp.ABSENT,
        StillWorld.TYPE,
        1,
        JobSpec.DEFAULT,
        JobSpec.DEFAULT,
        null,
        null,
        metadata,
        0,
        0,
        OptionalSpec.NONE,
        new byte[0]);
  }

  private static JobRef addDueIn(StillWorld world, Duration delay) {
    return world.add(spec(world, delay, Map.of()));
  }

  private Head headOf(JobRef job) {
    return fleet.store().journals().head(job.shard()).orThrow();
  }

  private static void retryIn(StillWorld world, Duration delay) {
    world.finishOne(
        new AttemptOutcome.Failed(
            new JobError("x", "fails", ""),
            new AttemptOutcome.Verdict.RetryAt(world.nowMicros() + Micros.ceil(delay))));
  }

  @Test
  void nodesThatScheduleForTheSameTimeHaveShardsOfTheirOwn() {
    fleet.pass(SETTLED);
    JobRef ofA = addDueIn(a, Duration.ofHours(5));
    JobRef ofB = addDueIn(b, Duration.ofHours(5));
    assertThat(ofB.shard().startSeconds()).isEqualTo(ofA.shard().startSeconds());
    assertThat(ofB.shard()).isNotEqualTo(ofA.shard());
    assertThat(headOf(ofA)).extracting(Head::home, Head::owner).containsExactly("a", 1L);
    assertThat(headOf(ofB)).extracting(Head::home, Head::owner).containsExactly("b", 2L);
    assertThat(addDueIn(a, Duration.ofHours(5)).shard()).isEqualTo(ofA.shard());
  }

  @Test
  void jobsOfADeadNodeStartInTheirOrder() {
    fleet.pass(SETTLED);
    int jobs = 20;
    SortedMap<Integer, JobId> byDue = new TreeMap<>();
    for (int i = 0; i < jobs; i++) {
      int place = i * 7 % jobs;
      byDue.put(place, addDueIn(a, Duration.ofSeconds(1).plusMillis(place)).id());
    }
    fleet.kill(a);
    fleet.pass(StillFleet.DEAD_WITHIN);
    assertThat(b.running()).extracting(Attempt::id).containsExactlyElementsOf(byDue.values());
  }

  @Test
  void metadataOfADeadNodesJobIsAsItWas() {
    Map<String, String> metadata = new LinkedHashMap<>();
    for (String text :
        List.of(
            "",
            " ",
            "a=b&c=d",
            "'; drop table journal; --",
            "\"{}[]\\%_",
            "line\nbreak\r\ttab\0",
            "\u001b[31m\u202e\ufeff",
            "e\u0301é",
            "שלום 東京",
            "🔔\udbff\udfff")) {
      metadata.put("key " + text, text);
    }
    fleet.pass(SETTLED);
    JobRef job = a.add(spec(a, Duration.ofSeconds(1), metadata));
    fleet.kill(a);
    fleet.pass(StillFleet.DEAD_WITHIN);
    assertThat(b.running()).hasSize(1);
    assertThat(b.running().getFirst().id()).isEqualTo(job.id());
    assertThat(b.running().getFirst().spec().metadata()).isEqualTo(metadata);
  }

  @Test
  void openAndSealedShardsOfADeadNodeAreBothTakenOver() {
    fleet.pass(SETTLED);
    JobRef retried = addDueIn(a, Duration.ZERO);
    fleet.pass(STEP);
    retryIn(a, Duration.ofHours(2));
    fleet.pass(Duration.ofHours(2).minusSeconds(10));
    JobRef fresh = addDueIn(a, Duration.ofSeconds(10));
    assertThat(headOf(retried).status()).isEqualTo(Head.Status.SEALED);
    assertThat(headOf(fresh).status()).isEqualTo(Head.Status.OPEN);
    fleet.kill(a);
    fleet.pass(Duration.ofSeconds(11));
    assertThat(b.running())
        .extracting(Attempt::id)
        .containsExactlyInAnyOrder(retried.id(), fresh.id());
  }

  @Test
  void cancelledJobOfADeadNodeNeverStarts() {
    fleet.pass(SETTLED);
    JobRef cancelled = addDueIn(a, Duration.ofSeconds(1));
    JobRef other = addDueIn(a, Duration.ofSeconds(1));
    List<Outcome<CancelResult>> answers = new ArrayList<>();
    a.cancel(cancelled, "not wanted", answers::add);
    a.settle();
    assertThat(answers).containsExactly(Outcome.ok(new CancelResult.Cancelled()));
    fleet.kill(a);
    fleet.pass(Duration.ofMinutes(1));
    assertThat(b.running()).extracting(Attempt::id).containsExactly(other.id());
    assertThat(fleet.stateOf(cancelled)).isEqualTo(JobState.CANCELLED);
  }

  @Test
  void jobCancelledWhileItRunsIsNotStartedAgainWhenItsNodeDies() {
    fleet.pass(SETTLED);
    JobRef cancelled = addDueIn(a, Duration.ZERO);
    JobRef other = addDueIn(a, Duration.ZERO);
    assertThat(a.running()).hasSize(2);
    List<Outcome<CancelResult>> answers = new ArrayList<>();
    a.cancel(cancelled, "not wanted", answers::add);
    a.settle();
    assertThat(answers).containsExactly(Outcome.ok(new CancelResult.Stopping()));
    fleet.kill(a);
    fleet.pass(Duration.ofMinutes(1));
    assertThat(b.running()).extracting(Attempt::id).containsExactly(other.id());
    assertThat(fleet.stateOf(cancelled)).isEqualTo(JobState.CANCELLED);
  }

  @Test
  void jobOfADeadNodeStartsAtTheTimeItWasMovedTo() {
    fleet.pass(SETTLED);
    JobRef later = addDueIn(a, Duration.ofSeconds(5));
    JobRef earlier = addDueIn(a, Duration.ofSeconds(40));
    List<Outcome<ControlResult>> answers = new ArrayList<>();
    a.reschedule(later, a.nowMicros() + Micros.ceil(Duration.ofSeconds(20)), answers::add);
    a.reschedule(earlier, a.nowMicros() + Micros.ceil(Duration.ofSeconds(8)), answers::add);
    a.settle();
    assertThat(answers).hasSize(2).containsOnly(Outcome.ok(ControlResult.DONE));
    fleet.kill(a);
    fleet.pass(Duration.ofSeconds(8).minus(STEP));
    assertThat(b.running()).isEmpty();
    fleet.pass(STEP.multipliedBy(2));
    assertThat(b.running()).extracting(Attempt::id).containsExactly(earlier.id());
    fleet.pass(Duration.ofSeconds(12));
    assertThat(b.running()).extracting(Attempt::id).containsExactly(earlier.id(), later.id());
    fleet.pass(Duration.ofMinutes(1));
    assertThat(b.running()).hasSize(2);
  }

  /** Jobs of a in shards that b has claimed since that: it reads the first, which takes a while. */
  private List<JobRef> readingSince(Consumer<StillWorld> blow) {
    fleet.pass(SETTLED);
    List<JobRef> jobs = new ArrayList<>();
    for (int i = 0; i < SHARDS; i++) {
      JobRef job = addDueIn(a, Duration.ofHours(3 + i));
      Duration delay = Duration.ofSeconds(30 + i);
      a.reschedule(job, a.nowMicros() + Micros.ceil(delay), outcome -> {});
      a.settle();
      jobs.add(job);
    }
    blow.accept(a);
    b.hold(NodeEnvironment.Channel.CONTROL); // until it has seen all of them
    fleet.pass(StillFleet.DEAD_WITHIN.plusSeconds(1));
    answerHeld();
    assertThat(jobs).extracting(job -> headOf(job).owner()).containsOnly(2L);
    return jobs;
  }

  /** What b has asked so far is answered; what it reads then is not. */
  private void answerHeld() {
    b.letGo();
    b.hold(NodeEnvironment.Channel.READ);
    b.settle();
  }

  @Test
  void shardThatSomebodyWaitsForIsReadNext() {
    List<JobRef> jobs = readingSince(fleet::kill);
    List<Outcome<CancelResult>> answers = new ArrayList<>();
    b.cancel(jobs.getLast(), "not wanted", answers::add);
    answerHeld();
    assertThat(answers).as("while the first is read").isEmpty();
    answerHeld();
    assertThat(answers).containsExactly(Outcome.ok(new CancelResult.Cancelled()));
  }

  @Test
  void shardsThatSomebodyWaitsForAreReadInTurnWithTheOthers() {
    List<JobRef> jobs = readingSince(fleet::kill);
    List<Outcome<CancelResult>> answers = new ArrayList<>();
    for (JobRef job : jobs.subList(SHARDS - 2, SHARDS)) {
      b.cancel(job, "not wanted", answers::add);
    }
    List<Integer> answered = new ArrayList<>();
    for (int read = 0; read < 4; read++) {
      answerHeld();
      answered.add(answers.size());
    }
    assertThat(answered).containsExactly(0, 1, 1, 2);
  }

  @Test
  void nodeThatStopsGivesBackUnreadWhatNobodyWaitsFor() {
    List<JobRef> jobs = readingSince(fleet::stop);
    JobRef first = jobs.removeFirst();
    b.node().beginStop();
    b.settle();
    assertThat(headOf(first).released()).as("it is being read").isFalse();
    assertThat(jobs).extracting(job -> headOf(job).released()).containsOnly(true);
    b.letGo();
    b.settle();
    assertThat(headOf(first).released()).isTrue();
    assertThat(b.node().quiet()).isTrue();
    fleet.kill(b);
    StillWorld c = fleet.node("c");
    fleet.pass(Duration.ofMinutes(1));
    assertThat(c.running()).hasSize(SHARDS);
  }

  /** Whoever follows the dead one convicts what killed it. */
  @Test
  void nodeThatStopsReadsTheShardsOfADeadOneFirst() {
    List<JobRef> jobs = readingSince(fleet::kill);
    b.node().beginStop();
    b.settle();
    assertThat(jobs).extracting(job -> headOf(job).released()).containsOnly(false);
    b.letGo();
    b.settle();
    assertThat(jobs).extracting(job -> headOf(job).released()).containsOnly(true);
    assertThat(b.node().quiet()).isTrue();
  }

  /** Time passes and handlers return, until that job runs somewhere; null where it does not. */
  private @Nullable StillWorld workUntilItRuns(JobRef job, List<StillWorld> nodes) {
    for (int step = 0; step < 600; step++) {
      fleet.pass(STEP);
      for (StillWorld node : nodes) {
        if (node.running().stream().anyMatch(attempt -> attempt.id().equals(job.id()))) {
          return node;
        }
        while (node.finishOne() != null) {
          // It was not the one.
        }
      }
    }
    return null;
  }

  @Test
  void jobThatKillsItsNodesIsConvictedAloneWithinFourCrashes() {
    fleet.pass(SETTLED);
    JobRef killer = addDueIn(a, Duration.ofSeconds(1));
    List<JobRef> others = new ArrayList<>();
    for (int i = 0; i < 10; i++) {
      others.add(addDueIn(a, Duration.ofSeconds(1 + 5 * i)));
    }
    assertThat(others).allMatch(other -> other.shard().equals(killer.shard()));
    List<StillWorld> nodes = new ArrayList<>(List.of(a, b));
    int crashes = 0;
    for (StillWorld victim = workUntilItRuns(killer, nodes);
        victim != null;
        victim = workUntilItRuns(killer, nodes)) {
      crashes++;
      fleet.kill(victim);
      nodes.remove(victim);
      nodes.add(fleet.node("after crash " + crashes));
    }
    assertThat(crashes).isBetween(2, 4);
    assertThat(fleet.stateOf(killer)).isEqualTo(JobState.DEAD);
    assertThat(others).allMatch(other -> fleet.stateOf(other) == JobState.SUCCEEDED);
  }
}
