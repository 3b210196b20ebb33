package dev.carillon.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.carillon.CarillonBuilder;
import dev.carillon.CarillonStats;
import dev.carillon.JobGroup;
import dev.carillon.api.BlockReason;
import dev.carillon.api.CancelResult;
import dev.carillon.api.Dependency;
import dev.carillon.api.DependencyInfo;
import dev.carillon.api.FailurePolicy;
import dev.carillon.api.IfExists;
import dev.carillon.api.Job;
import dev.carillon.api.JobEvent;
import dev.carillon.api.JobHandle;
import dev.carillon.api.JobId;
import dev.carillon.api.JobInfo;
import dev.carillon.api.JobQuery;
import dev.carillon.api.JobState;
import dev.carillon.api.TaskType;
import dev.carillon.api.error.InvalidJobException;
import dev.carillon.store.MemoryStore;
import dev.carillon.store.Store;
import dev.carillon.store.jdbc.SqliteStore;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.Parameter;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;

/** Jobs that wait for the end of others, and groups, in virtual time, in memory and on a file. */
@Timeout(60)
@ParameterizedClass
@EnumSource(DependencyTest.Where.class)
class DependencyTest {
  private static final TaskType<String> NOTE = TaskType.of("note", String.class);
  private static final TaskType<String> FAIL = TaskType.of("fail", String.class);
  private static final TaskType<String> DONE = TaskType.of("done", String.class);
  private static final Instant START = Instant.parse("2026-03-01T00:00:00Z");

  private static final String BY_NAME =
      " (expected: one that has not ended, since a name is free afterwards;"
          + " a job that may have ended is waited for by its id)";

  @Parameter Where where = Where.MEMORY;
  @TempDir Path folder = Path.of("");

  private @Nullable CarillonTest opened;
  private final List<String> starts = new CopyOnWriteArrayList<>();
  private final List<List<DependencyInfo>> seen = new CopyOnWriteArrayList<>();

  enum Where {
    MEMORY,
    FILE,
    POSTGRES
  }

  @AfterEach
  void close() {
    if (opened != null) {
      opened.close();
    }
  }

  private CarillonTest world() {
    return opened != null ? opened : open(options -> {});
  }

  private CarillonTest open(Consumer<CarillonBuilder> options) {
    MemoryStore memory = new MemoryStore();
    Path file = folder.resolve("jobs.db");
    PostgresPlace postgres = new PostgresPlace();
    Supplier<Store> store =
        switch (where) {
          case MEMORY -> () -> memory;
          case FILE -> () -> SqliteStore.open(file);
          case POSTGRES -> postgres::open;
        };
    CarillonTest made = CarillonTest.at(START, store, options);
    opened = made;
    handle();
    return made;
  }

  @Test
  void jobThatWaitsForAnotherIsBlockedAlsoWhileItsShardSleeps() {
    open(options -> options.advanced(a -> a.loadHorizon(Duration.ofMinutes(1))));
    JobId far = schedule(NOTE.job("far").in(Duration.ofDays(2)));
    JobId waiting = schedule(NOTE.job("waiting").in(seconds(5)).after(far));
    JobId later = schedule(NOTE.job("later").in(Duration.ofDays(1)).after(far));

    world().advance(Duration.ofHours(5));

    assertThat(world().carillon().node().stats().loadedJobs()).as("all sleep").isZero();
    assertThat(List.of(info(waiting), listed(waiting)))
        .allSatisfy(
            info -> {
              assertThat(info.state()).isEqualTo(JobState.BLOCKED);
              assertThat(info.blockReason()).isEqualTo(BlockReason.DEPENDENCY);
            });
    assertThat(List.of(info(later), listed(later)))
        .extracting(JobInfo::state)
        .containsOnly(JobState.SCHEDULED);
    assertThat(ids(JobState.BLOCKED)).containsExactly(waiting);
    assertThat(ids(JobState.SCHEDULED)).containsExactlyInAnyOrder(far, later);
    world().advance(Duration.ofDays(2));
    assertThat(info(waiting).state()).isEqualTo(JobState.SUCCEEDED);
  }

  private JobInfo listed(JobId id) {
    return world().carillon().list(JobQuery.all()).items().stream()
        .filter(info -> info.id().equals(id))
        .findFirst()
        .orElseThrow();
  }

  private List<JobId> ids(JobState state) {
    return world().carillon().list(JobQuery.all().states(state)).items().stream()
        .map(JobInfo::id)
        .toList();
  }

  private void handle() {
    world().carillon().handle(NOTE, (text, job) -> noted(text));
    world()
        .carillon()
        .handle(
            FAIL,
            (text, job) -> {
              noted(text);
              throw new IllegalStateException(text);
            });
    world()
        .carillon()
        .handle(
            DONE,
            (text, job) -> {
              noted(text);
              seen.add(job.dependencies());
            });
  }

  private void noted(String text) {
    starts.add(text + " " + Duration.between(START, world().now()).toSeconds());
  }

  private void restart() {
    world().restart();
    handle();
  }

  private JobId schedule(Job<?> job) {
    return world().carillon().schedule(job).id();
  }

  private JobInfo info(JobId id) {
    return world().carillon().get(id).orElseThrow();
  }

  private static Duration seconds(long seconds) {
    return Duration.ofSeconds(seconds);
  }

  @Test
  void startsAfterTheOtherSucceededAndNotBeforeItsTime() {
    JobId a = schedule(NOTE.job("a").in(seconds(100)));
    JobId b = schedule(NOTE.job("b").after(a));
    JobId late = schedule(NOTE.job("late").after(a).in(seconds(200)));
    world().advance(seconds(50));
    assertThat(info(b).state()).isEqualTo(JobState.BLOCKED);
    assertThat(info(b).blockReason()).isEqualTo(BlockReason.DEPENDENCY);
    assertThat(info(b).dependencies())
        .containsExactly(new DependencyInfo(a, Dependency.Condition.SUCCEEDED, false, null));
    world().advance(seconds(60));
    assertThat(starts).containsExactly("a 100", "b 100");
    assertThat(info(late).state()).isEqualTo(JobState.SCHEDULED);
    world().advance(seconds(100));
    assertThat(starts).containsExactly("a 100", "b 100", "late 200");
    assertThat(world().carillon().history(b).orElseThrow().events())
        .extracting(JobEvent::kind)
        .containsExactly(
            JobEvent.Kind.SCHEDULED, JobEvent.Kind.DEPENDENCY_ENDED, JobEvent.Kind.SUCCEEDED);
  }

  @Test
  void eachConditionIsFulfilledOrBrokenByTheEnd() {
    JobId good = schedule(NOTE.job("good").in(seconds(10)));
    JobId bad = schedule(FAIL.job("bad").onFailure(FailurePolicy.drop()).in(seconds(10)));
    JobId dead =
        schedule(FAIL.job("dead").onFailure(FailurePolicy.constant(seconds(1), 0)).in(seconds(10)));
    JobId gone = schedule(NOTE.job("gone").in(seconds(10)));
    List<JobId> waiting = new ArrayList<>();
    for (JobId on : List.of(good, bad, dead, gone)) {
      Dependency dependency = Dependency.on(on);
      waiting.add(schedule(NOTE.job("s").after(dependency)));
      waiting.add(schedule(NOTE.job("f").after(dependency.failed())));
      waiting.add(schedule(NOTE.job("e").after(dependency.ended())));
    }
    assertThat(world().carillon().cancel(gone, "not wanted"))
        .isInstanceOf(CancelResult.Cancelled.class);
    world().advance(seconds(20));
    JobState yes = JobState.SUCCEEDED;
    JobState no = JobState.CANCELLED;
    assertThat(waiting)
        .extracting(id -> info(id).state())
        .containsExactly(yes, no, yes, no, yes, yes, no, yes, yes, no, no, yes);
    assertThat(info(waiting.get(3)).reason())
        .isEqualTo("dependency: job " + bad.value() + " ended as FAILED (expected: SUCCEEDED)");
    assertThat(info(waiting.get(6)).reason()).contains("ended as DEAD (expected: SUCCEEDED)");
  }

  @Test
  void waitsForAllOfThemAndEndsWithTheFirstThatBreaks() {
    List<Dependency> several = new ArrayList<>();
    for (int i = 1; i <= 5; i++) {
      several.add(Dependency.on(schedule(NOTE.job("a" + i).in(seconds(10L * i)))));
    }
    JobId all = schedule(NOTE.job("all").after(several));
    several.add(
        Dependency.on(schedule(FAIL.job("x").onFailure(FailurePolicy.drop()).in(seconds(15)))));
    JobId never = schedule(NOTE.job("never").after(several));
    world().advance(seconds(20));
    assertThat(info(never).state()).isEqualTo(JobState.CANCELLED);
    assertThat(info(all).state()).isEqualTo(JobState.BLOCKED);
    world().advance(seconds(30));
    assertThat(info(all).state()).isEqualTo(JobState.SUCCEEDED);
    assertThat(starts).endsWith("a5 50", "all 50").doesNotContain("never 50");
  }

  @Test
  void afterAJobThatHasEndedAlready() {
    JobId good = schedule(NOTE.job("good"));
    JobId bad = schedule(FAIL.job("bad").onFailure(FailurePolicy.drop()));
    world().settle();
    JobId b = schedule(NOTE.job("b").after(good));
    JobId c = schedule(NOTE.job("c").after(bad));
    world().settle();
    assertThat(info(b).state()).isEqualTo(JobState.SUCCEEDED);
    assertThat(info(c).state()).isEqualTo(JobState.CANCELLED);
  }

  @Test
  void theEndTravelsAcrossShardsAndRestarts() {
    JobId a = schedule(NOTE.job("a").at(START.plus(Duration.ofDays(50))));
    JobId b = schedule(NOTE.job("b").after(a).at(START.plus(Duration.ofDays(2))));
    JobId c = schedule(NOTE.job("c").after(b));
    world().settle();
    for (int day = 0; day < 60; day += 10) {
      world().advance(Duration.ofDays(10));
      restart();
      world().settle();
    }
    assertThat(starts)
        .extracting(start -> start.substring(0, start.indexOf(' ')))
        .containsExactly("a", "b", "c");
    assertThat(info(c).state()).isEqualTo(JobState.SUCCEEDED);
  }

  @Test
  void whatItWaitedForMayBeForgottenBeforeItsTime() {
    open(options -> options.advanced(a -> a.loadHorizon(Duration.ofHours(6))));
    JobId ended = schedule(NOTE.job("first"));
    world().settle();
    JobId a = schedule(NOTE.job("a").in(seconds(100)));
    schedule(NOTE.job("b").after(a).after(ended).in(Duration.ofDays(40)));
    schedule(NOTE.job("far").in(Duration.ofDays(40)));
    world().advance(seconds(200));
    restart();
    world().advance(Duration.ofDays(30));
    assertThat(world().carillon().get(a)).isEmpty();
    assertThat(world().carillon().get(ended)).isEmpty();
    world().advance(Duration.ofDays(10));
    assertThat(starts).startsWith("first 0", "a 100").contains("b 3456000", "far 3456000");
  }

  @Test
  void cancellingAJobFarAheadTellsThoseThatWait() {
    JobId far = schedule(NOTE.job("far").at(START.plus(Duration.ofDays(400))));
    JobId b = schedule(NOTE.job("b").after(Dependency.on(far).ended()));
    world().settle();
    restart();
    world().carillon().cancel(far, "no longer");
    world().settle();
    assertThat(info(b).state()).isEqualTo(JobState.SUCCEEDED);
  }

  @Test
  void aReplacedJobStillTellsThoseThatWait() {
    JobId a = schedule(NOTE.job("a").named("a").in(seconds(100)));
    schedule(NOTE.job("b").after(a));
    world().settle();
    schedule(NOTE.job("a2").named("a").ifExists(IfExists.REPLACE).in(seconds(50)));
    world().advance(seconds(60));
    assertThat(starts).containsExactly("a2 50", "b 50");
  }

  @Test
  void aDeadlineEndsTheWaiting() {
    JobId a = schedule(NOTE.job("a").in(seconds(100)));
    JobId b = schedule(NOTE.job("b").after(a).deadline(START.plusSeconds(60)));
    world().advance(seconds(200));
    assertThat(info(b).state()).isEqualTo(JobState.EXPIRED);
    assertThat(starts).containsExactly("a 100");
  }

  @Test
  void jobsOfABatchWaitForEachOtherByName() {
    List<JobHandle<?>> handles =
        world()
            .carillon()
            .scheduleAll(
                List.of(
                    NOTE.job("load").named("load").after(Dependency.onNamed("check")),
                    NOTE.job("fetch").named("fetch").in(seconds(10)),
                    NOTE.job("check").named("check").after(Dependency.onNamed("fetch"))));
    restart();
    world().advance(seconds(20));
    assertThat(starts).containsExactly("fetch 10", "check 10", "load 10");
    assertThat(info(handles.getFirst().id()).dependencies())
        .containsExactly(
            new DependencyInfo(
                handles.get(2).id(), Dependency.Condition.SUCCEEDED, true, JobState.SUCCEEDED));
  }

  @Test
  void aNameMayBeThatOfAJobWhichExists() {
    schedule(NOTE.job("a").named("a").in(seconds(10)));
    schedule(NOTE.job("b").after(Dependency.onNamed("a")));
    world().advance(seconds(20));
    assertThat(starts).containsExactly("a 10", "b 10");
  }

  @Test
  void aNameThatIsFreeAgainIsRefusedAndTheIdIsNot() {
    JobId a = schedule(NOTE.job("a").named("a"));
    world().settle();
    assertThatThrownBy(() -> schedule(NOTE.job("b").after(Dependency.onNamed("a"))))
        .isInstanceOf(InvalidJobException.class)
        .hasMessage("dependency: job named \"a\"" + BY_NAME);
    schedule(NOTE.job("b").after(a));
    world().settle();
    assertThat(starts).containsExactly("a 0", "b 0");
  }

  @Test
  void aNameWhoseKeyStillCountsFindsTheJobThatEnded() {
    schedule(NOTE.job("a").named("a").key("request-7"));
    world().settle();
    schedule(NOTE.job("b").after(Dependency.onNamed("a")));
    JobId never = schedule(NOTE.job("c").after(Dependency.onNamed("a").failed()));
    world().settle();
    assertThat(starts).containsExactly("a 0", "b 0");
    assertThat(info(never).state()).isEqualTo(JobState.CANCELLED);
  }

  @Test
  void circlesAndUnknownJobsAreRefusedAndNothingIsWritten() {
    Job<Void> a = NOTE.job("a").named("a");
    Job<Void> b = NOTE.job("b").named("b").after(Dependency.onNamed("a"));
    Job<Void> c = NOTE.job("c").named("c").after(Dependency.onNamed("b"));
    assertThatThrownBy(
            () ->
                world()
                    .carillon()
                    .scheduleAll(List.of(NOTE.job("x"), a.after(Dependency.onNamed("c")), b, c)))
        .isInstanceOf(InvalidJobException.class)
        .hasMessage("dependencies: a after c after b after a (expected: no circle)");
    assertThatThrownBy(() -> schedule(a.after(Dependency.onNamed("a"))))
        .hasMessage("dependencies: a after a (expected: no circle)");
    assertThatThrownBy(() -> world().carillon().scheduleAll(List.of(NOTE.job("x"), b)))
        .hasMessage("dependency: job named \"a\"" + BY_NAME);
    JobId unknown = new JobId(schedule(NOTE.job("real")).value().replaceAll(".$", "0"));
    assertThatThrownBy(() -> schedule(NOTE.job("y").after(unknown)))
        .isInstanceOf(InvalidJobException.class)
        .hasMessageContaining(unknown.value());
    assertThatThrownBy(() -> schedule(NOTE.job("y").after(new JobId("nonsense"))))
        .hasMessageContaining("nonsense");
    world().settle();
    JobId real = schedule(a);
    assertThatThrownBy(() -> schedule(NOTE.job("z").after(real).after(real)))
        .hasMessageContaining("each job once");
    JobId waiting = schedule(NOTE.job("w").named("w").in(seconds(9)));
    assertThatThrownBy(
            () -> schedule(NOTE.job("w").named("w").ifExists(IfExists.REPLACE).after(real)))
        .hasMessageContaining("none for a job that replaces another");
    world().settle();
    assertThat(starts).containsExactlyInAnyOrder("real 0", "a 0");
    assertThat(info(waiting).state()).isEqualTo(JobState.SCHEDULED);
  }

  @Test
  void aGroupsLastJobWaitsForItsMembersOnly() {
    JobId foreign = schedule(NOTE.job("foreign").in(seconds(10)));
    assertThatThrownBy(
            () ->
                world()
                    .carillon()
                    .scheduleGroup(List.of(NOTE.job("a")), DONE.job("done").after(foreign)))
        .isInstanceOf(InvalidJobException.class)
        .hasMessageContaining("whenDone: waits for 1 other jobs");
  }

  @Test
  void aGroupsLastJobStartsWhenAllHaveEnded() {
    JobGroup<Void> group =
        world()
            .carillon()
            .scheduleGroup(
                List.of(
                    NOTE.job("a").in(seconds(10)),
                    FAIL.job("b").onFailure(FailurePolicy.drop()).in(seconds(30)),
                    NOTE.job("c").in(Duration.ofDays(40))),
                DONE.job("done"));
    world().advance(Duration.ofDays(20));
    restart();
    world().advance(Duration.ofDays(30));
    assertThat(starts)
        .extracting(start -> start.substring(0, start.indexOf(' ')))
        .containsExactly("a", "b", "c", "done");
    assertThat(seen)
        .singleElement()
        .satisfies(
            ended ->
                assertThat(ended)
                    .extracting(DependencyInfo::job, DependencyInfo::state)
                    .containsExactly(
                        org.assertj.core.api.Assertions.tuple(
                            group.members().get(0).id(), JobState.SUCCEEDED),
                        org.assertj.core.api.Assertions.tuple(
                            group.members().get(1).id(), JobState.FAILED),
                        org.assertj.core.api.Assertions.tuple(
                            group.members().get(2).id(), JobState.SUCCEEDED)));
  }

  @Test
  void aGroupIsCancelledAsAWhole() {
    JobGroup<Void> group =
        world()
            .carillon()
            .scheduleGroup(
                List.of(
                    NOTE.job("a"), NOTE.job("b").in(seconds(10)), NOTE.job("c").in(seconds(20))),
                DONE.job("done"));
    world().settle();
    CancelResult result = world().carillon().cancelGroup(group.whenDone().id(), "stop");
    assertThat(result).isInstanceOf(CancelResult.Cancelled.class);
    world().advance(seconds(60));
    assertThat(starts).containsExactly("a 0");
    assertThat(group.members())
        .extracting(member -> info(member.id()).state())
        .containsExactly(JobState.SUCCEEDED, JobState.CANCELLED, JobState.CANCELLED);
  }

  @Test
  void nothingIsLeftWaitingForTheStore() {
    schedule(NOTE.job("there").named("there").in(seconds(10)));
    schedule(NOTE.job("after it").after(Dependency.onNamed("there")));
    world().carillon().scheduleGroup(List.of(NOTE.job("a"), NOTE.job("b")), DONE.job("done"));
    world()
        .carillon()
        .scheduleAll(
            List.of(NOTE.job("c").named("c"), NOTE.job("d").after(Dependency.onNamed("c"))));
    CarillonStats stats = world().carillon().node().stats();
    assertThat(stats.unansweredJobs()).isZero();
    assertThat(stats.unansweredBytes()).isZero();
  }

  @Test
  void aLargeGroup() {
    List<Job<?>> members = new ArrayList<>();
    for (int i = 0; i < 2_000; i++) {
      members.add(NOTE.job("m").in(seconds(i % 100)));
    }
    world().carillon().scheduleGroup(members, DONE.job("done"));
    world().advance(seconds(100));
    assertThat(starts).hasSize(2_001).last().isEqualTo("done 99");
    assertThat(seen.getFirst()).hasSize(2_000).allMatch(DependencyInfo::met);
  }
}
