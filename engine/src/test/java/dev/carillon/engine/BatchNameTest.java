package dev.carillon.engine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.carillon.api.IfExists;
import dev.carillon.api.error.CarillonException;
import dev.carillon.api.error.OutcomeUnknownException;
import dev.carillon.engine.environment.NodeEnvironment;
import dev.carillon.engine.format.Micros;
import dev.carillon.engine.job.JobRef;
import dev.carillon.engine.job.JobSpec;
import dev.carillon.engine.request.AddRequest;
import dev.carillon.store.Head;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Names of jobs that came in one batch, one of whose shards moved away before the answer. */
class BatchNameTest {
  private final StillFleet fleet = new StillFleet(Duration.ofMillis(50));
  private final List<CarillonException> refused = new ArrayList<>();

  private AddRequest request(JobSpec spec, List<JobRef> added) {
    return new AddRequest(spec, IfExists.KEEP, new AddAnswers(added, refused));
  }

  private static long in(StillWorld world, int days) {
    return world.nowMicros() + Micros.ceil(Duration.ofDays(days));
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void nameStaysWithItsJobWhenAnotherShardOfItsBatchMovesAway(boolean askedElsewhere) {
    StillWorld a = fleet.node("a");
    StillWorld b = fleet.node("b");
    fleet.pass(Duration.ofSeconds(3));
    JobRef other = a.add(a.spec(in(a, 3), 0, 0, new byte[0])); // its shard will be lost
    JobRef named = a.add(a.spec(in(a, 9), 0, 0, new byte[0])); // the named job's shard stays
    a.holdAnswers(NodeEnvironment.Channel.COMMIT);
    List<JobRef> batch = new ArrayList<>();
    a.node()
        .addAll(
            List.of(
                request(a.spec(in(a, 3), 0, 0, new byte[0]), batch),
                request(a.named("report", in(a, 9), new byte[0]), batch)));
    a.settle(); // both are in the store, a does not know
    StillWorld asker = askedElsewhere ? b : a;
    List<JobRef> kept = new ArrayList<>();
    asker.node().add(request(asker.named("report", in(asker, 20), new byte[0]), kept));
    fleet.pass(Duration.ofSeconds(1));
    assertThat(kept).isEmpty();
    Head head = fleet.store().journals().head(other.shard()).orThrow();
    fleet.store().journals().claim(other.shard(), head.epoch(), 2).orThrow();
    a.node().add(request(a.after(named, in(a, 3)), batch)); // a finds that the shard is not its own
    fleet.pass(Duration.ofSeconds(1));
    assertThat(refused).filteredOn(OutcomeUnknownException.class::isInstance).hasSize(2);
    assertThat(kept).isEmpty();
    a.letGo();
    fleet.pass(Duration.ofSeconds(2));
    assertThat(kept).hasSize(1);
    assertThat(kept.getFirst().shard()).isEqualTo(named.shard());
  }
}
