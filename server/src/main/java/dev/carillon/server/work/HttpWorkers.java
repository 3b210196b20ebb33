package dev.carillon.server.work;

import dev.carillon.Carillon;
import dev.carillon.RawPayload;
import dev.carillon.api.AttemptToken;
import dev.carillon.gateway.WorkerConnection;
import dev.carillon.gateway.WorkerConnection.SaveAnswer;
import dev.carillon.gateway.WorkerHello;
import dev.carillon.gateway.WorkerListener.StopReason;
import dev.carillon.gateway.WorkerOutcome;
import dev.carillon.gateway.WorkerProgress;
import dev.carillon.gateway.WorkerTake;
import dev.carillon.server.http.Problem;
import dev.carillon.server.http.Problem.Kind;
import dev.carillon.server.work.WorkLink.Word;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Base64;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executors;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * The workers of this server that speak HTTP. Each attempt has a connection of its own to the node,
 * so that the silence of one worker is not covered by another's words. Connections are used again;
 * some stay for a minute after a request for work, so that what they take is not missed between two
 * requests. Thread-safe.
 *
 * <p>Crash table:
 *
 * <ul>
 *   <li>The server dies after the lease and before its answer: no worker has the attempt. It is
 *       lost once its lease is over, which counts as an attempt.
 *   <li>The client dies or its answer is lost: the same.
 *   <li>The server dies later: the client speaks to another one, which finds the attempt by its
 *       token once it is the owner's.
 *   <li>An outcome whose answer is lost is said again, and is answered as stale: it counted.
 * </ul>
 */
final class HttpWorkers implements AutoCloseable {
  /** Attempts that are free at the same moment come with one answer. */
  private static final long GATHER_NANOS = 2_000_000;

  private static final long STAY_NANOS = 60_000_000_000L;
  private static final int KEEP_SECONDS = 4;
  private static final int MOST_LINKS = 10_000;
  private static final int MOST_IDLE = 256;
  private static final Duration ANSWER = Duration.ofSeconds(5);
  private static final Duration DURABLE = Duration.ofSeconds(15);
  private static final int NAME_BYTES = 9;

  private final Carillon carillon;
  private final SecureRandom random = new SecureRandom();
  private final Map<Wanted, Pool> pools = new HashMap<>();
  private final Map<AttemptToken, WorkLink> running = new ConcurrentHashMap<>();
  private final AtomicInteger links = new AtomicInteger();
  private final ScheduledExecutorService keeper =
      Executors.newSingleThreadScheduledExecutor(
          Thread.ofPlatform().daemon().name("carillon-http-workers").factory());
  private boolean closed;

  /** Connections that take the same and have nothing. */
  private static final class Pool {
    final Deque<WorkLink> idle = new ArrayDeque<>();
    long askedNanos = System.nanoTime();
  }

  HttpWorkers(Carillon carillon) {
    this.carillon = carillon;
    var unused =
        keeper.scheduleWithFixedDelay(this::keep, KEEP_SECONDS, KEEP_SECONDS, TimeUnit.SECONDS);
  }

  // ---- taking

  /**
   * Waits for attempts.
   *
   * @param most so many at once
   * @param wait how long for the first
   * @return connections that have one each; none where no job came
   */
  List<WorkLink> take(Wanted wanted, int most, Duration wait) {
    List<WorkLink> asked = new ArrayList<>();
    List<WorkLink> taken = new ArrayList<>();
    BlockingQueue<WorkLink> came = new LinkedBlockingQueue<>();
    try {
      for (int i = 0; i < most; i++) {
        WorkLink link = idle(wanted);
        asked.add(link);
        if (!link.offer(came)) {
          break; // the node stops
        }
      }
      WorkLink first = came.poll(wait.toNanos(), TimeUnit.NANOSECONDS);
      long until = System.nanoTime() + GATHER_NANOS;
      for (WorkLink next = first; next != null && next.hasAttempt(); ) {
        taken.add(next);
        next =
            taken.size() == most
                ? null
                : came.poll(until - System.nanoTime(), TimeUnit.NANOSECONDS);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw Problem.of(Kind.STOPPING, "the server stops; no work was given").refusal();
    } finally {
      for (WorkLink link : asked) {
        if (!taken.contains(link) && link.withdraw()) {
          taken.add(link);
        }
      }
      for (WorkLink link : asked) {
        if (taken.contains(link)) {
          running.put(link.attempt().token(), link);
        } else {
          rest(link);
        }
      }
    }
    return taken;
  }

  private WorkLink idle(Wanted wanted) {
    synchronized (pools) {
      Pool pool = pools.computeIfAbsent(wanted, w -> new Pool());
      pool.askedNanos = System.nanoTime();
      WorkLink link = pool.idle.pollFirst();
      while (link != null && link.isOver()) {
        links.decrementAndGet();
        link = pool.idle.pollFirst();
      }
      if (link != null) {
        return link;
      }
    }
    byte[] name = new byte[NAME_BYTES];
    random.nextBytes(name);
    String worker = "%s/%s".formatted(wanted.label(), Base64.getUrlEncoder().encodeToString(name));
    return connect(new WorkLink(worker, wanted), wanted.takes());
  }

  private WorkLink connect(WorkLink link, List<WorkerTake> takes) {
    if (links.incrementAndGet() > MOST_LINKS) {
      links.decrementAndGet();
      throw Problem.of(
              Kind.OVERLOADED,
              "workers: %,d here (expected: at most that, over HTTP)".formatted(MOST_LINKS))
          .retryAfter(1)
          .refusal();
    }
    boolean connected = false;
    try {
      WorkerHello hello = new WorkerHello(link.worker, takes, true);
      synchronized (link) {
        link.connected(carillon.node().workers().connect(hello, link));
      }
      connected = true;
      return link;
    } finally {
      if (!connected) {
        links.decrementAndGet();
      }
    }
  }

  /** A connection has nothing to do: it is kept for the next request, or ends. */
  private void rest(WorkLink link) {
    synchronized (pools) {
      Pool pool = link.wanted != null ? pools.get(link.wanted) : null;
      if (pool != null && !closed && !link.isOver() && pool.idle.size() < MOST_IDLE) {
        pool.idle.addFirst(link);
        return;
      }
    }
    end(link);
  }

  private void end(WorkLink link) {
    links.decrementAndGet();
    link.end();
  }

  // ---- speaking of an attempt

  /** What a beat is answered. */
  record Beat(Duration lease, @Nullable StopReason stop) {}

  /** The worker has the attempt and goes on with it. */
  Beat beat(WorkToken token, @Nullable WorkerProgress progress) {
    WorkLink link =
        say(
            token,
            ANSWER,
            each -> {
              if (progress != null) {
                each.said().progress(token.attempt(), progress);
              }
              return each.beat(token.attempt());
            });
    return new Beat(link.lease(), link.stop());
  }

  /** How the attempt went; returns once that is durable. */
  void outcome(WorkToken token, WorkerOutcome outcome) {
    WorkLink link =
        say(
            token,
            DURABLE,
            each ->
                each.settle(token.attempt(), () -> each.said().outcome(token.attempt(), outcome)));
    if (running.remove(token.attempt(), link)) {
      rest(link);
    }
  }

  /** Keeps the resume position. */
  SaveAnswer save(WorkToken token, RawPayload state) {
    beat(token, null); // it is the current one, and known here
    WorkLink link = link(token);
    CompletableFuture<SaveAnswer> saved = new CompletableFuture<>();
    WorkerConnection connection = link.said();
    connection.save(token.attempt(), state, saved::complete);
    SaveAnswer answer = await(saved, DURABLE);
    return answer != null ? answer : SaveAnswer.UNKNOWN;
  }

  private WorkLink say(
      WorkToken token, Duration patience, Function<WorkLink, CompletableFuture<Word>> words) {
    for (int tries = 1; ; tries++) {
      WorkLink link = link(token);
      Word word = await(words.apply(link), patience);
      if (word == Word.BEAT || word == Word.SETTLED) {
        return link;
      }
      if (running.remove(token.attempt(), link)) {
        end(link);
      }
      if (word == Word.STALE) {
        throw Problem.of(
                Kind.STALE, "token: not that of the job's current attempt; what it says is dropped")
            .refusal();
      }
      if (word == null || tries == 2) {
        throw Problem.of(
                Kind.UNKNOWN,
                "the owner of the job has not answered; what is said again counts once")
            .with("again", "SAFE")
            .refusal();
      }
    }
  }

  private static <T> @Nullable T await(CompletableFuture<T> future, Duration patience) {
    try {
      return future.get(patience.toMillis(), TimeUnit.MILLISECONDS);
    } catch (TimeoutException e) {
      return null;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return null; // the server stops: what was said may be in effect
    } catch (ExecutionException e) {
      throw new IllegalStateException(e.getCause());
    }
  }

  /**
   * The connection of an attempt; one that another server gave, or that was silent, is connected.
   */
  private WorkLink link(WorkToken token) {
    WorkLink known = running.get(token.attempt());
    if (known != null && !known.isOver() && known.worker.equals(token.worker())) {
      return known;
    }
    if (known != null && running.remove(token.attempt(), known)) {
      end(known);
    }
    WorkLink link =
        connect(
            new WorkLink(token.worker(), null),
            List.of(
                new WorkerTake(token.namespace(), token.queue(), token.type(), WorkerTake.LEASE)));
    link.said().resume(List.of(token.attempt()));
    WorkLink other = running.put(token.attempt(), link);
    if (other != null) {
      end(other);
    }
    return link;
  }

  // ---- time

  /** Connections that wait for a request are there; those that nobody asks for any more end. */
  private void keep() {
    List<WorkLink> ended = new ArrayList<>();
    synchronized (pools) {
      long now = System.nanoTime();
      pools
          .values()
          .removeIf(
              pool -> {
                boolean over = now - pool.askedNanos > STAY_NANOS;
                if (over) {
                  ended.addAll(pool.idle);
                } else {
                  pool.idle.forEach(WorkLink::keep);
                }
                return over;
              });
    }
    ended.forEach(this::end);
    running.forEach(
        (token, link) -> {
          if (link.isOver() && running.remove(token, link)) {
            links.decrementAndGet(); // its worker was silent; its next word connects it again
          }
        });
  }

  @Override
  public void close() {
    keeper.shutdownNow();
    List<WorkLink> all = new ArrayList<>(running.values());
    synchronized (pools) {
      closed = true;
      pools.values().forEach(pool -> all.addAll(pool.idle));
      pools.clear();
    }
    all.forEach(WorkLink::end);
  }
}
