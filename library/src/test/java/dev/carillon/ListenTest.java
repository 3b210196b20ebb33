package dev.carillon;

import static org.assertj.core.api.Assertions.assertThat;

import dev.carillon.api.JobInfo;
import dev.carillon.api.JobListener;
import dev.carillon.api.Subscription;
import dev.carillon.api.TaskType;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
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
  void gapIsToldWhereItIs() throws Exception {
    BlockingQueue<String> heard = new LinkedBlockingQueue<>();
    CountDownLatch reads = new CountDownLatch(1);
    ClusterListener slow =
        new ClusterListener() {
          @Override
          public void ended(JobInfo job) {
            await(reads);
            heard.add(job.id().value());
          }

          @Override
          public void missed(String nodeId) {
            heard.add("missed on " + nodeId);
          }
        };
    try (Carillon carillon = Carillon.builder().inMemory().nodeId("here").open()) {
      JobInfo job = carillon.get(carillon.schedule(WORK.job(1)).id()).orElseThrow();
      Reports reports = new Reports(new NodeLog().queue());
      ListenerRelay relay = new ListenerRelay(List.of(slow), reports, "here");
      relay.start(carillon.loop());
      try {
        int tooMany = ListenerRelay.MAX_WAITING + 10;
        for (int i = 0; i < tooMany; i++) {
          relay.ended(job);
        }
        reads.countDown();
        for (int i = 0; i < ListenerRelay.MAX_WAITING; i++) {
          assertThat(heard.poll(20, TimeUnit.SECONDS)).isEqualTo(job.id().value());
        }
        String next = heard.poll(20, TimeUnit.SECONDS);
        if (job.id().value().equals(next)) { // the one that the worker had taken before
          next = heard.poll(20, TimeUnit.SECONDS);
        }
        assertThat(next).isEqualTo("missed on here");
        relay.ended(job);
        assertThat(heard.poll(20, TimeUnit.SECONDS)).isEqualTo(job.id().value());
        assertThat(heard).isEmpty();
      } finally {
        relay.stop();
      }
    }
  }

  private static void await(CountDownLatch latch) {
    try {
      latch.await();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  @Test
  void nodeTellsNothingWhileNobodyListens() {
    Reports reports = new Reports(new NodeLog().queue());
    ListenerRelay relay = new ListenerRelay(List.of(), reports, "a");
    assertThat(relay.ifListened()).isNull();
    JobListener listener = new JobListener() {};
    Subscription listening = relay.listen(listener);
    assertThat(relay.ifListened()).isSameAs(relay);
    listening.close();
    assertThat(relay.ifListened()).isNull();
    relay.stop();
  }
}
