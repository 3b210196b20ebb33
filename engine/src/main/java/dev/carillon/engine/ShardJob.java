package dev.carillon.engine;

import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * A job that has not ended, in a loaded shard. The fields of the first group are the fold of its
 * operations; those of the second are what this node is doing with it and are not in any journal.
 *
 * <p>Owned by the loop, or by whoever folds before handing it to the loop. A million of these are
 * held at once: mind every field.
 */
final class ShardJob {
  private static final byte[] STRIPPED = {};
  private static final int MARKED = 128;

  final long number;
  final String type;
  final String namespace;
  String queue;
  private byte[] body;
  int bodyBytes;

  /** Those of its spec, at hand without its body, and {@link #MARKED}. */
  private byte flags;

  /** The entry that holds its body. */
  long position;

  long dueMicros;
  byte priority;
  int revision;
  int attempts;
  @Nullable Rare rare;

  Phase phase = Phase.SCHEDULED;

  /** How many operations on it are on their way to the journal: it is not dispatched then. */
  short busy;

  @Nullable Shard shard;
  @Nullable Lane lane;
  @Nullable HandlerSlot handler;
  @Nullable Attempt attempt;

  /** Ends it at its deadline while it waits for a slot or a handler. */
  Timers.@Nullable Timer expiry;

  ShardJob(long number, JobSpec spec, byte[] body, UnaryOperator<String> intern) {
    this.number = number;
    this.type = intern.apply(spec.type());
    this.namespace = intern.apply(spec.namespace());
    this.queue = intern.apply(spec.queue());
    this.body = body;
    this.bodyBytes = body.length;
    this.flags = (byte) JobSpec.flags(body);
    this.dueMicros = spec.dueMicros();
    this.priority = (byte) spec.priority();
  }

  /** What the node is doing with a job. */
  enum Phase {
    /** Waiting for its time. */
    SCHEDULED,
    /** Its time has come; in a lane. */
    READY,
    /** An attempt is under way or its outcome is not durable yet. */
    RUNNING,
    /** Due, but its handler is not registered. */
    NO_HANDLER,
    /** Due, but its payload does not decode. */
    UNDECODABLE,
    /** Due, but its handler runs as often as it may. */
    LIMITED,
    /** No longer in the fold. */
    GONE
  }

  /** What most jobs never have. */
  static final class Rare {
    byte @Nullable [] saved;
    @Nullable String cancelReason;
    @Nullable String lastErrorType;
    @Nullable String lastErrorMessage;

    /** Starts that no end followed. */
    int markers;

    boolean alone;
    long markerIncarnation;

    boolean isEmpty() {
      return saved == null && cancelReason == null && lastErrorType == null && markers == 0;
    }
  }

  Rare rare() {
    Rare found = rare;
    if (found == null) {
      found = new Rare();
      rare = found;
    }
    return found;
  }

  /** Its spec, encoded; without content where it is stripped. */
  byte[] body() {
    return body;
  }

  /** Has another spec from now on. */
  void replaceBody(byte[] newBody) {
    body = newBody;
    bodyBytes = newBody.length;
    flags = (byte) (JobSpec.flags(newBody) | (flags & MARKED));
  }

  /** Whether it starts with a durable marker, until an attempt of it has ended. */
  boolean isMarked() {
    return (flags & MARKED) != 0;
  }

  void mark(boolean marked) {
    flags = (byte) (marked ? flags | MARKED : flags & ~MARKED);
  }

  /** Lets go of its body. */
  void strip() {
    body = STRIPPED;
  }

  /** Has its body again. */
  void restore(byte[] sameBody) {
    body = sameBody;
  }

  @SuppressWarnings("ReferenceEquality") // there is one such array
  boolean isStripped() {
    return body == STRIPPED;
  }

  /** What it takes in a journal, about. */
  int bytes() {
    byte[] saved = rare != null ? rare.saved : null;
    return Frame.HEADER_BYTES + bodyBytes + (saved != null ? saved.length : 0);
  }

  /** Whether it is in this phase and nothing of it is on its way to the journal. */
  boolean isIdle(Phase expected) {
    return phase == expected && busy == 0;
  }

  boolean cancelRequested() {
    return rare != null && rare.cancelReason != null;
  }

  boolean hasName() {
    return (flags & (JobSpec.NAMED | JobSpec.KEYED)) != 0;
  }

  boolean has(int flag) {
    return (flags & flag) != 0;
  }

  JobSpec spec() {
    return JobSpec.decode(body);
  }
}
