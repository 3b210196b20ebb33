package dev.carillon;

import static dev.carillon.Types.LENGTH;
import static dev.carillon.Types.LONG;
import static dev.carillon.Types.NOTE;
import static org.assertj.core.api.Assertions.assertThat;

import dev.carillon.api.BlockReason;
import dev.carillon.api.FailurePolicy;
import dev.carillon.api.JobHandle;
import dev.carillon.api.JobInfo;
import dev.carillon.api.JobState;
import dev.carillon.store.MemoryStore;
import dev.carillon.store.Store;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Handlers that go while their node stays. */
@Timeout(60)
class UnregisterTest {

  private static void awaitBlocked(JobHandle<?> job) {
    Awaitility.await().until(() -> job.info().state() == JobState.BLOCKED);
    JobInfo info = job.info();
    assertThat(info.blockReason()).isEqualTo(BlockReason.NO_HANDLER);
    assertThat(info.attempt()).isZero();
  }

  @Test
  void jobsWaitForTheNextHandlerAndLoseNoAttempt() {
    try (Carillon carillon = Carillon.builder().inMemory().daemon(true).open()) {
      HandlerRegistration registration = carillon.handle(LENGTH, (text, job) -> -1);
      assertThat(registration.type()).isEqualTo("length");
      assertThat(carillon.schedule(LENGTH.job("a")).result(LONG)).isEqualTo(-1);

      registration.close();
      registration.close();
      JobHandle<Integer> waits = carillon.schedule(LENGTH.job("abc"));
      awaitBlocked(waits);

      carillon.handle(LENGTH, (text, job) -> 10 * job.attempt() + text.length());
      assertThat(waits.result(LONG)).isEqualTo(13);
    }
  }

  @Test
  void runningAttemptGoesOnToItsEndAndOthersThatWaitedForItsGateAreBlocked() throws Exception {
    try (Carillon carillon = Carillon.builder().inMemory().daemon(true).open()) {
      Gate gate = new Gate();
      HandlerRegistration registration =
          carillon.handle(NOTE, (text, job) -> gate.pass(), HandlerOptions.defaults().limit(1));
      JobHandle<Void> running = carillon.schedule(NOTE.job("runs"));
      gate.awaitReached();
      JobHandle<Void> limited = carillon.schedule(NOTE.job("waits"));
      Awaitility.await().until(() -> limited.info().blockReason() == BlockReason.LIMIT);

      registration.close();

      awaitBlocked(limited);
      gate.open();
      assertThat(running.result(LONG)).isNull();
      carillon.handle(NOTE, (text, job) -> {});
      assertThat(limited.result(LONG)).isNull();
    }
  }

  @Test
  void attemptThatOutlivesItsRegistrationFollowsThePolicyOfItsHandler() throws Exception {
    try (Carillon carillon = Carillon.builder().inMemory().daemon(true).open()) {
      Gate gate = new Gate();
      HandlerRegistration registration =
          carillon.handle(
              NOTE,
              (text, job) -> {
                gate.pass();
                throw new IllegalStateException("no");
              },
              HandlerOptions.defaults().failurePolicy(FailurePolicy.drop()));
      JobHandle<Void> running = carillon.schedule(NOTE.job("runs"));
      gate.awaitReached();

      registration.close();
      gate.open();

      Awaitility.await().until(() -> running.info().state() == JobState.FAILED);
    }
  }

  @Test
  void registrationOfAHandlerThatWasReplacedClosesNothing() {
    try (Carillon carillon = Carillon.builder().inMemory().daemon(true).open()) {
      HandlerRegistration first = carillon.handle(LENGTH, (text, job) -> 1);
      first.close();
      carillon.handle(LENGTH, (text, job) -> 2);
      first.close();
      assertThat(carillon.schedule(LENGTH.job("x")).result(LONG)).isEqualTo(2);
    }
  }

  @Test
  void closingAfterCarillonIsClosedIsSafe() {
    Carillon carillon = Carillon.builder().inMemory().daemon(true).open();
    HandlerRegistration registration = carillon.handle(LENGTH, (text, job) -> 1);
    carillon.close();
    registration.close();
  }

  @Test
  void otherNodesAreTold() {
    Store store = new MemoryStore();
    List<String> ran = new CopyOnWriteArrayList<>();
    try (Carillon owner = member(store, "owner");
        Carillon helper = member(store, "helper")) {
      Awaitility.await().until(() -> owner.node().members().size() == 2);
      HandlerRegistration there = helper.handle(NOTE, (text, job) -> ran.add(text + " helper"));
      owner.schedule(NOTE.job("first"));
      Awaitility.await().until(() -> ran.contains("first helper"));

      there.close();
      JobHandle<Void> waits = owner.schedule(NOTE.job("second"));
      awaitBlocked(waits);

      helper.handle(NOTE, (text, job) -> ran.add(text + " helper again"));
      Awaitility.await().until(() -> ran.contains("second helper again"));
    }
  }

  private static Carillon member(Store store, String id) {
    return Carillon.builder()
        .store(store)
        .nodeId(id)
        .daemon(true)
        .closeGrace(Duration.ZERO)
        .advanced(a -> a.memberTimeout(Duration.ofMillis(500)))
        .open();
  }
}
