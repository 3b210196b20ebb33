package dev.carillon.server.http;

import dev.carillon.server.http.Problem.Kind;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * Counts what is being served: requests, streams, bytes of bodies, over all and by caller. What
 * would go beyond the limits is refused before it takes memory. One caller has at most half of
 * each, so that nobody alone keeps the others out. Thread-safe.
 */
final class Admittance {
  private static final int SOON_SECONDS = 1;

  private final HttpLimits limits;
  private final AtomicInteger requests = new AtomicInteger();
  private final AtomicInteger streams = new AtomicInteger();
  private final AtomicLong bodyBytes = new AtomicLong();
  private final Map<String, Use> uses = new ConcurrentHashMap<>();
  private final Set<Thread> serving = ConcurrentHashMap.newKeySet();
  private volatile boolean stopping;

  /** What a request takes. */
  enum Stay {
    /** Nothing: a probe waits for nobody and is always let in. */
    PROBE,
    /** One of the places of requests. */
    REQUEST,
    /** One of the places of requests that may last. */
    STREAM
  }

  /** What one caller has taken. Immutable. */
  private record Use(int requests, int streams, long bytes) {
    static final Use NONE = new Use(0, 0, 0);

    Use plus(Use more) {
      return new Use(requests + more.requests, streams + more.streams, bytes + more.bytes);
    }

    Use negated() {
      return new Use(-requests, -streams, -bytes);
    }
  }

  Admittance(HttpLimits limits) {
    this.limits = limits;
  }

  /** Takes a place for a request; given back by closing it, on the same thread. */
  Place enter(Stay stay) {
    if (stopping && stay != Stay.PROBE) {
      throw Problem.of(Kind.STOPPING, "the server stops; nothing was done")
          .retryAfter(SOON_SECONDS)
          .refusal();
    }
    if (!count(stay)) {
      throw overloaded(
          stay == Stay.STREAM
              ? "streams: more than " + limits.streams() + " at once"
              : "requests: more than " + limits.requests() + " at once; nothing was done");
    }
    return new Place(stay);
  }

  private boolean count(Stay stay) {
    return switch (stay) {
      case PROBE -> true;
      case REQUEST -> counted(requests, limits.requests());
      case STREAM -> counted(streams, limits.streams());
    };
  }

  private static boolean counted(AtomicInteger places, int most) {
    boolean fits = places.incrementAndGet() <= most;
    if (!fits) {
      places.decrementAndGet();
    }
    return fits;
  }

  /** The place of one request. Not thread-safe. */
  final class Place implements AutoCloseable {
    private final Stay stay;
    private final Thread thread = Thread.currentThread();
    private @Nullable String caller;
    private Use use = Use.NONE;

    private Place(Stay stay) {
      this.stay = stay;
      serving.add(thread);
    }

    /** Counts it among those of its caller. */
    void of(String name) {
      caller = name;
      switch (stay) {
        case PROBE -> {}
        case REQUEST -> claim(new Use(1, 0, 0), "requests");
        case STREAM -> claim(new Use(0, 1, 0), "streams");
      }
    }

    /** Takes room for bytes of a body. */
    void take(int bytes) {
      claim(new Use(0, 0, bytes), "bodies");
      if (bodyBytes.addAndGet(bytes) > limits.bodyBytes()) {
        giveBack(bytes);
        throw overloaded("bodies: more than fit into memory at once; nothing was done");
      }
    }

    void giveBack(int bytes) {
      change(new Use(0, 0, -bytes));
      bodyBytes.addAndGet(-bytes);
    }

    private void claim(Use more, String what) {
      Use all = change(more);
      if (all.requests() > HttpLimits.half(limits.requests())
          || all.streams() > HttpLimits.half(limits.streams())
          || all.bytes() > limits.bodyBytes() / 2) {
        change(more.negated());
        throw overloaded(what + ": too much of one caller at once; nothing was done");
      }
    }

    private Use change(Use more) {
      String name = caller;
      if (name == null) {
        throw new IllegalStateException("a place of nobody (expected: of a caller)");
      }
      use = use.plus(more);
      Use all =
          uses.compute(
              name,
              (n, before) -> {
                Use after = (before == null ? Use.NONE : before).plus(more);
                return after.equals(Use.NONE) ? null : after;
              });
      return all == null ? Use.NONE : all;
    }

    @Override
    public void close() {
      serving.remove(thread);
      bodyBytes.addAndGet(-use.bytes());
      if (caller != null) {
        change(use.negated());
      }
      switch (stay) {
        case PROBE -> {}
        case REQUEST -> requests.decrementAndGet();
        case STREAM -> streams.decrementAndGet();
      }
    }
  }

  void stop() {
    stopping = true;
  }

  boolean isStopping() {
    return stopping;
  }

  /** Has those that wait for something answer what they know. */
  void interrupt() {
    serving.forEach(Thread::interrupt);
  }

  int requests() {
    return requests.get();
  }

  int streams() {
    return streams.get();
  }

  /** Whether nobody has taken anything. */
  boolean isEmpty() {
    return requests.get() == 0
        && streams.get() == 0
        && bodyBytes.get() == 0
        && uses.isEmpty()
        && serving.isEmpty();
  }

  private static Problem.Refusal overloaded(String detail) {
    return Problem.of(Kind.OVERLOADED, detail).retryAfter(SOON_SECONDS).refusal();
  }
}
