package dev.carillon.engine;

import dev.carillon.api.AttemptToken;
import dev.carillon.engine.attempt.Attempt;
import dev.carillon.engine.environment.AttemptOutcome;
import dev.carillon.engine.worker.WorkerHello;
import dev.carillon.engine.worker.WorkerStream;
import dev.carillon.engine.worker.WorkerTake;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** A worker that does what it is told to: it is moved by hand, on connections to still nodes. */
final class StillWorker {
  final String name;

  /** What it was given and has said no outcome of, by tokens, with the connection. */
  final Map<AttemptToken, Link> has = new LinkedHashMap<>();

  final List<AttemptToken> given = new ArrayList<>();
  final List<AttemptToken> leased = new ArrayList<>();
  final List<AttemptToken> settled = new ArrayList<>();
  final List<AttemptToken> stale = new ArrayList<>();
  final List<AttemptToken> moved = new ArrayList<>();
  final List<Attempt.StopCause> stops = new ArrayList<>();
  boolean accepts = true;

  StillWorker(String name) {
    this.name = name;
  }

  /** Connects it, with so many free slots. */
  Link connect(StillWorld world, int free) {
    return connect(world, free, WorkerTake.type(StillWorld.TYPE));
  }

  Link connect(StillWorld world, int free, WorkerTake... takes) {
    return connect(world, free, new WorkerHello(name, List.of(takes), false));
  }

  Link connect(StillWorld world, int free, WorkerHello hello) {
    Link link = new Link(world);
    link.id = world.node().workers().connect(hello, link);
    link.free(free);
    return link;
  }

  AttemptToken last() {
    return given.getLast();
  }

  /** A connection to a node. */
  final class Link implements WorkerStream {
    final StillWorld world;
    long id;
    long seen;
    long beats;
    long answered;
    boolean drained;
    String closed = "";

    Link(StillWorld world) {
      this.world = world;
    }

    void free(int slots) {
      world.node().workers().free(id, slots, seen);
      world.settle();
    }

    void beat() {
      world.node().workers().beat(id, ++beats);
      world.settle();
    }

    void succeed(AttemptToken token) {
      say(token, new AttemptOutcome.Succeeded(new byte[] {7}));
    }

    void say(AttemptToken token, AttemptOutcome outcome) {
      has.remove(token);
      world.node().workers().outcome(id, token, outcome);
      world.settle();
    }

    void resume(AttemptToken... tokens) {
      world.node().workers().resume(id, List.of(tokens));
      world.settle();
    }

    void breaks() {
      world.node().workers().gone(id);
      world.settle();
    }

    @Override
    public void give(Attempt attempt, long number) {
      seen = number;
      given.add(attempt.token());
      has.put(attempt.token(), this);
      if (accepts) {
        world.node().workers().accepted(id, attempt.token());
      }
    }

    @Override
    public void leased(AttemptToken token, long lengthMicros) {
      leased.add(token);
    }

    @Override
    public void stop(AttemptToken token, Attempt.StopCause why) {
      stops.add(why);
    }

    @Override
    public void told(AttemptToken token, Word word) {
      switch (word) {
        case SETTLED -> settled.add(token);
        case STALE -> stale.add(token);
        case MOVED -> moved.add(token);
      }
    }

    @Override
    public void beat(long number) {
      answered = number;
    }

    @Override
    public void drain() {
      drained = true;
    }

    @Override
    public void close(String why) {
      closed = why;
    }
  }
}
