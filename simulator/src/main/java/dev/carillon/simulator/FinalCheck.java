package dev.carillon.simulator;

import static dev.carillon.simulator.Violation.check;

import dev.carillon.api.FailurePolicy;
import dev.carillon.api.JobInfo;
import dev.carillon.api.JobState;
import dev.carillon.engine.job.JobRef;
import dev.carillon.engine.query.JobFilter;
import dev.carillon.engine.query.JobReader;
import dev.carillon.engine.query.JobScan;
import dev.carillon.store.Head;
import dev.carillon.store.ShardId;
import dev.carillon.store.Store;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/** Reads the whole store after all nodes have stopped, as an operator would, and compares. */
final class FinalCheck {
  private static final int PAGE = 7;

  private final World world;
  private final Ledger ledger;
  private final Store store;
  private final Set<Long> lastIncarnations;

  FinalCheck(World world, Ledger ledger, Store store, Set<Long> lastIncarnations) {
    this.world = world;
    this.ledger = ledger;
    this.store = store;
    this.lastIncarnations = lastIncarnations;
  }

  void run(List<Watcher> watchers) {
    heads();
    for (ModelShard shard : world.model.shards()) {
      if (!shard.dropped) {
        stories(shard);
        pages(shard);
      }
    }
    for (Watcher watcher : watchers) {
      check(watcher.satisfied(), Guarantee.HISTORY, () -> "a " + watcher + " did not hear its end");
    }
    for (Request request : ledger.requests()) {
      acknowledged(request);
    }
  }

  private void heads() {
    Set<ShardId> listed = new LinkedHashSet<>();
    for (Head head : store.journals().listById(null, Integer.MAX_VALUE).orThrow()) {
      listed.add(head.shard());
      ModelShard shard = world.model.shard(head.shard());
      check(shard != null && !shard.dropped, Guarantee.ONE_WRITER, "a listed shard should not be");
      check(
          shard == null || !lastIncarnations.contains(head.owner()) || mayNotKnow(shard),
          Guarantee.NOT_STUCK,
          () -> "a stopped node has not released shard " + (shard == null ? -1 : shard.index));
    }
    for (ModelShard shard : world.model.shards()) {
      check(
          shard.dropped || listed.contains(shard.id),
          Guarantee.NOT_LOST,
          () -> "shard " + shard.index + " is not listed");
    }
  }

  /** Whether a node may have the shard by a claim of which it never heard: a listing tells it. */
  private boolean mayNotKnow(ModelShard shard) {
    long horizon = world.climate.horizonNanos() / VirtualClock.MICRO;
    boolean far = shard.wake > world.clock.latestWallMicros() + horizon;
    return world.climate.nodes > 1 && (far || world.members.movedOfLate(shard));
  }

  private void stories(ModelShard shard) {
    Map<Long, JobReader.Story> told = new LinkedHashMap<>();
    for (JobReader.Story story : new JobReader(store).stories(shard.id, number -> true).orThrow()) {
      told.put(story.ref().number(), story);
    }
    for (ModelJob job : shard.jobs.values()) {
      JobReader.Story story = told.remove(job.number);
      check((story == null) == job.forgotten(), Guarantee.NOT_LOST, () -> job + " is not told of");
      if (story != null) {
        compare(job, story);
        alone(job, story);
      }
    }
    for (WorkflowRecord record : shard.workflows.values()) {
      JobReader.Story story = told.remove(record.number);
      check(
          story != null ? story.view().info().state() == record.end : shard.generation > 1,
          Guarantee.NOT_LOST,
          () -> record + " is not told of as it ended: " + record.end);
    }
    for (WorkerRecord record : shard.workerJobs.values()) {
      JobReader.Story story = told.remove(record.number);
      check(
          story != null ? story.view().info().state() == record.end : shard.generation > 1,
          Guarantee.NOT_LOST,
          () -> record + " is not told of as it ended: " + record.end);
    }
    check(
        told.isEmpty(), Guarantee.HISTORY, () -> "shard " + shard.index + " tells of strange jobs");
  }

  private static void compare(ModelJob job, JobReader.Story story) {
    check(
        story.view().info().state() == job.end,
        Guarantee.HISTORY,
        () -> job + " reads as " + story.view().info().state() + " and is " + job.end);
    List<String> told = new ArrayList<>();
    story.events().forEach(event -> told.add(event.kind() + " " + event.attempt()));
    List<String> seen = new ArrayList<>();
    for (int i = 0; i < job.events.size(); i++) {
      if (job.eventGenerations.get(i) >= job.shard.oldestGeneration) {
        seen.add(job.events.get(i) + " " + job.eventAttempts.get(i));
      }
    }
    check(
        told.equals(seen), Guarantee.HISTORY, () -> job + " tells " + told + ", seen was " + seen);
  }

  /** The job once more, as one who asks for it alone finds it: by the footer of a packed shard. */
  private void alone(ModelJob job, JobReader.Story story) {
    JobReader.Story found = new JobReader(store).find(job.ref).orThrow().orElse(null);
    check(
        found != null
            && found.view().info().equals(story.view().info())
            && found.events().equals(story.events()),
        Guarantee.HISTORY,
        () -> job + " is told otherwise alone than with the others");
  }

  /** The same jobs once more, a page at a time. */
  private void pages(ModelShard shard) {
    pages(shard, JobFilter.ALL, job -> true);
    for (String type : types(shard)) {
      pages(
          shard,
          new JobFilter(type, null, null, Map.of(), Set.of()),
          job -> job.spec.type().equals(type));
    }
  }

  private static Set<String> types(ModelShard shard) {
    Set<String> types = new LinkedHashSet<>();
    shard.jobs.values().forEach(job -> types.add(job.spec.type()));
    return types;
  }

  private void pages(ModelShard shard, JobFilter filter, Predicate<ModelJob> expected) {
    Map<Long, JobState> listed = new LinkedHashMap<>();
    long after = 0;
    while (true) {
      List<Map.Entry<JobRef, JobInfo>> page =
          JobScan.page(store, shard.id, new JobScan.Wish(filter, after, PAGE, (ref, info) -> info))
              .orThrow();
      for (Map.Entry<JobRef, JobInfo> entry : page) {
        after = entry.getKey().number();
        listed.put(after, entry.getValue().state());
      }
      if (page.size() < PAGE) {
        break;
      }
    }
    for (ModelJob job : shard.jobs.values()) {
      if (!expected.test(job)) {
        continue;
      }
      JobState state = listed.remove(job.number);
      check(
          job.forgotten() ? state == null : state == job.end,
          Guarantee.HISTORY,
          () -> job + " is listed as " + state + " and is " + job.end + " by " + filter);
    }
    listed.keySet().removeAll(shard.workflows.keySet());
    listed.keySet().removeAll(shard.workerJobs.keySet());
    check(
        listed.isEmpty(), Guarantee.HISTORY, () -> "shard " + shard.index + " lists strange jobs");
  }

  private void acknowledged(Request request) {
    boolean acknowledged =
        request.told == Request.Told.CREATED || request.told == Request.Told.REPLACED;
    ModelJob job = world.model.ofRequest(request.id);
    check(
        !acknowledged
            || (job != null && job.end != null)
            || (job == null && request.copy != world.copy), // lost with the data of its day
        Guarantee.NOT_LOST,
        () -> request + " was acknowledged and has not ended");
    check(
        job == null
            || job.end != JobState.FAILED
            || job.refused
            || isDrop(job.spec.more().policy()),
        Guarantee.NOT_LOST,
        () -> request + " ended as failed, which no policy said");
  }

  private static boolean isDrop(@Nullable FailurePolicy policy) {
    return policy != null && policy.kind() == FailurePolicy.Kind.DROP;
  }
}
