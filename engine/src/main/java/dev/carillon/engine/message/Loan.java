package dev.carillon.engine.message;

import dev.carillon.api.Dependency;
import dev.carillon.api.DependencyInfo;
import dev.carillon.api.JobId;
import dev.carillon.api.JobState;
import dev.carillon.engine.format.ByteReader;
import dev.carillon.engine.format.ByteWriter;
import dev.carillon.engine.history.WorkflowHistory;
import dev.carillon.engine.job.JobRef;
import dev.carillon.engine.job.ScheduleState;
import dev.carillon.store.ShardId;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * An attempt that another node is to run: all that its handler may ask for.
 *
 * @param ref its job
 * @param epoch of its shard, under which it was lent
 * @param nonce tells it from all others
 * @param number 1 for the first
 * @param dueMicros before which its handler is not called
 * @param timeMicros when it was to be
 * @param move where its recurring job stands; null where the job is not recurring
 * @param policy what follows a failure, by the job or by its owner
 * @param ownPolicy whether the job says so, so that no handler's policy counts
 * @param marked whether the job may have killed a node: its start is written down first
 * @param alone whether nothing else may run beside it
 * @param history where the event history of its workflow stands; null where there is none yet
 */
@SuppressWarnings("ArrayRecordComponent") // bytes are handed over, never compared or copied
public record Loan(
    JobRef ref,
    long epoch,
    long nonce,
    int number,
    int revision,
    long dueMicros,
    long timeMicros,
    @Nullable ScheduleState move,
    byte[] policy,
    boolean ownPolicy,
    boolean marked,
    boolean alone,
    byte @Nullable [] saved,
    List<DependencyInfo> dependencies,
    WorkflowHistory.@Nullable Place history,
    byte[] body) {
  private static final int MOVE = 1;
  private static final int SAVED = 2;
  private static final int OWN_POLICY = 4;
  private static final int MARKED = 8;
  private static final int ALONE = 16;
  private static final int HISTORY = 32;
  private static final int STATE_UNKNOWN = 255;

  public void write(ByteWriter out) {
    int flags =
        (move != null ? MOVE : 0)
            | (saved != null ? SAVED : 0)
            | (ownPolicy ? OWN_POLICY : 0)
            | (marked ? MARKED : 0)
            | (alone ? ALONE : 0)
            | (history != null ? HISTORY : 0);
    ref.write(out);
    out.i64(epoch).i64(nonce).varint(number).varint(revision).i64(dueMicros).i64(timeMicros);
    out.u8(flags).bytes(policy);
    if (move != null) {
      move.write(out);
    }
    if (saved != null) {
      out.bytes(saved);
    }
    out.varint(dependencies.size());
    for (DependencyInfo each : dependencies) {
      JobState state = each.state();
      out.string(each.job().value()).u8(each.condition().code());
      out.u8(!each.met() ? 0 : state == null ? STATE_UNKNOWN : state.code());
    }
    if (history != null) {
      out.varint(history.generation()).varint(history.count()).varint(history.places().length);
      for (long place : history.places()) {
        out.i64(place);
      }
    }
    out.bytes(body);
  }

  private static WorkflowHistory.Place readHistory(ShardId shard, ByteReader in) {
    int generation = (int) in.varint();
    int count = (int) in.varint();
    long[] places = new long[in.length()];
    for (int i = 0; i < places.length; i++) {
      places[i] = in.i64();
    }
    return new WorkflowHistory.Place(shard, generation, places, count);
  }

  public static Loan read(ByteReader in) {
    JobRef ref = JobRef.read(in);
    long epoch = in.i64();
    long nonce = in.i64();
    int number = (int) in.varint();
    int revision = (int) in.varint();
    long due = in.i64();
    long time = in.i64();
    int flags = in.u8();
    byte[] policy = in.bytes();
    ScheduleState move = (flags & MOVE) != 0 ? ScheduleState.read(in) : null;
    byte[] saved = (flags & SAVED) != 0 ? in.bytes() : null;
    List<DependencyInfo> dependencies = new ArrayList<>();
    for (long left = in.varint(); left > 0; left--) {
      dependencies.add(readDependency(in));
    }
    return new Loan(
        ref,
        epoch,
        nonce,
        number,
        revision,
        due,
        time,
        move,
        policy,
        (flags & OWN_POLICY) != 0,
        (flags & MARKED) != 0,
        (flags & ALONE) != 0,
        saved,
        dependencies,
        (flags & HISTORY) != 0 ? readHistory(ref.shard(), in) : null,
        in.bytes());
  }

  private static DependencyInfo readDependency(ByteReader in) {
    JobId job = new JobId(in.string());
    Dependency.Condition condition = Dependency.Condition.ofCode(in.u8());
    int state = in.u8();
    JobState ended = state == 0 || state == STATE_UNKNOWN ? null : JobState.ofCode(state);
    return new DependencyInfo(job, condition, state != 0, ended);
  }
}
