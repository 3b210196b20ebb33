package dev.carillon.engine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.carillon.api.IfExists;
import dev.carillon.api.error.ChangedMeanwhileException;
import dev.carillon.api.error.OutcomeUnknownException;
import dev.carillon.api.schedule.Overlap;
import dev.carillon.api.schedule.Schedule;
import dev.carillon.engine.environment.NodeEnvironment;
import dev.carillon.engine.environment.NodeOptions;
import dev.carillon.engine.format.Micros;
import dev.carillon.engine.job.JobRef;
import dev.carillon.engine.job.JobSpec;
import dev.carillon.engine.request.AddRequest;
import dev.carillon.store.ShardId;
import java.time.Duration;
import java.util.ArrayList;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Recurring jobs that are declared again while something else of them is on its way. */
@Timeout(60)
class DeclaredAgainTest {
  private static final Duration SECOND = Duration.ofSeconds(1);

  private final StillWorld world = new StillWorld(NodeOptions.of("node", 1));
  private final long first = world.nowMicros() + Micros.ceil(SECOND);

  private JobSpec declared(int input) {
    Schedule schedule = Schedule.every(SECOND).overlap(Overlap.ALLOW);
    return world
        .named("report", first, new byte[] {(byte) input})
        .withMore(world.recurring(schedule, first).more());
  }

  @Test
  void ofTwoChangesOfTheSameVersionOneIsMade() {
    JobRef job = world.add(declared(1));
    world.hold(NodeEnvironment.Channel.COMMIT);
    AddAnswers answers = new AddAnswers(new ArrayList<>(), new ArrayList<>());
    for (int input = 2; input <= 3; input++) { // the second one while the first is on its way
      AddRequest change = new AddRequest(declared(input), IfExists.UPDATE, answers);
      change.expecting(new AddRequest.Expected(job, 0));
      world.node().add(change);
      world.settle();
    }
    world.letGo();
    world.settle();

    assertThat(answers.added()).containsExactly(job);
    assertThat(answers.refused()).singleElement().isInstanceOf(ChangedMeanwhileException.class);
  }

  @Test
  void changeOfAVersionMakesNoJobWhereThereIsNone() {
    AddAnswers answers = new AddAnswers(new ArrayList<>(), new ArrayList<>());
    AddRequest change = new AddRequest(declared(1), IfExists.UPDATE, answers);
    change.expecting(new AddRequest.Expected(new JobRef(new ShardId(5, 1, 1), 1), 0));
    world.node().add(change);
    world.settle();

    assertThat(answers.added()).isEmpty();
    assertThat(answers.refused()).singleElement().isInstanceOf(ChangedMeanwhileException.class);
  }

  @Test
  void jobGoesOnThatCameDueWhileAStaleDeclarationWasOnItsWay() {
    world.add(declared(1));
    world.hold(NodeEnvironment.Channel.COMMIT);
    world.pass(SECOND);
    world.settle(); // the first occurrence is on its way
    AddAnswers answers = new AddAnswers(new ArrayList<>(), new ArrayList<>());
    AddRequest again = new AddRequest(declared(2), IfExists.UPDATE, answers);
    world.node().add(again);
    world.settle();
    world.letGo();
    world.hold(NodeEnvironment.Channel.COMMIT);
    world.settle(); // the job has moved on, and the declaration is on its way
    world.node().abandon(again, "a while"); // so that nobody asks anew
    world.pass(SECOND);
    world.settle(); // the second occurrence is due
    world.letGo();
    world.settle();

    assertThat(answers.refused()).singleElement().isInstanceOf(OutcomeUnknownException.class);
    assertThat(world.running()).hasSize(2);
  }
}
