package dev.carillon.engine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.carillon.engine.attempt.Attempt;
import dev.carillon.engine.environment.AttemptOutcome;
import dev.carillon.engine.environment.NodeOptions;
import dev.carillon.engine.job.HistoryEntry;
import dev.carillon.engine.job.WorkflowTurn;
import dev.carillon.store.FaultyStore;
import dev.carillon.store.ForwardingStore;
import dev.carillon.store.MemoryStore;
import dev.carillon.store.Outcome;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Histories of many workflows that go on at once. */
@Timeout(60)
class HistoryReadsTest {
  private static final int WORKFLOWS = 50;

  private boolean unreadable;
  private int reads;

  private final StillWorld world =
      new StillWorld(options(), new FaultyStore(new MemoryStore(), this::fault));

  private static NodeOptions options() {
    NodeOptions all = NodeOptions.of("node", 1);
    return new NodeOptions(
        all.nodeId(),
        all.incarnation(),
        WORKFLOWS,
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
        Set.of(),
        all.historyLimit(),
        null);
  }

  private FaultyStore.Fault fault(ForwardingStore.Operation operation) {
    if (operation != ForwardingStore.Operation.READ) {
      return FaultyStore.Fault.NONE;
    }
    reads++;
    return unreadable ? FaultyStore.Fault.FAIL_BEFORE : FaultyStore.Fault.NONE;
  }

  private static HistoryEntry done(int number) {
    return new HistoryEntry.StepDone(1, 1, "step", 1, 1, new byte[] {(byte) number});
  }

  /** As many workflows, each with a history of its own, in one shard and few entries. */
  private List<Attempt> running() {
    for (int i = 0; i < WORKFLOWS; i++) {
      world.add(world.spec(world.nowMicros(), 0, 0, new byte[1]));
    }
    List<Attempt> running = List.copyOf(world.running());
    for (int i = 0; i < WORKFLOWS; i++) {
      WorkflowTurn turn =
          new WorkflowTurn(List.of(new HistoryEntry.Begun(1, 1, 42), done(i)), List.of());
      world.node().checkpoint(running.get(i), turn, outcome -> {});
    }
    world.settle();
    for (int i = 0; i < WORKFLOWS; i++) {
      world.finishOne(new AttemptOutcome.Interrupted());
    }
    reads = 0;
    return List.copyOf(world.running());
  }

  @Test
  void entriesThatManyHistoriesStandInAreReadOnce() {
    List<Attempt> attempts = running();
    assertThat(attempts).hasSize(WORKFLOWS);
    List<List<HistoryEntry>> histories = new ArrayList<>();

    attempts.forEach(
        attempt -> world.node().history(attempt, outcome -> histories.add(outcome.orThrow())));
    world.settle();

    for (int i = 0; i < WORKFLOWS; i++) {
      assertThat(histories.get(i))
          .usingRecursiveFieldByFieldElementComparator()
          .containsExactly(new HistoryEntry.Begun(1, 1, 42), done(i));
    }
    assertThat(reads).isLessThanOrEqualTo(3);
  }

  @Test
  void eachIsToldThatItsHistoryCannotBeRead() {
    List<Attempt> attempts = running();
    List<Outcome<List<HistoryEntry>>> answers = new ArrayList<>();

    unreadable = true;
    attempts.forEach(attempt -> world.node().history(attempt, answers::add));
    world.settle();
    unreadable = false;
    world.node().history(attempts.getFirst(), answers::add);
    world.settle();

    assertThat(answers).hasSize(WORKFLOWS + 1);
    assertThat(answers.subList(0, WORKFLOWS)).noneMatch(Outcome::isOk);
    assertThat(answers.getLast().isOk()).isTrue();
  }
}
