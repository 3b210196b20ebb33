package dev.carillon.engine.life;

import dev.carillon.api.AttemptFailure;
import dev.carillon.api.JobInfo;
import dev.carillon.api.JobListener;
import dev.carillon.engine.environment.NodeEnvironment;
import dev.carillon.engine.message.JobNews;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * What happened to this node's jobs of late, for other nodes that ask. Kept only while somebody
 * asks every few seconds: otherwise the node notes nothing, and its own listener is told directly.
 *
 * <p>Crash table: the node dies: its news since the last answer are lost, and whoever asks sees
 * that it is gone. A question or an answer is lost: the same news are told with the next answer.
 */
public final class RecentNews implements JobListener {
  private static final int MOST_KEPT = 4_096;
  private static final int MOST_TOLD = 256;
  private static final int MOST_BYTES = 200_000;
  private static final int BASE_BYTES = 400;

  /** For so long after the last question news are kept. */
  private static final long KEEP_NANOS = 10_000_000_000L;

  private final NodeEnvironment env;
  private final long incarnation;
  private final ArrayDeque<JobNews.Event> kept = new ArrayDeque<>();
  private boolean on;
  private long untilNanos;

  /** The number of the last event, and of the first that may be there. */
  private long latest;

  RecentNews(NodeEnvironment env, long incarnation) {
    this.env = env;
    this.incarnation = incarnation;
  }

  /** Who is to be told of jobs; null where nobody is. */
  @Nullable JobListener listener() {
    return on && isAskedFor() ? this : env.listener();
  }

  private boolean isAskedFor() {
    if (env.monotonicNanos() - untilNanos >= 0) {
      on = false;
      kept.clear();
    }
    return on;
  }

  /** The news after an event; none for one who begins. */
  public JobNews after(JobNews.Place known) {
    boolean wasOn = on && isAskedFor();
    on = true;
    untilNanos = env.monotonicNanos() + KEEP_NANOS;
    long first = latest - kept.size(); // the number before the first that is kept
    boolean ofThis = known.incarnation() == incarnation;
    if (!ofThis || !wasOn) {
      boolean begins = known.equals(JobNews.Place.NONE);
      return new JobNews(new JobNews.Place(incarnation, latest), !begins, false, List.of());
    }
    boolean lost = known.number() < first;
    long from = Math.clamp(known.number(), first, latest);
    List<JobNews.Event> told = new ArrayList<>();
    Iterator<JobNews.Event> all = kept.iterator();
    int bytes = 0;
    boolean room = true;
    for (long number = first + 1; all.hasNext() && room; number++) {
      JobNews.Event event = all.next();
      if (number > from) {
        told.add(event);
        bytes += about(event.job());
        room = told.size() < MOST_TOLD && bytes < MOST_BYTES;
      }
    }
    long last = from + told.size();
    return new JobNews(new JobNews.Place(incarnation, last), lost, last < latest, told);
  }

  private static int about(JobInfo job) {
    int bytes = BASE_BYTES;
    for (Map.Entry<String, String> each : job.metadata().entrySet()) {
      bytes += each.getKey().length() + each.getValue().length();
    }
    return bytes;
  }

  private void note(JobNews.Kind kind, JobInfo job, Consumer<JobListener> own) {
    latest++;
    kept.add(new JobNews.Event(kind, job));
    if (kept.size() > MOST_KEPT) {
      kept.remove();
    }
    tellOwn(own);
  }

  private void tellOwn(Consumer<JobListener> own) {
    JobListener listener = env.listener();
    if (listener != null) {
      own.accept(listener);
    }
  }

  @Override
  public void scheduled(JobInfo job) {
    tellOwn(own -> own.scheduled(job));
  }

  @Override
  public void started(JobInfo job) {
    note(JobNews.Kind.STARTED, job, own -> own.started(job));
  }

  @Override
  public void retrying(JobInfo job) {
    note(JobNews.Kind.RETRYING, job, own -> own.retrying(job));
  }

  @Override
  public void failed(AttemptFailure failure) {
    tellOwn(own -> own.failed(failure));
  }

  @Override
  public void blocked(JobInfo job) {
    note(JobNews.Kind.BLOCKED, job, own -> own.blocked(job));
  }

  @Override
  public void ended(JobInfo job) {
    note(JobNews.Kind.ENDED, job, own -> own.ended(job));
  }
}
