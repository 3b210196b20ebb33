package dev.carillon.engine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.carillon.api.CancelResult;
import dev.carillon.api.ControlResult;
import dev.carillon.api.JobState;
import dev.carillon.api.schedule.Schedule;
import dev.carillon.engine.environment.Membership;
import dev.carillon.engine.environment.NodeEnvironment;
import dev.carillon.engine.environment.NodeOptions;
import dev.carillon.engine.format.Micros;
import dev.carillon.engine.job.FlowSetting;
import dev.carillon.engine.job.FlowSubject;
import dev.carillon.engine.job.JobRef;
import dev.carillon.engine.job.JobSpec;
import dev.carillon.engine.job.Names;
import dev.carillon.engine.job.OccurrencesAdded;
import dev.carillon.engine.member.ClusterFormat;
import dev.carillon.engine.member.Formats;
import dev.carillon.engine.query.JobReader;
import dev.carillon.store.Append;
import dev.carillon.store.Head;
import dev.carillon.store.MemoryStore;
import dev.carillon.store.Outcome;
import dev.carillon.store.Records.Stored;
import dev.carillon.store.RestorableStore;
import dev.carillon.store.ShardId;
import dev.carillon.store.Store;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Nodes under which the store goes back in time. */
class ExchangeTest {
  private static final Duration STEP = Duration.ofMillis(100);

  /** Whose clocks are not compared: the store has that of this machine. */
  private static final Membership MEMBERSHIP =
      new Membership(
          Duration.ofMillis(500),
          Duration.ofMillis(2500),
          Duration.ofMinutes(10),
          true,
          null,
          true,
          false);

  private static final FlowSubject QUEUE =
      new FlowSubject(FlowSubject.Scope.QUEUE, JobSpec.DEFAULT);

  private final RestorableStore store = new RestorableStore();
  private final StillWorld a = node("a", 1);
  private final StillWorld b = node("b", 2);
  private final List<StillWorld> worlds = new ArrayList<>(List.of(a, b));

  private StillWorld node(String id, long incarnation) {
    return node(id, incarnation, true);
  }

  private StillWorld node(String id, long incarnation, boolean handles) {
    NodeOptions options = NodeOptions.of(id, incarnation).among(MEMBERSHIP);
    StillWorld world = new StillWorld(options, store.open(), handles);
    world.settle();
    return world;
  }

  private void pass(Duration time) {
    for (Duration left = time; left.isPositive(); left = left.minus(STEP)) {
      for (StillWorld world : worlds) {
        world.pass(STEP);
        world.settle();
      }
    }
  }

  private static JobRef addDueIn(StillWorld world, Duration delay) {
    long due = world.nowMicros() + Micros.ceil(delay);
    return world.add(world.spec(due, 0, 0, new byte[0]));
  }

  private Head headOf(ShardId shard) {
    return store.now().journals().head(shard).orThrow();
  }

  private @Nullable JobState stateOf(JobRef job) {
    return new JobReader(store.now())
        .find(job)
        .orThrow()
        .map(story -> story.view().info().state())
        .orElse(null);
  }

  @Test
  void everyNodeReportsOnceThatTheStoreWentBackAndClaimsAnew() {
    pass(Duration.ofSeconds(3));
    JobRef kept = addDueIn(a, Duration.ofSeconds(30));
    MemoryStore backup = store.backup();
    JobRef lost = addDueIn(a, Duration.ofSeconds(31));
    assertThat(lost.shard()).isEqualTo(kept.shard());
    long epoch = headOf(kept.shard()).epoch();
    store.restore(backup);
    pass(Duration.ofSeconds(3));
    for (StillWorld world : List.of(a, b)) {
      assertThat(world.reports()).hasSize(1);
      assertThat(world.reports().getFirst())
          .startsWith("the store went back in time or was exchanged")
          .endsWith("acknowledged jobs may be lost");
    }
    assertThat(headOf(kept.shard()).epoch()).as("claimed anew").isEqualTo(epoch + 1);
    assertThat(headOf(kept.shard()).owner()).isEqualTo(1);
    pass(Duration.ofSeconds(30));
    assertThat(a.running()).hasSize(1);
    assertThat(a.running().getFirst().job().number).isEqualTo(kept.number());
    a.finishOne();
    assertThat(stateOf(kept)).isEqualTo(JobState.SUCCEEDED);
    assertThat(stateOf(lost)).isNull();
  }

  @Test
  void whatRanWhenTheStoreWentBackHasNoSay() {
    pass(Duration.ofSeconds(3));
    JobRef job = addDueIn(a, Duration.ofSeconds(1));
    MemoryStore backup = store.backup();
    pass(Duration.ofSeconds(1));
    assertThat(a.running()).hasSize(1);
    store.restore(backup);
    pass(STEP.multipliedBy(6));
    a.finishOne(); // of the copy before
    assertThat(stateOf(job)).isNotEqualTo(JobState.SUCCEEDED);
    pass(Duration.ofSeconds(3));
    assertThat(a.running()).as("it is started again").hasSize(1);
    a.finishOne();
    assertThat(stateOf(job)).isEqualTo(JobState.SUCCEEDED);
  }

  @Test
  void whatWasLentByTheCopyBeforeIsNotHeardAgain() {
    StillWorld c = node("c", 3, false);
    worlds.add(c);
    pass(Duration.ofSeconds(3));
    a.hold(NodeEnvironment.Channel.RECORDS);
    b.hold(NodeEnvironment.Channel.RECORDS);
    JobRef job = addDueIn(c, Duration.ZERO);
    pass(STEP);
    MemoryStore backup = store.backup(); // with the loan, that lies there for one of them
    a.letGo();
    b.letGo();
    pass(Duration.ofSeconds(1));
    StillWorld borrower = a.running().isEmpty() ? b : a;
    assertThat(borrower.finishOne()).isNotNull();
    pass(Duration.ofSeconds(1));
    assertThat(stateOf(job)).isEqualTo(JobState.SUCCEEDED);
    store.restore(backup);
    worlds.remove(c); // it does not notice yet
    pass(Duration.ofSeconds(2));
    assertThat(a.running()).isEmpty();
    assertThat(b.running()).isEmpty();
    c.pass(Duration.ofSeconds(2));
    worlds.add(c);
    pass(Duration.ofSeconds(5));
    assertThat(a.running().size() + b.running().size()).as("lent since then").isEqualTo(1);
  }

  @Test
  void nothingOfTheOtherCopyIsWrittenWhateverItsAnswersSay() {
    pass(Duration.ofSeconds(3));
    JobRef job = addDueIn(a, Duration.ofSeconds(2));
    MemoryStore backup = store.backup();
    a.hold(NodeEnvironment.Channel.COMMIT);
    pass(Duration.ofSeconds(2));
    assertThat(a.running()).hasSize(1);
    a.finishOne(); // its end is on its way and stays there
    store.restore(backup);
    pass(Duration.ofSeconds(1));
    assertThat(a.reports()).hasSize(1);
    Head head = headOf(job.shard());
    a.letGo();
    a.settle();
    assertThat(tail(job.shard())).isEqualTo(tailIn(backup, job.shard()));
    assertThat(headOf(job.shard()).epoch()).isGreaterThanOrEqualTo(head.epoch());
    pass(Duration.ofSeconds(3));
    assertThat(a.running()).hasSize(1);
  }

  private long tail(ShardId shard) {
    return tailIn(store.now(), shard);
  }

  private static long tailIn(Store store, ShardId shard) {
    return store.journals().read(shard, 1, 1, 1 << 20).orThrow().entries().size();
  }

  @Test
  void shardThatMovedMeanwhileHasOneOwner() {
    pass(Duration.ofSeconds(3));
    JobRef job = addDueIn(a, Duration.ofSeconds(40));
    MemoryStore backup = store.backup();
    long epoch = headOf(job.shard()).epoch();
    store.now().journals().claim(job.shard(), epoch, 2).orThrow();
    store.restore(backup);
    pass(Duration.ofSeconds(45));
    assertThat(headOf(job.shard()).owner()).isEqualTo(1);
    assertThat(a.running()).hasSize(1);
    assertThat(b.running()).isEmpty();
  }

  @Test
  void idOfALostJobNamesNoOther() {
    pass(Duration.ofSeconds(3));
    JobRef kept = addDueIn(a, Duration.ofSeconds(60));
    MemoryStore backup = store.backup();
    a.restart(NodeOptions.of("a", 3).among(MEMBERSHIP));
    pass(Duration.ofSeconds(3));
    JobRef lost = addDueIn(a, Duration.ofSeconds(50));
    store.restore(backup);
    pass(Duration.ofSeconds(5));
    JobRef other = addDueIn(a, Duration.ofSeconds(50));
    assertThat(List.of(lost.shard(), other.shard())).containsOnly(kept.shard());
    assertThat(JobRef.epoch(other.number())).isEqualTo(JobRef.epoch(lost.number()));
    assertThat(other).isNotEqualTo(lost);
  }

  @Test
  void headThatWasReadBeforeTakesNothingInTheOtherCopy() {
    pass(Duration.ofSeconds(3));
    JobRef job = addDueIn(a, Duration.ofMinutes(5));
    MemoryStore backup = store.backup();
    long epoch = headOf(job.shard()).epoch();
    store.now().journals().claim(job.shard(), epoch, 7).orThrow();
    byte[] summary = headOf(job.shard()).summary();
    store.now().journals().release(job.shard(), epoch + 1, tail(job.shard()), summary).orThrow();
    b.holdAnswers(NodeEnvironment.Channel.READ);
    List<Outcome<CancelResult>> answers = new ArrayList<>();
    b.cancel(job, "not wanted", answers::add);
    b.settle(); // it has read that nobody has the shard, and does not know yet
    store.restore(backup);
    pass(Duration.ofSeconds(3));
    assertThat(headOf(job.shard()).epoch()).as("claimed anew").isEqualTo(epoch + 1);
    b.letGo();
    b.hold(NodeEnvironment.Channel.CONTROL);
    b.settle(); // it hears of it and adopts the copy
    b.letGo();
    pass(Duration.ofSeconds(3));
    assertThat(headOf(job.shard()).owner()).isEqualTo(1);
    assertThat(headOf(job.shard()).epoch()).isEqualTo(epoch + 1);
    assertThat(answers).containsExactly(Outcome.ok(new CancelResult.Cancelled()));
  }

  @Test
  void jobsAreTakenInAgainAndScheduledOnesMeetTheNewCopy() {
    pass(Duration.ofSeconds(3));
    MemoryStore backup = store.backup();
    addDueIn(a, Duration.ofHours(1));
    store.restore(backup);
    List<JobRef> asked = a.ask(a.spec(a.nowMicros() + 1, 0, 0, new byte[0]));
    pass(Duration.ofSeconds(3));
    assertThat(asked).hasSize(1);
    assertThat(a.running()).hasSize(1);
  }

  private static void change(StillWorld world, UnaryOperator<FlowSetting> change) {
    world.node().changeFlow(QUEUE, change, outcome -> {});
  }

  @Test
  void pauseAfterTheStoreWentBackIsAnsweredWhenAllActOnIt() {
    pass(Duration.ofSeconds(3));
    MemoryStore backup = store.backup();
    for (int limit = 1; limit <= 3; limit++) { // each is a version that comes again
      int next = limit;
      change(a, setting -> setting.limit(next));
      pass(Duration.ofSeconds(2));
    }
    store.restore(backup);
    pass(Duration.ofSeconds(5));
    List<Outcome<FlowSetting>> answers = new ArrayList<>();
    a.node().changeFlow(QUEUE, setting -> setting.paused("for now"), answers::add);
    pass(Duration.ofSeconds(3));
    assertThat(answers).hasSize(1);
    b.add(b.spec(b.nowMicros(), 0, 0, new byte[0]));
    assertThat(b.running()).isEmpty();
  }

  @Test
  void changeThatWentWithTheOtherCopyIsAnsweredAsUnknown() {
    pass(Duration.ofSeconds(3));
    MemoryStore backup = store.backup();
    b.hold(NodeEnvironment.Channel.RECORDS); // it does not act on it for now
    List<Outcome<FlowSetting>> answers = new ArrayList<>();
    a.node().changeFlow(QUEUE, setting -> setting.paused("for now"), answers::add);
    pass(Duration.ofSeconds(1));
    assertThat(answers).isEmpty();
    store.restore(backup);
    b.letGo();
    pass(Duration.ofSeconds(10));
    assertThat(answers).hasSize(1);
    assertThat(answers.getFirst()).isInstanceOf(Outcome.Unknown.class);
  }

  @Test
  void settingThatWentWithTheOtherCopyIsWrittenAnew() {
    pass(Duration.ofSeconds(3));
    MemoryStore backup = store.backup();
    a.holdAnswers(NodeEnvironment.Channel.RECORDS);
    change(a, setting -> setting.limit(3));
    a.settle(); // it is in effect, and that is not heard yet
    store.restore(backup);
    pass(Duration.ofSeconds(1));
    a.letGo();
    pass(Duration.ofSeconds(10));
    List<Outcome<FlowSetting>> answers = new ArrayList<>();
    a.node().changeFlow(QUEUE, setting -> setting.limit(3), answers::add);
    pass(Duration.ofSeconds(3));
    assertThat(answers).hasSize(1);
    assertThat(answers.getFirst().isOk()).isTrue();
    List<Integer> limits = new ArrayList<>();
    b.node().flow(QUEUE, setting -> limits.add(setting.limit()));
    assertThat(limits).containsExactly(3);
  }

  @Test
  void requestThatWasTakenBackIsNotServedInTheOtherCopy() {
    pass(Duration.ofSeconds(3));
    Schedule daily = Schedule.every(Duration.ofDays(1));
    JobRef schedule = a.add(a.recurring(daily, a.nowMicros() + Micros.ceil(Duration.ofDays(1))));
    a.hold(NodeEnvironment.Channel.RECORDS); // it does not see the request
    List<Outcome<ControlResult>> refused = new ArrayList<>();
    b.node()
        .trigger(
            schedule,
            new OccurrencesAdded() {
              @Override
              public void added(List<JobRef> jobs) {
                throw new IllegalStateException("trigger: done (expected: refused)");
              }

              @Override
              public void refused(Outcome<ControlResult> why) {
                refused.add(why);
              }
            });
    pass(Duration.ofSeconds(1));
    MemoryStore backup = store.backup();
    pass(Duration.ofSeconds(70));
    assertThat(refused).hasSize(1);
    assertThat(refused.getFirst()).isInstanceOf(Outcome.Unavailable.class);
    store.restore(backup);
    pass(Duration.ofSeconds(1));
    a.letGo();
    pass(Duration.ofSeconds(10));
    assertThat(a.running()).isEmpty();
    assertThat(store.now().records().list("x\0", null, 10).orThrow()).isEmpty();
  }

  @Test
  void nodeThatIsStillStartingNoticesThatTheStoreWentBack() {
    pass(Duration.ofSeconds(3));
    a.hold(NodeEnvironment.Channel.HEARTBEAT);
    a.restart(NodeOptions.of("a", 3).among(MEMBERSHIP));
    List<Outcome<FlowSetting>> answers = new ArrayList<>();
    a.node().changeFlow(QUEUE, setting -> setting.paused("for now"), answers::add);
    a.settle();
    store.restore(new MemoryStore()); // it has no record of the format either
    a.letGo();
    pass(Duration.ofSeconds(10));
    assertThat(a.reports()).hasSize(1);
    assertThat(a.reports().getFirst()).startsWith("the store went back in time");
    assertThat(answers).hasSize(1);
    assertThat(answers.getFirst()).isInstanceOf(Outcome.Unknown.class);
    a.add(a.spec(a.nowMicros(), 0, 0, new byte[0]));
    assertThat(a.running()).hasSize(1);
    Stored format = store.now().records().get(ClusterFormat.KEY).orThrow().orElseThrow();
    assertThat(ClusterFormat.read(format)).isEqualTo(Formats.shipped().newest());
  }

  @Test
  void limitThatANodeHadInTheCopyGoesToOneThatNeedsIt() {
    pass(Duration.ofSeconds(3));
    change(a, setting -> setting.limit(1));
    pass(Duration.ofSeconds(3));
    a.add(a.spec(a.nowMicros(), 0, 0, new byte[0]));
    pass(Duration.ofSeconds(1));
    a.finishOne();
    MemoryStore backup = store.backup(); // it has not given it back yet
    pass(Duration.ofSeconds(5));
    store.restore(backup);
    pass(Duration.ofSeconds(5));
    b.add(b.spec(b.nowMicros(), 0, 0, new byte[0]));
    pass(Duration.ofSeconds(10));
    assertThat(b.running()).hasSize(1);
  }

  @Test
  void nodeWhoseLastBeatsWentWithTheOtherCopyIsNotTakenForDeadBeforeItsTime() {
    pass(Duration.ofSeconds(3));
    JobRef job = addDueIn(a, Duration.ofSeconds(1));
    MemoryStore backup = store.backup();
    b.hold(NodeEnvironment.Channel.HEARTBEAT); // it sees none of what follows
    pass(Duration.ofSeconds(1));
    List.of(NodeEnvironment.Channel.values()).forEach(a::hold);
    store.restore(backup);
    b.letGo();
    pass(Duration.ofSeconds(2));
    assertThat(headOf(job.shard()).owner()).as("it counts on its last heartbeat").isEqualTo(1);
    pass(Duration.ofSeconds(3));
    assertThat(headOf(job.shard()).owner()).isEqualTo(2);
  }

  @Test
  void nodeThatCameAfterTheCopyWasMadeIsNotTakenForDead() {
    pass(Duration.ofSeconds(3));
    MemoryStore backup = store.backup();
    StillWorld c = node("c", 3);
    c.pass(Duration.ofSeconds(3));
    passWith(c, Duration.ofSeconds(4));
    c.hold(NodeEnvironment.Channel.HEARTBEAT);
    store.restore(backup);
    passWith(c, Duration.ofMillis(1700)); // a has joined anew, c does not know yet
    c.letGo();
    List<JobRef> asked =
        c.ask(c.spec(c.nowMicros() + Micros.ceil(Duration.ofSeconds(20)), 0, 0, new byte[0]));
    for (int i = 0; i < 20 && asked.isEmpty(); i++) {
      c.pass(STEP);
      c.settle();
    }
    JobRef job = asked.getFirst();
    assertThat(headOf(job.shard()).owner()).isEqualTo(3);
    a.cancel(job, "no longer wanted", outcome -> {});
    a.settle();
    assertThat(headOf(job.shard()).owner()).as("it lives").isEqualTo(3);
  }

  private void passWith(StillWorld another, Duration time) {
    for (Duration left = time; left.isPositive(); left = left.minus(STEP)) {
      pass(STEP);
      another.pass(STEP);
      another.settle();
    }
  }

  @Test
  void clientIsAnsweredThoughItsErrandWentWithTheOtherCopy() {
    Membership membership = MEMBERSHIP.asClient();
    StillWorld client =
        new StillWorld(NodeOptions.of("client", 4).among(membership), store.open(), false);
    client.settle();
    passWith(client, Duration.ofSeconds(3));
    JobRef job = addDueIn(a, Duration.ofHours(1));
    MemoryStore backup = store.backup();
    for (StillWorld world : List.of(a, b)) {
      world.hold(NodeEnvironment.Channel.RECORDS); // they do not hear of it
    }
    List<Outcome<CancelResult>> answers = new ArrayList<>();
    client.cancel(job, "no longer wanted", answers::add);
    passWith(client, STEP);
    store.restore(backup);
    List.of(a, b).forEach(StillWorld::letGo);
    passWith(client, Duration.ofSeconds(10));
    assertThat(answers).hasSize(1);
    assertThat(client.node().quiet()).isTrue();
  }

  @Test
  void nameOfAJobThatLivesAgainIsNotGivenAway() {
    pass(Duration.ofSeconds(3));
    JobSpec spec = a.named("report", a.nowMicros() + Micros.ceil(Duration.ofHours(1)), new byte[0]);
    JobRef job = a.add(spec);
    MemoryStore backup = store.backup();
    a.hold(NodeEnvironment.Channel.RECORDS);
    a.cancel(job, "no longer wanted", outcome -> {});
    pass(Duration.ofMillis(200));
    assertThat(stateOf(job)).isEqualTo(JobState.CANCELLED); // its name is about to be free
    store.restore(backup);
    pass(Duration.ofSeconds(1));
    a.letGo();
    pass(Duration.ofSeconds(5));
    assertThat(stateOf(job)).isEqualTo(JobState.SCHEDULED);
    assertThat(store.now().records().get(Names.recordKey(spec)).orThrow())
        .isEqualTo(backup.records().get(Names.recordKey(spec)).orThrow());
  }

  @Test
  void jobIsNotToldOfAnEndThatIsNotInTheCopy() {
    pass(Duration.ofSeconds(3));
    JobRef awaited = addDueIn(a, Duration.ofSeconds(1));
    JobRef waiter = a.add(a.after(awaited));
    MemoryStore backup = store.backup();
    pass(Duration.ofSeconds(1));
    a.hold(NodeEnvironment.Channel.COMMIT);
    a.finishOne();
    a.letGo();
    a.hold(NodeEnvironment.Channel.COMMIT);
    a.settle();
    assertThat(stateOf(awaited)).isEqualTo(JobState.SUCCEEDED); // and who waits is being told
    store.restore(backup);
    pass(Duration.ofSeconds(1));
    a.letGo();
    pass(Duration.ofSeconds(5));
    assertThat(a.running()).extracting(run -> run.job().number).containsExactly(awaited.number());
    a.finishOne();
    assertThat(a.running()).extracting(run -> run.job().number).containsExactly(waiter.number());
  }

  @Test
  void openingRefusesWritesUntilItsOwnerKnowsTheCopy() {
    Store opening = store.open();
    ShardId shard = new ShardId(1, 9, 1);
    opening.journals().create(shard, "home", 0, new byte[0]).orThrow();
    store.restore(store.backup());
    Append append = new Append(shard, 1, 1, 1, 5, new byte[1]);
    assertThat(opening.journals().append(List.of(append), false).getFirst())
        .isInstanceOf(Outcome.Unavailable.class);
    assertThat(opening.journals().head(shard).orThrow().epoch()).isEqualTo(1);
    opening.adopt(opening.incarnation());
    assertThat(opening.journals().append(List.of(append), false)).containsExactly(Outcome.ok(1L));
  }
}
