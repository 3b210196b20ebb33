package dev.carillon.simulator;

import dev.carillon.engine.environment.Membership;
import dev.carillon.engine.format.Micros;
import dev.carillon.simulator.FaultTable.Column;
import java.util.function.LongSupplier;

/**
 * What befalls one of several nodes and not the others: it is cut off from the store, stands still,
 * its clock jumps; or one after the other is restarted.
 */
final class FleetFaults {
  private static final long LONGEST_RESTART_NANOS = 5 * VirtualClock.SECOND;
  private static final long SMALLEST_JUMP_MICROS = 10_000;
  private static final long LARGEST_JUMP_MICROS = 3_600L * 1_000_000;
  private static final long AGREED_MICROS = 50_000;

  /** How far off a corrected clock still is, at most. */
  private static final long MOST_KEPT_MICROS = 25_000_000;

  private final World world;
  private final Fleet fleet;
  private final Together together;
  private final Backup backup;

  /** How many there were. */
  long planned;

  FleetFaults(World world, Fleet fleet, Together together, Backup backup) {
    this.backup = backup;
    this.world = world;
    this.fleet = fleet;
    this.together = together;
  }

  /** Plans them, each for a moment of its own. */
  void plan(LongSupplier moments) {
    for (int i = 0; i < together.cuts; i++) {
      world.queue.at(moments.getAsLong(), this::cut);
    }
    for (int i = 0; i < together.pauses; i++) {
      world.queue.at(moments.getAsLong(), this::pause);
    }
    for (int i = 0; i < together.jumps; i++) {
      world.queue.at(moments.getAsLong(), this::jump);
    }
    for (int i = 0; i < (world.climate.workerJobs > 0 ? 0 : together.restores); i++) {
      long at = moments.getAsLong();
      world.queue.at(Math.max(0, at - together.backupNanos), backup::take);
      world.queue.at(at, this::restore);
    }
    for (int i = 0; i < together.rollingRestarts; i++) {
      world.queue.at(moments.getAsLong(), () -> restartFrom(0));
    }
  }

  private void cut() {
    if (!world.faulty) {
      return;
    }
    planned++;
    int node = world.chance.below(world.climate.nodes);
    long nanos = together.faultNanos(world.chance);
    world.trace.note("cut off", node, nanos, "");
    fleet.nodes().get(node).met(Column.CUT);
    fleet.nodes().get(node).line().cut(nanos);
  }

  private void pause() {
    Life life = fleet.someCurrent();
    if (!world.faulty || life == null) {
      return;
    }
    planned++;
    long nanos = together.faultNanos(world.chance);
    world.trace.note("pause", life.nodeIndex, nanos, "");
    fleet.nodes().get(life.nodeIndex).met(Column.PAUSE);
    life.pause(nanos);
  }

  private void jump() {
    if (!world.faulty) {
      return;
    }
    planned++;
    int node = world.chance.below(world.climate.nodes);
    long by = world.chance.spread(SMALLEST_JUMP_MICROS, LARGEST_JUMP_MICROS);
    boolean back = world.chance.oneIn(2);
    world.trace.note("clock of one jumps", node, back ? -by : by, "");
    fleet.nodes().get(node).met(back ? Column.CLOCK_BACK : Column.CLOCK_FORWARD);
    world.clock.of(node).jump(back ? -by : by);
    world.in(together.faultNanos(world.chance), () -> correct(node));
  }

  /** Somebody notices that a clock is wrong: what is far off starts nothing meanwhile. */
  private void correct(int node) {
    NodeClock clock = world.clock.of(node);
    long off = clock.wallMicros() - world.clock.store().wallMicros();
    if (world.faulty && Math.abs(off) > Micros.ceil(Membership.CLOCK_LIMIT)) {
      long kept = world.chance.between(-MOST_KEPT_MICROS, MOST_KEPT_MICROS);
      world.trace.note("clock of one is corrected", node, kept - off, "");
      clock.jump(kept - off);
    }
  }

  /** The data is again what it was. */
  private void restore() {
    if (world.faulty && backup.putBack()) {
      planned++;
      fleet.nodes().forEach(node -> node.met(Column.RESTORE));
      world.goesWrongUntil(world.clock.nanos() + 2 * together.timeoutNanos);
    }
  }

  private void restartFrom(int node) {
    if (!world.faulty || node == world.climate.nodes) {
      return;
    }
    planned++;
    Lives lives = fleet.nodes().get(node);
    if (lives.open() == null) {
      restartFrom(node + 1); // it is down already
      return;
    }
    lives.stop(
        () ->
            world.in(
                world.chance.spread(VirtualClock.MILLI, LONGEST_RESTART_NANOS),
                () -> {
                  lives.start();
                  world.in(
                      world.chance.spread(VirtualClock.MILLI, LONGEST_RESTART_NANOS),
                      () -> restartFrom(node + 1));
                }));
  }

  /** From now on the clocks of all nodes agree, almost. */
  void heal() {
    long time = world.clock.latestWallMicros();
    for (int i = 0; i < world.climate.nodes; i++) {
      NodeClock clock = world.clock.of(i);
      clock.jump(time - clock.wallMicros() + world.chance.between(0, AGREED_MICROS));
    }
    world.clock.store().jump(time - world.clock.store().wallMicros());
  }
}
