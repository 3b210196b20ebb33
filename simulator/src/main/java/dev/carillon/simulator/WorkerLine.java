package dev.carillon.simulator;

import dev.carillon.api.AttemptToken;
import dev.carillon.engine.attempt.Attempt;
import dev.carillon.engine.worker.WorkerHello;
import dev.carillon.engine.worker.WorkerStream;
import dev.carillon.engine.worker.Workers;
import java.util.ArrayDeque;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.BiConsumer;

/**
 * A connection of a worker to a life of a node: words arrive in order, each way by itself, until it
 * breaks.
 */
final class WorkerLine implements WorkerStream {
  private static final long LONGEST_WAY_NANOS = 20 * VirtualClock.MILLI;

  final SimWorker worker;
  final Life life;
  private final World world;

  /** The number of the connection at the node; 0 before it knows of it. */
  private long id;

  /** What has arrived at the node, which may stand still. */
  private final ArrayDeque<BiConsumer<Workers, Long>> arrived = new ArrayDeque<>();

  private long lastUpNanos;
  private long lastDownNanos;
  private boolean broken;

  /** Nothing arrives that way, and nobody notices. */
  boolean deafUp;

  boolean deafDown;

  /** When each beat was sent that is not answered. */
  private final Map<Long, Long> beats = new LinkedHashMap<>();

  /** When the last answered word was sent. */
  long answeredNanos;

  private long lastBeat;
  long beatNanos;

  /** The number of the last attempt that arrived. */
  long seen;

  /** When the worker said last what it still has. */
  long resumedNanos;

  boolean drains;

  WorkerLine(SimWorker worker, Life life, World world) {
    this.worker = worker;
    this.life = life;
    this.world = world;
    this.answeredNanos = world.clock.nanos();
  }

  boolean isBroken() {
    return broken;
  }

  // ---- to the node

  void connect(WorkerHello hello) {
    up((workers, none) -> id = workers.connect(hello, this));
  }

  private void up(BiConsumer<Workers, Long> word) {
    if (broken || deafUp) {
      return;
    }
    lastUpNanos = arrival(lastUpNanos);
    world.queue.at(
        lastUpNanos,
        () -> {
          if (!broken) {
            arrived.add(word);
            life.deliver(this::hearNext); // which may be later, and another word's turn
          }
        });
  }

  private void hearNext() {
    arrived.remove().accept(life.node.workers(), id);
  }

  private long arrival(long last) {
    long way = world.chance.spread(VirtualClock.MICRO, LONGEST_WAY_NANOS);
    return Math.max(last, world.clock.nanos() + way);
  }

  void free(int slots) {
    long known = seen;
    up((workers, link) -> workers.free(link, slots, known));
  }

  void accepted(AttemptToken token) {
    up((workers, link) -> workers.accepted(link, token));
  }

  void beat() {
    long number = ++lastBeat;
    beatNanos = world.clock.nanos();
    beats.put(number, beatNanos);
    up((workers, link) -> workers.beat(link, number));
  }

  void say(WorkerRunning running) {
    up((workers, link) -> workers.outcome(link, running.token, SimWorker.outcome(running)));
  }

  void refuse(AttemptToken token) {
    up((workers, link) -> workers.refuse(link, token));
  }

  void resume(List<AttemptToken> tokens) {
    resumedNanos = world.clock.nanos();
    up((workers, link) -> workers.resume(link, tokens));
  }

  void takesNoMore() {
    drains = true;
    up((workers, link) -> workers.drain(link));
  }

  /** It ends; the node may hear of that, or not. */
  void end(boolean heard) {
    if (broken) {
      return;
    }
    if (heard) {
      up((workers, link) -> workers.gone(link));
    }
    long gone = Math.max(lastUpNanos, world.clock.nanos());
    world.queue.at(gone, () -> broken = true);
    deafDown = true;
    deafUp = true;
  }

  // ---- from the node

  private void down(Runnable word) {
    if (broken || deafDown) {
      return;
    }
    lastDownNanos = arrival(lastDownNanos);
    world.queue.at(
        lastDownNanos,
        () -> {
          if (!broken && !deafDown) {
            worker.hear(word);
          }
        });
  }

  @Override
  public void give(Attempt attempt, long number) {
    AttemptToken token = attempt.token();
    var ref = attempt.ref();
    long by = life.incarnation;
    down(
        () -> {
          seen = number;
          worker.given(this, token, ref, by);
        });
  }

  @Override
  public void leased(AttemptToken token, long lengthMicros) {
    long by = life.incarnation;
    down(() -> worker.leased(this, token, lengthMicros * VirtualClock.MICRO, by));
  }

  @Override
  public void stop(AttemptToken token, Attempt.StopCause why) {
    worker.askedToStop(token);
    down(() -> worker.stop(this, token, why));
  }

  @Override
  public void told(AttemptToken token, Word word) {
    down(
        () -> {
          switch (word) {
            case SETTLED -> worker.settled(token);
            case STALE -> worker.stale(token);
            case MOVED -> worker.moved(this, token);
          }
        });
  }

  @Override
  public void beat(long number) {
    down(
        () -> {
          Long sent = beats.get(number);
          if (sent != null) {
            beats.keySet().removeIf(each -> each <= number);
            answeredNanos = sent;
            worker.answered(this, sent);
          }
        });
  }

  @Override
  public void drain() {
    drains = true;
  }

  @Override
  public void close(String why) {
    down(() -> worker.lost(this));
  }
}
