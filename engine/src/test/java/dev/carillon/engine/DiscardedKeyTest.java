package dev.carillon.engine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.carillon.api.ControlResult;
import dev.carillon.api.IfExists;
import dev.carillon.api.JobState;
import dev.carillon.api.error.CarillonException;
import dev.carillon.engine.job.JobRef;
import dev.carillon.engine.job.Names;
import dev.carillon.engine.request.AddRequest;
import dev.carillon.store.ForwardingStore;
import dev.carillon.store.Outcome;
import dev.carillon.store.Records.Change;
import dev.carillon.store.Records.Stamp;
import dev.carillon.store.Store;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The idempotency key of a dead letter counts on when that is discarded. */
class DiscardedKeyTest extends ClusterFixture {
  private final List<JobRef> added = new ArrayList<>();
  private final List<CarillonException> refused = new ArrayList<>();

  /** Has no room for what tells that a job has ended, for as long as it is to be so. */
  private static final class EndsRefused extends ForwardingStore {
    boolean refuses;

    EndsRefused(Store store) {
      super(store);
    }

    @Override
    public List<Outcome<Stamp>> apply(List<Change> changes) {
      List<Outcome<Stamp>> outcomes = new ArrayList<>();
      for (Change change : changes) {
        byte[] value = change.value();
        boolean tellsEnd =
            refuses
                && value != null
                && change.key().contains("order-7")
                && Names.Value.decode(value).outcome() != null;
        outcomes.add(
            tellsEnd
                ? new Outcome.Unavailable<>("refused")
                : store().records().apply(List.of(change)).getFirst());
      }
      return outcomes;
    }
  }

  private void add(StillWorld world) {
    world
        .node()
        .add(
            new AddRequest(
                world.keyed("order-7", Duration.ZERO),
                IfExists.FAIL,
                new AddAnswers(added, refused)));
    world.settle();
  }

  @Test
  void countsBeforeItsRecordTellsOfTheEnd() {
    EndsRefused seen = new EndsRefused(store);
    StillWorld a = node("a", RETURNING, seen);
    pass(Duration.ofSeconds(1));
    add(a);
    pass(Duration.ofSeconds(1));
    JobRef job = added.getFirst();
    seen.refuses = true;
    a.giveUpOne();
    assertThat(stateOf(job)).isEqualTo(JobState.DEAD);
    List<Outcome<ControlResult>> answers = new ArrayList<>();
    a.node().discard(job, "who", answers::add);
    a.settle();
    assertThat(answers).containsExactly(Outcome.ok(ControlResult.DONE));
    add(a);
    pass(Duration.ofSeconds(3));
    assertThat(added).containsExactly(job, job);
    seen.refuses = false;
    pass(Duration.ofSeconds(3));
    add(a);
    assertThat(added).as("once the record tells of it").containsExactly(job, job, job);
    assertThat(refused).isEmpty();
  }
}
