package dev.carillon;

import static dev.carillon.Types.LENGTH;
import static dev.carillon.Types.LONG;
import static dev.carillon.Types.NOTE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.carillon.api.BlockReason;
import dev.carillon.api.Job;
import dev.carillon.api.JobContext;
import dev.carillon.api.JobError;
import dev.carillon.api.JobEvent;
import dev.carillon.api.JobHandle;
import dev.carillon.api.JobInfo;
import dev.carillon.api.JobListener;
import dev.carillon.api.JobState;
import dev.carillon.api.JobType;
import dev.carillon.api.PayloadCodec;
import dev.carillon.api.TaskType;
import dev.carillon.api.TypeToken;
import dev.carillon.api.error.InvalidArgumentException;
import dev.carillon.api.error.JobFailedException;
import dev.carillon.api.error.NotRetryableException;
import dev.carillon.api.error.StaleAttemptException;
import dev.carillon.json.JacksonCodec;
import java.lang.reflect.Type;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Stream;
import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

@Timeout(60)
class HandlerTest {
  @TempDir Path folder;

  private final BlockingQueue<String> notes = new LinkedBlockingQueue<>();

  private Place memory() {
    return new Place(Place.Kind.MEMORY, folder);
  }

  private static JobInfo awaitState(JobHandle<?> handle, JobState state) {
    return Awaitility.await().until(handle::info, info -> info.state() == state);
  }

  // ---- failing

  static Stream<Throwable> everythingThatCanBeThrown() {
    return Stream.of(
        new IllegalStateException("plain"),
        new Exception("checked"),
        new InterruptedException("nobody asked"),
        new AssertionError("assertion"),
        new StackOverflowError(),
        new OutOfMemoryError("made up"),
        new NoClassDefFoundError("gone"),
        new Hostile());
  }

  /** Throws whenever it is asked anything. */
  @SuppressWarnings("serial")
  private static final class Hostile extends RuntimeException {
    @Override
    public String getMessage() {
      throw new IllegalStateException("hostile");
    }
  }

  @ParameterizedTest
  @MethodSource("everythingThatCanBeThrown")
  void whateverAHandlerThrowsFailsTheAttemptAndNothingElse(Throwable thrown) throws Exception {
    try (Carillon carillon = memory().open()) {
      carillon.handle(
          NOTE,
          (text, job) -> {
            HandlerTest.<RuntimeException>sneaky(thrown);
          });
      carillon.handle(LENGTH, (text, job) -> text.length());

      JobHandle<Void> handle = carillon.schedule(NOTE.job("x"));

      JobInfo info = Awaitility.await().until(handle::info, found -> found.lastError() != null);
      assertThat(info.lastError().type()).isEqualTo(thrown.getClass().getName());
      assertThat(info.attempt()).isEqualTo(1);
      assertThat(info.state()).isEqualTo(JobState.SCHEDULED);
      assertThat(info.dueAt()).isAfter(info.scheduledAt().plusMillis(900));
      assertThat(carillon.schedule(LENGTH.job("still here")).result(LONG)).isEqualTo(10);
    }
  }

  @SuppressWarnings("unchecked") // that is the trick
  private static <E extends Throwable> void sneaky(Throwable thrown) throws E {
    throw (E) thrown;
  }

  @ParameterizedTest
  @EnumSource
  void deepRecursionFailsTheAttempt(Place.Kind kind) {
    try (Carillon carillon = new Place(kind, folder).open()) {
      carillon.handle(LENGTH, (text, job) -> recurse(1));

      JobHandle<Integer> handle = carillon.schedule(LENGTH.job("x"));

      JobError error =
          Awaitility.await().until(handle::info, found -> found.lastError() != null).lastError();
      assertThat(error.type()).isEqualTo(StackOverflowError.class.getName());
    }
  }

  @SuppressWarnings("InfiniteRecursion")
  private static int recurse(int depth) {
    return 1 + recurse(depth + 1);
  }

  @ParameterizedTest
  @EnumSource
  void notRetryableFailureEndsTheJobWithItsEvidence(Place.Kind kind) {
    try (Carillon carillon = new Place(kind, folder).open()) {
      carillon.handle(
          LENGTH,
          (text, job) -> {
            throw new NotRetryableException("bad address", new IllegalStateException("root"));
          });

      JobHandle<Integer> handle = carillon.schedule(LENGTH.job("x"));

      assertThatThrownBy(() -> handle.result(LONG))
          .isInstanceOfSatisfying(
              JobFailedException.class,
              e -> {
                assertThat(e.state()).isEqualTo(JobState.DEAD);
                assertThat(e.error().message()).isEqualTo("bad address");
              });
      assertThat(carillon.history(handle.id()).orElseThrow().events())
          .extracting(JobEvent::kind)
          .containsExactly(JobEvent.Kind.SCHEDULED, JobEvent.Kind.DEAD);
      assertThat(carillon.history(handle.id()).orElseThrow().events().getLast().error().stack())
          .contains("IllegalStateException: root");
    }
  }

  @Test
  void resultThatCannotBeEncodedEndsTheJob() {
    JobType<String, Object> odd = JobType.of("odd", String.class, Object.class);
    try (Carillon carillon = memory().open()) {
      carillon.handle(odd, (text, job) -> new Unwritable());

      assertThatThrownBy(() -> carillon.schedule(odd.job("x")).result(LONG))
          .isInstanceOf(JobFailedException.class)
          .hasMessageContaining("not writable as JSON");
    }
  }

  /** Fails when JSON is made of it. */
  public static final class Unwritable {
    /** Called by the codec. */
    @SuppressWarnings("DoNotCallSuggester")
    public String getValue() {
      throw new IllegalStateException("unwritable");
    }
  }

  @ParameterizedTest
  @EnumSource
  void attemptThatTakesTooLongIsInterruptedAndRetried(Place.Kind kind) throws Exception {
    try (Carillon carillon = new Place(kind, folder).open()) {
      CompletableFuture<Throwable> interrupted = new CompletableFuture<>();
      carillon.handle(
          NOTE,
          (text, job) -> {
            if (job.attempt() > 1) {
              notes.add("again");
              return;
            }
            try {
              new Gate().pass();
            } catch (InterruptedException e) {
              assertThat(job.cancellationRequested()).isTrue();
              assertThatThrownBy(() -> job.save("late")).isInstanceOf(StaleAttemptException.class);
              interrupted.complete(e);
              throw e;
            }
          });

      JobHandle<Void> handle = carillon.schedule(NOTE.job("x").timeout(Duration.ofMillis(50)));

      assertThat(interrupted.get(20, TimeUnit.SECONDS)).isNotNull();
      assertThat(notes.poll(20, TimeUnit.SECONDS)).isEqualTo("again");
      handle.result(LONG);
      List<JobEvent> events = carillon.history(handle.id()).orElseThrow().events();
      assertThat(events)
          .extracting(JobEvent::kind)
          .containsExactly(JobEvent.Kind.SCHEDULED, JobEvent.Kind.RETRIED, JobEvent.Kind.SUCCEEDED);
      assertThat(events.get(1).error().type()).isEqualTo("timeout");
    }
  }

  @ParameterizedTest
  @EnumSource
  void jobPastItsDeadlineExpires(Place.Kind kind) throws Exception {
    try (Carillon carillon = new Place(kind, folder).open()) {
      carillon.handle(NOTE, (text, job) -> new Gate().pass());

      JobHandle<Void> running =
          carillon.schedule(NOTE.job("x").deadline(Instant.now().plusMillis(200)));
      JobHandle<Integer> waiting =
          carillon.schedule(LENGTH.job("x").deadline(Instant.now().plusMillis(200)));

      assertThat(awaitState(running, JobState.EXPIRED).reason()).contains("while it ran");
      assertThat(awaitState(waiting, JobState.EXPIRED).reason()).contains("while it waited");
    }
  }

  // ---- payloads

  record Person(String name, int age) {}

  record Renamed(String fullName, int age, List<String> tags) {}

  @ParameterizedTest
  @EnumSource
  void olderAndNewerCodeReadEachOthersPayloads(Place.Kind kind) throws Exception {
    record Newer(String name, int age, Instant born, Map<String, Duration> more) {}

    TaskType<Newer> newer = TaskType.of("evolve", Newer.class);
    TaskType<Person> older = TaskType.of("evolve", Person.class);
    Place place = new Place(kind, folder);
    try (Carillon carillon = place.open()) {
      carillon.schedule(
          newer.job(new Newer("Ann", 7, Instant.EPOCH, Map.of("nap", Duration.ofMinutes(5)))));
    }
    try (Carillon carillon = place.open()) {
      carillon.handle(older, (person, job) -> notes.add(person.toString()));
      assertThat(notes.poll(20, TimeUnit.SECONDS)).isEqualTo("Person[name=Ann, age=7]");
    }
    try (Carillon carillon = place.open()) {
      carillon.handle(newer, (person, job) -> notes.add(person.toString()));
      carillon.schedule(older.job(new Person("Bob", 8)));
      assertThat(notes.poll(20, TimeUnit.SECONDS))
          .isEqualTo("Newer[name=Bob, age=8, born=null, more=null]");
    }
  }

  @ParameterizedTest
  @EnumSource
  void upcasterBringsAnOlderVersionToTheCurrentOne(Place.Kind kind) throws Exception {
    TaskType<Person> first = TaskType.of("person", Person.class);
    TaskType<Renamed> second = TaskType.of("person", Renamed.class).version(2);
    Place place = new Place(kind, folder);
    JobHandle<Void> handle;
    try (Carillon carillon = place.open()) {
      handle = carillon.schedule(first.job(new Person("Ann", 7)));
    }
    try (Carillon carillon = place.open()) {
      carillon.handle(second, (person, job) -> notes.add(person.toString()));
      JobHandle<Void> current = carillon.schedule(second.job(new Renamed("Bo", 1, List.of())));
      current.result(LONG);
      JobInfo info =
          Awaitility.await()
              .until(
                  () -> carillon.get(handle.id()).orElseThrow(),
                  found -> found.state() == JobState.BLOCKED);
      assertThat(info.blockReason()).isEqualTo(BlockReason.UNDECODABLE);
      assertThat(info.lastError().message()).contains("an upcaster for older ones");
    }
    assertThat(notes.take()).startsWith("Renamed[fullName=Bo");
    try (Carillon carillon = place.open()) {
      carillon.handle(
          second,
          (person, job) -> notes.add(person.toString()),
          HandlerOptions.defaults()
              .upcaster(
                  (from, bytes) ->
                      new String(bytes, StandardCharsets.UTF_8)
                          .replace("\"name\"", "\"fullName\"")
                          .getBytes(StandardCharsets.UTF_8)));
      assertThat(notes.poll(20, TimeUnit.SECONDS))
          .isEqualTo("Renamed[fullName=Ann, age=7, tags=null]");
    }
  }

  @Test
  void genericPayloadsKeepTheirTypes() {
    JobType<List<Person>, Map<String, Integer>> ages =
        JobType.of("ages", new TypeToken<List<Person>>() {}, new TypeToken<>() {});
    try (Carillon carillon = memory().open()) {
      carillon.handle(
          ages,
          (people, job) -> {
            Person first = people.getFirst();
            return Map.of(first.name(), first.age());
          });

      assertThat(carillon.schedule(ages.job(List.of(new Person("Ann", 7)))).result(LONG))
          .isEqualTo(Map.of("Ann", 7));
    }
  }

  // ---- what a handler sees

  @ParameterizedTest
  @EnumSource
  void handlerSeesItsJob(Place.Kind kind) throws Exception {
    try (Carillon carillon = new Place(kind, folder).open()) {
      BlockingQueue<JobContext> seen = new LinkedBlockingQueue<>();
      carillon.handle(
          NOTE,
          (text, job) -> {
            assertThat(Thread.currentThread().isVirtual()).isTrue();
            seen.add(job);
          });
      Instant due = Instant.parse("2020-01-01T00:00:00Z");

      JobHandle<Void> handle =
          carillon.schedule(
              NOTE.job("x").at(due).named("n").namespace("ns").queue("q").meta("a", "b"));
      handle.result(LONG);

      JobContext job = seen.take();
      assertThat(job.id()).isEqualTo(handle.id());
      assertThat(job.type()).isEqualTo("note");
      assertThat(job.name()).isEqualTo("n");
      assertThat(job.namespace()).isEqualTo("ns");
      assertThat(job.queue()).isEqualTo("q");
      assertThat(job.metadata()).isEqualTo(Map.of("a", "b"));
      assertThat(job.attempt()).isEqualTo(1);
      assertThat(job.scheduledTime()).isEqualTo(due);
      assertThat(job.token().job()).isEqualTo(handle.id());
      assertThat(job.cancellationRequested()).isFalse();
      assertThat(job.saved(String.class)).isEmpty();
    }
  }

  @ParameterizedTest
  @EnumSource
  void savedPositionIsThereInTheNextAttempt(Place.Kind kind) throws Exception {
    try (Carillon carillon = new Place(kind, folder).open()) {
      carillon.handle(
          LENGTH,
          (text, job) -> {
            int position = job.saved(Person.class).map(Person::age).orElse(0);
            if (position == 0) {
              job.save(new Person("first", 40));
              job.save(new Person("second", 42));
              assertThat(job.saved(Person.class)).contains(new Person("second", 42));
              throw new IllegalStateException("stumbled");
            }
            return position;
          });

      assertThat(carillon.schedule(LENGTH.job("x")).result(LONG)).isEqualTo(42);
    }
  }

  @Test
  void handlerLimitHoldsAndTheOthersWait() throws Exception {
    try (Carillon carillon = memory().open()) {
      AtomicInteger running = new AtomicInteger();
      AtomicInteger most = new AtomicInteger();
      carillon.handle(
          LENGTH,
          (text, job) -> {
            most.accumulateAndGet(running.incrementAndGet(), Math::max);
            try {
              return text.length();
            } finally {
              running.decrementAndGet();
            }
          },
          HandlerOptions.defaults().limit(2));

      List<JobHandle<?>> handles =
          carillon.scheduleAll(Stream.generate(() -> LENGTH.job("abc")).limit(200).toList());

      for (JobHandle<?> handle : handles) {
        assertThat(handle.result(LONG)).isEqualTo(3);
      }
      assertThat(most.get()).isBetween(1, 2);
    }
  }

  @Test
  void limitsOfQueuesAndNamespacesHold() throws Exception {
    try (Carillon carillon =
        memory()
            .builder()
            .limitQueue("narrow", 1)
            .advanced(a -> a.limitNamespace("small", 2))
            .open()) {
      Map<String, AtomicInteger> running = new ConcurrentHashMap<>();
      Map<String, Integer> most = new ConcurrentHashMap<>();
      carillon.handle(
          NOTE,
          (text, job) -> {
            AtomicInteger count = running.computeIfAbsent(text, t -> new AtomicInteger());
            most.merge(text, count.incrementAndGet(), Math::max);
            count.decrementAndGet();
          });
      List<Job<Void>> jobs = new ArrayList<>();
      for (int i = 0; i < 100; i++) {
        jobs.add(NOTE.job("queue").queue("narrow"));
        jobs.add(NOTE.job("namespace").namespace("small"));
        jobs.add(NOTE.job("free"));
      }

      for (JobHandle<?> handle : carillon.scheduleAll(jobs)) {
        handle.result(LONG);
      }

      assertThat(most.get("queue")).isEqualTo(1);
      assertThat(most.get("namespace")).isBetween(1, 2);
    }
  }

  @Test
  void handlerHasTheClassLoaderOfItsRegistration() {
    ClassLoader own = new ClassLoader(getClass().getClassLoader()) {};
    ClassLoader before = Thread.currentThread().getContextClassLoader();
    try (Carillon carillon = memory().open()) {
      Thread.currentThread().setContextClassLoader(own);
      carillon.handle(
          LENGTH,
          (text, job) -> Thread.currentThread().getContextClassLoader().equals(own) ? 1 : 0);
      assertThat(carillon.schedule(LENGTH.job("x")).result(LONG)).isEqualTo(1);
    } finally {
      Thread.currentThread().setContextClassLoader(before);
    }
  }

  @Test
  void secondHandlerOfATypeIsRefused() {
    try (Carillon carillon = memory().open()) {
      carillon.handle(NOTE, (text, job) -> {});
      assertThatThrownBy(() -> carillon.handle(NOTE, (text, job) -> {}))
          .isInstanceOf(InvalidArgumentException.class)
          .hasMessageContaining("note");
    }
  }

  // ---- around handlers

  @Test
  void interceptorsSurroundEveryAttempt() throws Exception {
    try (Carillon carillon =
        memory()
            .builder()
            .intercept(
                (job, next) -> {
                  notes.add("outer " + job.type());
                  Object result = next.proceed();
                  notes.add("outer done");
                  return result;
                })
            .intercept(
                (job, next) -> {
                  notes.add("inner");
                  return 1 + (Integer) next.proceed();
                })
            .open()) {
      carillon.handle(
          LENGTH,
          (text, job) -> {
            notes.add("handler");
            return text.length();
          });

      assertThat(carillon.schedule(LENGTH.job("abc")).result(LONG)).isEqualTo(4);
      assertThat(notes).containsExactly("outer length", "inner", "handler", "outer done");
    }
  }

  @Test
  void interceptorThatThrowsFailsTheAttempt() {
    try (Carillon carillon =
        memory()
            .builder()
            .intercept(
                (job, next) -> {
                  throw new NotRetryableException("not today");
                })
            .open()) {
      carillon.handle(LENGTH, (text, job) -> text.length());

      assertThatThrownBy(() -> carillon.schedule(LENGTH.job("abc")).result(LONG))
          .isInstanceOf(JobFailedException.class)
          .hasMessageContaining("not today");
    }
  }

  @Test
  void listenersAreToldInOrderAndMayThrow() {
    List<String> told = new CopyOnWriteArrayList<>();
    JobListener listener =
        new JobListener() {
          @Override
          public void scheduled(JobInfo job) {
            told.add("scheduled " + job.state());
            throw new IllegalStateException("listener");
          }

          @Override
          public void started(JobInfo job) {
            told.add("started " + job.state());
          }

          @Override
          public void retrying(JobInfo job) {
            told.add("retrying " + job.attempt() + job.state() + job.lastError().message());
          }

          @Override
          public void ended(JobInfo job) {
            told.add("ended " + job.state());
          }
        };
    try (Carillon carillon = memory().builder().listen(listener).open()) {
      carillon.handle(
          NOTE,
          (text, job) -> {
            if (job.attempt() == 1) {
              throw new IllegalStateException("once");
            }
          });
      carillon.schedule(NOTE.job("x")).result(LONG);

      Awaitility.await()
          .untilAsserted(
              () ->
                  assertThat(told)
                      .containsExactly(
                          "scheduled SCHEDULED",
                          "started RUNNING",
                          "retrying 1SCHEDULEDonce",
                          "started RUNNING",
                          "ended SUCCEEDED"));
    }
  }

  @Test
  void listenerHearsOfJobsThatMayNotStart() throws Exception {
    List<String> told = new CopyOnWriteArrayList<>();
    JobListener listener =
        new JobListener() {
          @Override
          public void blocked(JobInfo job) {
            told.add(job.state() + " " + job.blockReason());
          }
        };
    try (Carillon carillon = memory().builder().listen(listener).open()) {
      carillon.schedule(NOTE.job("first"));
      Awaitility.await()
          .untilAsserted(() -> assertThat(told).containsExactly("BLOCKED NO_HANDLER"));

      Gate gate = new Gate();
      carillon.handle(NOTE, (text, job) -> gate.pass(), HandlerOptions.defaults().limit(1));
      gate.awaitReached();
      carillon.schedule(NOTE.job("second"));
      Awaitility.await()
          .untilAsserted(
              () -> assertThat(told).containsExactly("BLOCKED NO_HANDLER", "BLOCKED LIMIT"));
      gate.open();
    }
  }

  @Test
  void handlerIsNotCalledIfTheClockGoesBackJustBefore() throws Exception {
    AtomicLong offsetMicros = new AtomicLong();
    AtomicInteger decodes = new AtomicInteger();
    TimeSource time =
        new TimeSource() {
          @Override
          public long wallMicros() {
            return TimeSource.system().wallMicros() + offsetMicros.get();
          }

          @Override
          public long monotonicNanos() {
            return TimeSource.system().monotonicNanos();
          }
        };
    PayloadCodec codec =
        new PayloadCodec() {
          private final PayloadCodec json = new JacksonCodec();

          @Override
          public String name() {
            return json.name();
          }

          @Override
          public byte[] encode(@Nullable Object value, Type type) {
            return json.encode(value, type);
          }

          @Override
          public @Nullable Object decode(byte[] bytes, Type type) {
            boolean attempt = Thread.currentThread().isVirtual(); // not when it is scheduled
            if (attempt && decodes.incrementAndGet() == 1) {
              offsetMicros.set(-TimeUnit.HOURS.toMicros(1));
            }
            return json.decode(bytes, type);
          }
        };
    try (Carillon carillon =
        memory().builder().advanced(a -> a.timeSource(time)).codec(codec).open()) {
      AtomicInteger calls = new AtomicInteger();
      AtomicInteger early = new AtomicInteger();
      carillon.handle(
          NOTE,
          (text, job) -> {
            calls.incrementAndGet();
            if (offsetMicros.get() < 0) {
              early.incrementAndGet();
            }
          });
      JobHandle<Void> handle = carillon.schedule(NOTE.job("x"));

      Awaitility.await()
          .untilAsserted(
              () -> {
                assertThat(decodes).hasValue(1);
                assertThat(handle.info().state()).isEqualTo(JobState.SCHEDULED);
              });
      offsetMicros.set(0);
      handle.result(LONG);

      assertThat(calls).hasValue(1);
      assertThat(early).hasValue(0);
      assertThat(handle.info().attempt()).isEqualTo(1);
    }
  }
}
