package dev.carillon;

import static dev.carillon.Types.LENGTH;
import static dev.carillon.Types.LONG;
import static dev.carillon.Types.NOTE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.carillon.api.CancelResult;
import dev.carillon.api.Job;
import dev.carillon.api.JobHandle;
import dev.carillon.api.JobId;
import dev.carillon.api.JobInfo;
import dev.carillon.api.JobQuery;
import dev.carillon.api.JobState;
import dev.carillon.api.JobType;
import dev.carillon.api.TaskType;
import dev.carillon.api.TypeToken;
import dev.carillon.api.error.InvalidJobException;
import dev.carillon.api.error.JobNotFoundException;
import dev.carillon.api.schedule.Schedule;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Jobs by name, their inputs, streams of them, and work without input. */
@Timeout(60)
class LookupTest {
  private static final Duration HOUR = Duration.ofHours(1);

  private final Carillon carillon = Carillon.builder().inMemory().daemon(true).open();

  @AfterEach
  void close() {
    carillon.close();
  }

  // ---- by name

  @Test
  void jobIsFoundByItsNameWhileItLives() {
    JobId id = carillon.schedule(NOTE.job("x").named("report").in(HOUR)).id();
    carillon.schedule(NOTE.job("y").named("report").namespace("other").in(HOUR));

    assertThat(carillon.get("default", "report")).map(JobInfo::id).contains(id);
    assertThat(carillon.get("default", "nobody")).isEmpty();
    assertThat(carillon.get("nowhere", "report")).isEmpty();

    assertThat(carillon.cancel(id)).isEqualTo(new CancelResult.Cancelled());
    assertThat(carillon.get("default", "report")).isEmpty();
    assertThat(carillon.get("other", "report")).isPresent();
  }

  @Test
  void recurringJobIsFoundByItsName() {
    Job<Void> daily = NOTE.job("x").named("daily").on(Schedule.cron("@daily"));
    JobId id = carillon.schedule(daily).id();
    assertThat(carillon.get(Job.DEFAULT_NAMESPACE, "daily")).map(JobInfo::id).contains(id);
  }

  @Test
  void nameThatHasEndedIsFreeAlsoWhileItsKeyIsRemembered() {
    carillon.handle(LENGTH, (text, job) -> text.length());
    JobHandle<Integer> job = carillon.schedule(LENGTH.job("x").named("once").key("k"));
    assertThat(job.result(LONG)).isEqualTo(1);
    assertThat(carillon.get("default", "once")).isEmpty();
  }

  // ---- inputs

  record Order(String id, List<Integer> lines) {}

  @Test
  void inputComesBackTypedAndRaw() {
    TaskType<Order> ship = TaskType.of("ship", Order.class);
    Order order = new Order("o1", List.of(1, 2));
    JobId id = carillon.schedule(ship.job(order).in(HOUR)).id();

    assertThat(carillon.input(id, Order.class)).isEqualTo(order);
    RawPayload raw = carillon.rawInput(id);
    assertThat(raw.codec()).isEqualTo("json");
    assertThat(new String(raw.bytes(), StandardCharsets.UTF_8))
        .isEqualTo("{\"id\":\"o1\",\"lines\":[1,2]}");
  }

  @Test
  void genericAndBinaryAndMissingInputsComeBack() {
    TypeToken<List<Integer>> numbers = new TypeToken<>() {};
    JobId list = carillon.schedule(TaskType.of("n", numbers).job(List.of(3)).in(HOUR)).id();
    assertThat(carillon.input(list, numbers)).containsExactly(3);

    JobId bytes =
        carillon.schedule(TaskType.of("b", byte[].class).job(new byte[] {7}).in(HOUR)).id();
    assertThat(carillon.input(bytes, byte[].class)).containsExactly(7);
    assertThat(carillon.rawInput(bytes).codec()).isEqualTo("bytes");
    assertThat(carillon.rawInput(bytes).bytes()).containsExactly(7);

    JobId none = carillon.schedule(TaskType.of("none").job().in(HOUR)).id();
    assertThat(carillon.input(none, Void.class)).isNull();
    assertThat(carillon.rawInput(none).codec()).isEmpty();
  }

  @Test
  void inputOfAJobThatHasEndedComesBack() {
    carillon.handle(LENGTH, (text, job) -> text.length());
    JobHandle<Integer> job = carillon.schedule(LENGTH.job("abc"));
    assertThat(job.result(LONG)).isEqualTo(3);
    assertThat(carillon.input(job.id(), String.class)).isEqualTo("abc");
  }

  @Test
  void inputOfNoJobIsNotFound() {
    assertThatThrownBy(() -> carillon.input(new JobId("nothing"), String.class))
        .isInstanceOf(JobNotFoundException.class);
    assertThatThrownBy(() -> carillon.rawInput(new JobId("nothing")))
        .isInstanceOf(JobNotFoundException.class);
  }

  // ---- streams

  @Test
  void streamReadsAllPagesAndOnlyThoseThatAreUsed() {
    List<Job<?>> jobs = new ArrayList<>();
    IntStream.range(0, 25).forEach(i -> jobs.add(NOTE.job("x").named("job " + i).in(HOUR)));
    carillon.scheduleAll(jobs);

    assertThat(carillon.stream(JobQuery.all().limit(10)).map(JobInfo::name).distinct()).hasSize(25);
    assertThat(carillon.stream(JobQuery.all().states(JobState.DEAD))).isEmpty();

    List<String> read = new ArrayList<>();
    assertThat(
            JobStream.of(
                    query -> {
                      read.add(String.valueOf(query.cursor()));
                      return carillon.list(query);
                    },
                    JobQuery.all().limit(10))
                .limit(11))
        .hasSize(11);
    assertThat(read).hasSize(2).startsWith("null");
  }

  // ---- without input

  @Test
  void taskWithoutInputHasAHandlerOfTheJobAlone() throws Exception {
    TaskType<Void> cleanUp = TaskType.of("clean-up");
    CompletableFuture<JobId> ran = new CompletableFuture<>();
    carillon.handle(cleanUp, job -> ran.complete(job.id()));

    JobId id = carillon.schedule(cleanUp.job()).id();

    assertThat(ran.get(LONG.toSeconds(), TimeUnit.SECONDS)).isEqualTo(id);
  }

  @Test
  void jobWithoutInputHasAResult() {
    JobType<Void, Long> count = JobType.of("count", Long.class);
    carillon.handle(count, (none, job) -> 42L);
    assertThat(carillon.schedule(count.job()).result(LONG)).isEqualTo(42);
  }

  @Test
  void typeWithInputRefusesAJobWithoutOne() {
    assertThatThrownBy(NOTE::job)
        .isInstanceOf(InvalidJobException.class)
        .hasMessage("input: null (expected: a value of type java.lang.String)");
  }

  // ---- cancel

  @Test
  void cancelNeedsNoReason() {
    JobHandle<Void> job = carillon.schedule(NOTE.job("x").in(HOUR));
    assertThat(job.cancel()).isEqualTo(new CancelResult.Cancelled());
    assertThat(carillon.cancel(job.id())).isEqualTo(new CancelResult.Ended(JobState.CANCELLED));
  }
}
