package dev.carillon.engine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.carillon.api.IfExists;
import dev.carillon.api.error.CarillonException;
import dev.carillon.engine.environment.NodeEnvironment.Channel;
import dev.carillon.engine.environment.NodeOptions;
import dev.carillon.engine.format.Micros;
import dev.carillon.engine.job.JobRef;
import dev.carillon.engine.request.AddRequest;
import dev.carillon.store.MemoryStore;
import dev.carillon.store.ShardId;
import dev.carillon.store.Store;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;
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
    return request(in, 0);
  }

  private AddRequest request(Duration in, int bytes) {
    long due = world.nowMicros() + Micros.ceil(in);
    return new AddRequest(
        world.spec(due, 0, 0, new byte[bytes]), IfExists.KEEP, new AddAnswers(added, refused));
  }

  private void add(Duration in) {
    world.node().add(request(in));
    world.settle();
  }

  private void addTogether(Duration... each) {
    world.node().addAll(List.of(each).stream().map(this::request).toList());
    world.settle();
  }

  private int entries(ShardId shard) {
    return store.journals().read(shard, 1, 1, 1 << 20).orThrow().entries().size();
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
    assertThat(entries(added.getFirst().shard())).isEqualTo(3);
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

  @Test
  void aBatchTakesAlongWhatWaitsInItsShards() {
    makeShardsAndHoldTheFirstCommit();
    add(FIRST);
    addTogether(FIRST, SECOND);
    add(FIRST);
    addTogether(FIRST, SECOND); // one batch after the other kept the job before it waiting
    world.letGo();
    world.settle();
    assertThat(added).hasSize(6);
    // the first of all, the one that was held, the first batch with the job, the second batch
    assertThat(entries(added.getFirst().shard())).isEqualTo(4);
  }

  @Test
  void aBatchWithoutRoomForWhatWaitsLetsItGoFirst() {
    makeShardsAndHoldTheFirstCommit();
    add(FIRST);
    addLargeBatch();
    add(FIRST);
    addLargeBatch();
    world.letGo();
    world.settle();
    assertThat(added).hasSize(12);
    List<JobRef> asked = added.stream().sorted(Comparator.comparingLong(JobRef::number)).toList();
    assertThat(added.subList(0, 7)).hasSameElementsAs(asked.subList(0, 7));
  }

  /** Five jobs that fill an entry. */
  private void addLargeBatch() {
    world.node().addAll(Stream.generate(() -> request(FIRST, 1 << 20)).limit(5).toList());
    world.settle();
  }
}
