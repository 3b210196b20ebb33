package dev.carillon;

import static org.assertj.core.api.Assertions.assertThat;

import dev.carillon.api.AttemptToken;
import dev.carillon.gateway.GivenAttempt;
import dev.carillon.gateway.WorkerConnection;
import dev.carillon.gateway.WorkerGateway;
import dev.carillon.gateway.WorkerHello;
import dev.carillon.gateway.WorkerListener;
import dev.carillon.gateway.WorkerTake;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/** A worker in the process of its test, which says what the test says and keeps what it hears. */
final class PlayedWorker implements WorkerListener {
  private final BlockingQueue<GivenAttempt> given = new LinkedBlockingQueue<>();
  private final BlockingQueue<String> words = new LinkedBlockingQueue<>();
  private final List<String> all = new CopyOnWriteArrayList<>();
  private final AtomicLong lastSeen = new AtomicLong();
  private @Nullable WorkerConnection connection;

  /** Whether it throws where it is given something. */
  volatile boolean fails;

  static PlayedWorker connected(WorkerGateway gateway, String name, WorkerTake... takes) {
    return connected(gateway, new WorkerHello(name, List.of(takes), false));
  }

  static PlayedWorker connected(WorkerGateway gateway, WorkerHello hello) {
    PlayedWorker worker = new PlayedWorker();
    worker.connection = gateway.connect(hello, worker);
    return worker;
  }

  WorkerConnection says() {
    WorkerConnection own = connection;
    if (own == null) {
      throw new IllegalStateException("worker: not connected");
    }
    return own;
  }

  /** Says that it takes so many more. */
  PlayedWorker takes(int slots) {
    says().free(slots, lastSeen.get());
    return this;
  }

  GivenAttempt awaitGiven() throws InterruptedException {
    GivenAttempt attempt = given.poll(Types.LONG.toSeconds(), TimeUnit.SECONDS);
    assertThat(attempt).as("an attempt").isNotNull();
    lastSeen.set(attempt.sequence());
    return attempt;
  }

  /** Waits for a word that it has not heard before; others are passed over. */
  void awaitWord(String word) throws InterruptedException {
    String heard;
    do {
      heard = words.poll(Types.LONG.toSeconds(), TimeUnit.SECONDS);
      assertThat(heard).as("the word " + word).isNotNull();
    } while (!heard.equals(word));
  }

  boolean wasGiven() {
    return !given.isEmpty();
  }

  /** How often it has heard a word. */
  long heardOf(String word) {
    return all.stream().filter(word::equals).count();
  }

  private void heard(String word) {
    all.add(word);
    words.add(word);
  }

  @Override
  public void given(GivenAttempt attempt) {
    if (fails) {
      throw new IllegalStateException("the gateway is broken");
    }
    given.add(attempt);
  }

  @Override
  public void leased(AttemptToken token, Duration length) {
    heard("leased " + length);
  }

  @Override
  public void stop(AttemptToken token, StopReason why) {
    heard("stop " + why);
  }

  @Override
  public void settled(AttemptToken token) {
    heard("settled");
  }

  @Override
  public void stale(AttemptToken token) {
    heard("stale");
  }

  @Override
  public void moved(AttemptToken token) {
    heard("moved");
  }

  @Override
  public void beat(long number) {
    heard("beat " + number);
  }

  @Override
  public void drain() {
    heard("drain");
  }

  @Override
  public void close(String why) {
    heard("close");
  }
}
