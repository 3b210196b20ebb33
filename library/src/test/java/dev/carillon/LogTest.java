package dev.carillon;

import static dev.carillon.Types.NOTE;
import static org.assertj.core.api.Assertions.assertThat;

import dev.carillon.api.FailurePolicy;
import dev.carillon.api.Job;
import dev.carillon.api.JobId;
import dev.carillon.api.Rate;
import dev.carillon.api.TaskType;
import dev.carillon.store.FaultyStore;
import dev.carillon.store.FaultyStore.Fault;
import dev.carillon.store.MemoryStore;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.logging.Level;
import java.util.logging.LogRecord;
import java.util.stream.IntStream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.slf4j.MDC;

/** What a node says in the log. */
@Timeout(60)
class LogTest {
  private static final TaskType<Integer> COUNT = TaskType.of("note", Integer.class);
  private static final FailurePolicy TWICE = FailurePolicy.constant(Duration.ofMillis(10), 1);
  private static final Duration SHORT = Duration.ofMillis(300);

  private final LogCapture log = new LogCapture();

  @AfterEach
  void close() {
    log.close();
  }

  private static Job<Void> failing(String message) {
    return NOTE.job(message).onFailure(TWICE);
  }

  private static Carillon failingNode() {
    Carillon carillon = Carillon.inMemory();
    carillon.handle(
        NOTE,
        (message, job) -> {
          throw new IllegalStateException(message);
        });
    return carillon;
  }

  @Test
  void openingAndClosingAreALineEach() {
    Carillon.builder().inMemory().nodeId("first").slots(7).open().close();
    assertThat(log.lines())
        .extracting(LogCapture.Line::logger)
        .containsExactly("dev.carillon.node", "dev.carillon.node");
    assertThat(log.lines()).allMatch(line -> line.level().equals(Level.INFO));
    assertThat(log.lines().getFirst().text())
        .matches("open: Carillon \\d.*, node first, store memory, 7 slots, members: first");
    assertThat(log.lines().getLast().text()).matches("closed in \\d+\\.\\d s");
  }

  @Test
  void addressOfTheStoreIsThereAndPasswordsAreNot() {
    CarillonBuilder options =
        Carillon.builder().url("jdbc:postgresql://me:secret@db:5432/app?password=secret");
    assertThat(StoreOpener.words(options, new MemoryStore()))
        .isEqualTo("memory (jdbc:postgresql://db:5432/app)");
  }

  @Test
  void failedAttemptSaysWhenTheNextIsAndTheLastOneHasTheStack() {
    try (Carillon carillon = failingNode()) {
      JobId id = carillon.schedule(failing("no such mailbox")).id();
      LogCapture.Line first = log.await("failed, next at 20");
      LogCapture.Line last = log.await("dead letter");
      assertThat(first.level()).isEqualTo(Level.WARNING);
      assertThat(first.logger()).isEqualTo("dev.carillon.attempts");
      assertThat(first.text())
          .startsWith("attempt 1 of 2 failed, next at 20")
          .endsWith(
              ": job %s (note) on node local: java.lang.IllegalStateException: no such mailbox"
                  .formatted(id));
      assertThat(last.text())
          .startsWith("dead letter: attempt 2 of 2 failed, the last (failed 2 times): job " + id)
          .contains("\n\tjava.lang.IllegalStateException: no such mailbox\n\t\tat dev.carillon.");
    }
  }

  @Test
  void textOfUsersCannotForgeALine() {
    try (Carillon carillon = failingNode()) {
      carillon.schedule(failing("gone\n2026-01-01 INFO all is well\r\u001b[2J\u2028end"));
      String last = log.await("dead letter").text();
      assertThat(last.lines().skip(1)).allMatch(line -> line.startsWith("\t"));
      assertThat(last.lines().findFirst().orElseThrow())
          .endsWith("gone\\n2026-01-01 INFO all is well\\r\\u001b[2J\\u2028end");
    }
  }

  @Test
  void floodOfOneCauseIsALineASecondWithTheNumberOfTheOthers() {
    try (Carillon carillon = failingNode()) {
      List<Job<Void>> jobs =
          IntStream.range(0, 400).mapToObj(i -> NOTE.job("down").onFailure(TWICE)).toList();
      carillon.scheduleAll(jobs);
      Awaitility.await().until(() -> carillon.node().stats().endedTotal() == 400);
    }
    List<LogCapture.Line> retried = log.with("failed, next at");
    List<LogCapture.Line> dead = log.with("dead letter");
    assertThat(told(retried)).isEqualTo(400);
    assertThat(told(dead)).isEqualTo(400);
    for (int i = 1; i < retried.size() - 1; i++) {
      assertThat(retried.get(i).nanos() - retried.get(i - 1).nanos())
          .isGreaterThan(900_000_000); // the last one is written when the node closes
    }
    assertThat(retried).hasSizeLessThan(10);
  }

  /** How many events lines stand for. */
  private static long told(List<LogCapture.Line> lines) {
    long sum = 0;
    for (LogCapture.Line line : lines) {
      int at = line.text().indexOf(" (and ");
      String more = at < 0 ? "0" : line.text().substring(at + 6, line.text().indexOf(" more", at));
      sum += 1 + Long.parseLong(more.replace(",", ""));
    }
    return sum;
  }

  @Test
  void missingHandlerIsToldOncePerTypeAndThatItCame() {
    try (Carillon carillon = Carillon.inMemory()) {
      carillon.scheduleAll(List.of(NOTE.job("a"), NOTE.job("b"), NOTE.job("c")));
      LogCapture.Line line = log.await("no handler");
      assertThat(line.level()).isEqualTo(Level.WARNING);
      assertThat(line.text())
          .startsWith("no handler: due jobs of type note wait: 3; the first is ");
      carillon.schedule(NOTE.job("d"));
      Awaitility.await().until(() -> carillon.node().stats().blocked() == 4);
      carillon.handle(NOTE, (note, job) -> {});
      log.await("handler of type note is here: jobs that go on: 4");
    }
    assertThat(log.with("no handler")).hasSize(1);
  }

  @Test
  void handlerThatIsRegisteredAMomentLaterIsNotMissed() {
    try (Carillon carillon = Carillon.inMemory()) {
      JobId id = carillon.schedule(NOTE.job("a")).id();
      Awaitility.await().until(() -> carillon.get(id).orElseThrow().blockReason() != null);
      carillon.handle(NOTE, (note, job) -> {});
      Awaitility.await().until(() -> carillon.node().stats().endedTotal() == 1);
    }
    assertThat(log.with("handler")).isEmpty();
  }

  @Test
  void undecodablePayloadIsToldOncePerTypeAndNotShown() {
    try (Carillon carillon = Carillon.inMemory()) {
      carillon.handle(COUNT, (count, job) -> {});
      carillon.scheduleAll(List.of(NOTE.job("secret one"), NOTE.job("secret two")));
      LogCapture.Line line = log.await("undecodable");
      assertThat(line.text()).contains("(note)").contains("Exception");
      Awaitility.await().until(() -> carillon.node().stats().blocked() == 2);
    }
    assertThat(log.with("undecodable")).hasSize(1);
    assertThat(log.with("secret")).isEmpty();
  }

  @Test
  void handlerThatIgnoresItsTimeoutIsShownWithItsStack() {
    CountDownLatch release = new CountDownLatch(1);
    try (Carillon carillon = Carillon.inMemory()) {
      carillon.handle(NOTE, (note, job) -> ignoresInterrupts(release));
      carillon.schedule(
          NOTE.job("long").timeout(Duration.ofMillis(50)).onFailure(FailurePolicy.drop()));
      LogCapture.Line line = log.await("handler goes on");
      assertThat(line.level()).isEqualTo(Level.WARNING);
      assertThat(line.text())
          .contains("after it was interrupted (timeout): job ")
          .contains("\n\t\tat dev.carillon.LogTest.ignoresInterrupts");
      release.countDown();
      log.await("handler returned at last");
    }
  }

  private static void ignoresInterrupts(CountDownLatch release) {
    boolean waiting = true;
    while (waiting) {
      try {
        release.await();
        waiting = false;
      } catch (InterruptedException e) {
        // It goes on.
      }
    }
  }

  @Test
  void storeThatGoesAwayAndComesBackIsTold() {
    AtomicReference<Fault> fault = new AtomicReference<>(Fault.NONE);
    FaultyStore.Faults faults = operation -> fault.get();
    try (Carillon carillon =
        Carillon.builder().store(new FaultyStore(new MemoryStore(), faults)).open()) {
      carillon.schedule(NOTE.job("a").in(Duration.ofHours(1)));
      fault.set(Fault.FAIL_BEFORE);
      CompletableFuture<?> second = carillon.scheduleAsync(NOTE.job("b").in(Duration.ofHours(1)));
      LogCapture.Line away = log.await("away: unavailable");
      assertThat(away.logger()).isEqualTo("dev.carillon.store");
      fault.set(Fault.NONE);
      Awaitility.await()
          .ignoreExceptions()
          .until(() -> carillon.schedule(NOTE.job("c").in(Duration.ofHours(1))).created());
      log.await(line -> line.text().matches("back after \\d+\\.\\d s"));
      Awaitility.await().until(second::isDone);
    }
  }

  @Test
  void settingsOfOperatorsAreTold() {
    try (Carillon carillon = Carillon.inMemory()) {
      carillon.queue("mail").pause("server\nmoves");
      log.await("operator's setting: queue mail: paused (server\\nmoves)");
      carillon.queue("mail").resume();
      log.await("operator's setting: queue mail: no pause, limit or rate");
      carillon.namespace("acme").limit(5);
      carillon.namespace("acme").rate(Rate.of(10, Duration.ofSeconds(1)));
      log.await("operator's setting: namespace acme: limit 5, rate 10 per PT1S");
    }
  }

  @Test
  void membersThatComeLeaveAndDieAreTold() {
    MemoryStore store = new MemoryStore();
    AtomicReference<Fault> fault = new AtomicReference<>(Fault.NONE);
    Carillon one = shared(store, "one").open();
    Carillon two = shared(new FaultyStore(store, operation -> fault.get()), "two").open();
    Carillon three = shared(store, "three").open();
    try {
      log.await(line -> line.text().matches("open: .* node three, .* members: three, one, two"));
      two.schedule(NOTE.job("due when its node is dead").in(Duration.ofMillis(10)));
      three.close();
      log.await("node three has stopped");
      fault.set(Fault.FAIL_BEFORE);
      log.await("fenced: the store has acknowledged no heartbeat for 0.");
      log.await("node two is dead");
      log.await("took over a shard of node two");
      fault.set(Fault.NONE);
      log.await("not fenced any more, after ");
      log.await("node two is here");
    } finally {
      two.close();
      one.close();
    }
  }

  private static CarillonBuilder shared(dev.carillon.store.Store store, String nodeId) {
    return Carillon.builder()
        .store(store)
        .nodeId(nodeId)
        .advanced(a -> a.memberTimeout(SHORT))
        .closeGrace(Duration.ZERO)
        .daemon(true);
  }

  @Test
  void nodeGoesOnWhileAnAppenderHangs() {
    CountDownLatch hanging = new CountDownLatch(1);
    CountDownLatch release = new CountDownLatch(1);
    AtomicInteger calls = new AtomicInteger();
    LogCapture slow =
        new LogCapture() {
          @Override
          public void publish(LogRecord entry) {
            calls.incrementAndGet();
            hanging.countDown();
            ignoresInterrupts(release);
          }
        };
    Carillon carillon = failingNode();
    try {
      assertThat(hanging.await(10, TimeUnit.SECONDS)).isTrue();
      IntStream.range(0, 20)
          .forEach(
              round ->
                  carillon.scheduleAll(
                      IntStream.range(0, 200).mapToObj(i -> failing("down")).toList()));
      Awaitility.await().until(() -> carillon.node().stats().endedTotal() == 4000);
      assertThat(calls).hasValue(1);
      release.countDown();
      log.await(line -> line.text().contains("lines were dropped"));
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    } finally {
      release.countDown();
      slow.close();
      carillon.close();
    }
  }

  @Test
  void handlerHasItsJobInTheLoggingContext() {
    CompletableFuture<Map<String, String>> seen = new CompletableFuture<>();
    try (Carillon carillon = Carillon.inMemory()) {
      carillon.handle(NOTE, (note, job) -> seen.complete(MDC.getCopyOfContextMap()));
      JobId id = carillon.schedule(NOTE.job("a").namespace("acme")).id();
      assertThat(seen.join())
          .containsExactlyInAnyOrderEntriesOf(
              Map.of(
                  "carillon.job",
                  id.value(),
                  "carillon.type",
                  "note",
                  "carillon.attempt",
                  "1",
                  "carillon.namespace",
                  "acme"));
    }
  }
}
