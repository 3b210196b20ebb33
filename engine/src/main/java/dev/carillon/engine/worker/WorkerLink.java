package dev.carillon.engine.worker;

import org.jspecify.annotations.Nullable;

/** A worker's connection to this node. Only the loop uses it. */
final class WorkerLink {
  final long id;
  final WorkerHello hello;
  final WorkerStream stream;

  /** How many attempts it took when it had seen {@link #seen}. */
  private int free;

  /** The number of the last attempt that it had seen then. */
  private long seen;

  /** The number of the last attempt that was given to it. */
  private long given;

  long heardNanos;
  boolean draining;
  boolean gone;
  long goneNanos;

  WorkerLink(long id, WorkerHello hello, WorkerStream stream, long nowNanos) {
    this.id = id;
    this.hello = hello;
    this.stream = stream;
    this.heardNanos = nowNanos;
  }

  /** What it says counts for what it knew: what was given since then takes up room of that. */
  void free(int slots, long lastSeen) {
    if (slots < 0 || lastSeen < seen || lastSeen > given) {
      return; // it is no answer to what was given
    }
    free = slots;
    seen = lastSeen;
  }

  long nextNumber() {
    return ++given;
  }

  /** Whether the worker had that attempt before it last said what it takes. */
  boolean hasSeen(long number) {
    return seen >= number;
  }

  int room() {
    return gone || draining ? 0 : (int) Math.max(0, free - (given - seen));
  }

  /** The part of what it takes that has such jobs; null where none has. */
  @Nullable WorkerTake take(String type, String namespace, String queue) {
    for (WorkerTake take : hello.takes()) {
      boolean ofType = take.type().isEmpty() || take.type().equals(type);
      if (ofType && take.takes(namespace, queue)) {
        return take;
      }
    }
    return null;
  }
}
