package dev.carillon.simulator;

import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * What the checker knew at one moment, to go back to: shards and jobs of its own, with everything
 * that is said of them in fields. Requests, attempts and nodes are not in it; those do not go back.
 */
final class ModelCopy {
  private final List<ModelShard> shards = new ArrayList<>();
  private final IdentityHashMap<ModelJob, ModelJob> copies = new IdentityHashMap<>();
  private final Map<Long, ModelJob> byRequest = new LinkedHashMap<>();

  ModelCopy(List<ModelShard> shards, Map<Long, ModelJob> byRequest) {
    for (ModelShard shard : shards) {
      this.shards.add(copy(shard));
    }
    byRequest.forEach((request, job) -> this.byRequest.put(request, of(job)));
  }

  List<ModelShard> shards() {
    return shards;
  }

  Map<Long, ModelJob> byRequest() {
    return byRequest;
  }

  /** The copy of a job that was there. */
  ModelJob of(ModelJob job) {
    ModelJob copy = copies.get(job);
    if (copy == null) {
      throw new IllegalStateException(job + ": not in the copy (expected: there)");
    }
    return copy;
  }

  /** The copy of a job, or null where it was not there. */
  @Nullable ModelJob find(ModelJob job) {
    return copies.get(job);
  }

  private ModelShard copy(ModelShard shard) {
    ModelShard copy = new ModelShard(shard.model, shard.index, shard.id, shard.home);
    copyFields(ModelShard.class, shard, copy);
    copy.debts.addAll(shard.debts);
    copy.owners.putAll(shard.owners);
    shard.workflows.forEach((number, of) -> copy.workflows.put(number, of.copy(copy)));
    for (ModelJob job : shard.jobs.values()) { // the parent of an occurrence is before it
      copy.jobs.put(job.number, copy(copy, job));
    }
    return copy;
  }

  private ModelJob copy(ModelShard shard, ModelJob job) {
    ModelJob copy =
        new ModelJob(shard, job.number, job.spec, job.parent == null ? null : of(job.parent));
    copies.put(job, copy);
    copyFields(ModelJob.class, job, copy);
    copy(job.schedules, copy.schedules);
    copy(job.anchors, copy.anchors);
    copy(job.declaredBefore, copy.declaredBefore);
    copy(job.standsBefore, copy.standsBefore);
    copy(job.ends, copy.ends);
    copy(job.events, copy.events);
    copy(job.eventAttempts, copy.eventAttempts);
    copy(job.eventGenerations, copy.eventGenerations);
    copy(job.tried, copy.tried);
    copy.awaited.clear();
    job.awaited.forEach((ref, one) -> copy.awaited.put(ref, one.copy()));
    copy.waiters.clear();
    copy.waiters.addAll(job.waiters);
    copy.everAwaited.addAll(job.everAwaited);
    copy.keys.addAll(job.keys);
    if (copy.parent != null) {
      copy.parent.occurrences.add(copy);
    }
    return copy;
  }

  private static <T> void copy(List<T> from, List<T> to) {
    to.clear();
    to.addAll(from);
  }

  /** All fields that can change: a list of them here would miss the next. */
  private static <T> void copyFields(Class<T> type, T from, T to) {
    try {
      for (Field field : type.getDeclaredFields()) {
        if (!Modifier.isFinal(field.getModifiers())) {
          field.set(to, field.get(from));
        }
      }
    } catch (IllegalAccessException e) {
      throw new IllegalStateException(type + ": a field that cannot be copied", e);
    }
  }

  /**
   * Makes the copy what the store is from now on. What users have asked for since may still be done
   * by who has not forgotten it; what ran has no say any more, and is started again.
   *
   * @param now the shards until now
   */
  void carryOver(List<ModelShard> now, long nanos) {
    for (ModelShard shard : now) {
      for (ModelJob job : shard.jobs.values()) {
        ModelJob copy = find(job);
        if (copy != null) {
          carryOver(job, copy);
        }
      }
      for (WorkflowRecord workflow : shard.workflows.values()) {
        carryOver(workflow);
      }
    }
    for (ModelShard shard : shards) {
      shard.freeNanos = nanos;
      shard.debtNanos = nanos;
      shard.jobs.values().stream().filter(ModelJob::live).forEach(job -> startAgain(job, nanos));
    }
  }

  private void carryOver(WorkflowRecord now) {
    for (ModelShard shard : shards) {
      WorkflowRecord copy = shard.id.equals(now.shard.id) ? shard.workflows.get(now.number) : null;
      if (copy != null) {
        copy.cancelAsked |= now.cancelAsked;
        copy.terminateAsked |= now.terminateAsked;
      }
    }
  }

  /** What users asked of one may be done to the other. */
  private static void carryOver(ModelJob job, ModelJob copy) {
    for (Control control : job.asked.all()) {
      copy.asked.add(new Control(control.kind, control.value));
    }
    copy.cancelAsked |= job.cancelAsked;
    copy.mayHaveCancelled |= job.mayHaveCancelled;
  }

  private static void startAgain(ModelJob job, long nanos) {
    job.starts = 0;
    job.startsAllowed = 1;
    job.crashedAlone = job.alone; // its node may have died since then
    job.sinceNanos = nanos;
    job.touchedNanos = nanos;
    job.blockedBy = 0;
  }
}
