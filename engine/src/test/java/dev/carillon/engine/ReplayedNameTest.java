package dev.carillon.engine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.carillon.api.ControlResult;
import dev.carillon.api.IfExists;
import dev.carillon.api.error.CarillonException;
import dev.carillon.engine.environment.AttemptOutcome;
import dev.carillon.engine.environment.NodeEnvironment;
import dev.carillon.engine.format.Micros;
import dev.carillon.engine.job.JobRef;
import dev.carillon.engine.job.JobSpec;
import dev.carillon.engine.request.AddRequest;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The name of a dead letter that was replayed: it has none, whatever the record still says. */
class ReplayedNameTest {
  private static final int FEW_BYTES = 10;

  private final StillFleet fleet = new StillFleet(Duration.ofMillis(50));
  private final List<JobRef> added = new ArrayList<>();
  private final List<CarillonException> refused = new ArrayList<>();
  private final List<ControlResult> done = new ArrayList<>();

  private void add(StillWorld world) {
    JobSpec spec = world.named("report", inDays(world), new byte[0]);
    world.node().add(new AddRequest(spec, IfExists.FAIL, new AddAnswers(added, refused)));
  }

  private static long inDays(StillWorld world) {
    return world.nowMicros() + Micros.ceil(Duration.ofDays(9));
  }

  /** A node that dies before it has given back the name of a dead letter; that waits again. */
  private JobRef replayedByOneThatDies() {
    StillWorld first = fleet.node("first");
    fleet.pass(Duration.ofSeconds(3));
    JobRef job = first.add(first.named("report", first.nowMicros(), new byte[100]));
    first.hold(NodeEnvironment.Channel.RECORDS);
    first.giveUpOne();
    first.node().replay(job, "who", null, outcome -> done.add(outcome.orThrow()));
    first.settle();
    first.finishOne(new AttemptOutcome.Again(inDays(first), ""));
    assertThat(done).containsExactly(ControlResult.DONE);
    fleet.kill(first);
    return job;
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void nameOfReplayedDeadLetterWhoseBodyIsElsewhereIsFree(boolean askedElsewhere) {
    JobRef replayed = replayedByOneThatDies();
    StillWorld a = fleet.nodeOfFewBodies("a", FEW_BYTES);
    fleet.pass(Duration.ofSeconds(1));
    a.add(a.spec(inDays(a), 0, 0, new byte[0])); // the next one goes where it is
    a.hold(askedElsewhere ? NodeEnvironment.Channel.RECORDS : NodeEnvironment.Channel.CONTROL);
    fleet.pass(StillFleet.DEAD_WITHIN);
    StillWorld b = fleet.nodeOfFewBodies("b", FEW_BYTES);
    add(askedElsewhere ? b : a);
    fleet.pass(Duration.ofSeconds(1));
    a.letGo();
    fleet.pass(Duration.ofSeconds(3));
    assertThat(refused).isEmpty();
    assertThat(added).hasSize(1).doesNotContain(replayed);
  }
}
