package dev.carillon.server.http;

import dev.carillon.server.http.Problem.Kind;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Counts what is being served: requests, streams, bytes of bodies. What would go beyond the limits
 * is refused before it takes memory. Thread-safe.
 */
final class Admittance {
  private static final int SOON_SECONDS = 1;

  private final HttpLimits limits;
  private final AtomicInteger requests = new AtomicInteger();
  private final AtomicInteger streams = new AtomicInteger();
  private final AtomicLong bodyBytes = new AtomicLong();
  private volatile boolean stopping;

  Admittance(HttpLimits limits) {
    this.limits = limits;
  }

  /** Takes a place for a request; given back by {@link #leave}. */
  void enter() {
    refuseWhenStopping();
    if (requests.incrementAndGet() > limits.requests()) {
      requests.decrementAndGet();
      throw overloaded("requests: more than " + limits.requests() + " at once; nothing was done");
    }
  }

  private void refuseWhenStopping() {
    if (stopping) {
      throw Problem.of(Kind.STOPPING, "the server stops; nothing was done")
          .retryAfter(SOON_SECONDS)
          .refusal();
    }
  }

  void leave() {
    requests.decrementAndGet();
  }

  /** Takes a place for a request that may last; given back by {@link #leaveStream}. */
  void enterStream() {
    refuseWhenStopping();
    if (streams.incrementAndGet() > limits.streams()) {
      streams.decrementAndGet();
      throw overloaded("streams: more than " + limits.streams() + " at once");
    }
  }

  void leaveStream() {
    streams.decrementAndGet();
  }

  /** Takes room for bytes of a body; given back by {@link #giveBack}. */
  void take(int bytes) {
    if (bodyBytes.addAndGet(bytes) > limits.bodyBytes()) {
      bodyBytes.addAndGet(-bytes);
      throw overloaded("bodies: more than fit into memory at once; nothing was done");
    }
  }

  void giveBack(long bytes) {
    bodyBytes.addAndGet(-bytes);
  }

  void stop() {
    stopping = true;
  }

  boolean isStopping() {
    return stopping;
  }

  int requests() {
    return requests.get();
  }

  int streams() {
    return streams.get();
  }

  private static Problem.Refusal overloaded(String detail) {
    return Problem.of(Kind.OVERLOADED, detail).retryAfter(SOON_SECONDS).refusal();
  }
}
