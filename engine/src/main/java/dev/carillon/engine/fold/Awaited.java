package dev.carillon.engine.fold;

import dev.carillon.api.Dependency;
import dev.carillon.api.DependencyInfo;
import dev.carillon.api.JobId;
import dev.carillon.api.JobState;
import dev.carillon.engine.format.ByteReader;
import dev.carillon.engine.format.ByteWriter;
import dev.carillon.engine.job.After;
import dev.carillon.engine.job.JobRef;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The jobs that a job waits for, and which of them have ended. The loop owns and changes it; other
 * threads read the snapshots that {@link #infos} makes.
 */
public final class Awaited {
  /** More than a job can wait for. */
  private static final int NOT_MET = Integer.MAX_VALUE;

  private final Map<JobRef, One> all = new LinkedHashMap<>();
  private final List<One> inOrder;

  /** How many have ended. */
  private int ended;

  /** The first that ended otherwise than it must have. */
  private @Nullable One broken;

  private static final class One {
    final JobRef job;
    final Dependency.Condition condition;
    @Nullable JobState state;

    /** How many others had ended before it, {@link #NOT_MET} while it has not: set once. */
    int place = NOT_MET;

    /** Made by the first who reads it, or by two of them at once: an id is immutable. */
    private @Nullable JobId id;

    /** Whether that job's shard knows who waits; this node's knowledge only. */
    boolean arranged;

    One(After after) {
      this.job = after.job();
      this.condition = after.condition();
    }

    private JobId id() {
      JobId made = id;
      if (made == null) {
        made = job.id();
        id = made;
      }
      return made;
    }

    boolean isMet() {
      return place != NOT_MET;
    }

    /** As it was when so many had ended; its state was set before its place. */
    DependencyInfo info(int ended) {
      boolean met = place < ended;
      return new DependencyInfo(id(), condition, met, met ? state : null);
    }
  }

  Awaited(List<After> jobs) {
    jobs.forEach(after -> all.put(after.job(), new One(after)));
    inOrder = List.copyOf(all.values());
  }

  /** One has ended so, or nobody knows how; false where that was known, or is none of these. */
  boolean met(JobRef job, @Nullable JobState state) {
    One one = all.get(job);
    if (one == null || one.isMet()) {
      return false;
    }
    one.state = state;
    one.place = ended++;
    if (broken == null && !one.condition.isFulfilledBy(state)) {
      broken = one;
    }
    return true;
  }

  /** Whether the job could never start if that one had ended so. */
  public boolean isBrokenBy(JobRef job, @Nullable JobState state) {
    One one = all.get(job);
    return one != null && !one.isMet() && !one.condition.isFulfilledBy(state);
  }

  boolean allMet() {
    return ended == inOrder.size();
  }

  /** Why the job can never start; null where it may yet. */
  public @Nullable String broken() {
    One one = broken;
    return one == null
        ? null
        : "dependency: job "
            + one.job.id().value()
            + (one.state != null ? " ended as " + one.state : " is no longer in the store")
            + " (expected: "
            + one.condition
            + ")";
  }

  public void arranged(JobRef job) {
    One one = all.get(job);
    if (one != null) {
      one.arranged = true;
    }
  }

  /** Those that have not ended and whose shards may not know who waits. */
  public List<JobRef> notArranged() {
    List<JobRef> jobs = new ArrayList<>();
    for (One one : inOrder) {
      if (!one.isMet() && !one.arranged) {
        jobs.add(one.job);
      }
    }
    return jobs;
  }

  public boolean isArranged() {
    for (One one : inOrder) {
      if (!one.isMet() && !one.arranged) {
        return false;
      }
    }
    return true;
  }

  /**
   * A snapshot. Its cost does not grow with the number of jobs: it notes how many have ended, and a
   * reader compares each job's place with that.
   */
  public List<DependencyInfo> infos() {
    int known = ended;
    return DependencyInfo.listOf(inOrder.size(), index -> inOrder.get(index).info(known));
  }

  /**
   * Of each in order a byte: 0 where it has not ended, 255 where nobody knows how, or its state.
   */
  void write(ByteWriter out) {
    for (One one : inOrder) {
      JobState state = one.state;
      out.u8(!one.isMet() ? 0 : state == null ? 255 : state.code());
    }
  }

  void read(ByteReader in) {
    for (One one : inOrder) {
      int code = in.u8();
      if (code != 0) {
        met(one.job, code == 255 ? null : JobState.ofCode(code));
      }
    }
  }
}
