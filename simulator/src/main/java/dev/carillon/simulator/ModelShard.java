package dev.carillon.simulator;

import dev.carillon.engine.job.JobRef;
import dev.carillon.store.ShardId;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Set;

/** A shard as the checker knows it from the calls that took effect. */
final class ModelShard {
  private static final long WHILE_MICROS = 10_000_000;

  final int index;
  final ShardId id;
  final Model model;

  /** The id of the node that made it. */
  final String home;

  final Map<Long, ModelJob> jobs = new LinkedHashMap<>();

  /** The workflows and their children among its jobs, which are in no other list. */
  final Map<Long, WorkflowRecord> workflows = new LinkedHashMap<>();

  /** The jobs that only workers run, which are in no other list either. */
  final Map<Long, WorkerRecord> workerJobs = new LinkedHashMap<>();

  /** The ends that jobs which wait for them have not got yet. */
  final Set<Debt> debts = new LinkedHashSet<>();

  /** When there last was one more of them, or one less. */
  long debtNanos;

  long epoch = 1;

  /** Who has had it, by epochs. */
  final Map<Long, Long> owners = new LinkedHashMap<>();

  long owner;

  /** Since when it has had no owner, or none that lives. */
  long freeNanos;

  /** Who gave it back last; 0 where nobody has. */
  long releasedBy;

  long wake;
  long tail;
  int generation = 1;
  int oldestGeneration = 1;

  /** When its owner took it. */
  long claimedNanos;

  /** Who came back just when it was claimed as from one who is dead, and may not know that yet. */
  long snatchedFrom;

  /** When that was. */
  long snatchedNanos;

  /** An older copy of the store was put back: this is what it was before. */
  boolean bygone;

  /** A copy of the store was put back that says who has it, who let go of it with the other one. */
  boolean ownedByCopy;

  int live;
  boolean dropped;

  /** The end of a job of this shard, owed to another. */
  record Debt(long number, JobRef waiter) {}

  ModelShard(Model model, int index, ShardId id, String home) {
    this.model = model;
    this.index = index;
    this.id = id;
    this.owner = id.incarnation();
    this.owners.put(epoch, owner);
    this.home = home;
  }

  /**
   * The earliest due time after {@code micros}; due jobs do not count, nor jobs that wait in line.
   * While faults happen, a job that has been due for a while by {@code now} and may wait in line
   * does not count either. Once everything is healthy it counts: it may wait for its rate.
   */
  long earliestDueAfter(long micros, long now) {
    long earliest = Long.MAX_VALUE;
    for (ModelJob job : jobs.values()) {
      long wakeBy = job.live() ? job.wakeBy() : Long.MAX_VALUE;
      if (wakeBy > micros && wakeBy < earliest && !waits(job, now)) {
        earliest = wakeBy;
      }
    }
    for (WorkflowRecord workflow : workflows.values()) {
      long wakeBy = workflow.awakeBy();
      earliest = wakeBy > micros ? Math.min(earliest, wakeBy) : earliest;
    }
    for (WorkerRecord job : workerJobs.values()) {
      earliest = job.live && job.due > micros ? Math.min(earliest, job.due) : earliest;
    }
    return earliest;
  }

  private static boolean waits(ModelJob job, long now) {
    boolean sure = job.wakeBy() > now - WHILE_MICROS;
    return sure ? job.waitsInLine() : job.mayWaitInLine();
  }

  long earliestDue() {
    long earliest = Long.MAX_VALUE;
    for (ModelJob job : jobs.values()) {
      if (job.live()) {
        earliest = Math.min(earliest, job.awakeBy());
      }
    }
    for (WorkflowRecord workflow : workflows.values()) {
      earliest = Math.min(earliest, workflow.awakeBy());
    }
    for (WorkerRecord job : workerJobs.values()) {
      earliest = job.live ? Math.min(earliest, job.due) : earliest;
    }
    return earliest;
  }

  /**
   * Whether its owner need not know that it has it: by a claim of whose answer it did not hear, or
   * by a copy of the store that was put back. It finds out when the shard's time comes.
   */
  boolean isUnknownToOwner() {
    return ownedByCopy || (snatchedFrom != 0 && snatchedNanos == claimedNanos);
  }
}
