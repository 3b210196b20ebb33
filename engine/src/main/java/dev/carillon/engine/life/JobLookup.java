package dev.carillon.engine.life;

import dev.carillon.api.JobInfo;
import dev.carillon.engine.commit.Basics;
import dev.carillon.engine.commit.StoreCalls;
import dev.carillon.engine.environment.NodeEnvironment;
import dev.carillon.engine.environment.NodeOptions;
import dev.carillon.engine.fold.Reported;
import dev.carillon.engine.history.PublishedValue;
import dev.carillon.engine.job.JobRef;
import dev.carillon.engine.job.JobView;
import dev.carillon.engine.query.JobReader;
import dev.carillon.engine.shard.NodeJob;
import dev.carillon.engine.shard.Retention;
import dev.carillon.engine.shard.Shard;
import dev.carillon.engine.shard.Shards;
import dev.carillon.store.Outcome;
import dev.carillon.store.ShardId;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Looks a job up: in memory where this node has loaded its shard, else in its journal. Changes
 * nothing.
 */
public final class JobLookup {
  private final NodeEnvironment env;
  private final NodeOptions options;
  private final StoreCalls calls;
  private final Shards shards;

  public JobLookup(Basics basics, Shards shards) {
    this.env = basics.env();
    this.options = basics.options();
    this.calls = basics.calls();
    this.shards = shards;
  }

  /** The job as it is, or empty where there is none. */
  public void get(JobRef ref, Consumer<Outcome<Optional<JobView>>> answer) {
    NodeJob job = live(ref);
    if (job != null && !job.isStripped()) {
      answer.accept(Outcome.ok(Optional.of(new JobView(LivePhases.info(job), null))));
    } else {
      find(ref, outcome -> answer.accept(outcome.map(found -> found.map(s -> asItIs(ref, s)))));
    }
  }

  /** What the job published last; empty where there is no such job. */
  public void published(JobRef ref, Consumer<Outcome<Optional<PublishedValue.Found>>> answer) {
    NodeJob job = live(ref);
    if (job == null) {
      find(
          ref,
          outcome ->
              answer.accept(
                  outcome.map(found -> found.map(s -> new PublishedValue.Found(s.published())))));
      return;
    }
    Reported reported = job.reported();
    if (reported == null || !reported.hasPublished()) {
      answer.accept(Outcome.ok(Optional.of(new PublishedValue.Found(null))));
      return;
    }
    PublishedValue.Place place =
        new PublishedValue.Place(
            ref.shard(), job.shard().journal.generation(), reported.publishedPlace());
    env.submit(
        NodeEnvironment.Channel.READ,
        store -> PublishedValue.read(store, place),
        outcome -> {
          if (outcome instanceof Outcome.Conflict<byte[]>) {
            published(ref, answer); // its shard was compacted meanwhile
          } else {
            answer.accept(outcome.map(value -> Optional.of(new PublishedValue.Found(value))));
          }
        });
  }

  /** The job as its journal tells it, with the state that it has on this node. */
  private JobView asItIs(JobRef ref, JobReader.Story story) {
    NodeJob job = live(ref);
    LivePhases livePhases = new LivePhases(env.wallMicros());
    if (job != null && job.phase() != NodeJob.Phase.SCHEDULED) {
      livePhases.note(job);
    }
    return new JobView(livePhases.complete(ref, story.view().info()), story.view().result());
  }

  /** The job in memory; null where its shard is not loaded or the job is not live. */
  @Nullable NodeJob live(JobRef ref) {
    Shard shard = shards.known(ref.shard());
    return shard != null && shard.fold != null ? shard.fold.job(ref.number()) : null;
  }

  /** Says whether there is such a job, live or ended. */
  public void exists(JobRef ref, Consumer<Boolean> answer) {
    if (live(ref) != null) {
      answer.accept(true);
    } else {
      findUntilAnswered(ref, found -> answer.accept(found.isPresent()));
    }
  }

  /** The same as {@link #find}, again and again until the store answers. */
  public void findUntilAnswered(JobRef ref, Consumer<Optional<JobInfo>> answer) {
    calls.untilAnswered(
        NodeEnvironment.Channel.READ,
        store -> new JobReader(store).find(ref),
        found -> answer.accept(found.filter(this::isKept).map(story -> story.view().info())));
  }

  /**
   * How the job ended, again and again until the store answers. A dead letter that was discarded is
   * told too: its idempotency key counts on.
   */
  public void endUntilAnswered(JobRef ref, Consumer<Optional<JobInfo>> answer) {
    calls.untilAnswered(
        NodeEnvironment.Channel.READ, store -> new JobReader(store).end(ref), answer);
  }

  /** The job as its journal tells it, unless its retention is over. */
  public void find(JobRef ref, Consumer<Outcome<Optional<JobReader.Story>>> answer) {
    read(ref, outcome -> answer.accept(outcome.map(found -> found.filter(this::isKept))));
  }

  /** The job as its journal tells it. */
  void read(JobRef ref, Consumer<Outcome<Optional<JobReader.Story>>> answer) {
    env.submit(NodeEnvironment.Channel.READ, store -> new JobReader(store).find(ref), answer);
  }

  private boolean isKept(JobReader.Story story) {
    return !Retention.isOver(options, story.view().info(), env.wallMicros());
  }

  /** The phases of a shard's live jobs, but for those that only wait for their due time. */
  public LivePhases livePhases(ShardId id) {
    return livePhases(id, 0);
  }

  /** The phase of one of them; of all where {@code number} is 0. */
  public LivePhases livePhases(ShardId id, long number) {
    LivePhases livePhases = new LivePhases(env.wallMicros());
    Shard shard = shards.known(id);
    if (shard != null && shard.fold != null && number != 0) {
      NodeJob job = shard.fold.job(number);
      if (job != null && job.phase() != NodeJob.Phase.SCHEDULED) {
        livePhases.note(job);
      }
    } else if (shard != null && shard.fold != null) {
      shard
          .fold
          .live()
          .forEach(
              job -> {
                if (job.phase() != NodeJob.Phase.SCHEDULED) {
                  livePhases.note(job);
                }
              });
    }
    return livePhases;
  }

  /** What the heads of this node's shards do not say of their ended jobs, by shard. */
  public Map<ShardId, EndedJobs> ended() {
    Map<ShardId, EndedJobs> ended = new LinkedHashMap<>();
    for (Shard shard : shards.all()) {
      if (!shard.journal.isAcquiring()) {
        int dead = shard.fold != null ? shard.fold.dead() : EndedJobs.UNKNOWN;
        ended.put(shard.id, new EndedJobs(shard.lastEndMicros(), dead));
      }
    }
    return ended;
  }

  /**
   * Those of some jobs whose shards this node has loaded, from memory: empty where the job is not
   * live. Of a job that is missing here the journal has to tell.
   */
  public Map<JobRef, Optional<JobInfo>> loaded(Collection<JobRef> refs) {
    Map<JobRef, Optional<JobInfo>> loaded = new LinkedHashMap<>();
    for (JobRef ref : refs) {
      Shard shard = shards.known(ref.shard());
      if (shard != null && shard.fold != null) {
        NodeJob job = shard.fold.job(ref.number());
        if (job == null) {
          loaded.put(ref, Optional.empty());
        } else if (!job.isStripped()) {
          loaded.put(ref, Optional.of(LivePhases.info(job)));
        }
      }
    }
    return loaded;
  }
}
