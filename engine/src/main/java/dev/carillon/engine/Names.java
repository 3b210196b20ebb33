package dev.carillon.engine;

import dev.carillon.api.JobState;
import dev.carillon.store.Outcome;
import dev.carillon.store.Records.Change;
import dev.carillon.store.Records.Stamp;
import dev.carillon.store.Records.Stored;
import dev.carillon.store.ShardId;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The records of names and idempotency keys. Changes go in order, many in one call, one call at a
 * time; an unknown outcome is resolved before the next is sent. What the store could not take goes
 * again with what has come meanwhile.
 *
 * <p>A record only points at a job. Whether the name is taken is said by that job's shard: the
 * journal's add is the only commit point.
 */
final class Names {
  private static final int MAX_CHANGES = 2_000;
  private static final long RETRY_NANOS = 20_000_000;

  private final NodeEnvironment env;
  private final long incarnation;
  private final Timers timers;
  private final ArrayDeque<Queued> queue = new ArrayDeque<>();
  private long sequence;
  private boolean busy;
  private int reads;

  private record Queued(Change change, Consumer<Boolean> done, @Nullable Consumer<String> ifFull) {}

  Names(NodeEnvironment env, long incarnation, Timers timers) {
    this.env = env;
    this.incarnation = incarnation;
    this.timers = timers;
  }

  /** The record's key of a name, or of an idempotency key where there is no name. */
  static String recordKey(String namespace, @Nullable String name, @Nullable String key) {
    return name != null ? "n\0" + namespace + "\0" + name : "k\0" + namespace + "\0" + key;
  }

  static String recordKey(JobSpec spec) {
    return recordKey(spec.namespace(), spec.name(), spec.key());
  }

  /**
   * What a record says.
   *
   * @param key the idempotency key, empty for none
   * @param outcome how the job ended, null while it may live
   * @param untilMicros how long the key is remembered
   */
  record Value(JobRef job, String key, @Nullable JobState outcome, long untilMicros) {
    private static final int VERSION = 1;

    byte[] encode() {
      return new ByteWriter(64 + key.length())
          .u8(VERSION)
          .string(job.shard().toString())
          .i64(job.number())
          .string(key)
          .u8(outcome != null ? outcome.code() : 0)
          .i64(untilMicros)
          .toBytes();
    }

    static Value decode(byte[] bytes) {
      ByteReader in = new ByteReader(bytes, 0, bytes.length);
      int version = in.u8();
      if (version != VERSION) {
        throw new UnknownFormatException("name record: version " + version + " (expected: 1)");
      }
      JobRef job = new JobRef(ShardId.parse(in.string()), in.i64());
      String key = in.string();
      int outcome = in.u8();
      return new Value(job, key, outcome == 0 ? null : JobState.ofCode(outcome), in.i64());
    }
  }

  /** Whether this node made the change that gave a record its version. */
  boolean wrote(Stamp version) {
    return version.writer() == incarnation;
  }

  /** Whether nothing is asked: who waits for an answer may hold a shard. */
  boolean idle() {
    return queue.isEmpty() && !busy && reads == 0;
  }

  /** Puts or, with a null value, deletes; {@code done} hears whether that is in effect. */
  Stamp change(String key, Stamp expected, byte @Nullable [] value, Consumer<Boolean> done) {
    return queue(key, expected, value, done, null);
  }

  /**
   * Puts or, with a null value, deletes; {@code ifFull} hears why, in the place of {@code done},
   * where there is no room.
   */
  Stamp put(
      String key,
      Stamp expected,
      byte @Nullable [] value,
      Consumer<Boolean> done,
      Consumer<String> ifFull) {
    return queue(key, expected, value, done, ifFull);
  }

  private Stamp queue(
      String key,
      Stamp expected,
      byte @Nullable [] value,
      Consumer<Boolean> done,
      @Nullable Consumer<String> ifFull) {
    Stamp stamp = new Stamp(incarnation, ++sequence);
    queue.add(new Queued(new Change(key, expected, value, stamp), done, ifFull));
    return stamp;
  }

  /** Looks a record up; {@code done} gets it once the store answers. */
  void get(String key, Consumer<Optional<Stored>> done) {
    reads++;
    read(key, done);
  }

  private void read(String key, Consumer<Optional<Stored>> done) {
    env.submit(
        NodeEnvironment.Channel.RECORDS,
        store -> store.records().get(key),
        outcome -> {
          if (outcome instanceof Outcome.Ok<Optional<Stored>>(Optional<Stored> found)) {
            reads--;
            done.accept(found);
          } else {
            later(() -> read(key, done));
          }
        });
  }

  private void later(Runnable action) {
    timers.at(env.monotonicNanos() + RETRY_NANOS, action);
  }

  /** Sends what has gathered, if nothing is under way. */
  void turn() {
    if (busy || queue.isEmpty()) {
      return;
    }
    List<Queued> group = new ArrayList<>();
    while (!queue.isEmpty() && group.size() < MAX_CHANGES) {
      group.add(queue.remove());
    }
    busy = true;
    send(group);
  }

  private void send(List<Queued> group) {
    List<Change> changes = group.stream().map(Queued::change).toList();
    env.submit(
        NodeEnvironment.Channel.RECORDS,
        store -> store.records().apply(changes),
        outcomes -> settled(group, outcomes));
  }

  private void settled(List<Queued> group, List<Outcome<Stamp>> outcomes) {
    List<Queued> again = new ArrayList<>();
    ArrayDeque<Queued> unknown = new ArrayDeque<>();
    for (int i = 0; i < group.size(); i++) {
      Queued queued = group.get(i);
      switch (outcomes.get(i)) {
        case Outcome.Ok<Stamp> ok -> queued.done().accept(true);
        case Outcome.Unknown<Stamp> u -> unknown.add(queued);
        case Outcome.Unavailable<Stamp> u -> again.add(queued);
        case Outcome.Full<Stamp>(String detail) when queued.ifFull() != null ->
            queued.ifFull().accept(detail);
        case Outcome.Full<Stamp> f -> again.add(queued);
        default -> queued.done().accept(false);
      }
    }
    resolve(unknown, again);
  }

  /** Resolves in order of sequence, then queues again what is known not to be in effect. */
  private void resolve(ArrayDeque<Queued> unknown, List<Queued> again) {
    Queued next = unknown.peek();
    if (next == null) {
      if (again.isEmpty()) {
        busy = false;
      } else {
        later(
            () -> {
              queue.addAll(again);
              busy = false;
            });
      }
      return;
    }
    env.submit(
        NodeEnvironment.Channel.RECORDS,
        store -> store.records().resolve(next.change()),
        outcome -> {
          if (outcome instanceof Outcome.Ok<Boolean>(Boolean inEffect)) {
            unknown.remove();
            next.done().accept(inEffect);
            resolve(unknown, again);
          } else {
            later(() -> resolve(unknown, again));
          }
        });
  }
}
