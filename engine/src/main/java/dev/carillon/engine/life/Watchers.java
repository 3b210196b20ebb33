package dev.carillon.engine.life;

import dev.carillon.api.AttemptFailure;
import dev.carillon.api.JobInfo;
import dev.carillon.api.JobListener;
import dev.carillon.api.JobState;
import dev.carillon.engine.attempt.Attempts;
import dev.carillon.engine.commit.Basics;
import dev.carillon.engine.environment.NodeEnvironment;
import dev.carillon.engine.environment.NodeEvent;
import dev.carillon.engine.environment.Timers;
import dev.carillon.engine.fold.OperationBody;
import dev.carillon.engine.format.Micros;
import dev.carillon.engine.job.JobRef;
import dev.carillon.engine.job.JobView;
import dev.carillon.engine.job.Ran;
import dev.carillon.engine.member.MemberStatus;
import dev.carillon.engine.query.JobReader;
import dev.carillon.engine.shard.NodeJob;
import dev.carillon.engine.shard.Shard;
import dev.carillon.engine.shard.Shards;
import dev.carillon.store.Outcome;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Notifies watchers of single jobs, and the job listener, of every change. Other nodes do not
 * announce the changes of their jobs: this node reads the journal of such a job from time to time,
 * as long as somebody watches it here.
 */
public final class Watchers implements Attempts.News {
  /** How soon this node looks at a watched job of another node, and how late at most. */
  private static final long LOOK_NANOS = 250_000_000;

  private static final long MOST_LOOK_NANOS = 4_000_000_000L;
  private static final int LOOKS_AT_ONCE = 64;

  private final NodeEnvironment env;
  private final Timers timers;
  private final MemberStatus status;
  private final Shards shards;
  private final JobLookup lookup;
  private final RecentNews news;

  /** The job that this node looked at longest ago comes first. */
  private final Map<JobRef, List<Consumer<JobView>>> watchers = new LinkedHashMap<>();

  /** Watched jobs of other nodes, as they were at the last look. */
  private final Map<JobRef, JobInfo> seenAway = new LinkedHashMap<>();

  private Timers.@Nullable Timer nextLook;

  public Watchers(Basics basics, MemberStatus status, Shards shards, JobLookup lookup) {
    this.env = basics.env();
    this.timers = basics.timers();
    this.status = status;
    this.shards = shards;
    this.lookup = lookup;
    this.news = new RecentNews(env, basics.options().incarnation());
  }

  /** What happened to jobs of late, for other nodes. */
  public RecentNews news() {
    return news;
  }

  /** Notifies {@code watcher} of every change of the job from now on, until it ends. */
  public void watch(JobRef ref, Consumer<JobView> watcher) {
    watchers.computeIfAbsent(ref, r -> new ArrayList<>(1)).add(watcher);
    if (status.isShared()) {
      lookSoon(LOOK_NANOS);
    }
  }

  /** Takes a watcher back. */
  public void unwatch(JobRef ref, Consumer<JobView> watcher) {
    List<Consumer<JobView>> all = watchers.get(ref);
    if (all != null) {
      all.remove(watcher);
      if (all.isEmpty()) {
        watchers.remove(ref);
      }
    }
  }

  // ---- jobs of other nodes

  private void lookSoon(long nanos) {
    if (nextLook == null || nextLook.isOver()) {
      nextLook =
          timers.at(env.monotonicNanos() + nanos, () -> look(Math.min(2 * nanos, MOST_LOOK_NANOS)));
    }
  }

  private void look(long nextNanos) {
    List<JobRef> away = new ArrayList<>();
    for (JobRef ref : watchers.keySet()) {
      Shard shard = shards.known(ref.shard());
      if ((shard == null || !shard.owned()) && away.size() < LOOKS_AT_ONCE) {
        away.add(ref);
      }
    }
    seenAway.keySet().retainAll(watchers.keySet());
    for (JobRef ref : away) {
      List<Consumer<JobView>> moved = watchers.remove(ref);
      if (moved != null) {
        watchers.put(ref, moved); // behind the others
      }
    }
    int[] left = {away.size()};
    for (JobRef ref : away) {
      lookup.read(
          ref,
          outcome -> {
            if (outcome instanceof Outcome.Ok<Optional<JobReader.Story>>(var found)) {
              found.ifPresent(story -> sawAway(ref, story.view()));
            }
            if (--left[0] == 0) {
              lookSoon(nextNanos);
            }
          });
    }
    if (away.isEmpty() && !watchers.isEmpty()) {
      lookSoon(nextNanos); // one of their shards may go
    }
  }

  private void sawAway(JobRef ref, JobView view) {
    if (view.info().equals(seenAway.put(ref, view.info()))) {
      return;
    }
    boolean ended = view.info().state().ended();
    List<Consumer<JobView>> told = ended ? watchers.remove(ref) : watchers.get(ref);
    if (told != null) {
      List.copyOf(told).forEach(watcher -> watcher.accept(view));
    }
  }

  // ---- jobs of this node

  /** The job's state has changed. */
  void changed(NodeJob job) {
    if (watchers.isEmpty() || job.isStripped()) {
      return;
    }
    List<Consumer<JobView>> told = watchers.get(job.shard().ref(job.number));
    if (told != null) {
      JobView view = new JobView(LivePhases.info(job), null);
      List.copyOf(told).forEach(watcher -> watcher.accept(view));
    }
  }

  /** The job was added. */
  void scheduled(NodeJob job) {
    JobListener listener = news.listener();
    if (listener != null) {
      listener.scheduled(LivePhases.info(job));
    }
  }

  /** The job is due and may not start. */
  void blocked(NodeJob job) {
    changed(job);
    JobListener listener = news.listener();
    if (listener != null) {
      listener.blocked(LivePhases.info(job));
    }
  }

  @Override
  public void started(NodeJob job) {
    changed(job);
    JobListener listener = news.listener();
    if (listener != null) {
      listener.started(LivePhases.info(job));
    }
  }

  @Override
  public void retrying(NodeJob job) {
    JobListener listener = news.listener();
    if (listener != null) {
      listener.retrying(LivePhases.info(job));
    }
  }

  @Override
  public void failed(NodeJob job, NodeEvent.AttemptFailed failure) {
    env.tell(failure);
    JobListener listener = news.listener();
    if (listener != null && !job.isStripped()) {
      listener.failed(failureOf(job, failure));
    }
  }

  private static AttemptFailure failureOf(NodeJob job, NodeEvent.AttemptFailed failure) {
    JobRef ref = failure.job().ref();
    Instant next =
        failure.then() instanceof NodeEvent.Then.Retry(long micros)
            ? Micros.toInstant(micros)
            : null;
    JobInfo info =
        failure.then() instanceof NodeEvent.Then.End end && job.phase() == NodeJob.Phase.GONE
            ? JobReader.ended(ref, job.shard().home, job, endOf(failure, end)).info()
            : JobReader.info(
                ref, job, new JobReader.Now(JobState.SCHEDULED, null, 0, failure.error(), null));
    return new AttemptFailure(info, failure.attempt(), failure.error(), next);
  }

  private static OperationBody.End endOf(NodeEvent.AttemptFailed failure, NodeEvent.Then.End end) {
    Ran ran = new Ran(end.startedMicros(), failure.error().node());
    return new OperationBody.End(
        end.state(),
        failure.attempt(),
        0,
        end.endedMicros(),
        ran,
        failure.error(),
        end.reason(),
        new byte[0]);
  }

  /** An occurrence of a recurring job has ended, and the job goes on. */
  void occurred(Shard shard, NodeJob job, OperationBody.Next next) {
    JobListener listener = news.listener();
    if (listener != null) {
      listener.ended(JobReader.occurred(shard.ref(job.number), shard.home, job, next));
    }
  }

  /** The job has ended. */
  void ended(Shard shard, NodeJob job, OperationBody.End end) {
    JobRef ref = shard.ref(job.number);
    List<Consumer<JobView>> told = watchers.remove(ref);
    if (told == null && news.listener() == null) {
      return;
    }
    if (!job.isStripped()) {
      tellEnded(told, JobReader.ended(ref, shard.home, job, end));
      return;
    }
    lookup.read(
        ref,
        outcome -> {
          if (outcome instanceof Outcome.Ok<Optional<JobReader.Story>>(var found)
              && found.isPresent()) {
            tellEnded(told, found.get().view());
          }
        });
  }

  private void tellEnded(@Nullable List<Consumer<JobView>> told, JobView view) {
    if (told != null) {
      told.forEach(watcher -> watcher.accept(view));
    }
    JobListener listener = news.listener();
    if (listener != null) {
      listener.ended(view.info());
    }
  }
}
