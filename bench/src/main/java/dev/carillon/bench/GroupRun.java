package dev.carillon.bench;

import dev.carillon.Carillon;
import dev.carillon.api.Job;
import dev.carillon.api.JobHandle;
import dev.carillon.api.TaskType;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

/** One large group beside jobs that have nothing to do with it. */
final class GroupRun {
  private static final TaskType<Integer> MEMBER = TaskType.of("member", Integer.class);
  private static final TaskType<Integer> LAST = TaskType.of("last", Integer.class);
  private static final TaskType<Long> OTHER = TaskType.of("beside", Long.class);
  private static final String OTHERS = "others";
  private static final long BESIDE_EVERY_MICROS = 1_000;
  private static final int BESIDE = 5_000;
  private static final long BESIDE_AHEAD_MICROS = 500_000;
  private static final long LEAST_MICROS = 100_000;
  private static final int SECONDS_AT_MOST = 120;

  private final Carillon carillon;
  private final int members;
  private final AtomicLong ended = new AtomicLong();
  private final ConcurrentLinkedQueue<Late> late = new ConcurrentLinkedQueue<>();

  private record Late(long dueMicros, long nanos) {}

  /**
   * What a run found.
   *
   * @param nanos from the call that schedules the group to the start of its last job
   * @param beside how late those of the other jobs started that were due meanwhile
   */
  record Found(long nanos, Samples beside) {}

  GroupRun(Carillon carillon, int members) {
    this.carillon = carillon;
    this.members = members;
    carillon.handle(MEMBER, (number, job) -> {});
    carillon.handle(LAST, (number, job) -> ended.set(System.nanoTime()));
    carillon.handle(OTHER, (due, job) -> late.add(new Late(due, WallClock.nanosSince(due))));
  }

  /**
   * Runs a group.
   *
   * @param waited whether somebody waits for its result and watches it
   */
  Found run(boolean waited) throws InterruptedException {
    ended.set(0);
    late.clear();
    long from = scheduleOthers();
    List<Job<Void>> jobs = new ArrayList<>();
    for (int i = 0; i < members; i++) {
      jobs.add(MEMBER.job(i));
    }
    long start = System.nanoTime();
    JobHandle<Void> last = carillon.scheduleGroup(jobs, LAST.job(0)).whenDone();
    CompletableFuture<?> result = CompletableFuture.completedFuture(null);
    if (waited) {
      var unused = carillon.watch(last.id(), info -> {});
      result = CompletableFuture.runAsync(() -> last.result(Duration.ofSeconds(SECONDS_AT_MOST)));
    }
    LatenessLog.await("the last job of a group", () -> ended.get() != 0, SECONDS_AT_MOST);
    result.join();
    long now = WallClock.micros();
    long until = Math.clamp(now, from + LEAST_MICROS, from + lastBeside());
    awaitOthers(until);
    Samples beside = new Samples();
    for (Late one : late) {
      if (one.dueMicros >= from && one.dueMicros <= until) {
        beside.add(one.nanos);
      }
    }
    return new Found(ended.get() - start, beside);
  }

  /** One each millisecond from soon on; returns the time of the first when that has come. */
  private long scheduleOthers() throws InterruptedException {
    long first = WallClock.micros() + BESIDE_AHEAD_MICROS;
    List<Job<Void>> jobs = new ArrayList<>();
    for (int i = 0; i < BESIDE; i++) {
      long due = first + i * BESIDE_EVERY_MICROS;
      jobs.add(OTHER.job(due).at(WallClock.instant(due)).namespace(OTHERS));
    }
    var unused = carillon.scheduleAll(jobs);
    TimeUnit.MICROSECONDS.sleep(first - WallClock.micros());
    return first;
  }

  private void awaitOthers(long untilMicros) throws InterruptedException {
    LatenessLog.await(
        "the jobs beside a group",
        () -> late.stream().anyMatch(one -> one.dueMicros >= untilMicros),
        SECONDS_AT_MOST);
  }

  /** How long after the first of the other jobs the last is due. */
  private static long lastBeside() {
    return (BESIDE - 1) * BESIDE_EVERY_MICROS;
  }
}
