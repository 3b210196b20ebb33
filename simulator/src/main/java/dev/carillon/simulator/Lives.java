package dev.carillon.simulator;

import static dev.carillon.simulator.Violation.check;

import dev.carillon.engine.dispatch.HandlerSettings;
import dev.carillon.engine.job.FlowSetting;
import dev.carillon.engine.job.FlowSubject;
import dev.carillon.simulator.FaultTable.Column;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * One node over all its starts: it lives, dies or stops, and is started again on the same store.
 */
final class Lives {
  private static final long LONGEST_DOWN_NANOS = 60 * VirtualClock.SECOND;
  private static final long GRACE_NANOS = 5 * VirtualClock.SECOND;
  private static final long STOP_LIMIT_NANOS = 30 * VirtualClock.SECOND;

  private final World world;
  private final UserOperations users;
  private final Life.Parts parts;
  private final Life.Place place;
  private final Runnable afterCrash;
  private @Nullable Life current;

  /** How many times it died. */
  int crashes;

  /**
   * The node of that number.
   *
   * @param afterCrash told of each crash
   */
  Lives(int node, Life.Parts parts, Runnable afterCrash) {
    this.world = parts.world();
    this.users = parts.users();
    this.parts = parts;
    this.place = new Life.Place(node, new StoreLine(world));
    this.afterCrash = afterCrash;
  }

  /** A fault happens to it. */
  void met(Column fault) {
    users.met(place.node(), fault);
  }

  /** Its line to the store. */
  StoreLine line() {
    return place.line();
  }

  /** The life that takes requests now, or null. */
  @Nullable Life open() {
    Life life = current;
    return life != null && life.open() ? life : null;
  }

  @Nullable Life current() {
    return current;
  }

  void start() {
    if (current != null) {
      return;
    }
    Life life = new Life(place, parts, this::crash);
    current = life;
    world.begins(life);
    world.trace.note("node starts", life.index, life.name());
    if (world.climate.workerJobs > 0) {
      life.node.workers().expect();
    }
    register(life);
    standard(
        life, FlowSubject.Scope.NAMESPACE, Wishes.LIMITED_NAMESPACE, world.climate.namespaceLimit);
    standard(life, FlowSubject.Scope.QUEUE, Wishes.LIMITED_QUEUE, world.climate.queueLimit);
    parts.judge().begins();
    life.node.start();
    life.turnIn(0);
  }

  private void standard(Life life, FlowSubject.Scope scope, String name, int limit) {
    FlowSubject subject = new FlowSubject(scope, name);
    life.node.standardFlow(subject, setting -> setting.limit(limit));
    world.flow.standard(subject, FlowSetting.NONE.limit(limit));
  }

  private void register(Life life) {
    registerWorkflows(life);
    for (String type : Wishes.TYPES) {
      int limit = type.equals(Wishes.LIMITED_TYPE) ? world.climate.typeLimit : Integer.MAX_VALUE;
      if (!world.faulty || (!type.equals(Wishes.LATE_TYPE) && world.chance.oneIn(2))) {
        life.node.register(type, limit, null);
      } else if (!type.equals(Wishes.LATE_TYPE) || world.chance.oneIn(3)) {
        world.in(
            world.chance.spread(VirtualClock.MILLI, world.climate.spanNanos / 4),
            () -> register(life, type, limit));
      }
    }
  }

  private void register(Life life, String type, int limit) {
    if (life.alive() && !life.stopping) {
      world.trace.note("register", 0, type);
      life.deliver(() -> life.node.register(type, limit, null));
    }
  }

  /** Also where their code did not fit its history: it does again. */
  private static void registerWorkflows(Life life) {
    for (String type : List.of(WorkflowUsers.MAIN, WorkflowProgram.SUB.name())) {
      life.node.register(type, new HandlerSettings(Integer.MAX_VALUE, 0, null, true));
    }
    life.node.register(WorkflowProgram.UNIT.name(), Integer.MAX_VALUE, null);
  }

  /** The code of workflows fits their histories again. */
  void fitWorkflows() {
    Life life = open();
    if (life != null) {
      life.deliver(() -> registerWorkflows(life));
    }
  }

  /** Registers every handler again, also those of jobs that did not decode. */
  void registerAll() {
    Life life = current;
    if (life != null) {
      for (String type : Wishes.TYPES) {
        int limit = type.equals(Wishes.LIMITED_TYPE) ? world.climate.typeLimit : Integer.MAX_VALUE;
        register(life, type, limit);
      }
      if (life.open()) {
        life.deliver(() -> registerWorkflows(life));
      }
    }
  }

  void crash(String why) {
    Life life = current;
    if (life == null) {
      return;
    }
    crashes++;
    world.trace.note("crash", life.index, why);
    met(Column.CRASH);
    users.crashed(life);
    over(life, true);
    afterCrash.run();
    world.in(world.chance.spread(VirtualClock.MILLI, LONGEST_DOWN_NANOS), this::start);
  }

  private void over(Life life, boolean crash) {
    life.end();
    current = null;
    parts.judge().lifeEnded(life.incarnation, crash);
  }

  // ---- graceful stop

  /** Stops the node in order; {@code then} runs when it has stopped. */
  void stop(Runnable then) {
    Life life = open();
    if (life == null) {
      return;
    }
    life.stopping = true;
    parts.judge().stopping();
    met(Column.STOP);
    users.begins(life, UserOperations.Kind.STOP);
    world.trace.note("stop", life.index);
    life.deliver(life.node::beginStop);
    if (world.faulty && world.chance.oneIn(4)) {
      met(Column.PAUSE);
      life.pause(world.chance.spread(VirtualClock.MILLI, GRACE_NANOS));
    }
    if (world.faulty) {
      world.goesWrongUntil(world.clock.nanos() + 2 * GRACE_NANOS + STOP_LIMIT_NANOS);
    }
    long grace = world.chance.spread(VirtualClock.MILLI, GRACE_NANOS);
    awaitQuiet(life, world.clock.nanos() + grace, false, then);
  }

  private void awaitQuiet(Life life, long until, boolean interrupted, Runnable then) {
    world.in(
        world.chance.spread(VirtualClock.MILLI, 200 * VirtualClock.MILLI),
        () -> {
          if (!life.alive()) {
            return;
          }
          if (life.node.quiet()) {
            release(life, then);
          } else if (world.clock.nanos() < until) {
            awaitQuiet(life, until, interrupted, then);
          } else if (!interrupted) {
            life.deliver(life.node::interruptRunning);
            awaitQuiet(life, world.clock.nanos() + GRACE_NANOS, true, then);
          } else {
            check(
                !world.healthy(),
                Guarantee.NOT_STUCK,
                () ->
                    "healthy node %d does not get quiet to stop: %d attempts, %d lent, %d borrowed"
                        .formatted(
                            life.nodeIndex,
                            life.node.running(),
                            life.node.lent(),
                            life.node.borrowed()));
            release(life, then);
          }
        });
  }

  private void release(Life life, Runnable then) {
    world.trace.note("release", life.index, life.handlers.running(), "");
    // It may have something to say to others after this in the same turn.
    life.deliver(() -> life.node.release(() -> world.in(0, () -> stopped(life, then))));
    world.in(
        STOP_LIMIT_NANOS,
        () -> {
          if (life.alive()) {
            check(
                !world.healthy(),
                Guarantee.NOT_STUCK,
                "a healthy node does not release its shards");
            world.trace.note("stop gives up", life.index);
            stopped(life, then);
          }
        });
  }

  private void stopped(Life life, Runnable then) {
    if (!life.alive()) {
      return;
    }
    world.trace.note("stopped", life.index, life.name());
    users.crashed(life);
    over(life, false);
    then.run();
  }
}
