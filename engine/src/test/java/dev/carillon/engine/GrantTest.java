package dev.carillon.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.carillon.engine.dispatch.Dispatcher;
import dev.carillon.engine.dispatch.Grant;
import dev.carillon.engine.dispatch.HandlerSlot;
import dev.carillon.engine.dispatch.KeySlot;
import dev.carillon.engine.dispatch.Lane;
import dev.carillon.engine.job.JobSpec;
import dev.carillon.engine.job.OptionalSpec;
import dev.carillon.engine.shard.NodeJob;
import org.junit.jupiter.api.Test;

class GrantTest {
  private final Dispatcher dispatcher = StillWorld.dispatcher();
  private final Lane lane = dispatcher.lane("shop", "mail");
  private final HandlerSlot handler = dispatcher.handler("note");

  private static NodeJob job() {
    JobSpec spec = new RandomOperations(1).spec().withMore(OptionalSpec.NONE);
    return new NodeJob(1, spec, spec.encode(), word -> word);
  }

  @Test
  void slotAndGatesAreFreeWhenTheHandlerHasReturned() {
    dispatcher.enterSlot(handler);
    Grant grant = new Grant(dispatcher, job(), lane, handler, false);
    assertThat(dispatcher.node().running()).isEqualTo(1);
    assertThat(handler.gate.running()).isEqualTo(1);
    assertThat(lane.queueGate.running()).isEqualTo(1);

    grant.leave(true);

    assertThat(dispatcher.node().running()).isZero();
    assertThat(handler.gate.running()).isZero();
    assertThat(lane.queueGate.running()).isZero();
    assertThat(lane.namespaceGate.running()).isZero();
    assertThat(lane.isIdle()).as("its outcome is not durable").isFalse();

    grant.release();

    assertThat(lane.isIdle()).isTrue();
  }

  @Test
  void attemptOnAnotherNodeTakesNoSlotHere() {
    Grant grant = new Grant(dispatcher, job(), lane, null, false);

    assertThat(dispatcher.node().running()).isZero();
    assertThat(lane.namespaceGate.running()).isEqualTo(1);

    grant.leave(true);

    assertThat(dispatcher.node().running()).isZero();
    assertThat(lane.namespaceGate.running()).isZero();
  }

  @Test
  void slotIsReturnedOnce() {
    Grant grant = new Grant(dispatcher, job(), lane, null, false);
    Grant unused = new Grant(dispatcher, job(), lane, null, false);
    grant.leave(false);

    assertThatThrownBy(() -> grant.leave(false))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("returned before");
    assertThat(lane.queueGate.running()).isEqualTo(1);
  }

  @Test
  void keyGoesFromTheJobToItsGrantAndBecomesFreeWithIt() {
    KeySlot slot = new KeySlot("shop", "customer");
    NodeJob job = job();
    NodeJob next = job();
    slot.hold(job);
    slot.hold(next);
    Grant grant = new Grant(dispatcher, job, lane, null, false);

    slot.start(grant);

    assertThat(slot.isHeldBy(job)).isFalse();
    assertThat(slot.attempts()).isEqualTo(1);
    assertThat(slot.held()).isEqualTo(2);
    assertThat(slot.contenders()).containsExactly(next, job);
    assertThat(slot.isHeldByAttemptOf(job)).isTrue();
    assertThat(slot.releaseJobs()).isTrue();
    assertThat(slot.contenders()).containsExactly(job);

    slot.end(grant);

    assertThat(slot.isIdle()).isTrue();
    assertThat(slot.attempts()).isZero();
  }
}
