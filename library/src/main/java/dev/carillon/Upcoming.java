package dev.carillon;

import dev.carillon.api.JobInfo;
import dev.carillon.api.JobQuery;
import dev.carillon.api.JobState;
import dev.carillon.api.Page;
import dev.carillon.api.RecurringInfo;
import dev.carillon.api.Schedule;
import dev.carillon.api.UpcomingJob;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.function.Function;

/** What will be due in a range of time, with the occurrences of recurring jobs. */
final class Upcoming {
  /** The most entries given, and the most of one job: a schedule by the second has many. */
  static final int MOST = 10_000;

  /**
   * How many times of a schedule that ends after so many are counted off until the range begins.
   */
  private static final int MOST_PASSED = 1_000_000;

  private final Function<JobQuery, Page<JobInfo>> lister;

  Upcoming(Function<JobQuery, Page<JobInfo>> lister) {
    this.lister = lister;
  }

  List<UpcomingJob> between(Instant from, Instant to, String namespace) {
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

  private static void add(List<UpcomingJob> all, JobInfo job, Instant from, Instant to) {
    RecurringInfo recurring = job.recurring();
    if (recurring == null) {
      addIfWithin(all, job, job.dueAt(), from, to);
      return;
    }
    Schedule schedule = recurring.schedule();
    Instant time = recurring.nextTime();
    addIfWithin(all, job, time, from, to);
    if (schedule.kind() == Schedule.Kind.AFTER_EACH) {
      return; // when the one after it is depends on when it ends
    }
    Long times = schedule.times();
    long left = times == null ? Long.MAX_VALUE : times - recurring.count() - 1;
    if (times == null && from.isAfter(time)) {
      time = schedule.nextAfter(time, from.minus(Duration.ofNanos(1000)));
    } else {
      time = schedule.next(time);
    }
    int added = 0;
    for (int i = 0; time != null && time.isBefore(to) && added < MOST && left > 0; i++, left--) {
      if (i == MOST_PASSED) {
        return;
      }
      added += addIfWithin(all, job, time, from, to) ? 1 : 0;
      time = schedule.next(time);
    }
  }

  private static boolean addIfWithin(
      List<UpcomingJob> all, JobInfo job, Instant time, Instant from, Instant to) {
    return !time.isBefore(from) && time.isBefore(to) && all.add(new UpcomingJob(time, job));
  }
}
