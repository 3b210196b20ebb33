package dev.carillon.engine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.carillon.api.JobState;
import dev.carillon.engine.attempt.Attempt;
import dev.carillon.engine.environment.AttemptOutcome;
import dev.carillon.engine.environment.NodeEnvironment;
import dev.carillon.engine.job.HistoryEntry;
import dev.carillon.engine.job.JobRef;
import dev.carillon.engine.job.Why;
import dev.carillon.engine.job.WorkflowTurn;
import dev.carillon.engine.job.WorkflowTurn.ChildStart;
import dev.carillon.engine.job.WorkflowWait;
import dev.carillon.store.Head;
import dev.carillon.store.Outcome;
import dev.carillon.store.ShardId;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Workflows with more children than their shard has room for. */
@Timeout(300)
class ManyChildrenTest extends WorkflowCase {
  private static final int HERE = 1_000;
  private static final List<Integer> ALL = IntStream.rangeClosed(1, 3_000).boxed().toList();

  private WorkflowTurn turn(int children, long dueMicros) {
    List<ChildStart> starts = new ArrayList<>();
    for (int call = 1; call <= children; call++) {
      starts.add(new ChildStart(call, world.spec(dueMicros, 0, 0, new byte[] {1})));
    }
    return new WorkflowTurn(List.of(begun()), starts);
  }

  private static WorkflowWait forAll(int children) {
    return new WorkflowWait(
        WorkflowWait.FOR_EVER, true, List.of(), ALL.subList(0, children), 0, children + 1);
  }

  private void startAndWait(int children) {
    world.finishOne(
        new AttemptOutcome.Waiting(turn(children, world.nowMicros()), forAll(children)));
  }

  private List<JobRef> started() {
    List<JobRef> children = new ArrayList<>();
    for (HistoryEntry entry : world.told()) {
      if (entry instanceof HistoryEntry.ChildStarted child) {
        children.add(child.child());
      }
    }
    return children;
  }

  /** Lets what runs end well until the workflow runs; returns how many did. */
  private int finishChildren(int most) {
    int finished = 0;
    while (finished < most
        && !world.running().isEmpty()
        && !world.running().getFirst().ref().equals(job)) {
      Attempt child = world.running().getFirst();
      world.finishOne(new AttemptOutcome.Succeeded(bytesOf(child.ref())));
      finished++;
    }
    return finished;
  }

  private static byte[] bytesOf(JobRef ref) {
    return ref.id().value().getBytes(java.nio.charset.StandardCharsets.UTF_8);
  }

  private void assertEachResultOnce(List<HistoryEntry> history, int children) {
    List<JobRef> refs = new ArrayList<>();
    Set<Integer> ended = new LinkedHashSet<>();
    for (HistoryEntry entry : history) {
      if (entry instanceof HistoryEntry.ChildStarted child) {
        refs.add(child.child());
      } else if (entry instanceof HistoryEntry.ChildEnded end) {
        assertThat(ended.add(end.call())).isTrue();
        assertThat(end.result()).isEqualTo(bytesOf(refs.get(end.call() - 1)));
      }
    }
    assertThat(refs).hasSize(children).doesNotHaveDuplicates();
    assertThat(ended).hasSize(children);
  }

  @Test
  void threeThousandChildrenRunInSeveralShardsAndTheirResultsComeOnce() {
    startAndWait(3_000);
    List<JobRef> children = started();
    assertThat(children).hasSize(3_000);
    assertThat(children.stream().filter(child -> child.shard().equals(job.shard())).count())
        .isEqualTo(HERE);

    assertThat(finishChildren(1_500)).isEqualTo(1_500);
    killAndRestart();
    assertThat(finishChildren(800)).isGreaterThan(0);
    killAndRestart();
    finishChildren(3_000);

    assertThat(running().ref()).isEqualTo(job);
    assertEachResultOnce(history(running()), 3_000);
    world.finishOne();
    assertThat(state()).isEqualTo(JobState.SUCCEEDED);
  }

  @Test
  void childrenInOtherShardsAreCancelledWithTheirWorkflow() {
    world.finishOne(new AttemptOutcome.Waiting(turn(1_200, later(360_000)), forAll(1_200)));
    List<JobRef> children = started();
    cancel();
    world.finishOne(new AttemptOutcome.Compensated(null));

    assertThat(state()).isEqualTo(JobState.CANCELLED);
    for (JobRef child : List.of(children.get(5), children.get(1_001), children.get(1_199))) {
      assertThat(view(child).info().state()).isEqualTo(JobState.CANCELLED);
    }
  }

  /** After a crash that came so many calls of the store after 1,002 children were started. */
  private static int startedAfter(int calls) {
    ManyChildrenTest one = new ManyChildrenTest();
    Attempt attempt = one.running();
    one.world.node().checkpoint(attempt, one.turn(HERE + 2, one.later(7_200)), outcome -> {});
    one.world.settleWithin(calls);
    one.killAndRestart();
    Attempt again = one.running();
    assertThat(again.ref()).isEqualTo(one.job);
    List<HistoryEntry> history = again.historyCount() == 0 ? List.of() : one.history(again);
    assertThat(history.size()).isIn(0, HERE + 3);
    int there = 0;
    for (HistoryEntry entry : history) {
      if (entry instanceof HistoryEntry.ChildStarted child) {
        assertThat(one.view(child.child()).info().state()).isEqualTo(JobState.SCHEDULED);
        there++;
      }
    }
    assertThat(one.shards().stream().mapToLong(one::addsIn).sum()).isEqualTo(1L + there);
    return there;
  }

  @Test
  void crashAnywhereLeavesAllChildrenInAllShardsOrNone() {
    Set<Integer> seen = new LinkedHashSet<>();
    for (int calls = 0; calls < 8; calls++) {
      seen.add(startedAfter(calls));
    }
    assertThat(seen).containsExactlyInAnyOrder(0, HERE + 2);
  }

  // ---- checkpoints that are refused

  private Set<ShardId> shards() {
    Set<ShardId> shards = new LinkedHashSet<>();
    Outcome<List<Head>> heads = store.journals().listById(new ShardId(0, 1, 1), 1_000);
    ((Outcome.Ok<List<Head>>) heads).value().forEach(head -> shards.add(head.shard()));
    return shards;
  }

  private long addsIn(ShardId shard) {
    Head head = ((Outcome.Ok<Head>) store.journals().head(shard)).value();
    var page = store.journals().read(shard, head.generation(), 1, 64 << 20);
    long adds = 0;
    for (var entry : ((Outcome.Ok<dev.carillon.store.Journals.ReadPage>) page).value().entries()) {
      for (var frame : dev.carillon.engine.format.Frame.decode(entry.data())) {
        adds += frame.kind() == dev.carillon.engine.format.Kind.ADD ? 1 : 0;
      }
    }
    return adds;
  }

  private void refusedCheckpointLeavesNoChild(int children) {
    Attempt running = running();
    assertThat(checkpoint(running, begun())).isTrue();
    List<Outcome<Boolean>> written = new ArrayList<>();
    world.hold(NodeEnvironment.Channel.COMMIT);
    world.node().terminate(job, new Why("me", ""), outcome -> {});
    world.settle();
    world
        .node()
        .checkpoint(
            running,
            new WorkflowTurn(List.of(), turn(children, later(60)).children()),
            written::add);
    world.settle();
    world.letGo();
    world.settle();

    assertThat(written).containsExactly(Outcome.ok(false));
    assertThat(shards().stream().mapToLong(this::addsIn).sum()).isEqualTo(1); // of the workflow
    killAndRestart();
    assertThat(state()).isEqualTo(JobState.CANCELLED);
    assertThat(world.running()).isEmpty();
  }

  @Test
  void childrenOfACheckpointThatIsRefusedAreInNoJournal() {
    refusedCheckpointLeavesNoChild(3);
  }

  @Test
  void childrenInOtherShardsOfACheckpointThatIsRefusedAreInNoJournal() {
    refusedCheckpointLeavesNoChild(HERE + 5);
  }

  // ---- several nodes

  @Test
  void endsOfChildrenReachTheirWorkflowWhereOtherNodesTookTheirShards() {
    StillFleet fleet = new StillFleet(Duration.ofMillis(300));
    StillWorld first = fleet.node("a");
    fleet.node("b");
    fleet.node("c");
    fleet.pass(Duration.ofSeconds(3));
    JobRef parent = first.add(first.spec(first.nowMicros(), 0, 0, new byte[1]));
    assertThat(first.running()).hasSize(1);
    long due = first.nowMicros() + 60_000_000;
    List<ChildStart> starts = new ArrayList<>();
    for (int call = 1; call <= HERE + 30; call++) {
      starts.add(new ChildStart(call, first.spec(due, 0, 0, new byte[] {1})));
    }
    first.finishOne(
        new AttemptOutcome.Waiting(new WorkflowTurn(List.of(begun()), starts), forAll(HERE + 30)));

    fleet.kill(first);
    int finished = fleet.work(Duration.ofSeconds(90));

    assertThat(finished).isEqualTo(HERE + 30 + 1); // each child once, and the workflow
    assertThat(fleet.stateOf(parent)).isEqualTo(JobState.SUCCEEDED);
  }
}
