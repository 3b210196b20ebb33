package dev.carillon.engine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.carillon.api.CancelResult;
import dev.carillon.api.ControlResult;
import dev.carillon.api.IfExists;
import dev.carillon.api.JobState;
import dev.carillon.api.error.CarillonException;
import dev.carillon.api.error.NameTakenException;
import dev.carillon.api.error.OutcomeUnknownException;
import dev.carillon.api.error.StoreUnavailableException;
import dev.carillon.engine.format.Micros;
import dev.carillon.engine.job.JobRef;
import dev.carillon.engine.job.JobSpec;
import dev.carillon.engine.member.ClusterLook;
import dev.carillon.engine.request.AddRequest;
import dev.carillon.store.Outcome;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** A node that owns nothing and has others do what it is asked for. */
class ClientTest {
  private static final Duration ANSWERED = Duration.ofSeconds(2);

  private final StillFleet fleet = new StillFleet(Duration.ofMillis(50));
  private final List<JobRef> added = new ArrayList<>();
  private final List<CarillonException> refused = new ArrayList<>();

  private AddRequest request(JobSpec spec) {
    return new AddRequest(spec, IfExists.FAIL, new AddAnswers(added, refused));
  }

  private static JobSpec dueNow(StillWorld world) {
    return world.spec(world.nowMicros(), 0, 0, new byte[100_000]);
  }

  @Test
  void jobsOfAClientRunOnAMember() {
    StillWorld member = fleet.node("member");
    StillWorld client = fleet.client("client");
    client.node().add(request(dueNow(client)));
    client.node().addAll(List.of(request(dueNow(client)), request(dueNow(client))));
    fleet.pass(Duration.ofSeconds(4));
    assertThat(refused).isEmpty();
    assertThat(added).hasSize(3);
    assertThat(client.running()).isEmpty();
    assertThat(client.node().stats().shards()).isZero();
    assertThat(fleet.work(ANSWERED)).isEqualTo(3);
    assertThat(added).allMatch(job -> fleet.stateOf(job) == JobState.SUCCEEDED);
    assertThat(member.node().stats().addedTotal()).isEqualTo(3);
  }

  @Test
  void namesAreRefusedAsByAMember() {
    fleet.node("member");
    StillWorld client = fleet.client("client");
    long due = client.nowMicros() + Micros.ceil(Duration.ofHours(1));
    client.node().add(request(client.named("report", due, new byte[0])));
    fleet.pass(Duration.ofSeconds(4));
    client.node().add(request(client.named("report", due, new byte[0])));
    fleet.pass(ANSWERED);
    assertThat(added).hasSize(1);
    assertThat(refused)
        .singleElement()
        .isInstanceOfSatisfying(
            NameTakenException.class,
            taken -> {
              assertThat(taken.name()).isEqualTo("report");
              assertThat(taken.existing()).isEqualTo(added.getFirst().id());
            });
  }

  @Test
  void clientControlsJobsWhereverTheyAre() {
    fleet.node("a");
    StillWorld b = fleet.node("b");
    StillWorld client = fleet.client("client");
    fleet.pass(Duration.ofSeconds(4));
    long due = b.nowMicros() + Micros.ceil(Duration.ofHours(1));
    JobRef job = b.add(b.spec(due, 0, 0, new byte[0]));
    List<Outcome<ControlResult>> paused = new ArrayList<>();
    client.pause(job, "maintenance", paused::add);
    fleet.pass(ANSWERED);
    assertThat(paused).containsExactly(Outcome.ok(ControlResult.DONE));
    List<Outcome<CancelResult>> cancelled = new ArrayList<>();
    client.cancel(job, "enough", cancelled::add);
    fleet.pass(ANSWERED);
    assertThat(cancelled).containsExactly(Outcome.ok(new CancelResult.Cancelled()));
    assertThat(fleet.stateOf(job)).isEqualTo(JobState.CANCELLED);
  }

  @Test
  void clientAloneIsToldThatNobodyIsThere() {
    StillWorld client = fleet.client("client");
    fleet.pass(Duration.ofSeconds(4));
    client.node().add(request(dueNow(client)));
    assertThat(refused).singleElement().isInstanceOf(StoreUnavailableException.class);
    assertThat(refused.getFirst()).hasMessageContaining("no other node is there");
  }

  @Test
  void deathOfTheMemberThatWasAskedLeavesTheOutcomeUnknown() {
    StillWorld member = fleet.node("member");
    StillWorld client = fleet.client("client");
    fleet.pass(Duration.ofSeconds(4));
    fleet.kill(member);
    client.node().add(request(dueNow(client)));
    fleet.pass(Duration.ofSeconds(1));
    assertThat(refused).isEmpty();
    fleet.pass(StillFleet.DEAD_WITHIN);
    assertThat(refused).singleElement().isInstanceOf(OutcomeUnknownException.class);
  }

  @Test
  void clientTakesNothingOver() {
    StillWorld member = fleet.node("member");
    StillWorld client = fleet.client("client");
    fleet.pass(Duration.ofSeconds(4));
    JobRef job = member.add(dueNow(member));
    fleet.kill(member);
    fleet.pass(Duration.ofMinutes(1));
    assertThat(client.running()).isEmpty();
    assertThat(fleet.store().journals().head(job.shard()).orThrow().epoch()).isEqualTo(1);
  }

  @Test
  void clientIsNobodysStandInAndNeedsNone() {
    StillWorld a = fleet.node("a");
    StillWorld b = fleet.node("b");
    StillWorld client = fleet.client("client");
    fleet.pass(Duration.ofSeconds(3));
    for (StillWorld asked : List.of(a, b, client)) {
      assertThat(asked.node().cluster().assignments().values())
          .containsExactlyInAnyOrder(
              Map.of("a", ClusterLook.PARTS), Map.of("b", ClusterLook.PARTS));
    }
  }
}
