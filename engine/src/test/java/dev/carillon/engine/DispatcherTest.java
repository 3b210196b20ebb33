package dev.carillon.engine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.carillon.engine.dispatch.Dispatcher;
import dev.carillon.engine.dispatch.Gate;
import dev.carillon.engine.dispatch.HandlerSlot;
import dev.carillon.engine.dispatch.Lane;
import dev.carillon.engine.job.JobSpec;
import dev.carillon.engine.job.OptionalSpec;
import dev.carillon.engine.shard.NodeJob;
import java.util.List;
import java.util.Objects;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class DispatcherTest {
  private static final int NAMES = 5_000;

  private final Dispatcher dispatcher = StillWorld.dispatcher();

  private NodeJob job(String name) {
    JobSpec spec = new RandomOperations(1).spec().withMore(OptionalSpec.NONE);
    NodeJob job = new NodeJob(1, spec, spec.encode(), word -> word);
    job.lane = dispatcher.lane(name, name);
    job.handler = dispatcher.handler(name);
    return job;
  }

  @Test
  void lanesAndHandlersThatNobodyNeedsAreForgotten() {
    NodeJob live = job("live");
    NodeJob waiting = job("waiting");
    dispatcher.ready(waiting, false); // it is in line, whoever has it
    Gate limited = dispatcher.queue("limited");
    limited.limit(3);
    HandlerSlot registered = dispatcher.handler("registered");
    registered.registered = true;
    assertThat(dispatcher.wantsSweep()).isFalse();
    List<Lane> idle =
        IntStream.range(0, NAMES)
            .mapToObj(i -> Objects.requireNonNull(Lane.of(job("" + i))))
            .toList();
    assertThat(dispatcher.wantsSweep()).isTrue();

    dispatcher.sweep(List.of(live));

    assertThat(dispatcher.wantsSweep()).isFalse();
    assertThat(dispatcher.lane("live", "live")).isSameAs(live.lane);
    assertThat(dispatcher.handler("live")).isSameAs(live.handler);
    assertThat(dispatcher.lane("waiting", "waiting")).isSameAs(waiting.lane);
    assertThat(dispatcher.queue("limited")).isSameAs(limited);
    assertThat(dispatcher.handler("registered")).isSameAs(registered);
    assertThat(dispatcher.lane("7", "7")).isNotSameAs(idle.get(7));
    assertThat(dispatcher.queue("8")).isNotSameAs(idle.get(8).queueGate);
  }
}
