package dev.carillon;

import static org.assertj.core.api.Assertions.assertThat;

import dev.carillon.api.JobInfo;
import dev.carillon.api.JobListener;
import dev.carillon.api.Subscription;
import dev.carillon.api.TaskType;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** Listeners that come and go while the node runs. */
class ListenTest {
  private static final TaskType<Integer> WORK = TaskType.of("work", Integer.class);

  private static JobListener ends(BlockingQueue<String> into) {
    return new JobListener() {
      @Override
      public void ended(JobInfo job) {
        into.add(job.id().value());
      }
    };
  }

  @Test
  void listenerHearsFromTheMomentItListensUntilItIsClosed() throws Exception {
    BlockingQueue<String> first = new LinkedBlockingQueue<>();
    BlockingQueue<String> second = new LinkedBlockingQueue<>();
    try (Carillon carillon = Carillon.inMemory()) {
      carillon.handle(WORK, (input, job) -> {});
      Subscription one = carillon.node().listen(ends(first));
      Subscription two = carillon.node().listen(ends(second));
      try {
        String id = carillon.schedule(WORK.job(1)).id().value();
        assertThat(first.poll(20, TimeUnit.SECONDS)).isEqualTo(id);
        assertThat(second.poll(20, TimeUnit.SECONDS)).isEqualTo(id);
        one.close();
        one.close();
        String next = carillon.schedule(WORK.job(2)).id().value();
        assertThat(second.poll(20, TimeUnit.SECONDS)).isEqualTo(next);
      } finally {
        two.close();
      }
      assertThat(first).isEmpty();
    }
  }

  @Test
  void nodeTellsNothingWhileNobodyListens() {
    Reports reports = new Reports(new NodeLog().queue());
    ListenerRelay relay = new ListenerRelay(java.util.List.of(), reports);
    assertThat(relay.ifListened()).isNull();
    JobListener listener = new JobListener() {};
    Subscription listening = relay.listen(listener);
    assertThat(relay.ifListened()).isSameAs(relay);
    listening.close();
    assertThat(relay.ifListened()).isNull();
    relay.stop();
  }
}
