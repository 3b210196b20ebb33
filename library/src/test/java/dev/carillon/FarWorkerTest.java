package dev.carillon;

import static dev.carillon.Types.LONG;
import static dev.carillon.Types.NOTE;
import static org.assertj.core.api.Assertions.assertThat;

import dev.carillon.api.JobHandle;
import dev.carillon.api.JobInfo;
import dev.carillon.api.JobState;
import dev.carillon.gateway.GivenAttempt;
import dev.carillon.gateway.WorkerConnection.SaveAnswer;
import dev.carillon.gateway.WorkerOutcome;
import dev.carillon.gateway.WorkerTake;
import dev.carillon.store.MemoryStore;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A worker whose node does not own the jobs: two nodes on one store. */
@Timeout(90)
class FarWorkerTest {
  private static final WorkerOutcome DONE =
      new WorkerOutcome.Succeeded(new RawPayload("", new byte[0]));

  private final MemoryStore store = new MemoryStore();
  private Carillon owner;
  private Carillon gateway;

  @BeforeEach
  void open() {
    owner = member("owner");
    gateway = member("gateway");
    Awaitility.await().until(() -> owner.node().members().size() == 2);
    Awaitility.await().until(() -> gateway.node().members().size() == 2);
  }

  @AfterEach
  void close() {
    gateway.close();
    owner.close();
  }

  private Carillon member(String id) {
    return Carillon.builder()
        .store(store)
        .nodeId(id)
        .daemon(true)
        .advanced(a -> a.memberTimeout(Duration.ofSeconds(2)).expectWorkers(true))
        .open();
  }

  private PlayedWorker worker(Carillon at) {
    return PlayedWorker.connected(at.node().workers(), "w1", WorkerTake.type("note"));
  }

  @Test
  void jobsOfAnotherNodeRunInAWorker() throws Exception {
    PlayedWorker worker = worker(gateway).takes(4);
    List<JobHandle<Void>> jobs = new ArrayList<>();
    for (int i = 0; i < 20; i++) {
      jobs.add(owner.schedule(NOTE.job("job " + i)));
    }
    for (int done = 0; done < 20; done++) {
      GivenAttempt attempt = worker.awaitGiven();
      worker.says().accepted(attempt.token());
      CompletableFuture<SaveAnswer> saved = new CompletableFuture<>();
      worker.says().save(attempt.token(), new RawPayload("bytes", new byte[] {7}), saved::complete);
      assertThat(saved.get(LONG.toSeconds(), TimeUnit.SECONDS)).isEqualTo(SaveAnswer.SAVED);
      worker.says().outcome(attempt.token(), DONE);
      worker.awaitWord("settled");
      worker.takes(4);
    }
    for (JobHandle<Void> job : jobs) {
      assertThat(job.result(LONG)).isNull();
      assertThat(job.info().attempt()).isEqualTo(1);
    }
    assertThat(owner.node().figures().count("attempts.given")).isPositive();
    assertThat(gateway.node().figures().count("attempts.relayed")).isPositive();
  }

  @Test
  void leasedAttemptGoesOnWhenItsGatewayCloses() throws Exception {
    PlayedWorker worker = worker(gateway).takes(8);
    Map<JobHandle<Void>, GivenAttempt> running = runs(worker);

    gateway.close();
    PlayedWorker again = worker(owner);
    for (GivenAttempt attempt : running.values()) {
      again.says().resume(List.of(attempt.token()));
    }
    ends(again, running, owner);
  }

  @Test
  void leasedAttemptGoesOnWhenItsOwnerCloses() throws Exception {
    PlayedWorker worker = worker(gateway).takes(8);
    Map<JobHandle<Void>, GivenAttempt> running = runs(worker);

    owner.close();
    ends(worker, running, gateway);
  }

  /** Eight jobs that are leased, some of each node. */
  private Map<JobHandle<Void>, GivenAttempt> runs(PlayedWorker worker) throws Exception {
    Map<JobHandle<Void>, GivenAttempt> running = new LinkedHashMap<>();
    for (int i = 0; i < 8; i++) {
      JobHandle<Void> job = (i % 2 == 0 ? owner : gateway).schedule(NOTE.job("job " + i));
      GivenAttempt attempt = worker.awaitGiven();
      worker.says().accepted(attempt.token());
      worker.says().beat(i);
      worker.takes(7 - i);
      running.put(job, attempt);
    }
    Awaitility.await()
        .until(
            () -> {
              worker.says().beat(8);
              return worker.heardOf("leased PT20S") >= 8;
            });
    return running;
  }

  /** Says each outcome until it is heard by whoever owns the job then. */
  private static void ends(
      PlayedWorker worker, Map<JobHandle<Void>, GivenAttempt> running, Carillon reader) {
    running.forEach(
        (job, attempt) -> {
          Awaitility.await()
              .atMost(LONG)
              .until(
                  () -> {
                    worker.says().outcome(attempt.token(), DONE);
                    return info(reader, job).state() == JobState.SUCCEEDED;
                  });
          assertThat(info(reader, job).attempt()).isEqualTo(1);
        });
    assertThat(worker.wasGiven()).isFalse();
  }

  private static JobInfo info(Carillon reader, JobHandle<Void> job) {
    return reader.get(job.id()).orElseThrow();
  }
}
