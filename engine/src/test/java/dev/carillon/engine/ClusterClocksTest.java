package dev.carillon.engine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.carillon.api.JobState;
import dev.carillon.engine.environment.NodeEnvironment;
import dev.carillon.engine.format.Micros;
import dev.carillon.engine.job.JobRef;
import dev.carillon.engine.member.MemberState;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

/** A node whose clock is wrong says so, and starts nothing early. */
class ClusterClocksTest extends ClusterFixture {
  // ---- clocks

  private static long clockOf(String nodeId, StillWorld asked) {
    return asked.node().members().stream()
        .filter(member -> member.nodeId().equals(nodeId))
        .mapToLong(MemberState::clockMicros)
        .findFirst()
        .orElseThrow();
  }

  @Test
  void clockOfEachMemberIsShownToAll() {
    StillWorld a = node("a");
    StillWorld b = node("b");
    a.skew(Duration.ofSeconds(3));
    b.skew(Duration.ofMillis(-200));
    pass(Duration.ofSeconds(3));
    for (StillWorld asked : List.of(a, b)) {
      assertThat(clockOf("a", asked)).isEqualTo(3_000_000);
      assertThat(clockOf("b", asked)).isEqualTo(-200_000);
    }
    assertThat(b.reports()).isEmpty();
  }

  @Test
  void clockThatIsOffIsReportedOnceUntilItIsRightAgain() {
    StillWorld a = node("a");
    pass(Duration.ofSeconds(3));
    a.skew(Duration.ofSeconds(2));
    pass(Duration.ofSeconds(10));
    assertThat(a.reports()).singleElement().asString().contains("2.0 s ahead of the store's");
    a.skew(Duration.ofMillis(100));
    pass(Duration.ofSeconds(2));
    a.skew(Duration.ofSeconds(-2));
    pass(Duration.ofSeconds(10));
    assertThat(a.reports()).hasSize(2).last().asString().contains("2.0 s behind the store's");
    assertThat(a.node().held()).isNull();
  }

  @Test
  void nodeStartsNothingWhileItsClockIsFartherOffThanTheLimit() {
    StillWorld a = node("a");
    StillWorld b = node("b");
    pass(Duration.ofSeconds(3));
    a.skew(Duration.ofSeconds(40));
    b.skew(Duration.ofSeconds(-40));
    addDueIn(a, Duration.ZERO);
    addDueIn(b, Duration.ZERO);
    long deadline = a.nowMicros() + Micros.ceil(Duration.ofSeconds(2));
    JobRef expiring = a.add(a.spec(a.nowMicros(), 0, deadline, new byte[0]));
    pass(Duration.ofSeconds(10));
    assertThat(a.running()).isEmpty();
    assertThat(a.node().held()).contains("40.0 s ahead of");
    assertThat(b.node().held()).contains("40.0 s behind");
    assertThat(stateOf(expiring))
        .as("by a clock that is not trusted")
        .isEqualTo(JobState.SCHEDULED);
    a.skew(Duration.ofSeconds(15));
    b.skew(Duration.ofSeconds(15));
    pass(Duration.ofSeconds(1));
    assertThat(a.running()).as("due by a clock that has gone back since").isEmpty();
    pass(Duration.ofSeconds(15));
    assertThat(a.running()).hasSize(2);
    assertThat(b.running()).hasSize(1);
    assertThat(a.node().held()).isNull();
  }

  @Test
  void jumpForwardWaitsUntilTheClockHasBeenCompared() {
    StillWorld a = node("a");
    pass(Duration.ofSeconds(3));
    addDueIn(a, Duration.ofSeconds(11));
    a.hold(NodeEnvironment.Channel.HEARTBEAT);
    a.skew(Duration.ofSeconds(12));
    pass(Duration.ofSeconds(1));
    assertThat(a.running()).isEmpty();
    assertThat(a.node().held()).contains("jumped");
    a.letGo();
    pass(STEP);
    assertThat(a.running()).hasSize(1);
  }

  @Test
  void smallJumpForwardWaitsForNothing() {
    StillWorld a = node("a");
    pass(Duration.ofSeconds(3));
    addDueIn(a, Duration.ofSeconds(8));
    a.hold(NodeEnvironment.Channel.HEARTBEAT);
    a.skew(Duration.ofSeconds(9));
    pass(STEP);
    assertThat(a.running()).hasSize(1);
  }
}
