package dev.carillon.server.work;

import dev.carillon.api.AttemptToken;
import dev.carillon.gateway.GivenAttempt;
import dev.carillon.gateway.WorkerConnection;
import dev.carillon.gateway.WorkerListener;
import java.time.Duration;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * The node's side of one worker that runs one attempt at a time and speaks HTTP. It is connected
 * for as long as the node hears of it; the worker itself comes and goes with its requests.
 * Thread-safe: the node tells on its thread, requests ask on theirs.
 */
final class WorkLink implements WorkerListener {
  final String worker;

  /** What it was made for; null for one that was made to go on with an attempt. */
  final @Nullable Wanted wanted;

  private @Nullable WorkerConnection connection;
  private @Nullable BlockingQueue<WorkLink> taker;
  private @Nullable GivenAttempt given;
  private Duration lease = Duration.ZERO;
  private long lastSeen;
  private long beats;
  private boolean over;
  private boolean draining;
  private @Nullable StopReason stop;
  private @Nullable Heard heard;

  WorkLink(String worker, @Nullable Wanted wanted) {
    this.worker = worker;
    this.wanted = wanted;
  }

  /** What a request waits for. */
  private record Heard(AttemptToken token, long beat, CompletableFuture<Word> word) {}

  /** What a node has said of an attempt. */
  enum Word {
    /** The beat is heard and renews the lease. */
    BEAT,
    /** The outcome is durable. */
    SETTLED,
    /** It is not the current one. */
    STALE,
    /** The node has not got it any more, or ends the connection. */
    GONE
  }

  synchronized void connected(WorkerConnection made) {
    connection = made;
  }

  private WorkerConnection connection() {
    WorkerConnection made = connection;
    if (made == null) {
      throw new IllegalStateException("not connected");
    }
    return made;
  }

  // ---- taking

  /** The worker runs one more attempt, which goes to the taker. */
  synchronized boolean offer(BlockingQueue<WorkLink> to) {
    if (over || draining) {
      return false;
    }
    taker = to;
    given = null;
    stop = null;
    connection().free(1, lastSeen);
    return true;
  }

  /** Nobody waits any more; true if an attempt has come. */
  synchronized boolean withdraw() {
    taker = null;
    if (given != null && lease.isPositive()) {
      return true;
    }
    if (!over) {
      connection().free(0, lastSeen);
    }
    return false;
  }

  /** The attempt that it was given. */
  synchronized GivenAttempt attempt() {
    GivenAttempt attempt = given;
    if (attempt == null) {
      throw new IllegalStateException("nothing was given to " + worker);
    }
    return attempt;
  }

  synchronized Duration lease() {
    return lease;
  }

  synchronized boolean isOver() {
    return over;
  }

  @Override
  public synchronized void given(GivenAttempt attempt) {
    lastSeen = attempt.sequence();
    if (taker == null) {
      connection().refuse(attempt.token()); // it came as the request ended
      return;
    }
    given = attempt;
    lease = Duration.ZERO;
    connection().accepted(attempt.token());
  }

  @Override
  public synchronized void leased(AttemptToken token, Duration length) {
    lease = length;
    BlockingQueue<WorkLink> to = taker;
    if (to != null && given != null && given.token().equals(token)) {
      taker = null;
      to.add(this);
    }
  }

  // ---- speaking of an attempt

  /** Says that the worker is there and has the attempt. */
  synchronized CompletableFuture<Word> beat(AttemptToken token) {
    if (over) {
      return CompletableFuture.completedFuture(Word.GONE);
    }
    CompletableFuture<Word> word = hear(token, ++beats);
    connection().resume(java.util.List.of(token));
    connection().beat(beats);
    return word;
  }

  /** Says something of the attempt that ends it, and waits until that is durable. */
  synchronized CompletableFuture<Word> settle(AttemptToken token, Runnable say) {
    if (over) {
      return CompletableFuture.completedFuture(Word.GONE);
    }
    CompletableFuture<Word> word = hear(token, 0);
    say.run();
    return word;
  }

  /** One request at a time is heard; another one of the same attempt takes its place. */
  private CompletableFuture<Word> hear(AttemptToken token, long beat) {
    answer(Word.GONE);
    CompletableFuture<Word> word = new CompletableFuture<>();
    heard = new Heard(token, beat, word);
    return word;
  }

  synchronized WorkerConnection said() {
    return connection();
  }

  /** Why the attempt is to stop; null where it may go on. */
  synchronized @Nullable StopReason stop() {
    return stop;
  }

  private void answer(Word word) {
    Heard waits = heard;
    if (waits != null) {
      heard = null;
      waits.word().complete(word);
    }
  }

  private boolean isHeard(AttemptToken token) {
    return heard != null && heard.token().equals(token);
  }

  @Override
  public synchronized void stop(AttemptToken token, StopReason why) {
    stop = why;
  }

  @Override
  public synchronized void settled(AttemptToken token) {
    if (isHeard(token)) {
      answer(Word.SETTLED);
    }
  }

  @Override
  public synchronized void stale(AttemptToken token) {
    if (isHeard(token)) {
      answer(Word.STALE);
    }
  }

  @Override
  public synchronized void moved(AttemptToken token) {
    if (isHeard(token)) {
      answer(Word.GONE);
    }
  }

  @Override
  public synchronized void beat(long number) {
    if (heard != null && heard.beat() == number) {
      answer(Word.BEAT);
    }
  }

  @Override
  public synchronized void drain() {
    draining = true;
    BlockingQueue<WorkLink> to = taker;
    if (to != null) {
      taker = null;
      to.add(this); // without an attempt: the request ends
    }
  }

  @Override
  public synchronized void close(String why) {
    over = true;
    drain();
    answer(Word.GONE);
  }

  /** Whether an attempt came with it. */
  synchronized boolean hasAttempt() {
    return given != null && lease.isPositive();
  }

  /** It is there: nobody has to be told. */
  synchronized void keep() {
    if (!over) {
      connection().beat(++beats);
    }
  }

  /** The connection ends; what its worker runs goes on by the lease. */
  synchronized void end() {
    if (!over) {
      over = true;
      connection().gone();
    }
  }
}
