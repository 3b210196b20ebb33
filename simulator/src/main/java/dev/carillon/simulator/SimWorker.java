package dev.carillon.simulator;

import dev.carillon.api.AttemptToken;
import dev.carillon.api.JobError;
import dev.carillon.engine.attempt.Attempt;
import dev.carillon.engine.environment.AttemptOutcome;
import dev.carillon.engine.job.JobRef;
import dev.carillon.engine.worker.WorkerHello;
import dev.carillon.engine.worker.WorkerTake;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * A worker outside the nodes, over all its starts. It keeps the rules of the protocol: it goes by
 * answered beats, stops with a tenth of its lease to spare, and says an outcome again until it is
 * settled. Everything else that a worker may do wrong, it does.
 */
final class SimWorker {
  static final long UNLEASED_NANOS = 2 * VirtualClock.SECOND;

  /** What only workers run. */
  static final String TYPE = WorkerModel.PREFIX + "unit";

  private static final long LOOK_NANOS = 100 * VirtualClock.MILLI;
  private static final long BEAT_NANOS = VirtualClock.SECOND;
  private static final long IDLE_NANOS = 30 * VirtualClock.SECOND;
  private static final long AGAIN_NANOS = VirtualClock.SECOND;
  private static final long SILENT_NANOS = 10 * VirtualClock.SECOND;
  private static final long GIVE_UP_NANOS = 300 * VirtualClock.SECOND;
  private static final long LONGEST_DOWN_NANOS = 20 * VirtualClock.SECOND;
  private static final long LONGEST_STILL_NANOS = 60 * VirtualClock.SECOND;
  private static final long LONGEST_RUN_NANOS = 50 * VirtualClock.SECOND;
  private static final long QUICK_NANOS = 500 * VirtualClock.MILLI;

  /** A look in so many does something wrong. */
  private static final int WRONG_ONE_IN = 250;

  private static final int SLOTS = 4;

  private final World world;
  private final int index;
  private final boolean leaseFirst;

  /** To so many nodes it is connected at once: others give to it by way of these. */
  private final int reach;

  private final Map<Long, WorkerRunning> has = new LinkedHashMap<>();
  private final List<WorkerLine> lines = new ArrayList<>();
  private int starts;
  private boolean up;
  private boolean drains;
  private long stillUntil;

  /** What has come while it stood still. */
  private final ArrayDeque<Runnable> arrived = new ArrayDeque<>();

  SimWorker(World world, int index) {
    this.world = world;
    this.index = index;
    this.leaseFirst = world.chance.oneIn(4);
    boolean all = world.chance.oneIn(2) || !world.climate.lends();
    this.reach = all ? Integer.MAX_VALUE : 1 + world.chance.below(2);
  }

  static AttemptOutcome outcome(WorkerRunning running) {
    AttemptOutcome said = running.said;
    return said != null ? said : new AttemptOutcome.Interrupted();
  }

  long nanos() {
    return world.clock.nanos();
  }

  private String name() {
    return "worker-" + index + "." + starts;
  }

  void start() {
    starts++;
    up = true;
    drains = false;
    world.trace.note("worker starts", index, starts, "");
    int life = starts;
    world.in(world.chance.between(0, LOOK_NANOS), () -> look(life));
  }

  private void look(int life) {
    if (!up || life != starts) {
      return;
    }
    if (nanos() < stillUntil) {
      world.queue.at(stillUntil, () -> look(life));
      return;
    }
    if (!world.faulty && !world.workers.anyLive()) {
      retire();
      return;
    }
    if (!world.faulty && has.isEmpty() && world.workers.nanosToNextDue() > 2 * IDLE_NANOS) {
      world.in(IDLE_NANOS, () -> look(life)); // days may pass until then
      return;
    }
    keepInTime();
    connect();
    for (WorkerLine line : List.copyOf(lines)) {
      if (nanos() - line.answeredNanos >= SILENT_NANOS) {
        lost(line);
      } else if (nanos() - line.beatNanos >= BEAT_NANOS) {
        line.beat();
        line.free(free(line));
      }
    }
    sayAgain();
    if (world.faulty && world.chance.oneIn(WRONG_ONE_IN)) {
      doWrong();
    }
    world.in(LOOK_NANOS, () -> look(life));
  }

  /** There is nothing left to do; an add may still become durable. */
  private void retire() {
    List.copyOf(lines).forEach(this::lost);
    world.workers.whenThereAre(() -> look(starts));
  }

  /** What it may not go on with it stops. */
  private void keepInTime() {
    for (WorkerRunning running : List.copyOf(has.values())) {
      if (running.runs() && nanos() >= running.stopNanos()) {
        world.trace.note("worker stops by its lease", running.record.id, running.number(), "");
        say(running, new AttemptOutcome.Interrupted());
      }
    }
  }

  private void connect() {
    List<Life> others = new ArrayList<>();
    for (Life life : world.living()) {
      boolean known = lines.stream().anyMatch(line -> line.life == life);
      if (!known && life.open() && !drains) {
        others.add(life);
      }
    }
    while (!others.isEmpty() && lines.size() < reach) {
      Life life = reach == Integer.MAX_VALUE ? others.getFirst() : world.chance.pick(others);
      others.remove(life);
      connect(life);
    }
    for (WorkerLine line : List.copyOf(lines)) {
      if (!line.life.alive() && world.chance.oneIn(4)) {
        lost(line); // it does not notice at once
      }
    }
  }

  private void connect(Life life) {
    WorkerLine line = new WorkerLine(this, life, world);
    lines.add(line);
    world.trace.note("worker connects", index, life.name());
    line.connect(new WorkerHello(name(), List.of(WorkerTake.type(TYPE)), leaseFirst));
    line.beat();
    line.free(free(line));
    resume(line);
  }

  private int free(WorkerLine line) {
    int running = 0;
    for (WorkerRunning each : has.values()) {
      boolean homeless = each.line == null && each.givenOn == line;
      running += each.runs() && (each.line == line || homeless) ? 1 : 0;
    }
    return drains || line.drains ? 0 : Math.max(0, SLOTS - running);
  }

  private void resume(WorkerLine line) {
    List<AttemptToken> homeless = new ArrayList<>();
    for (WorkerRunning each : has.values()) {
      if (each.line == null && each.runs()) {
        homeless.add(each.token);
      }
    }
    if (!homeless.isEmpty()) {
      line.resume(homeless);
    }
  }

  /** What has no home is said to everybody, and what is not settled too. */
  private void sayAgain() {
    for (WorkerLine line : List.copyOf(lines)) {
      if (nanos() - line.resumedNanos >= AGAIN_NANOS) {
        resume(line);
      }
    }
    for (WorkerRunning each : List.copyOf(has.values())) {
      if (each.said != null && nanos() - each.repeatedNanos >= AGAIN_NANOS) {
        each.repeatedNanos = nanos();
        List.copyOf(lines).forEach(line -> line.say(each));
        if (nanos() - each.saidNanos >= GIVE_UP_NANOS) {
          has.remove(each.token.nonce());
        }
      }
    }
  }

  // ---- what goes wrong

  private void doWrong() {
    switch (world.chance.below(7)) {
      case 0 -> die();
      case 1 -> {
        long nanos = world.chance.spread(VirtualClock.SECOND, LONGEST_STILL_NANOS);
        world.trace.note("worker stands still", index, nanos, "");
        stillUntil = nanos() + nanos;
        world.goesWrongUntil(stillUntil);
      }
      case 2 -> {
        if (!lines.isEmpty()) {
          WorkerLine line = world.chance.pick(lines);
          world.trace.note("line breaks", index);
          boolean heard = world.chance.oneIn(2);
          lost(line, heard);
        }
      }
      case 3 -> {
        if (!lines.isEmpty()) {
          world.trace.note("line is deaf upwards", index);
          world.chance.pick(lines).deafUp = true;
        }
      }
      case 4 -> {
        if (!lines.isEmpty()) {
          world.trace.note("worker does not read", index);
          world.chance.pick(lines).deafDown = true;
        }
      }
      case 5 -> {
        world.trace.note("worker drains", index);
        drains = true;
        lines.forEach(WorkerLine::takesNoMore);
        int life = starts;
        world.in(
            world.chance.spread(VirtualClock.SECOND, LONGEST_DOWN_NANOS),
            () -> {
              if (up && life == starts) {
                die();
              }
            });
      }
      default -> {
        for (WorkerRunning each : has.values()) {
          if (each.said != null) {
            lines.forEach(line -> line.say(each)); // once more than it has to
          }
        }
      }
    }
  }

  private void die() {
    world.trace.note("worker dies", index);
    up = false;
    arrived.clear();
    for (WorkerRunning each : has.values()) {
      each.cutOff = true;
    }
    has.clear();
    for (WorkerLine line : List.copyOf(lines)) {
      line.end(world.chance.oneIn(2));
    }
    lines.clear();
    world.in(world.chance.spread(VirtualClock.MILLI, LONGEST_DOWN_NANOS), this::start);
  }

  /** Whatever is wrong is not any more. */
  void heal() {
    stillUntil = Math.min(stillUntil, nanos());
    goOn();
    for (WorkerLine line : List.copyOf(lines)) {
      if (line.deafUp || line.deafDown) {
        lost(line);
      }
    }
  }

  void lost(WorkerLine line) {
    lost(line, true);
  }

  private void lost(WorkerLine line, boolean heard) {
    if (lines.remove(line)) {
      line.end(heard);
      for (WorkerRunning each : has.values()) {
        if (each.line == line) {
          each.line = null;
        }
      }
    }
  }

  // ---- what nodes say

  /** Something has arrived: it is heard now, or when the process goes on, in order. */
  void hear(Runnable word) {
    if (!up) {
      return;
    }
    if (nanos() < stillUntil) {
      arrived.add(word);
      int life = starts;
      world.queue.at(
          stillUntil,
          () -> {
            if (life == starts) {
              goOn();
            }
          });
      return;
    }
    goOn();
    word.run();
  }

  private void goOn() {
    while (!arrived.isEmpty() && up && nanos() >= stillUntil) {
      arrived.remove().run();
    }
  }

  void given(WorkerLine line, AttemptToken token, JobRef ref, long by) {
    WorkerRecord record = world.workers.find(ref);
    if (record == null) {
      throw new Violation(Guarantee.NOT_LOST, "a worker is given a job that is in no journal");
    }
    if (world.faulty && world.chance.oneIn(15)) {
      return; // it got lost in the worker
    }
    if (drains || (world.faulty && world.chance.oneIn(15))) {
      line.refuse(token);
      return;
    }
    int taken = 0;
    for (WorkerRunning each : has.values()) {
      taken += each.runs() && each.givenOn == line && each.line == line ? 1 : 0;
    }
    int running = taken;
    Violation.check(
        taken < SLOTS,
        Guarantee.LIMITS,
        () -> this + " is given an attempt while it runs " + running + " of " + SLOTS);
    WorkerRunning running2 = new WorkerRunning(this, token, record, by, line);
    running2.renewed(line.answeredNanos);
    if (nanos() >= running2.stopNanos()) {
      line.refuse(token); // it stood still, and whoever gave it may be gone
      return;
    }
    world.trace.note("worker begins", record.id, token.attempt(), name());
    world.workers.begins(running2);
    has.put(token.nonce(), running2);
    if (leaseFirst || !world.faulty || !world.chance.oneIn(20)) {
      running2.accepted = true;
      line.accepted(token);
    }
    work(running2);
  }

  private void work(WorkerRunning running) {
    Chance chance = world.chance;
    long nanos =
        chance.oneIn(2)
            ? chance.between(0, QUICK_NANOS)
            : chance.spread(VirtualClock.SECOND, LONGEST_RUN_NANOS);
    AttemptOutcome outcome = success(running);
    if (world.faulty) {
      switch (chance.below(12)) {
        case 0, 1 -> outcome = failure();
        case 2 ->
            outcome =
                new AttemptOutcome.Again(
                    world.clock.wallMicros() + chance.spread(1, 20_000_000), "later");
        case 3 -> outcome = new AttemptOutcome.Interrupted();
        default -> {}
      }
    }
    AttemptOutcome last = outcome;
    world.in(nanos, () -> returns(running, last));
  }

  private static AttemptOutcome failure() {
    return new AttemptOutcome.Failed(
        new JobError("simulated.failed", "failed", ""), new AttemptOutcome.Verdict.ByPolicy());
  }

  private static AttemptOutcome success(WorkerRunning running) {
    byte[] result = ByteBuffer.allocate(8).putLong(running.token.nonce()).array();
    return new AttemptOutcome.Succeeded(result);
  }

  /** The handler returns; where the process stands still, as soon as it goes on. */
  private void returns(WorkerRunning running, AttemptOutcome outcome) {
    if (!running.runs()) {
      return;
    }
    if (nanos() < stillUntil) {
      world.queue.at(stillUntil, () -> returns(running, outcome));
      return;
    }
    say(running, outcome);
  }

  private void say(WorkerRunning running, AttemptOutcome outcome) {
    running.said = outcome;
    running.accepted = true;
    running.saidNanos = nanos();
    running.repeatedNanos = nanos();
    WorkerLine line = running.line;
    if (line != null && lines.contains(line)) {
      line.say(running);
      line.free(free(line));
    } else {
      List.copyOf(lines).forEach(each -> each.say(running));
    }
  }

  void leased(WorkerLine line, AttemptToken token, long nanos, long by) {
    WorkerRunning running = has.get(token.nonce());
    if (running != null && running.runs()) {
      if (running.line == null) {
        running.line = line;
        running.renewed(line.answeredNanos);
      }
      if (running.line == line) {
        running.leaseNanos = nanos;
        running.leasedBy = by;
      }
    }
  }

  void answered(WorkerLine line, long sentNanos) {
    for (WorkerRunning each : has.values()) {
      if (each.line == line) {
        each.renewed(sentNanos);
      }
    }
  }

  void moved(WorkerLine line, AttemptToken token) {
    WorkerRunning running = has.get(token.nonce());
    if (running != null && running.line == line) {
      running.line = null;
    }
  }

  /**
   * A node asks it to stop, which it has not heard yet: what it says of a failure need not count.
   */
  void askedToStop(AttemptToken token) {
    WorkerRunning running = has.get(token.nonce());
    if (running != null) {
      running.toldToStop = true;
    }
  }

  void stop(WorkerLine line, AttemptToken token, Attempt.StopCause why) {
    WorkerRunning running = has.get(token.nonce());
    if (running == null || !running.runs() || (world.faulty && world.chance.oneIn(10))) {
      return;
    }
    world.trace.note("worker is told to stop", running.record.id, why.name());
    Violation.check(
        why != Attempt.StopCause.FENCED || !isKnownAt(running, line),
        Guarantee.LEASES,
        () -> running + " is told that others have it, and it is in time by its lease");
    AttemptOutcome outcome =
        world.chance.oneIn(3) ? success(running) : new AttemptOutcome.Interrupted();
    world.in(world.chance.between(0, QUICK_NANOS), () -> returns(running, outcome));
  }

  private static boolean isKnownAt(WorkerRunning running, WorkerLine line) {
    return running.accepted
        && running.isInTime()
        && running.line == line
        && running.leasedBy == line.life.incarnation;
  }

  void settled(AttemptToken token) {
    WorkerRunning running = has.remove(token.nonce());
    if (running != null) {
      world.workers.settled(running);
    }
  }

  void stale(AttemptToken token) {
    WorkerRunning running = has.remove(token.nonce());
    if (running != null) {
      world.trace.note("worker hears that it is stale", running.record.id);
      running.cutOff |= running.said == null;
    }
  }

  @Override
  public String toString() {
    return name();
  }
}
