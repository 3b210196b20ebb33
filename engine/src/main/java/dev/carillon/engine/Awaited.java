package dev.carillon.engine;

import dev.carillon.api.Dependency;
import dev.carillon.api.DependencyInfo;
import dev.carillon.api.JobState;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The jobs that a job waits for, and which of them have ended. */
final class Awaited {
  private final Map<JobRef, One> all = new LinkedHashMap<>();
  private int open;

  /** The first that ended otherwise than it must have. */
  private @Nullable One broken;

  private static final class One {
    final JobRef job;
    final Dependency.Condition condition;
    boolean met;
    @Nullable JobState state;

    /** Whether that job's shard knows who waits; this node's knowledge only. */
    boolean arranged;

    One(After after) {
      this.job = after.job();
      this.condition = after.condition();
    }
  }

  Awaited(List<After> jobs) {
    jobs.forEach(after -> all.put(after.job(), new One(after)));
    open = all.size();
  }

  /** One has ended so, or nobody knows how; false where that was known, or is none of these. */
  boolean met(JobRef job, @Nullable JobState state) {
    One one = all.get(job);
    if (one == null || one.met) {
      return false;
    }
    one.met = true;
    one.state = state;
    open--;
    if (broken == null && !one.condition.isFulfilledBy(state)) {
      broken = one;
    }
    return true;
  }

  /** Whether the job could never start if that one had ended so. */
  boolean isBrokenBy(JobRef job, @Nullable JobState state) {
    One one = all.get(job);
    return one != null && !one.met && !one.condition.isFulfilledBy(state);
  }

  boolean allMet() {
    return open == 0;
  }

  /** Why the job can never start; null where it may yet. */
  @Nullable String broken() {
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

  void arranged(JobRef job) {
    One one = all.get(job);
    if (one != null) {
      one.arranged = true;
    }
  }

  /** Those that have not ended and whose shards may not know who waits. */
  List<JobRef> notArranged() {
    List<JobRef> jobs = new ArrayList<>();
    for (One one : all.values()) {
      if (!one.met && !one.arranged) {
        jobs.add(one.job);
      }
    }
    return jobs;
  }

  boolean isArranged() {
    for (One one : all.values()) {
      if (!one.met && !one.arranged) {
        return false;
      }
    }
    return true;
  }

  List<DependencyInfo> infos() {
    return all.values().stream()
        .map(one -> new DependencyInfo(one.job.id(), one.condition, one.met, one.state))
        .toList();
  }

  /**
   * Of each in order a byte: 0 where it has not ended, 255 where nobody knows how, or its state.
   */
  void write(ByteWriter out) {
    for (One one : all.values()) {
      JobState state = one.state;
      out.u8(!one.met ? 0 : state == null ? 255 : state.code());
    }
  }

  void read(ByteReader in) {
    for (One one : List.copyOf(all.values())) {
      int code = in.u8();
      if (code != 0) {
        met(one.job, code == 255 ? null : JobState.ofCode(code));
      }
    }
  }
}
