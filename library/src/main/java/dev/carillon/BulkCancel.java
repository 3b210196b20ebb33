package dev.carillon;

import dev.carillon.api.CancelResult;
import dev.carillon.api.DependencyInfo;
import dev.carillon.api.JobId;
import dev.carillon.api.JobInfo;
import dev.carillon.api.JobQuery;
import dev.carillon.api.Limits;
import dev.carillon.api.Page;
import java.util.List;

/**
 * Cancels many jobs, {@value #AT_ONCE} at a time: a group, or all jobs that fit a query. A crash
 * leaves some of them cancelled; asking again does the rest.
 */
final class BulkCancel {
  private static final int AT_ONCE = 256;

  private final JobQueries queries;
  private final Requester requester;

  BulkCancel(JobQueries queries, Requester requester) {
    this.queries = queries;
    this.requester = requester;
  }

  /** The last job goes first, so that the ends of the members do not start it. */
  CancelResult group(JobId whenDone, String reason) {
    Limits.checkReason(reason);
    List<DependencyInfo> members =
        queries.get(whenDone).map(JobInfo::dependencies).orElse(List.of());
    CancelResult result = requester.cancel(whenDone, reason);
    var unused =
        each(
            members.stream().filter(member -> !member.met()).map(DependencyInfo::job).toList(),
            reason);
    return result;
  }

  /** Returns how many jobs will not run or were asked to stop. */
  long all(JobQuery query, String reason) {
    Limits.checkReason(reason);
    long cancelled = 0;
    JobQuery next = Limits.checkPresent("query", query).limit(Limits.PAGE_MAX_ITEMS).cursor(null);
    while (true) {
      Page<JobInfo> page = queries.list(next);
      cancelled +=
          each(
              page.items().stream().filter(job -> !job.state().ended()).map(JobInfo::id).toList(),
              reason);
      String cursor = page.next();
      if (cursor == null) {
        return cancelled;
      }
      next = next.cursor(cursor);
    }
  }

  private long each(List<JobId> jobs, String reason) {
    long effective = 0;
    for (int from = 0; from < jobs.size(); from += AT_ONCE) {
      List<JobId> some = jobs.subList(from, Math.min(jobs.size(), from + AT_ONCE));
      effective +=
          requester.cancelAll(some, reason).stream().filter(BulkCancel::isEffective).count();
    }
    return effective;
  }

  private static boolean isEffective(CancelResult result) {
    return result instanceof CancelResult.Cancelled || result instanceof CancelResult.Stopping;
  }
}
