package dev.carillon.engine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.carillon.api.Concurrency;
import dev.carillon.api.Rate;
import dev.carillon.api.WaitReason;
import dev.carillon.engine.environment.NodeEnvironment;
import dev.carillon.engine.environment.NodeOptions;
import dev.carillon.engine.format.Micros;
import dev.carillon.engine.job.FlowSetting;
import dev.carillon.engine.job.FlowSubject;
import dev.carillon.engine.job.JobRef;
import dev.carillon.engine.job.JobSpec;
import dev.carillon.engine.job.Why;
import dev.carillon.engine.message.Hindrance;
import dev.carillon.engine.message.JobStand;
import dev.carillon.engine.message.Question;
import dev.carillon.store.MemoryStore;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;

/** Each thing that keeps a job from starting, alone and in pairs, in worlds moved by hand. */
class HindrancesTest {
  private static final FlowSubject QUEUE =
      new FlowSubject(FlowSubject.Scope.QUEUE, JobSpec.DEFAULT);
  private static final FlowSubject NAMESPACE =
      new FlowSubject(FlowSubject.Scope.NAMESPACE, JobSpec.DEFAULT);
  private static final Duration JOINED = Duration.ofSeconds(3);
  private static final long PATIENCE_NANOS = 700_000_000;

  private StillWorld world = world(64);

  private static StillWorld world(int slots) {
    NodeOptions all = NodeOptions.of("node", 1);
    StillWorld made =
        new StillWorld(
            new NodeOptions(
                all.nodeId(),
                all.incarnation(),
                slots,
                Duration.ZERO,
                all.loadHorizon(),
                all.overdueAfter(),
                all.aloneTime(),
                all.successRetention(),
                all.failureRetention(),
                all.deadRetention(),
                all.keyRetention(),
                all.maxQueued(),
                all.maxQueuedBytes(),
                all.maxShardJobs(),
                all.maxShardBytes(),
                all.bodyBudgetBytes(),
                all.failurePolicy(),
                all.packFromJobs(),
                all.historyBytes(),
                all.indexedMetadata(),
                all.historyLimit(),
                all.membership()),
            new MemoryStore());
    made.settle();
    return made;
  }

  // ---- asking

  private JobStand stand(StillWorld asked, JobRef job, String type) {
    List<JobStand> answers = new ArrayList<>();
    asked
        .node()
        .questions()
        .why(
            new Question.Why(job, type, JobSpec.DEFAULT, JobSpec.DEFAULT),
            0,
            PATIENCE_NANOS,
            answers::add);
    assertThat(answers).hasSize(1);
    JobStand stand = answers.getFirst();
    assertThat(JobStand.decode(stand.encode())).isEqualTo(stand);
    return stand;
  }

  private List<Hindrance> found(JobRef job) {
    return stand(world, job, StillWorld.TYPE).hindrances();
  }

  private List<WaitReason> reasons(JobRef job) {
    return found(job).stream().map(Hindrance::reason).toList();
  }

  private Hindrance only(JobRef job, WaitReason reason) {
    List<Hindrance> all = found(job);
    assertThat(all).extracting(Hindrance::reason).containsExactly(reason);
    assertThat(all.getFirst().detail()).isNotEmpty();
    assertThat(all.getFirst().ends()).isNotEmpty();
    return all.getFirst();
  }

  private boolean runs(JobRef job) {
    return stand(world, job, StillWorld.TYPE).run() != null;
  }

  private JobRef dueNow() {
    return world.add(world.spec(world.nowMicros(), 0, 0, new byte[0]));
  }

  private JobRef dueIn(Duration delay) {
    return world.add(world.spec(world.nowMicros() + Micros.ceil(delay), 0, 0, new byte[0]));
  }

  private void set(FlowSubject subject, UnaryOperator<FlowSetting> change) {
    world.node().changeFlow(subject, change, outcome -> assertThat(outcome.isOk()).isTrue());
    world.settle();
  }

  private void pause(JobRef job, String reason) {
    world.node().pause(job, new Why("ann", reason), outcome -> {});
    world.settle();
  }

  private void resume(JobRef job) {
    world.node().resume(job, "ann", outcome -> {});
    world.settle();
  }

  // ---- one by one

  @Test
  void runningJobSaysWhereAndSinceWhen() {
    JobRef job = dueNow();
    JobStand stand = stand(world, job, StillWorld.TYPE);
    assertThat(stand.known()).isEqualTo(JobStand.Known.HERE);
    assertThat(stand.run()).isEqualTo(new JobStand.Run("node", 1, world.nowMicros(), false));
    assertThat(stand.hindrances()).isEmpty();
    world.finishOne();
    assertThat(stand(world, job, StillWorld.TYPE).known()).isEqualTo(JobStand.Known.GONE);
  }

  @Test
  void jobThatIsNotDueSaysWhenItIs() {
    long due = world.nowMicros() + Micros.ceil(Duration.ofSeconds(30));
    JobRef job = dueIn(Duration.ofSeconds(30));
    Hindrance hindrance = only(job, WaitReason.NOT_DUE);
    assertThat(hindrance.untilMicros()).isEqualTo(due);
    assertThat(hindrance.facts()).containsEntry("cause", "time");
    world.pass(Duration.ofSeconds(30));
    world.settle();
    assertThat(runs(job)).isTrue();
  }

  @Test
  void retrySaysThatAnAttemptFailed() {
    JobRef job = dueNow();
    world.finishOne(
        new dev.carillon.engine.environment.AttemptOutcome.Failed(
            new dev.carillon.api.JobError("type", "message", ""),
            new dev.carillon.engine.environment.AttemptOutcome.Verdict.ByPolicy()));
    assertThat(only(job, WaitReason.NOT_DUE).facts())
        .containsEntry("cause", "retry")
        .containsEntry("attempts", "1");
  }

  @Test
  void pausedJobQueueAndNamespaceAreNamedWithTheirReasons() {
    JobRef job = dueIn(Duration.ofSeconds(1));
    pause(job, "stocktake");
    set(QUEUE, setting -> setting.paused("flood"));
    set(NAMESPACE, setting -> setting.paused("audit"));
    world.pass(Duration.ofSeconds(1));
    world.settle();
    List<Hindrance> all = found(job);
    assertThat(all).extracting(Hindrance::reason).containsOnly(WaitReason.PAUSED);
    assertThat(all)
        .extracting(each -> each.facts().get("scope") + " " + each.facts().get("reason"))
        .containsExactly("job stocktake", "namespace audit", "queue flood");
    set(NAMESPACE, setting -> setting.paused(null));
    set(QUEUE, setting -> setting.paused(null));
    assertThat(only(job, WaitReason.PAUSED).facts()).containsEntry("scope", "job");
    resume(job);
    assertThat(runs(job)).isTrue();
  }

  @Test
  void dependencyNamesTheJobsThatHaveNotEnded() {
    JobRef first = dueNow();
    JobRef job = world.add(world.after(first));
    assertThat(only(job, WaitReason.DEPENDENCY).facts())
        .containsEntry("jobs", first.id().value())
        .containsEntry("open", "1");
    world.finishOne();
    assertThat(runs(job)).isTrue();
  }

  @Test
  void missingHandlerIsNamedWithTheNearestNames() {
    JobRef job = world.add(world.ofType("noet", 0));
    Hindrance hindrance = stand(world, job, "noet").hindrances().getFirst();
    assertThat(hindrance.reason()).isEqualTo(WaitReason.NO_HANDLER);
    assertThat(hindrance.facts()).containsEntry("type", "noet");
    world.node().register("notes", Integer.MAX_VALUE, null);
    world.settle();
    JobRef near = world.add(world.ofType("nots", 0));
    assertThat(stand(world, near, "nots").hindrances().getFirst().facts())
        .containsEntry("near", "note notes");
    world.node().register("noet", Integer.MAX_VALUE, null);
    world.settle();
    assertThat(stand(world, job, "noet").run()).isNotNull();
  }

  @Test
  void handlerThatWentIsNamedWithItsTime() {
    world.node().unregister(StillWorld.TYPE);
    world.settle();
    JobRef job = dueNow();
    Hindrance hindrance = only(job, WaitReason.NO_HANDLER);
    assertThat(hindrance.detail()).contains("this one had until 2026-03-01T00:00:00Z");
    assertThat(hindrance.sinceMicros()).isEqualTo(world.nowMicros());
  }

  @Test
  void takenKeyNamesItsHoldersAndSinceWhen() {
    Concurrency key = Concurrency.of("k");
    JobRef holder = world.add(world.under(key));
    long since = world.nowMicros();
    world.pass(Duration.ofSeconds(1));
    JobRef job = world.add(world.under(key));
    Hindrance hindrance = only(job, WaitReason.KEY);
    assertThat(hindrance.facts())
        .containsEntry("key", "k")
        .containsEntry("holders", holder.id().value())
        .containsEntry("limit", "1");
    assertThat(hindrance.sinceMicros()).isEqualTo(since);
    world.finishOne();
    assertThat(runs(job)).isTrue();
  }

  @Test
  void limitsOfQueueNamespaceAndHandlerAreNamedWithWhatRuns() {
    set(QUEUE, setting -> setting.limit(1));
    dueNow();
    JobRef job = dueNow();
    assertThat(only(job, WaitReason.LIMIT).facts())
        .containsEntry("scope", "queue")
        .containsEntry("running", "1")
        .containsEntry("limit", "1");
    set(QUEUE, setting -> setting.limit(0));
    set(NAMESPACE, setting -> setting.limit(2));
    JobRef third = dueNow();
    assertThat(only(third, WaitReason.LIMIT).facts()).containsEntry("scope", "namespace");
    set(NAMESPACE, setting -> setting.limit(0));
    assertThat(runs(third)).isTrue();
  }

  @Test
  void limitOfAHandlerIsNamed() {
    world.node().register(StillWorld.TYPE, 1, null);
    world.settle();
    dueNow();
    JobRef job = dueNow();
    assertThat(only(job, WaitReason.LIMIT).facts()).containsEntry("scope", "handler");
    world.finishOne();
    assertThat(runs(job)).isTrue();
  }

  @Test
  void rateSaysWhenTheNextStartIsFree() {
    set(QUEUE, setting -> setting.rate(Rate.of(1, Duration.ofSeconds(10))));
    dueNow();
    JobRef job = dueNow();
    Hindrance hindrance = only(job, WaitReason.RATE);
    assertThat(hindrance.facts()).containsEntry("permits", "1").containsEntry("scope", "queue");
    assertThat(hindrance.untilMicros())
        .isEqualTo(world.nowMicros() + Micros.ceil(Duration.ofSeconds(10)));
    world.pass(Duration.ofSeconds(10));
    world.settle();
    assertThat(runs(job)).isTrue();
  }

  @Test
  void fullNodeNamesItsSlotsAndTheJobsBefore() {
    world = world(1);
    dueNow();
    JobRef second = dueNow();
    world.pass(Duration.ofMillis(5));
    JobRef third = dueNow();
    assertThat(only(second, WaitReason.SLOT).facts())
        .containsEntry("running", "1")
        .containsEntry("limit", "1");
    assertThat(reasons(third)).containsExactly(WaitReason.TURN, WaitReason.SLOT);
    assertThat(found(third).getFirst().facts()).containsEntry("before", "1");
    world.finishOne();
    assertThat(runs(second)).isTrue();
    assertThat(reasons(third)).containsExactly(WaitReason.SLOT);
    world.finishOne();
    assertThat(runs(third)).isTrue();
  }

  @Test
  void paceOfALineSaysAboutWhen() {
    world = world(1);
    List<JobRef> jobs = new ArrayList<>();
    for (int i = 0; i < 12; i++) {
      jobs.add(dueNow());
      world.pass(Duration.ofMillis(2));
    }
    JobRef last = jobs.getLast();
    found(last);
    for (int i = 0; i < 5; i++) {
      world.pass(Duration.ofSeconds(1));
      world.finishOne();
    }
    Hindrance turn = found(last).getFirst();
    assertThat(turn.facts()).containsEntry("before", "5").containsEntry("startsPerSecond", "1.0");
    assertThat(turn.untilMicros())
        .isBetween(world.nowMicros() + 4_900_000, world.nowMicros() + 5_100_000);
  }

  @Test
  void changeOnItsWayToTheStoreIsNamed() {
    JobRef job = dueIn(Duration.ofSeconds(10));
    world.hold(NodeEnvironment.Channel.COMMIT);
    world.node().pause(job, new Why("ann", ""), outcome -> {});
    world.settle();
    assertThat(reasons(job)).containsExactly(WaitReason.NOT_DUE, WaitReason.STORE);
    world.letGo();
    world.settle();
    assertThat(reasons(job)).containsExactly(WaitReason.NOT_DUE, WaitReason.PAUSED);
  }

  @Test
  void stoppingNodeIsNamed() {
    dueNow();
    world.node().beginStop();
    world.settle();
    JobRef job = dueNow();
    assertThat(reasons(job)).contains(WaitReason.NODE);
  }

  // ---- five pairs

  @Test
  void pausedQueueAndMissingHandlerAreBothNamedBeforeTheJobIsDue() {
    set(QUEUE, setting -> setting.paused("flood"));
    world.node().unregister(StillWorld.TYPE);
    JobRef job = dueIn(Duration.ofMinutes(5));
    assertThat(reasons(job))
        .containsExactly(WaitReason.NOT_DUE, WaitReason.PAUSED, WaitReason.NO_HANDLER);
  }

  @Test
  void takenKeyAndFullQueueAreBothNamed() {
    set(QUEUE, setting -> setting.limit(1));
    Concurrency key = Concurrency.of("k");
    world.add(world.under(key));
    JobRef job = world.add(world.under(key));
    assertThat(reasons(job)).containsExactly(WaitReason.KEY, WaitReason.LIMIT);
    world.finishOne();
    assertThat(runs(job)).isTrue();
  }

  @Test
  void limitAndRateAreBothNamed() {
    set(QUEUE, setting -> setting.limit(1).rate(Rate.of(1, Duration.ofSeconds(10))));
    dueNow();
    JobRef job = dueNow();
    assertThat(reasons(job)).containsExactly(WaitReason.LIMIT, WaitReason.RATE);
    world.finishOne();
    assertThat(reasons(job)).containsExactly(WaitReason.RATE);
  }

  @Test
  void dependencyAndPauseAreBothNamed() {
    JobRef first = dueNow();
    JobRef job = world.add(world.after(first));
    pause(job, "");
    assertThat(reasons(job)).containsExactly(WaitReason.PAUSED, WaitReason.DEPENDENCY);
    world.finishOne();
    assertThat(reasons(job)).containsExactly(WaitReason.PAUSED);
    resume(job);
    assertThat(runs(job)).isTrue();
  }

  @Test
  void fullNodeAndFullHandlerAreBothNamed() {
    world = world(1);
    world.node().register(StillWorld.TYPE, 1, null);
    world.settle();
    dueNow();
    JobRef job = dueNow();
    assertThat(reasons(job)).contains(WaitReason.LIMIT, WaitReason.SLOT);
    world.finishOne();
    assertThat(runs(job)).isTrue();
  }

  // ---- several nodes

  @Test
  void wrongClockIsNamed() {
    StillFleet fleet = new StillFleet(Duration.ofMillis(50));
    world = fleet.node("a");
    fleet.pass(JOINED);
    world.skew(Duration.ofSeconds(40));
    fleet.pass(JOINED);
    JobRef job = world.add(world.spec(world.nowMicros(), 0, 0, new byte[0]));
    Hindrance hindrance = found(job).getLast();
    assertThat(hindrance.reason()).isEqualTo(WaitReason.NODE);
    assertThat(hindrance.detail()).contains("ahead of the store's");
    world.skew(Duration.ZERO);
    fleet.pass(Duration.ofSeconds(45)); // by the right clock the job is due later
    assertThat(runs(job)).isTrue();
  }

  @Test
  void fencedNodeIsNamed() {
    StillFleet fleet = new StillFleet(Duration.ofMillis(50));
    world = fleet.node("a");
    fleet.pass(JOINED);
    world.hold(NodeEnvironment.Channel.HEARTBEAT);
    fleet.pass(JOINED);
    JobRef job = world.add(world.spec(world.nowMicros(), 0, 0, new byte[0]));
    assertThat(reasons(job)).contains(WaitReason.NODE);
    world.letGo();
    fleet.pass(JOINED);
    assertThat(runs(job)).isTrue();
  }

  @Test
  void ownerAnswersOverTheWireAndTheOthersSayThatTheyDoNotKnow() {
    StillFleet fleet = new StillFleet(Duration.ofMillis(50));
    StillWorld owner = fleet.node("owner");
    StillWorld other = fleet.node("other");
    fleet.pass(JOINED);
    JobRef job = owner.add(owner.spec(owner.nowMicros() + Micros.ceil(JOINED), 0, 0, new byte[0]));
    owner.node().pause(job, new Why("ann", "stocktake"), outcome -> {});
    fleet.pass(Duration.ofMillis(100));
    long incarnation = fleet.store().journals().head(job.shard()).orThrow().owner();
    List<JobStand> answers = new ArrayList<>();
    Question.Why question =
        new Question.Why(job, StillWorld.TYPE, JobSpec.DEFAULT, JobSpec.DEFAULT);
    other.node().questions().why(question, incarnation, PATIENCE_NANOS, answers::add);
    fleet.pass(Duration.ofMillis(800));
    assertThat(answers).singleElement().extracting(JobStand::known).isEqualTo(JobStand.Known.HERE);
    assertThat(answers.getFirst().hindrances())
        .extracting(Hindrance::reason)
        .containsExactly(WaitReason.NOT_DUE, WaitReason.PAUSED);
    answers.clear();
    other.node().questions().why(question, 77, PATIENCE_NANOS, answers::add);
    assertThat(answers).containsExactly((JobStand) null);
  }

  @Test
  void lentAttemptSaysWhichNodeRunsIt() {
    StillFleet fleet = new StillFleet(Duration.ofMillis(50));
    world = fleet.node(1, "owner", false);
    fleet.node(4, "helper", true);
    fleet.pass(JOINED);
    JobRef job = dueNow();
    fleet.pass(Duration.ofSeconds(1));
    JobStand.Run run = stand(world, job, StillWorld.TYPE).run();
    assertThat(run).isNotNull();
    assertThat(run.node()).isEqualTo("helper");
  }

  @Test
  void handlerOnAnotherNodeWithoutRoomIsNamed() {
    StillFleet fleet = new StillFleet(Duration.ofMillis(50));
    world = fleet.node(1, "owner", false);
    fleet.node(1, "helper", true);
    fleet.pass(JOINED);
    for (int i = 0; i < 20; i++) {
      dueNow();
    }
    JobRef job = dueNow();
    fleet.pass(JOINED);
    assertThat(reasons(job)).contains(WaitReason.SLOT);
    assertThat(found(job).getFirst().facts()).containsEntry("nodes", "helper");
  }

  @Test
  void lookChangesNothing() {
    world = world(1);
    set(QUEUE, setting -> setting.limit(3).rate(Rate.of(5, Duration.ofSeconds(1))));
    Concurrency key = Concurrency.of("k");
    world.add(world.under(key));
    JobRef waits = world.add(world.under(key));
    int reads = world.reads();
    int records = world.recordCalls();
    for (int i = 0; i < 100; i++) {
      found(waits);
    }
    world.settle();
    assertThat(world.reads()).isEqualTo(reads);
    assertThat(world.recordCalls()).isEqualTo(records);
    world.finishOne();
    world.pass(Duration.ofSeconds(1)); // its rate
    world.settle();
    assertThat(runs(waits)).isTrue();
  }
}
