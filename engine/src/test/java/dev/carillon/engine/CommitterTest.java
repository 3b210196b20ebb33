package dev.carillon.engine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.carillon.api.CarillonException;
import dev.carillon.api.IfExists;
import dev.carillon.engine.NodeEnvironment.Channel;
import dev.carillon.store.MemoryStore;
import dev.carillon.store.Store;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Commits of one node that are under way at once, on a store that takes two. */
class CommitterTest {
  private static final Duration FIRST = Duration.ofDays(3);
  private static final Duration SECOND = Duration.ofDays(9);

  private final Store store = new MemoryStore();
  private final StillWorld world = StillWorld.committingBeside(NodeOptions.of("node", 1), store);
  private final List<JobRef> added = new ArrayList<>();
  private final List<CarillonException> refused = new ArrayList<>();

  private AddRequest request(Duration in) {
    long due = world.nowMicros() + Micros.ceil(in);
    return new AddRequest(
        world.spec(due, 0, 0, new byte[0]), IfExists.KEEP, new AddAnswers(added, refused));
  }

  private void add(Duration in) {
    world.node().add(request(in));
    world.settle();
  }

  private void addTogether(Duration... each) {
    world.node().addAll(List.of(each).stream().map(this::request).toList());
    world.settle();
  }

  /** Both shards are there, and what is committed first from now on is not answered. */
  private void makeShardsAndHoldTheFirstCommit() {
    add(FIRST);
    add(SECOND);
    added.clear();
    world.hold(Channel.COMMIT);
  }

  @Test
  void aJobOfAnotherShardDoesNotWaitForACommitThatHangs() {
    makeShardsAndHoldTheFirstCommit();
    add(FIRST);
    assertThat(added).isEmpty();
    add(SECOND);
    add(SECOND);
    assertThat(added).hasSize(2);
    world.letGo();
    world.settle();
    assertThat(added).hasSize(3);
  }

  @Test
  void aShardIsInOneCommitAtATime() {
    makeShardsAndHoldTheFirstCommit();
    add(FIRST);
    add(FIRST);
    add(FIRST);
    assertThat(added).isEmpty();
    world.letGo();
    world.settle();
    assertThat(added).hasSize(3).doesNotHaveDuplicates();
    assertThat(added).isSortedAccordingTo(Comparator.comparingLong(JobRef::number));
    // one entry for the job that came first of all, one under way, one for what came meanwhile
    assertThat(store.journals().read(added.getFirst().shard(), 1, 1, 1 << 20).orThrow().entries())
        .hasSize(3);
  }

  @Test
  void aBatchThatWaitsForACommitGoesBeforeWhatCameAfterIt() {
    makeShardsAndHoldTheFirstCommit();
    add(FIRST);
    addTogether(FIRST, SECOND);
    add(SECOND); // would keep the batch waiting for ever if there were always another
    assertThat(added).isEmpty();
    world.letGo();
    world.settle();
    assertThat(added).hasSize(4);
    assertThat(refused).isEmpty();
  }

  @Test
  void whatIsNotOfTheBatchDoesNotWaitForIt() {
    add(Duration.ofDays(20));
    makeShardsAndHoldTheFirstCommit();
    add(FIRST);
    addTogether(FIRST, SECOND);
    add(Duration.ofDays(20));
    assertThat(added).hasSize(1);
    world.letGo();
    world.settle();
    assertThat(added).hasSize(4);
  }
}
