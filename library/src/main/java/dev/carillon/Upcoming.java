package dev.carillon;

import dev.carillon.api.JobInfo;
import dev.carillon.api.JobQuery;
import dev.carillon.api.JobState;
import dev.carillon.api.Page;
import dev.carillon.api.RecurringInfo;
import dev.carillon.api.UpcomingJob;
import dev.carillon.api.error.InvalidJobException;
import dev.carillon.api.schedule.Schedule;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** What will be due in a range of time, with the occurrences of recurring jobs. */
final class Upcoming {
  /** The most entries given, and the most of one job: a schedule by the second has many. */
  static final int MOST = 10_000;

  /**
   * How many times of a cron that ends after so many are counted off until the range begins; those
   * of a fixed rate are divided.
   */
  private static final int MOST_PASSED = 1_000_000;

  private static final Duration MICROSECOND = Duration.ofNanos(1_000);

  private final Function<JobQuery, Page<JobInfo>> lister;

  Upcoming(Function<JobQuery, Page<JobInfo>> lister) {
    this.lister = lister;
  }

  List<UpcomingJob> within(TimeRange range, String namespace) {
    Instant from = range.from();
    Instant to = range.to();
    List<UpcomingJob> all = new ArrayList<>();
    JobQuery query =
        JobQuery.all()
            .namespace(namespace)
            .states(JobState.SCHEDULED, JobState.READY, JobState.RUNNING, JobState.BLOCKED)
            .dueTo(to);
    String cursor = null;
    do {
      Page<JobInfo> page = lister.apply(query.cursor(cursor));
      page.items().forEach(job -> add(all, job, from, to));
      if (all.size() > 2 * MOST) {
        keepEarliest(all);
      }
      cursor = page.next();
    } while (cursor != null);
    keepEarliest(all);
    return all;
  }

  private static void keepEarliest(List<UpcomingJob> all) {
    all.sort(Comparator.comparing(UpcomingJob::time));
    if (all.size() > MOST) {
      all.subList(MOST, all.size()).clear();
    }
  }

  /** Nothing of a job starts before its next attempt is due, so that is the first of its times. */
  private static void add(List<UpcomingJob> all, JobInfo job, Instant from, Instant to) {
    addIfWithin(all, job, job.dueAt(), from, to);
    RecurringInfo recurring = job.recurring();
    if (recurring == null || recurring.schedule().kind() == Schedule.Kind.AFTER_EACH) {
      return; // when the one after it is depends on when it ends
    }
    Schedule schedule = recurring.schedule();
    Instant second = second(job, recurring);
    Instant time =
        second != null && from.isAfter(second)
            ? schedule.nextAfter(second, from.minus(MICROSECOND))
            : second;
    if (second == null || time == null || !time.isBefore(to)) {
      return;
    }
    long left = Math.min(MOST, left(job, recurring, second, time));
    for (; time != null && time.isBefore(to) && left > 0; left--) {
      addIfWithin(all, job, time, from, to);
      time = schedule.next(time);
    }
  }

  /**
   * The time after the next, which a reschedule, a retry or jitter may have put off beyond some.
   */
  private static @Nullable Instant second(JobInfo job, RecurringInfo recurring) {
    Instant next = recurring.nextTime();
    return job.dueAt().isAfter(next)
        ? recurring.schedule().nextAfter(next, job.dueAt())
        : recurring.schedule().next(next);
  }

  /** How many times the schedule has from one on, the second being the one after its next. */
  private static long left(JobInfo job, RecurringInfo recurring, Instant second, Instant time) {
    Schedule schedule = recurring.schedule();
    Long times = schedule.times();
    if (times == null) {
      return Long.MAX_VALUE;
    }
    long left = times - recurring.count() - 1;
    Duration period = schedule.period();
    if (period != null) {
      return left - Duration.between(second, time).dividedBy(period);
    }
    // A cron has a time a second at most.
    return left > Duration.between(second, time).toSeconds() + MOST
        ? left
        : left - passed(job, schedule, second, time, left);
  }

  /** How many times a cron has before one; as many as there are left is enough. */
  private static long passed(JobInfo job, Schedule cron, Instant second, Instant time, long left) {
    long passed = 0;
    for (Instant each = second; each != null && each.isBefore(time) && passed < left; passed++) {
      if (passed == MOST_PASSED) {
        throw new InvalidJobException(
            "from: %s, more than %d times of job %s ahead (expected: sooner, or a schedule without times)"
                .formatted(time, MOST_PASSED, job.id()));
      }
      each = cron.next(each);
    }
    return passed;
  }

  private static void addIfWithin(
      List<UpcomingJob> all, JobInfo job, Instant time, Instant from, Instant to) {
    if (!time.isBefore(from) && time.isBefore(to)) {
      all.add(new UpcomingJob(time, job));
    }
  }
}
