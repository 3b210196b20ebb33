package dev.carillon.engine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.carillon.api.ControlResult;
import dev.carillon.api.JobState;
import dev.carillon.engine.environment.NodeEnvironment;
import dev.carillon.engine.job.JobRef;
import dev.carillon.engine.job.JobSpec;
import dev.carillon.engine.job.Names;
import dev.carillon.store.FaultyStore;
import dev.carillon.store.ForwardingStore;
import dev.carillon.store.Outcome;
import dev.carillon.store.Records;
import dev.carillon.store.Store;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** A name is free again after its job, whoever dies meanwhile. */
class LostNamesTest extends ClusterFixture {
  @Test
  void nameOfAJobThatWasLostCostsAShardNothing() {
    StillWorld a = node("a");
    pass(Duration.ofSeconds(3));
    JobRef job = addDueIn(a, Duration.ZERO);
    a.add(namedAsALostJobOf(a, job));
    pass(Duration.ofSeconds(1));
    assertThat(a.running()).hasSize(2).noneMatch(a::isInterrupted);
  }

  @Test
  void nameOfAJobThatWasLostCostsAnotherNodesShardNothing() {
    StillWorld a = node("a");
    StillWorld b = node("b");
    pass(Duration.ofSeconds(3));
    JobRef job = addDueIn(a, Duration.ZERO);
    List<JobRef> added = b.ask(namedAsALostJobOf(b, job));
    pass(Duration.ofSeconds(2));
    assertThat(added).hasSize(1);
    assertThat(a.running()).hasSize(1).noneMatch(a::isInterrupted);
    assertThat(b.running()).hasSize(1);
  }

  /** A job due now whose name has a record that points at one of a later epoch of that shard. */
  private JobSpec namedAsALostJobOf(StillWorld world, JobRef job) {
    JobSpec named = world.named("report", world.nowMicros(), new byte[0]);
    JobRef lost = new JobRef(job.shard(), JobRef.number(headOf(job).epoch() + 1, 1));
    byte[] value = new Names.Value(lost, "", null, 0).encode();
    Records.Stamp stamp = new Records.Stamp(77, 1);
    store
        .records()
        .apply(
            List.of(
                new Records.Change(Names.recordKey(named), Records.Stamp.ABSENT, value, stamp)));
    return named;
  }

  @Test
  void nameIsFreedByTheNextOwnerWhereTheOneThatSawItsJobEndDied() {
    StillWorld a = node("a");
    node("b");
    pass(Duration.ofSeconds(3));
    JobSpec spec = namedDueSoon(a, "report");
    JobRef job = a.add(spec);
    a.hold(NodeEnvironment.Channel.RECORDS);
    a.cancel(job, "no longer wanted", outcome -> {});
    a.settle();
    assertThat(stateOf(job)).isEqualTo(JobState.CANCELLED);
    kill(a);
    assertThat(store.records().get(Names.recordKey(spec)).orThrow()).isPresent();
    pass(DEAD_WITHIN.plusMinutes(1));
    assertThat(store.records().get(Names.recordKey(spec)).orThrow()).isEmpty();
  }

  @Test
  void deadLetterThatWasReplayedHasNoNameThoughARecordPointsAtIt() {
    boolean[] refuses = {false};
    Store seldomWritten =
        new FaultyStore(
            store,
            call ->
                refuses[0] && call == ForwardingStore.Operation.RECORDS_APPLY
                    ? FaultyStore.Fault.FAIL_BEFORE
                    : FaultyStore.Fault.NONE);
    StillWorld a = node("a", RETURNING, seldomWritten);
    StillWorld b = node("b");
    pass(Duration.ofSeconds(3));
    JobRef replayed = a.add(a.named("report", a.nowMicros(), new byte[0]));
    refuses[0] = true; // its name is not freed
    a.giveUpOne();
    assertThat(stateOf(replayed)).isEqualTo(JobState.DEAD);
    List<Outcome<ControlResult>> answers = new ArrayList<>();
    a.node().replay(replayed, "who", null, answers::add);
    a.settle();
    assertThat(answers).containsExactly(Outcome.ok(ControlResult.DONE));
    List<JobRef> named = b.ask(namedDueSoon(b, "report"));
    pass(Duration.ofSeconds(1)); // a has seen who asks for the job
    refuses[0] = false;
    pass(Duration.ofSeconds(5));
    assertThat(named).hasSize(1).doesNotContain(replayed);
    assertThat(stateOf(replayed)).isEqualTo(JobState.SCHEDULED);
  }
}
