package dev.carillon.worker;

import static org.assertj.core.api.Assertions.assertThat;

import dev.carillon.api.JobHandle;
import dev.carillon.api.JobType;
import dev.carillon.fixture.PostgresServer;
import java.time.Duration;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A worker and two servers on one store. */
@Timeout(240)
class TwoServersTest {
  private static final Duration LONG = Duration.ofSeconds(90);
  private static final JobType<String, Integer> LENGTH =
      JobType.of("length", String.class, Integer.class);

  @Test
  void workerThatKnowsOneServerFindsTheOther() {
    String url = PostgresServer.shared().url() + "&carillon.schema=worker_servers";
    try (TestServer first = new TestServer(url, "first");
        TestServer second = new TestServer(url, "second");
        CarillonWorker worker =
            CarillonWorker.builder()
                .server(first.workers())
                .daemon(true)
                .closesAtExit(false)
                .handle(LENGTH, (text, job) -> text.length())
                .start()) {
      Awaitility.await()
          .atMost(LONG)
          .until(
              () ->
                  worker.info().servers().stream()
                          .filter(WorkerInfo.Server::connected)
                          .map(WorkerInfo.Server::node)
                          .distinct()
                          .count()
                      == 2);
      JobHandle<Integer> one = first.carillon().schedule(LENGTH.job("a"));
      JobHandle<Integer> other = second.carillon().schedule(LENGTH.job("bb"));
      assertThat(one.result(LONG)).isEqualTo(1);
      assertThat(other.result(LONG)).isEqualTo(2);
    }
  }
}
