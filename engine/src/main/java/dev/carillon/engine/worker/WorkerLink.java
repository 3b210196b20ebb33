package dev.carillon.engine.worker;

import org.jspecify.annotations.Nullable;

/**
 * A worker's connection to this node, or to another node that speaks for it here. Only the loop
 * uses it.
 */
final class WorkerLink {
  final long id;
  final WorkerHello hello;
  final WorkerStream stream;

  /** The node that speaks for the worker; 0 where it is connected here. */
  final long gateway;

  /** How many attempts it took when it had seen {@link #seen}. */
  private int free;

  /** The number of the last attempt that it had seen then. */
  private long seen;

  /** The number of the last attempt that was given to it. */
  private long given;

  /** What of its room is kept for other nodes, and for attempts that are being leased. */
  int promised;

  private long heardNanos;

  /** Another node has not heard it since then; null where it does. */
  private @Nullable Long silentSinceNanos;

  boolean draining;
  boolean gone;
  long goneNanos;

  WorkerLink(long id, WorkerHello hello, WorkerStream stream, long gateway, long nowNanos) {
    this.id = id;
    this.hello = hello;
    this.stream = stream;
    this.gateway = gateway;
    this.heardNanos = nowNanos;
  }

  /** Whether the worker is connected to another node, which speaks for it here. */
  boolean isFar() {
    return gateway != 0;
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
    return gone || draining ? 0 : (int) Math.max(0, free - (given - seen) - promised);
  }

  void heard(long nowNanos) {
    heardNanos = nowNanos;
  }

  /** The node that speaks for it has not heard it for so long; 0 where it does. */
  void silentFor(long nanos, long nowNanos) {
    silentSinceNanos = nanos == 0 ? null : nowNanos - nanos;
  }

  /** When the worker was heard last. Another node hears it until that says otherwise. */
  long heardNanos(long nowNanos) {
    Long silent = silentSinceNanos;
    if (!isFar() || gone) {
      return heardNanos;
    }
    return silent == null ? nowNanos : silent;
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

  /** Whether it takes jobs of the type, in some queue. */
  boolean takes(String type) {
    return hello.takes().stream()
        .anyMatch(take -> take.type().isEmpty() || take.type().equals(type));
  }
}
