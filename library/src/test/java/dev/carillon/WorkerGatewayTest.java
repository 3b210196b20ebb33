package dev.carillon;

import static dev.carillon.Types.LENGTH;
import static dev.carillon.Types.LONG;
import static dev.carillon.Types.NOTE;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.carillon.api.AttemptToken;
import dev.carillon.api.BlockReason;
import dev.carillon.api.FailurePolicy;
import dev.carillon.api.JobError;
import dev.carillon.api.JobHandle;
import dev.carillon.api.JobState;
import dev.carillon.api.Limits;
import dev.carillon.api.error.InvalidArgumentException;
import dev.carillon.gateway.ConnectedWorker;
import dev.carillon.gateway.GivenAttempt;
import dev.carillon.gateway.WorkerConnection.SaveAnswer;
import dev.carillon.gateway.WorkerHello;
import dev.carillon.gateway.WorkerOutcome;
import dev.carillon.gateway.WorkerProgress;
import dev.carillon.gateway.WorkerTake;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** What a gateway uses, with workers that the test plays, on a real node on SQLite. */
@Timeout(60)
class WorkerGatewayTest {
  @TempDir Path folder;
  private Carillon carillon;

  @BeforeEach
  void open() {
    carillon =
        Carillon.builder()
            .url("jdbc:sqlite:" + folder.resolve("jobs.db"))
            .daemon(true)
            .advanced(a -> a.expectWorkers(true))
            .open();
  }

  @AfterEach
  void close() {
    carillon.close();
  }

  private PlayedWorker worker(String name, WorkerTake... takes) {
    return PlayedWorker.connected(carillon.node().workers(), name, takes);
  }

  private static WorkerOutcome number(int number) {
    return new WorkerOutcome.Succeeded(
        new RawPayload("json", Integer.toString(number).getBytes(UTF_8)));
  }

  private static WorkerOutcome done() {
    return new WorkerOutcome.Succeeded(new RawPayload("", new byte[0]));
  }

  @Test
  void jobRunsInAWorkerAndItsResultIsRead() throws Exception {
    PlayedWorker worker = worker("w1", WorkerTake.type("length")).takes(2);
    JobHandle<Integer> job =
        carillon.schedule(
            LENGTH.job("four").queue("letters").metadata(Map.of("by", "me")).timeout(LONG));

    GivenAttempt attempt = worker.awaitGiven();
    worker.says().accepted(attempt.token());
    worker.says().progress(attempt.token(), new WorkerProgress(1, 4, "counting"));
    worker.says().outcome(attempt.token(), number(4));

    assertThat(job.result(LONG)).isEqualTo(4);
    worker.awaitWord("settled");
    assertThat(attempt.token().job()).isEqualTo(job.id());
    assertThat(attempt.type()).isEqualTo("length");
    assertThat(attempt.queue()).isEqualTo("letters");
    assertThat(attempt.metadata()).containsEntry("by", "me");
    assertThat(attempt.timeout()).isEqualTo(LONG);
    assertThat(attempt.input().codec()).isEqualTo("json");
    assertThat(attempt.input().bytes()).asString(UTF_8).isEqualTo("\"four\"");
    assertThat(attempt.saved()).isNull();
    assertThat(job.info().progress().message()).isEqualTo("counting");
  }

  @Test
  void withoutWorkersJobsAreBlockedAndTheNextWorkerReleasesThem() throws Exception {
    PlayedWorker worker = worker("w1", WorkerTake.type("note")).takes(1);
    JobHandle<Void> runs = carillon.schedule(NOTE.job("runs"));
    GivenAttempt attempt = worker.awaitGiven();
    worker.says().accepted(attempt.token());
    JobHandle<Void> waits = carillon.schedule(NOTE.job("waits"));
    Awaitility.await().until(() -> waits.info().blockReason() == BlockReason.LIMIT);

    worker.says().gone();
    Awaitility.await().until(() -> waits.info().blockReason() == BlockReason.NO_HANDLER);
    assertThat(waits.info().attempt()).isZero();

    PlayedWorker next = worker("w2", WorkerTake.queue(waits.info().queue())).takes(1);
    GivenAttempt released = next.awaitGiven();
    assertThat(released.token().job()).isEqualTo(waits.id());
    next.says().accepted(released.token());
    next.says().outcome(released.token(), done());
    assertThat(waits.result(LONG)).isNull();

    PlayedWorker back = worker("w1", WorkerTake.type("note"));
    back.says().resume(List.of(attempt.token()));
    back.says().outcome(attempt.token(), done());
    back.awaitWord("settled");
    assertThat(runs.result(LONG)).isNull();
  }

  @Test
  void attemptThatLastsIsLeasedAndItsNodeMayCloseBeforeItEnds() throws Exception {
    PlayedWorker worker = worker("w1", WorkerTake.type("note").lease(Duration.ofSeconds(30)));
    worker.takes(1);
    JobHandle<Void> job = carillon.schedule(NOTE.job("long"));
    GivenAttempt attempt = worker.awaitGiven();
    worker.says().accepted(attempt.token());
    worker.says().beat(1);
    worker.awaitWord("leased PT30S");
    ConnectedWorker seen = carillon.node().workers().connected().getFirst();
    assertThat(seen.worker()).isEqualTo("w1");
    assertThat(seen.takes()).containsExactly(WorkerTake.type("note").lease(Duration.ofSeconds(30)));
    assertThat(seen.runs())
        .singleElement()
        .satisfies(
            run -> {
              assertThat(run.token()).isEqualTo(attempt.token());
              assertThat(run.accepted() && run.leased()).isTrue();
            });

    close();
    worker.awaitWord("drain");
    open();

    PlayedWorker again = worker("w1", WorkerTake.type("note")).takes(1);
    again.says().outcome(attempt.token(), done());
    Awaitility.await()
        .until(
            () -> {
              again.says().outcome(attempt.token(), done()); // until the shard is loaded
              return carillon.get(job.id()).orElseThrow().state() == JobState.SUCCEEDED;
            });
    assertThat(carillon.get(job.id()).orElseThrow().attempt()).isEqualTo(1);
    assertThat(again.wasGiven()).isFalse();
  }

  @Test
  void failuresFollowThePolicyUnlessTheWorkerKnowsBetter() throws Exception {
    PlayedWorker worker = worker("w1", WorkerTake.type("note")).takes(10);
    FailurePolicy policy =
        FailurePolicy.constant(Duration.ZERO, 3).except(List.of("java.io.IOException"));
    JobError error = new JobError("shop.Broken", "broken", "");

    JobHandle<Void> retried = carillon.schedule(NOTE.job("retried").onFailure(policy));
    worker.says().outcome(worker.awaitGiven().token(), WorkerOutcome.Failed.of(error));
    GivenAttempt second = worker.awaitGiven();
    assertThat(second.token().attempt()).isEqualTo(2);
    worker
        .says()
        .outcome(
            second.token(),
            new WorkerOutcome.Failed(error, List.of(), new WorkerOutcome.Next.Never()));
    Awaitility.await().until(() -> retried.info().state() == JobState.DEAD);

    JobHandle<Void> excepted = carillon.schedule(NOTE.job("excepted").onFailure(policy));
    worker
        .says()
        .outcome(
            worker.awaitGiven().token(),
            new WorkerOutcome.Failed(
                error,
                List.of("java.net.SocketException", "java.io.IOException"),
                new WorkerOutcome.Next.ByPolicy(null)));
    Awaitility.await().until(() -> excepted.info().state() == JobState.DEAD);

    JobHandle<Void> unread = carillon.schedule(NOTE.job("unread"));
    worker.says().outcome(worker.awaitGiven().token(), new WorkerOutcome.Undecodable(error));
    Awaitility.await().until(() -> unread.info().blockReason() == BlockReason.UNDECODABLE);

    JobHandle<Void> later = carillon.schedule(NOTE.job("later"));
    Instant due = Instant.now().plusSeconds(3600);
    worker.says().outcome(worker.awaitGiven().token(), new WorkerOutcome.Again(due, "closed"));
    Awaitility.await().until(() -> later.info().state() == JobState.SCHEDULED);
    assertThat(later.info().attempt()).isZero();
  }

  @Test
  void savedPositionIsGivenToTheNextAttemptAndLateWordsAreStale() throws Exception {
    PlayedWorker worker = worker("w1", WorkerTake.type("note")).takes(10);
    JobHandle<Void> job = carillon.schedule(NOTE.job("in parts"));
    GivenAttempt first = worker.awaitGiven();
    RawPayload half = new RawPayload("bytes", new byte[] {1, 2});
    CompletableFuture<SaveAnswer> saved = new CompletableFuture<>();
    worker.says().save(first.token(), half, saved::complete);
    assertThat(saved.get(LONG.toSeconds(), TimeUnit.SECONDS)).isEqualTo(SaveAnswer.SAVED);
    worker.says().outcome(first.token(), new WorkerOutcome.GivenBack());

    GivenAttempt second = worker.awaitGiven();
    assertThat(second.token().attempt()).isEqualTo(1);
    RawPayload position = second.saved();
    assertThat(position).isNotNull();
    assertThat(position.codec()).isEqualTo("bytes");
    assertThat(position.bytes()).containsExactly(1, 2);
    worker.awaitWord("settled");

    worker.says().outcome(first.token(), done());
    worker.awaitWord("stale");
    CompletableFuture<SaveAnswer> late = new CompletableFuture<>();
    worker.says().save(first.token(), half, late::complete);
    assertThat(late.get(LONG.toSeconds(), TimeUnit.SECONDS)).isEqualTo(SaveAnswer.STALE);
    AttemptToken forged = new AttemptToken(job.id(), 0, 1, 4711);
    worker.says().outcome(forged, done());
    worker.awaitWord("stale");

    worker.says().outcome(second.token(), done());
    assertThat(job.result(LONG)).isNull();
  }

  @Test
  void cancelIsPushedAndATooLargeResultEndsTheJob() throws Exception {
    PlayedWorker worker = worker("w1", WorkerTake.type("note")).takes(10);
    JobHandle<Void> cancelled = carillon.schedule(NOTE.job("cancelled"));
    GivenAttempt attempt = worker.awaitGiven();
    worker.says().accepted(attempt.token());
    cancelled.cancel("not wanted");
    worker.awaitWord("stop CANCELLED");
    worker.says().outcome(attempt.token(), new WorkerOutcome.GivenBack());
    Awaitility.await().until(() -> cancelled.info().state() == JobState.CANCELLED);

    JobHandle<Void> large = carillon.schedule(NOTE.job("large"));
    byte[] bytes = new byte[Limits.PAYLOAD_MAX_BYTES + 1];
    worker
        .says()
        .outcome(
            worker.awaitGiven().token(),
            new WorkerOutcome.Succeeded(new RawPayload("bytes", bytes)));
    Awaitility.await().until(() -> large.info().state() == JobState.DEAD);
  }

  @Test
  void listenerThatThrowsLosesItsWorkerAlone() throws Exception {
    PlayedWorker broken =
        PlayedWorker.connected(
            carillon.node().workers(),
            new WorkerHello("w1", List.of(WorkerTake.type("note")), false));
    broken.fails = true;
    broken.takes(1);
    JobHandle<Void> job = carillon.schedule(NOTE.job("a"));
    Awaitility.await().until(() -> carillon.node().workers().connected().isEmpty());

    PlayedWorker other = worker("w2", WorkerTake.type("note")).takes(1);
    GivenAttempt attempt = other.awaitGiven();
    other.says().outcome(attempt.token(), done());
    assertThat(job.result(LONG)).isNull();
    CompletableFuture<Void> heard = new CompletableFuture<>();
    other.says().whenHeard(() -> heard.complete(null));
    heard.get(LONG.toSeconds(), TimeUnit.SECONDS);
  }

  @Test
  void badInputIsNamed() {
    assertThatThrownBy(() -> WorkerTake.type("note").lease(Duration.ofSeconds(1)))
        .isInstanceOf(InvalidArgumentException.class)
        .hasMessage("lease: PT1S (expected: PT5S to PT1H)");
    assertThatThrownBy(() -> new WorkerHello(" ", List.of(WorkerTake.type("note")), false))
        .hasMessageStartingWith("worker: ");
    assertThatThrownBy(() -> new WorkerHello("w", List.of(), false))
        .hasMessage("takes: 0 (expected: 1 to 1000)");
    assertThatThrownBy(() -> new WorkerProgress(3, 2, ""))
        .isInstanceOf(InvalidArgumentException.class);
  }
}
