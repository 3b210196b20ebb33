package dev.carillon;

import static dev.carillon.Types.LENGTH;
import static dev.carillon.Types.LONG;
import static dev.carillon.Types.NOTE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.carillon.api.CancelResult;
import dev.carillon.api.FailurePolicy;
import dev.carillon.api.IfExists;
import dev.carillon.api.Job;
import dev.carillon.api.JobContext;
import dev.carillon.api.JobHandle;
import dev.carillon.api.JobId;
import dev.carillon.api.JobQuery;
import dev.carillon.api.JobState;
import dev.carillon.api.error.JobFailedException;
import dev.carillon.api.error.NameTakenException;
import dev.carillon.api.error.OutcomeUnknownException;
import dev.carillon.api.error.OverloadedException;
import dev.carillon.api.error.StoreUnavailableException;
import dev.carillon.api.error.WaitInterruptedException;
import dev.carillon.store.FaultyStore;
import dev.carillon.store.FaultyStore.Fault;
import dev.carillon.store.ForwardingStore.Operation;
import dev.carillon.store.MemoryStore;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What callers are told when the store misbehaves, and that it is true. */
@Timeout(60)
class FaultTest {
  private static final Job<Void> LATER = NOTE.job("later").in(Duration.ofHours(1));

  private final Faults faults = new Faults();
  private final MemoryStore memory = new MemoryStore();

  /** Decides for appends, reads of journals, new shards and names; the rest passes. */
  private static final class Faults implements FaultyStore.Faults {
    volatile Fault append = Fault.NONE;
    volatile Fault read = Fault.NONE;
    volatile Fault create = Fault.NONE;
    volatile Fault names = Fault.NONE;
    volatile boolean once;
    volatile boolean throwing;
    final AtomicInteger appends = new AtomicInteger();
    final CountDownLatch slowReached = new CountDownLatch(1);
    final CountDownLatch slow = new CountDownLatch(1);

    @Override
    public Fault next(Operation operation) {
      if (operation != Operation.APPEND) {
        return switch (operation) {
          case READ -> read;
          case CREATE -> create;
          case RECORDS_APPLY -> names;
          default -> Fault.NONE;
        };
      }
      appends.incrementAndGet();
      if (throwing) {
        throwing = false;
        throw new IllegalStateException("against the contract");
      }
      Fault next = append;
      if (once) {
        append = Fault.NONE;
      }
      return next;
    }

    @Override
    public void slow(Operation operation) {
      slowReached.countDown();
      boolean waiting = true;
      while (waiting) {
        try {
          slow.await();
          waiting = false;
        } catch (InterruptedException e) {
          // A hanging store hangs.
        }
      }
    }
  }

  @AfterEach
  void letGo() {
    faults.slow.countDown();
  }

  private CarillonBuilder builder() {
    return Carillon.builder()
        .store(new FaultyStore(memory, faults))
        .daemon(true)
        .advanced(a -> a.scheduleTimeout(Duration.ofMillis(1_500)))
        .closeGrace(Duration.ZERO);
  }

  private int stored() {
    try (Carillon reader = Carillon.builder().store(memory).nodeId("reader").daemon(true).open()) {
      return reader.list(JobQuery.all()).items().size();
    }
  }

  @Test
  void hangingStoreIsReportedAsUnknownForWhatWasSentAndAsUnavailableForWhatWasNot()
      throws Exception {
    try (Carillon carillon = builder().open()) {
      carillon.schedule(LATER);
      faults.append = Fault.SLOW;
      CompletableFuture<JobHandle<Void>> sent = carillon.scheduleAsync(LATER);
      faults.slowReached.await();

      assertThatThrownBy(() -> carillon.schedule(LATER))
          .isInstanceOf(StoreUnavailableException.class)
          .hasMessageContaining("not scheduled");
      assertThatThrownBy(sent::get)
          .isInstanceOf(ExecutionException.class)
          .hasCauseInstanceOf(OutcomeUnknownException.class)
          .hasMessageContaining("scheduling again under the same name or idempotency key");

      faults.append = Fault.NONE;
      faults.slow.countDown();
      Awaitility.await().until(() -> carillon.list(JobQuery.all()).items().size() == 2);
      carillon.schedule(LATER);
    }
    assertThat(stored()).isEqualTo(3);
  }

  @Test
  void closeReturnsThoughTheStoreHangs() throws Exception {
    Carillon carillon = builder().open();
    carillon.schedule(LATER);
    faults.append = Fault.SLOW;
    CompletableFuture<JobHandle<Void>> sent = carillon.scheduleAsync(LATER);
    faults.slowReached.await();

    long start = System.nanoTime();
    carillon.close();

    assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(Duration.ofSeconds(8));
    assertThatThrownBy(() -> sent.get(1, TimeUnit.SECONDS))
        .hasCauseInstanceOf(OutcomeUnknownException.class)
        .hasMessageContaining("scheduling again under the same name or idempotency key");
  }

  @Test
  void fullStoreRefusesJobsAndTakesThemAgainWhenThereIsRoom() {
    try (Carillon carillon =
        builder().advanced(a -> a.scheduleTimeout(Duration.ofSeconds(10))).open()) {
      faults.append = Fault.FULL;

      assertThatThrownBy(() -> carillon.schedule(LATER))
          .isInstanceOf(StoreUnavailableException.class)
          .hasMessageContaining("full");
      assertThat(carillon.node().health().ready()).isFalse();
      assertThat(carillon.node().health().detail()).contains("full");
      assertThat(carillon.node().health().live()).isTrue();

      faults.append = Fault.NONE;
      carillon.schedule(LATER);
      assertThat(carillon.node().health().ready()).isTrue();
      assertThat(carillon.list(JobQuery.all()).items()).hasSize(1);
    }
  }

  @Test
  void unreachableStoreRefusesAfterTheTimeoutAndNothingIsWrittenLater() {
    try (Carillon carillon = builder().open()) {
      carillon.schedule(LATER);
      faults.append = Fault.FAIL_BEFORE;

      assertThatThrownBy(() -> carillon.schedule(LATER))
          .isInstanceOf(StoreUnavailableException.class);
      assertThat(carillon.node().health().ready()).isFalse();

      faults.append = Fault.NONE;
      Awaitility.await()
          .ignoreExceptions()
          .untilAsserted(() -> assertThat(carillon.schedule(LATER).created()).isTrue());
    }
    assertThat(stored()).isEqualTo(2);
  }

  @Test
  void jobThatCouldNotBeStoredNeverRunsAndTheNextOneDoes() throws Exception {
    BlockingQueue<String> ran = new LinkedBlockingQueue<>();
    try (Carillon carillon = builder().open()) {
      carillon.handle(NOTE, (text, job) -> ran.add(text));
      carillon.schedule(NOTE.job("before"));
      assertThat(take(ran)).isEqualTo("before");
      faults.append = Fault.FAIL_BEFORE;
      assertThatThrownBy(() -> carillon.schedule(NOTE.job("ghost")))
          .isInstanceOf(StoreUnavailableException.class);

      faults.append = Fault.NONE;
      Awaitility.await()
          .ignoreExceptions()
          .untilAsserted(() -> assertThat(carillon.schedule(NOTE.job("after"))).isNotNull());
      assertThat(take(ran)).isEqualTo("after");
      assertThat(carillon.list(JobQuery.all()).items()).hasSize(2);
    }
    assertThat(ran).isEmpty();
    assertThat(stored()).isEqualTo(2);
  }

  // ---- callers that wait for the store together

  /** Asks for all of them while the store writes the first, and is not done with it. */
  private List<CompletableFuture<JobHandle<Void>>> askTogether(
      Carillon carillon, List<Job<Void>> jobs) throws InterruptedException {
    faults.append = Fault.SLOW;
    List<CompletableFuture<JobHandle<Void>>> asked = new ArrayList<>();
    asked.add(carillon.scheduleAsync(jobs.getFirst()));
    faults.slowReached.await();
    jobs.stream().skip(1).forEach(job -> asked.add(carillon.scheduleAsync(job)));
    faults.append = Fault.NONE;
    return asked;
  }

  private void assertScheduled(List<CompletableFuture<JobHandle<Void>>> asked) throws Exception {
    assertThat(asked).noneMatch(CompletableFuture::isDone);
    faults.slow.countDown();
    for (CompletableFuture<JobHandle<Void>> one : asked) {
      assertThat(one.get(20, TimeUnit.SECONDS).created()).isTrue();
    }
  }

  @Test
  void thirtyTwoCallersTakeFewAppends() throws Exception {
    int callers = 32;
    try (Carillon carillon = builder().advanced(a -> a.scheduleTimeout(LONG)).open()) {
      carillon.schedule(LATER); // its shard is there
      int before = faults.appends.get();
      assertScheduled(askTogether(carillon, Collections.nCopies(callers, LATER)));
      assertThat(faults.appends.get() - before).isBetween(2, callers / 2);
    }
    assertThat(stored()).isEqualTo(1 + callers);
  }

  @Test
  void callerThatIsRefusedIsRefusedAlone() throws Exception {
    try (Carillon carillon = builder().advanced(a -> a.scheduleTimeout(LONG)).open()) {
      carillon.schedule(LATER.named("taken"));
      List<Job<Void>> jobs = new ArrayList<>(Collections.nCopies(31, LATER));
      jobs.add(15, LATER.named("taken"));
      List<CompletableFuture<JobHandle<Void>>> asked = askTogether(carillon, jobs);
      CompletableFuture<JobHandle<Void>> refused = asked.remove(15);
      assertThatThrownBy(() -> refused.get(20, TimeUnit.SECONDS))
          .hasCauseInstanceOf(NameTakenException.class);
      assertScheduled(asked);
    }
    assertThat(stored()).isEqualTo(32);
  }

  @Test
  void listAndHistoryOfAHangingStoreGiveUp() {
    try (Carillon carillon = builder().open()) {
      JobHandle<Void> handle = carillon.schedule(LATER);
      faults.read = Fault.SLOW;

      assertThatThrownBy(() -> carillon.list(JobQuery.all()))
          .isInstanceOf(StoreUnavailableException.class)
          .hasMessageContaining("no answer from the store");
      assertThatThrownBy(() -> carillon.history(handle.id()))
          .isInstanceOf(StoreUnavailableException.class)
          .hasMessageContaining("no answer from the store");

      faults.read = Fault.NONE;
      faults.slow.countDown();
      assertThat(carillon.list(JobQuery.all()).items()).hasSize(1);
      assertThat(carillon.history(handle.id())).isPresent();
    }
  }

  @Test
  void storeThatStopsStopsTheHandlersSixteenASlotLater() {
    AtomicInteger ran = new AtomicInteger();
    try (Carillon carillon =
        builder().slots(1).advanced(a -> a.scheduleTimeout(Duration.ofSeconds(20))).open()) {
      Instant due = Instant.now().plusMillis(500);
      carillon.scheduleAll(Collections.nCopies(40, NOTE.job("soon").at(due)));
      faults.append = Fault.SLOW;
      carillon.handle(NOTE, (text, job) -> ran.incrementAndGet());

      Awaitility.await()
          .untilAsserted(
              () -> {
                assertThat(carillon.node().stats().running()).isEqualTo(16);
                assertThat(carillon.node().stats().ready()).isEqualTo(24);
              });
      assertThat(ran).hasValue(16);
      faults.append = Fault.NONE;
      faults.slow.countDown();
      Awaitility.await().untilAsserted(() -> assertThat(ran).hasValue(40));
    }
  }

  @Test
  void failureThatCannotBeStoredFreesItsSlotAndIsStoredLater() throws Exception {
    BlockingQueue<String> ran = new LinkedBlockingQueue<>();
    try (Carillon carillon =
        builder().slots(1).advanced(a -> a.scheduleTimeout(Duration.ofSeconds(20))).open()) {
      FailurePolicy once = FailurePolicy.constant(Duration.ZERO, 1);
      JobHandle<Void> bad = carillon.schedule(NOTE.job("bad").onFailure(once).priority(1));
      JobHandle<Void> good = carillon.schedule(NOTE.job("good"));
      faults.append = Fault.FAIL_BEFORE;
      carillon.handle(
          NOTE,
          (text, job) -> {
            ran.add(text + job.attempt());
            if (text.equals("bad")) {
              throw new IllegalStateException("no");
            }
          });
      assertThat(List.of(take(ran), take(ran))).containsExactlyInAnyOrder("bad1", "good1");

      faults.append = Fault.NONE;
      assertThat(take(ran)).isEqualTo("bad2");
      assertThat(good.result(Duration.ofSeconds(20))).isNull();
      assertThatThrownBy(() -> bad.result(Duration.ofSeconds(20)))
          .isInstanceOf(JobFailedException.class);
      assertThat(ran).isEmpty();
    }
  }

  private static String take(BlockingQueue<String> ran) throws InterruptedException {
    String next = ran.poll(20, TimeUnit.SECONDS);
    return next != null ? next : "nothing";
  }

  @Test
  void storeThatIsTooFullForAShardRefusesAtOnce() {
    try (Carillon carillon =
        builder().advanced(a -> a.scheduleTimeout(Duration.ofSeconds(20))).open()) {
      faults.create = Fault.FULL;
      assertThatThrownBy(() -> carillon.schedule(LATER))
          .isInstanceOf(StoreUnavailableException.class)
          .hasMessageContaining("the store is full");
      faults.create = Fault.NONE;
      carillon.schedule(LATER);
    }
    assertThat(stored()).isEqualTo(1);
  }

  @Test
  void storeThatIsTooFullForANameRefusesAtOnce() {
    try (Carillon carillon =
        builder().advanced(a -> a.scheduleTimeout(Duration.ofSeconds(20))).open()) {
      faults.names = Fault.FULL;
      assertThatThrownBy(() -> carillon.schedule(LATER.named("n")))
          .isInstanceOf(StoreUnavailableException.class)
          .hasMessageContaining("the store is full");
      assertThatThrownBy(() -> carillon.scheduleAll(List.of(LATER, LATER.named("n"))))
          .isInstanceOf(StoreUnavailableException.class)
          .hasMessageContaining("the store is full");
      faults.names = Fault.NONE;
      assertThat(carillon.schedule(LATER.named("n")).created()).isTrue();
    }
    assertThat(stored()).isEqualTo(1);
  }

  @Test
  void keyOfAReplaceIsKnownThoughTheNodeDiedBeforeItsRecordToldTheEnd() {
    JobId id;
    try (Carillon carillon = builder().open()) {
      carillon.schedule(LATER.named("n").key("first"));
      Job<Void> now = NOTE.job("now").named("n").key("second").ifExists(IfExists.REPLACE);
      id = carillon.schedule(now).id();
      faults.names = Fault.FAIL_BEFORE;
      carillon.handle(NOTE, (text, job) -> {});
      Awaitility.await().until(() -> carillon.get(id).orElseThrow().state() == JobState.SUCCEEDED);
    }
    try (Carillon next = Carillon.builder().store(memory).daemon(true).open()) {
      JobHandle<Void> again = next.schedule(LATER.named("n").key("second"));
      assertThat(again.created()).isFalse();
      assertThat(again.id()).isEqualTo(id);
      assertThat(next.schedule(LATER.named("n").key("first")).created()).isTrue();
    }
  }

  @Test
  void answerThatGotLostIsFoundOut() {
    try (Carillon carillon =
        builder().advanced(a -> a.scheduleTimeout(Duration.ofSeconds(10))).open()) {
      faults.once = true;
      faults.append = Fault.APPLY_THEN_TIMEOUT;
      assertThat(carillon.schedule(LATER).created()).isTrue();
      faults.append = Fault.TIMEOUT_THEN_APPLY;
      assertThat(carillon.schedule(LATER).created()).isTrue();
    }
    assertThat(stored()).isEqualTo(2);
  }

  @Test
  void storeThatThrowsAgainstItsContractIsSurvived() {
    try (Carillon carillon =
        builder().advanced(a -> a.scheduleTimeout(Duration.ofSeconds(10))).open()) {
      carillon.handle(LENGTH, (text, job) -> text.length());
      faults.throwing = true;
      assertThat(carillon.schedule(LENGTH.job("abc")).result(LONG)).isEqualTo(3);
      assertThat(carillon.node().stats().problems()).isEqualTo(1);
    }
  }

  @Test
  void tooMuchWaitingIsTurnedAway() throws Exception {
    try (Carillon carillon = builder().advanced(a -> a.maxWaiting(3, 1 << 20)).open()) {
      carillon.schedule(LATER);
      faults.append = Fault.SLOW;
      for (int i = 0; i < 3; i++) {
        var unused = carillon.scheduleAsync(LATER);
      }
      faults.slowReached.await();

      assertThatThrownBy(() -> carillon.scheduleAsync(LATER).get())
          .hasCauseInstanceOf(OverloadedException.class);
      assertThat(carillon.node().stats().unansweredJobs()).isBetween(1L, 3L);

      faults.append = Fault.NONE;
      faults.slow.countDown();
      Awaitility.await().until(() -> carillon.node().stats().unansweredJobs() == 0);
      carillon.schedule(LATER);
    }
  }

  @Test
  void blockedCallerWaitsForRoom() throws Exception {
    try (Carillon carillon =
        builder()
            .advanced(a -> a.maxWaiting(1, 1 << 20).scheduleTimeout(Duration.ofSeconds(20)))
            .open()) {
      carillon.schedule(LATER);
      faults.append = Fault.SLOW;
      var first = carillon.scheduleAsync(LATER);
      faults.slowReached.await();
      AtomicBoolean done = new AtomicBoolean();
      Thread caller =
          Thread.ofPlatform()
              .start(
                  () -> {
                    carillon.schedule(LATER);
                    done.set(true);
                  });
      Awaitility.await().until(() -> caller.getState() == Thread.State.TIMED_WAITING);
      assertThat(done).isFalse();

      faults.append = Fault.NONE;
      faults.slow.countDown();

      first.get(20, TimeUnit.SECONDS);
      caller.join();
      assertThat(done).isTrue();
    }
  }

  @Test
  void interruptedCallerLearnsWhatIsKnownAndStaysInterrupted() throws Exception {
    try (Carillon carillon =
        builder().advanced(a -> a.scheduleTimeout(Duration.ofSeconds(30))).open()) {
      carillon.schedule(LATER);

      // Interrupted before: nothing is even tried.
      Thread.currentThread().interrupt();
      assertThatThrownBy(() -> carillon.schedule(LATER))
          .isInstanceOf(WaitInterruptedException.class);
      assertThat(Thread.interrupted()).isTrue();

      faults.append = Fault.SLOW;
      CompletableFuture<Throwable> sent = interruptedCall(carillon);
      faults.slowReached.await();
      assertThat(sent.get(20, TimeUnit.SECONDS)).isInstanceOf(OutcomeUnknownException.class);
      CompletableFuture<Throwable> behind = interruptedCall(carillon);
      assertThat(behind.get(20, TimeUnit.SECONDS)).isInstanceOf(WaitInterruptedException.class);

      faults.append = Fault.NONE;
      faults.slow.countDown();
      carillon.schedule(LATER);
      assertThat(carillon.list(JobQuery.all()).items()).hasSize(3);
    }
  }

  private static CompletableFuture<Throwable> interruptedCall(Carillon carillon) {
    CompletableFuture<Throwable> thrown = new CompletableFuture<>();
    Thread caller =
        Thread.ofPlatform()
            .start(
                () -> {
                  try {
                    carillon.schedule(LATER);
                    thrown.complete(new AssertionError("scheduled"));
                  } catch (RuntimeException e) {
                    thrown.complete(
                        Thread.currentThread().isInterrupted()
                            ? e
                            : new AssertionError("not interrupted any more", e));
                  }
                });
    Awaitility.await().until(() -> caller.getState() == Thread.State.TIMED_WAITING);
    caller.interrupt();
    return thrown;
  }

  @Test
  void watcherHearsOfAnEndThatTheStoreCouldNotTellAtFirst() throws Exception {
    try (Carillon carillon = builder().open()) {
      JobHandle<Void> handle = carillon.schedule(LATER);
      handle.cancel("");
      BlockingQueue<JobState> states = new LinkedBlockingQueue<>();
      faults.read = Fault.FAIL_BEFORE;

      handle.watch(info -> states.add(info.state()));

      assertThat(states).isEmpty();
      faults.read = Fault.NONE;
      assertThat(states.poll(20, TimeUnit.SECONDS)).isEqualTo(JobState.CANCELLED);
    }
  }

  @Test
  void watchOfAHangingStoreBeginsAllTheSame() throws Exception {
    try (Carillon carillon = builder().open()) {
      JobHandle<Void> handle = carillon.schedule(LATER);
      handle.cancel("");
      BlockingQueue<JobState> states = new LinkedBlockingQueue<>();
      faults.read = Fault.SLOW;

      handle.watch(info -> states.add(info.state()));

      assertThat(states).isEmpty();
      faults.read = Fault.NONE;
      faults.slow.countDown();
      assertThat(states.poll(20, TimeUnit.SECONDS)).isEqualTo(JobState.CANCELLED);
    }
  }

  @Test
  void cancelOfAHangingStoreIsUnknownAndMayBeRepeated() {
    try (Carillon carillon = builder().open()) {
      JobHandle<Void> handle = carillon.schedule(LATER);
      faults.append = Fault.SLOW;

      assertThatThrownBy(() -> handle.cancel("not needed"))
          .isInstanceOf(OutcomeUnknownException.class)
          .hasMessageStartingWith("cancelling job " + handle.id() + ": no answer from the store")
          .hasMessageEndingWith("(it may or may not have been applied; asking again is safe)");

      faults.append = Fault.NONE;
      faults.slow.countDown();
      Awaitility.await()
          .ignoreExceptions()
          .untilAsserted(
              () ->
                  assertThat(handle.cancel("again"))
                      .isEqualTo(new CancelResult.Ended(JobState.CANCELLED)));
      assertThat(handle.info().reason()).isEqualTo("not needed");
    }
  }

  // ---- saving a position

  @Test
  void saveToAHangingStoreIsUnknownAndMayBeRepeated() throws Exception {
    CompletableFuture<Saved> unknown = new CompletableFuture<>();
    CompletableFuture<String> again = new CompletableFuture<>();
    try (Carillon carillon = builder().open()) {
      carillon.handle(
          NOTE,
          (text, job) -> {
            if (job.attempt() > 1) {
              again.complete(job.saved(String.class).orElse("none"));
              return;
            }
            job.save("begun");
            faults.append = Fault.SLOW;
            unknown.complete(Saved.by(job, "half"));
            faults.append = Fault.NONE;
            faults.slow.countDown();
            throw new IllegalStateException("once more");
          });
      JobHandle<Void> handle = carillon.schedule(NOTE.job("long"));

      Saved seen = unknown.get(20, TimeUnit.SECONDS);
      assertThat(seen.thrown())
          .isInstanceOf(OutcomeUnknownException.class)
          .hasMessageStartingWith("saving the position of job " + handle.id() + ": no answer")
          .hasMessageEndingWith("(it may or may not have been applied; asking again is safe)");
      assertThat(seen.position()).isEqualTo("begun");
      // The store had taken it after all: the next attempt goes on from there.
      assertThat(again.get(20, TimeUnit.SECONDS)).isEqualTo("half");
    }
  }

  /** What a handler saw of a save that it made while, or after, it was interrupted. */
  private record Saved(@Nullable Throwable thrown, boolean interrupted, String position) {
    static Saved by(JobContext job, String position) {
      Throwable thrown = null;
      try {
        job.save(position);
      } catch (RuntimeException e) {
        thrown = e;
      }
      boolean interrupted = Thread.currentThread().isInterrupted();
      return new Saved(thrown, interrupted, job.saved(String.class).orElse("none"));
    }
  }

  @Test
  void interruptedHandlerSavesItsPositionForTheNextStart() throws Exception {
    Gate gate = new Gate();
    CompletableFuture<Saved> saved = new CompletableFuture<>();
    Carillon carillon = builder().advanced(a -> a.scheduleTimeout(Duration.ofSeconds(20))).open();
    carillon.handle(
        NOTE,
        (text, job) -> {
          job.save("begun");
          try {
            gate.pass();
          } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            saved.complete(Saved.by(job, "half"));
            throw e;
          }
        });
    JobHandle<Void> handle = carillon.schedule(NOTE.job("long"));
    gate.awaitReached();

    carillon.close();

    assertThat(saved.get(20, TimeUnit.SECONDS)).isEqualTo(new Saved(null, true, "half"));
    try (Carillon again = builder().open()) {
      CompletableFuture<String> found = new CompletableFuture<>();
      again.handle(
          NOTE,
          (text, job) -> found.complete(job.saved(String.class).orElse("none") + job.attempt()));
      assertThat(found.get(20, TimeUnit.SECONDS)).isEqualTo("half1");
      again.result(handle.id(), TaskTypeResult.NONE, LONG);
    }
  }

  @Test
  void interruptEndsASaveToAStoreThatDoesNotAnswer() throws Exception {
    CompletableFuture<Thread> handler = new CompletableFuture<>();
    CompletableFuture<Saved> saved = new CompletableFuture<>();
    try (Carillon carillon = patient().open()) {
      carillon.handle(
          NOTE,
          (text, job) -> {
            faults.append = Fault.SLOW;
            handler.complete(Thread.currentThread());
            saved.complete(Saved.by(job, "half"));
          });
      JobHandle<Void> handle = carillon.schedule(NOTE.job("long"));
      Thread saving = handler.get(20, TimeUnit.SECONDS);
      faults.slowReached.await();

      saving.interrupt();

      assertGivenUp(saved, handle);
      faults.append = Fault.NONE;
      faults.slow.countDown();
      handle.result(LONG);
    }
  }

  @Test
  void handlerOfANodeThatFencesItselfDoesNotGoOnInASave() throws Exception {
    CompletableFuture<Saved> saved = new CompletableFuture<>();
    try (Carillon carillon =
        patient().advanced(a -> a.memberTimeout(Duration.ofSeconds(1))).open()) {
      carillon.handle(
          NOTE,
          (text, job) -> {
            if (saved.isDone()) {
              return;
            }
            faults.append = Fault.SLOW;
            faults.names = Fault.SLOW; // and so the heartbeats
            saved.complete(Saved.by(job, "half"));
          });
      JobHandle<Void> handle = carillon.schedule(NOTE.job("long"));

      assertGivenUp(saved, handle);
      faults.append = Fault.NONE;
      faults.names = Fault.NONE;
      faults.slow.countDown();
      handle.result(LONG);
    }
  }

  /** One whose callers would wait for the store longer than the tests do. */
  private CarillonBuilder patient() {
    return builder().advanced(a -> a.scheduleTimeout(Duration.ofMinutes(2)));
  }

  private static void assertGivenUp(CompletableFuture<Saved> saved, JobHandle<Void> handle)
      throws Exception {
    Saved seen = saved.get(20, TimeUnit.SECONDS);
    assertThat(seen.thrown())
        .isInstanceOf(OutcomeUnknownException.class)
        .hasMessageStartingWith("saving the position of job " + handle.id() + ": no answer")
        .hasMessageContaining("an interrupt of its caller");
    assertThat(seen.interrupted()).isTrue();
    assertThat(seen.position()).isEqualTo("none");
  }
}
