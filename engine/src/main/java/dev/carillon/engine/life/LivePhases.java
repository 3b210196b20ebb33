package dev.carillon.engine.life;

import dev.carillon.api.BlockReason;
import dev.carillon.api.JobError;
import dev.carillon.api.JobInfo;
import dev.carillon.api.JobState;
import dev.carillon.engine.dispatch.Lane;
import dev.carillon.engine.fold.FoldedJob;
import dev.carillon.engine.format.ByteReader;
import dev.carillon.engine.format.ByteWriter;
import dev.carillon.engine.format.LongMap;
import dev.carillon.engine.format.Micros;
import dev.carillon.engine.format.UnknownFormatException;
import dev.carillon.engine.job.JobRef;
import dev.carillon.engine.query.JobReader;
import dev.carillon.engine.shard.NodeJob;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * How the live jobs of a shard stand on this node that do not simply wait for their time: what a
 * list adds to what the journal tells. The loop only notes numbers and phases, which is quick;
 * whoever asked puts them to use.
 */
public final class LivePhases {
  /** As many different reasons of pauses are told to other nodes. */
  private static final int MOST_REASONS = 16;

  private static final int HAS_ERROR = 1;
  private static final int HAS_REASON = 2;

  private final long nowMicros;
  private long[] numbers = new long[16];
  private NodeJob.Phase[] phases = new NodeJob.Phase[16];

  /** Why the queue or namespace of each is paused; null where it is not. */
  private @Nullable String[] pauses = new @Nullable String[16];

  private int size;
  private final Map<Long, JobError> undecodable = new LinkedHashMap<>();
  private @Nullable LongMap<Integer> index;

  LivePhases(long nowMicros) {
    this.nowMicros = nowMicros;
  }

  /** How a job is shown: one that is ready in a paused queue or namespace is paused. */
  static NodeJob.Phase shown(NodeJob job) {
    return pauseReason(job) != null ? NodeJob.Phase.PAUSED : job.phase();
  }

  /** Why the job's queue or namespace is paused, if that is what it waits for. */
  static @Nullable String pauseReason(NodeJob job) {
    Lane lane = Lane.of(job);
    return job.phase() == NodeJob.Phase.READY && lane != null ? lane.paused() : null;
  }

  /** A live job as it stands, from memory; its body must be there. */
  static JobInfo info(NodeJob job) {
    NodeJob.Phase phase = shown(job);
    JobRef ref = job.shard().ref(job.number);
    return JobReader.info(
        ref, job, new JobReader.Now(state(job, phase), reason(phase), 0, null, pauseReason(job)));
  }

  /** On the loop. */
  void note(NodeJob job) {
    if (size == numbers.length) {
      numbers = Arrays.copyOf(numbers, 2 * size);
      phases = Arrays.copyOf(phases, 2 * size);
      pauses = Arrays.copyOf(pauses, 2 * size);
    }
    numbers[size] = job.number;
    pauses[size] = pauseReason(job);
    phases[size++] = shown(job);
    FoldedJob.UncommonState rare = job.rare;
    boolean unfit =
        switch (job.phase()) {
          case UNDECODABLE, DIVERGED, HISTORY_FULL -> true;
          default -> false;
        };
    if (unfit && rare != null && rare.lastErrorType != null) {
      String message = rare.lastErrorMessage;
      undecodable.put(
          job.number, new JobError(rare.lastErrorType, message != null ? message : "", ""));
    }
  }

  /** As another node is told; the first {@code most} where there are more. */
  public void write(ByteWriter out, int most) {
    int shown = Math.min(size, most);
    List<String> reasons = reasons(shown);
    out.varint(reasons.size());
    reasons.forEach(out::string);
    out.varint(shown);
    for (int i = 0; i < shown; i++) {
      out.varint(numbers[i]).u8(code(phases[i]));
      JobError error = undecodable.get(numbers[i]);
      String pause = pauses[i];
      int reason = pause != null ? reasons.indexOf(pause) : -1;
      out.u8((error != null ? HAS_ERROR : 0) | (reason >= 0 ? HAS_REASON : 0));
      if (error != null) {
        out.string(error.type()).string(error.message());
      }
      if (reason >= 0) {
        out.varint(reason);
      }
    }
  }

  /** The reasons of the first {@code shown}: few, since each is that of a queue or namespace. */
  private List<String> reasons(int shown) {
    List<String> reasons = new ArrayList<>();
    for (int i = 0; i < shown && reasons.size() < MOST_REASONS; i++) {
      String reason = pauses[i];
      if (reason != null && !reasons.contains(reason)) {
        reasons.add(reason);
      }
    }
    return reasons;
  }

  /** As another node told it. */
  public static LivePhases read(ByteReader in, long nowMicros) {
    LivePhases told = new LivePhases(nowMicros);
    List<String> reasons = new ArrayList<>();
    for (int left = in.length(); left > 0; left--) {
      reasons.add(in.string());
    }
    int count = (int) in.varint();
    told.numbers = new long[count];
    told.phases = new NodeJob.Phase[count];
    told.pauses = new @Nullable String[count];
    for (told.size = 0; told.size < count; told.size++) {
      long number = in.varint();
      told.numbers[told.size] = number;
      told.phases[told.size] = phase(in.u8());
      int flags = in.u8();
      if ((flags & HAS_ERROR) != 0) {
        told.undecodable.put(number, new JobError(in.string(), in.string(), ""));
      }
      if ((flags & HAS_REASON) != 0) {
        told.pauses[told.size] = reasons.get((int) in.varint());
      }
    }
    return told;
  }

  private static int code(NodeJob.Phase phase) {
    return switch (phase) {
      case SCHEDULED -> 1;
      case READY -> 2;
      case RUNNING -> 3;
      case NO_HANDLER -> 4;
      case UNDECODABLE -> 5;
      case DIVERGED -> 6;
      case LIMITED -> 7;
      case DEPENDENCY -> 8;
      case PAUSED -> 9;
      case HISTORY_FULL -> 10;
      case GONE -> throw new IllegalStateException("phase: GONE (expected: a live job)");
    };
  }

  private static NodeJob.Phase phase(int code) {
    return switch (code) {
      case 1 -> NodeJob.Phase.SCHEDULED;
      case 2 -> NodeJob.Phase.READY;
      case 3 -> NodeJob.Phase.RUNNING;
      case 4 -> NodeJob.Phase.NO_HANDLER;
      case 5 -> NodeJob.Phase.UNDECODABLE;
      case 6 -> NodeJob.Phase.DIVERGED;
      case 7 -> NodeJob.Phase.LIMITED;
      case 8 -> NodeJob.Phase.DEPENDENCY;
      case 9 -> NodeJob.Phase.PAUSED;
      case 10 -> NodeJob.Phase.HISTORY_FULL;
      default -> throw new UnknownFormatException("phase: " + code + " (expected: 1 to 10)");
    };
  }

  /**
   * The job as it stands; as it was read where nothing is noted of it or it has ended since. One
   * that waits for another is not noted while its shard sleeps, and stands as if it were awake.
   */
  public JobInfo complete(JobRef ref, JobInfo read) {
    if (read.state().ended()) {
      return read;
    }
    Integer at = size == 0 ? null : index().get(ref.number());
    if (at != null) {
      return as(phases[at], read, undecodable.get(ref.number()), pauses[at]);
    }
    return waitsForOthers(read) ? as(NodeJob.Phase.DEPENDENCY, read, null, null) : read;
  }

  /** Whether its time has come and a job that it waits for has not ended. */
  private boolean waitsForOthers(JobInfo read) {
    return read.state() == JobState.SCHEDULED
        && !read.dependencies().isEmpty()
        && Micros.ceil(read.dueAt()) <= nowMicros
        && read.dependencies().stream().anyMatch(dependency -> !dependency.met());
  }

  private static JobInfo as(
      NodeJob.Phase phase, JobInfo read, @Nullable JobError error, @Nullable String pause) {
    return new JobInfo(
        read.id(),
        read.type(),
        read.typeVersion(),
        read.namespace(),
        read.queue(),
        read.priority(),
        read.name(),
        read.key(),
        read.metadata(),
        state(phase),
        reason(phase),
        read.scheduledAt(),
        read.dueAt(),
        read.attempt() + (phase == NodeJob.Phase.RUNNING ? 1 : 0),
        null,
        null,
        null,
        error != null ? error : read.lastError(),
        pause != null ? pause : read.reason(),
        read.timeout(),
        read.deadline(),
        read.cancelRequested(),
        read.recurring(),
        read.occurrence(),
        read.dependencies(),
        read.progress());
  }

  private LongMap<Integer> index() {
    LongMap<Integer> made = index;
    if (made == null) {
      made = new LongMap<>();
      for (int i = 0; i < size; i++) {
        made.put(numbers[i], i);
      }
      index = made;
    }
    return made;
  }

  private static JobState state(NodeJob job, NodeJob.Phase phase) {
    return phase == NodeJob.Phase.SCHEDULED && job.isWaiting() ? JobState.WAITING : state(phase);
  }

  static JobState state(NodeJob.Phase phase) {
    return switch (phase) {
      case SCHEDULED -> JobState.SCHEDULED;
      case READY -> JobState.READY;
      case RUNNING -> JobState.RUNNING;
      case PAUSED -> JobState.PAUSED;
      case NO_HANDLER, UNDECODABLE, DIVERGED, HISTORY_FULL -> JobState.BLOCKED;
      case LIMITED, DEPENDENCY -> JobState.BLOCKED;
      case GONE -> throw new IllegalStateException("phase: GONE (expected: a live job)");
    };
  }

  static @Nullable BlockReason reason(NodeJob.Phase phase) {
    return switch (phase) {
      case NO_HANDLER -> BlockReason.NO_HANDLER;
      case UNDECODABLE -> BlockReason.UNDECODABLE;
      case DIVERGED -> BlockReason.DIVERGED;
      case LIMITED, HISTORY_FULL -> BlockReason.LIMIT;
      case DEPENDENCY -> BlockReason.DEPENDENCY;
      case SCHEDULED, READY, RUNNING, PAUSED, GONE -> null;
    };
  }
}
