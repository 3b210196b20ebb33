package dev.carillon.simulator;

import static dev.carillon.simulator.Violation.check;

import dev.carillon.engine.member.ClusterReader;
import dev.carillon.simulator.FaultTable.Column;
import dev.carillon.store.FaultyStore;
import dev.carillon.store.MemoryStore;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * One seed: users, faults and one node or more on one store, first in bad weather, then, when
 * everything has healed, until all is quiet; then the store is read and compared with what the
 * checker saw.
 */
final class Simulation {
  private static final int LEAST_JOBS = 200;
  private static final int LEAST_EVENTS = 2_000;
  private static final int LEAST_FAULTS = 5;
  private static final long MOST_STEPS = 1_000_000; // for each node
  private static final int MORE_JOBS = 50;
  private static final int ABSENT_ONE_IN = 8;
  private static final long REGISTER_AGAIN_NANOS = 10 * VirtualClock.SECOND;
  private static final long TIDY_AGAIN_NANOS = 6 * 3600 * VirtualClock.SECOND;
  private static final long RETRY_NANOS = 200 * VirtualClock.MILLI;
  private static final int EXPECTED_EVENTS = 3_000;
  private static final long ANSWER_LIMIT_NANOS = 600 * VirtualClock.SECOND;
  private static final long QUIET_LIMIT_NANOS = 7_200 * VirtualClock.SECOND;

  private final World world;
  private final UserOperations operations;
  private final WatchedStore watched;
  private final FaultyStore store;
  private final StoreFaults faults;
  private final Ledger ledger;
  private final Users users;
  private final ControlUsers controlUsers;
  private final FlowUsers flowUsers;
  private final WorkflowUsers workflowUsers;
  private final WorkerUsers workerUsers;
  private final AttemptJudge attempts;
  private final Fleet fleet;
  private final Wishes wishes;
  private final FoldProbe probe;
  private final Patience patience;

  /** Of several nodes; null where there is one. */
  private final @Nullable FleetFaults fleetFaults;

  private final @Nullable Lull lull;
  private long planned;

  /** What users still mean to do. */
  private int todo;

  private long steps;
  private int stopped;
  private final Set<Long> lastIncarnations = new LinkedHashSet<>();

  /** A simulation of {@code seed}; faults are counted in {@code table}. */
  Simulation(Seed seed, FaultTable table, @Nullable Consumer<String> printer) {
    world = new World(seed, table, printer);
    operations = new UserOperations(table, seed.nodes());
    ledger = new Ledger(world.model);
    Judge judge = new Judge(world, ledger);
    world.model.judge(judge, world.keys);
    watched = new WatchedStore(new MemoryStore(() -> world.clock.store().wallMicros()), world);
    FaultyStore[] made = new FaultyStore[1];
    faults = new StoreFaults(world, operations, () -> deliverLate(made[0]));
    store = new FaultyStore(watched, faults);
    made[0] = store;
    attempts = new AttemptJudge(world, ledger);
    wishes = new Wishes(world);
    users = new Users(world, ledger, operations, wishes);
    fleet =
        new Fleet(
            new Life.Parts(world, store, watched, faults, operations, ledger, attempts),
            users::crashed);
    controlUsers = new ControlUsers(world, ledger, operations, users, wishes);
    workflowUsers = new WorkflowUsers(world, operations);
    workerUsers = new WorkerUsers(world);
    flowUsers = new FlowUsers(world, operations);
    probe = new FoldProbe(world);
    patience = new Patience(world);
    Together together = world.climate.together;
    fleetFaults =
        together == null
            ? null
            : new FleetFaults(
                world, fleet, together, new Backup(world, watched, store, users::wentBack));
    lull = together == null ? null : new Lull(world, fleet, operations);
  }

  private void deliverLate(FaultyStore from) {
    world.trace.note("late");
    from.deliverNextLate();
  }

  /** What nodes said of why jobs do not run. */
  WhyProbe why() {
    return world.why;
  }

  /** How a seed went. */
  record Result(
      long seed, long hash, long events, long faults, int jobs, @Nullable Violation violation) {

    /** Whether enough happened for the seed to count. */
    boolean bigEnough() {
      return jobs >= LEAST_JOBS && events >= LEAST_EVENTS && faults >= LEAST_FAULTS;
    }
  }

  Trace trace() {
    return world.trace;
  }

  Result run() {
    Violation violation = null;
    try {
      badWeather();
      heal();
      goodWeather();
      new FinalCheck(world, ledger, watched.now(), lastIncarnations).run(users.watchers());
    } catch (Violation broken) {
      violation = broken;
    } catch (RuntimeException | Error thrown) { // else the seed would be missing from the hash
      violation = new Violation(Guarantee.NO_ERROR, "the engine threw " + thrown);
      violation.initCause(thrown);
    }
    world.stage.close();
    world.table.count(store);
    return new Result(
        world.seed.number(),
        world.trace.hash(),
        world.trace.events(),
        faults(),
        ledger.requests().size(),
        violation);
  }

  // ---- bad weather

  private void badWeather() {
    fleet.start();
    plan();
    runUntil(world.climate.spanNanos, () -> false);
    runFor(world.climate.spanNanos + QUIET_LIMIT_NANOS, () -> todo == 0);
    while (world.trace.events() < LEAST_EVENTS || ledger.requests().size() < LEAST_JOBS) {
      prolong();
    }
    while (faults() < LEAST_FAULTS) {
      jump();
    }
  }

  /** So little happened that it goes on for a while. */
  private void prolong() {
    long now = world.clock.nanos();
    long more = world.climate.spanNanos / 8;
    for (int i = 0; i < MORE_JOBS; i++) {
      at(now + world.chance.between(0, more), this::schedule);
    }
    runFor(more, () -> false);
    runFor(QUIET_LIMIT_NANOS, () -> todo == 0);
  }

  private long faults() {
    return faults.decided
        + planned
        + fleet.crashes()
        + (fleetFaults != null ? fleetFaults.planned : 0);
  }

  private void plan() {
    Climate climate = world.climate;
    List<Long> bursts = new ArrayList<>();
    for (long i = world.chance.between(4, 16); i > 0; i--) {
      bursts.add(world.chance.between(0, climate.spanNanos));
    }
    for (int i = 0; i < climate.adds; i++) {
      at(moment(bursts), this::schedule);
    }
    for (long i = world.chance.between(3, 12); i > 0; i--) {
      at(moment(bursts), this::scheduleAll);
    }
    for (int i = 0; i < climate.killers; i++) {
      at(moment(bursts), life -> users.schedule(life, wishes.killer()));
    }
    for (long i = world.chance.between(10, 60); i > 0; i--) {
      at(moment(bursts), users::cancel);
    }
    for (long i = world.chance.between(5, 20); i > 0; i--) {
      at(moment(bursts), users::get);
    }
    for (long i = world.chance.between(10, 60); i > 0; i--) {
      at(moment(bursts), controlUsers::change);
    }
    for (long i = world.chance.between(4, 20); i > 0; i--) {
      at(moment(bursts), controlUsers::tendDead);
    }
    for (int i = 0; i < climate.flowChanges; i++) {
      at(moment(bursts), flowUsers::change);
    }
    for (int i = 0; i < climate.jumps; i++) {
      world.queue.at(moment(bursts), this::jump);
    }
    for (int i = 0; i < climate.stops; i++) {
      at(moment(bursts), this::stop);
    }
    for (long i = world.chance.between(0, 2); i > 0; i--) {
      world.queue.at(moment(bursts), this::outage);
    }
    for (long i = world.chance.between(0, 2); i > 0; i--) {
      at(moment(bursts), this::pause);
    }
    for (long i = world.chance.between(1, 4); i > 0; i--) {
      world.queue.at(world.chance.between(0, climate.spanNanos), fleet::registerAll);
    }
    for (int i = 1; i <= 8; i++) {
      world.queue.at(climate.spanNanos * i / 8, this::compareFold);
    }
    if (fleetFaults != null) {
      fleetFaults.plan(() -> moment(bursts));
    }
    workflowUsers.plan(this::at, () -> moment(bursts));
    workerUsers.plan(this::at, () -> moment(bursts));
  }

  private long moment(List<Long> bursts) {
    if (world.chance.oneIn(3)) {
      return world.chance.between(0, world.climate.spanNanos);
    }
    long within = world.chance.spread(VirtualClock.MICRO, 2 * VirtualClock.SECOND);
    return Math.min(world.climate.spanNanos, world.chance.pick(bursts) + within);
  }

  /** Does something on the loop at that time, or as soon as there is a node to do it with. */
  private void at(long nanos, Consumer<Life> action) {
    todo++;
    world.queue.at(nanos, () -> tryNow(action));
  }

  private void tryNow(Consumer<Life> action) {
    Life life = fleet.someOpen();
    if (life == null) {
      world.in(RETRY_NANOS, () -> tryNow(action));
    } else if (life.paused()) {
      world.queue.at(life.pausedUntil(), () -> tryNow(action));
    } else {
      todo--;
      life.deliver(() -> action.accept(life));
    }
  }

  private void schedule(Life life) {
    Request.Wish again = world.chance.oneIn(4) ? users.takeUnsure() : null;
    Request request = users.schedule(life, again != null ? again : someWish());
    if (world.chance.oneIn(8)) {
      world.in(
          world.chance.spread(VirtualClock.MICRO, VirtualClock.SECOND),
          () -> life.deliver(() -> users.abandon(life, request)));
    }
  }

  private Request.Wish someWish() {
    Request.Wish wish = freeWish();
    return world.chance.happens(world.climate.dependent)
        ? wishes.dependent(wish, users.someToWaitFor())
        : wish;
  }

  private Request.Wish freeWish() {
    return switch (world.chance.below(20)) {
      case 0, 1, 2, 3, 4, 5 -> wishes.named();
      case 6, 7 -> wishes.keyed();
      case 8, 9 -> wishes.recurring();
      default -> wishes.plain();
    };
  }

  private void scheduleAll(Life life) {
    List<Request.Wish> batch = new ArrayList<>();
    for (int i = (int) world.chance.between(1, 10); i > 0; i--) {
      batch.add(wishes.ofBatch(i));
    }
    boolean tied = world.chance.oneIn(2);
    List<Request> requests = users.scheduleAll(life, batch, tied);
    if (world.chance.oneIn(4)) {
      world.in(
          world.chance.spread(VirtualClock.MICRO, VirtualClock.SECOND),
          () -> life.deliver(() -> users.abandon(life, world.chance.pick(requests))));
    }
  }

  private void jump() {
    planned++;
    long by = world.chance.spread(1, world.climate.longestJumpMicros);
    boolean back = world.chance.oneIn(2);
    world.trace.note("clock jumps", back ? -by : by, "");
    fleet.nodes().forEach(node -> node.met(back ? Column.CLOCK_BACK : Column.CLOCK_FORWARD));
    world.clock.jump(back ? -by : by);
    if (!back) {
      attempts.clockPutForward();
    }
    for (Life life : fleet.current()) {
      life.turnIn(world.chance.between(0, VirtualClock.SECOND));
    }
  }

  private void stop(Life life) {
    planned++;
    Lives node = fleet.nodes().get(life.nodeIndex);
    node.stop(
        () ->
            world.in(
                world.chance.spread(VirtualClock.MILLI, 20 * VirtualClock.SECOND), node::start));
  }

  private void outage() {
    planned++;
    world.trace.note("outage begins");
    faults.outage = true;
    world.in(
        world.chance.spread(10 * VirtualClock.MILLI, 20 * VirtualClock.SECOND),
        () -> faults.outage = false);
  }

  private void pause(Life life) {
    planned++;
    long nanos = world.chance.spread(10 * VirtualClock.MILLI, 30 * VirtualClock.SECOND);
    world.trace.note("pause", nanos);
    operations.met(life.nodeIndex, Column.PAUSE);
    life.pause(nanos);
  }

  private void compareFold() {
    for (Life life : fleet.current()) {
      if (probe.compare(life)) {
        world.trace.note("fold compared");
      }
    }
  }

  // ---- good weather

  private void heal() {
    world.trace.note("everything heals");
    world.heal();
    workerUsers.heal();
    faults.outage = false;
    if (fleetFaults != null) {
      fleetFaults.heal();
    }
    patience.healed();
  }

  private void goodWeather() {
    for (Lives node : fleet.nodes()) {
      Life life = node.current();
      if (life == null) {
        node.start();
      } else {
        life.handlers.heal();
      }
    }
    fleet.registerAll();
    world.in(REGISTER_AGAIN_NANOS, fleet::registerAll);
    tidy();
    settle();
    world.trace.note("late", store.deliverLate());
    probeNames();
    settle();
    if (world.climate.together != null && lull != null && world.chance.oneIn(ABSENT_ONE_IN)) {
      absence(new Absence(world, fleet, world.climate.together), lull);
    }
    compareFold();
    stopForGood();
  }

  /** One node is away for a while, when all is calm. */
  private void absence(Absence absence, Lull calm) {
    world.calm = true;
    absence.schedule(users, wishes);
    runFor(ANSWER_LIMIT_NANOS, () -> absence.isReady() && !operations.any());
    calm.off = true;
    runFor(absence.newsNanos(), () -> false);
    absence.before();
    boolean[] gone = new boolean[1];
    absence.node().stop(() -> gone[0] = true);
    runFor(QUIET_LIMIT_NANOS, () -> gone[0]);
    ClusterReader reader = new ClusterReader();
    reader.look(watched.now()).orThrow();
    runFor(absence.newsNanos(), () -> false);
    absence.gone(reader.read(watched.now()).orThrow());
    calm.off = false;
    calm.away = 1;
    runUntil(Long.MAX_VALUE, absence::isOver);
    absence.returns();
    calm.away = 0;
    calm.off = true;
    absence.node().start();
    runFor(absence.newsNanos(), () -> false);
    absence.isBack();
    calm.off = false;
    settle();
    calm.off = true;
    runFor(absence.newsNanos(), () -> false);
    absence.after();
    calm.off = false;
  }

  private void tidy() {
    boolean any = false;
    for (Lives node : fleet.nodes()) {
      any |= tidy(node.open());
    }
    if (world.model.live() > 0) {
      fleet.nodes().forEach(Lives::fitWorkflows);
    }
    if (any || operations.anyAsked()) {
      world.in(REGISTER_AGAIN_NANOS, this::tidy);
    } else if (world.model.live() > 0) {
      world.in(TIDY_AGAIN_NANOS, this::tidy); // a late write may pause a job
    }
  }

  /** Lets a node tidy up its own shards; true if there was any need, or nobody knows. */
  private boolean tidy(@Nullable Life life) {
    boolean[] any = {true};
    if (life != null) {
      life.deliver(
          () -> {
            boolean flow = flowUsers.tidy(life);
            boolean workflows = workflowUsers.tidy(life);
            any[0] = controlUsers.tidy(life) || flow || workflows;
          });
    }
    return any[0];
  }

  private void settle() {
    runFor(ANSWER_LIMIT_NANOS, () -> !operations.anyAsked());
    check(
        !operations.anyAsked(), Guarantee.NOT_STUCK, () -> "not answered: " + operations.pending());
    runUntil(Long.MAX_VALUE, () -> world.model.live() == 0);
    runFor(QUIET_LIMIT_NANOS, () -> !operations.any());
    check(!operations.any(), Guarantee.NOT_STUCK, () -> "not answered: " + operations.pending());
    runFor(QUIET_LIMIT_NANOS, () -> world.model.live() == 0);
    check(world.model.live() == 0, Guarantee.NOT_STUCK, "a job has not ended");
  }

  private void probeNames() {
    Set<String> probed = new LinkedHashSet<>();
    for (ModelShard shard : List.copyOf(world.model.shards())) {
      for (ModelJob job : List.copyOf(shard.jobs.values())) {
        if (job.spec.name() != null && probed.add(job.spec.recordKey())) {
          probeName(job);
        }
      }
    }
  }

  private void probeName(ModelJob job) {
    String name = job.spec.name();
    if (name == null) {
      return;
    }
    Request.Told told = Request.Told.NOTHING;
    for (Life life : fleet.openOwnerFirst(job.shard)) {
      told = probe(life, wishes.probe(job.spec.namespace(), name));
      if (told == Request.Told.CREATED) {
        return;
      }
    }
    throw new Violation(Guarantee.NAMES, "the name of ended " + job + " is not free: " + told);
  }

  private Request.Told probe(Life life, Request.Wish wish) {
    Request[] request = new Request[1];
    life.deliver(() -> request[0] = users.schedule(life, wish));
    runFor(QUIET_LIMIT_NANOS, () -> request[0].told != Request.Told.NOTHING && !operations.any());
    return request[0].told;
  }

  private void stopForGood() {
    patience.over();
    int nodes = fleet.nodes().size();
    for (Lives node : fleet.nodes()) {
      Life life = node.open();
      if (life != null) {
        lastIncarnations.add(life.incarnation);
      }
      node.stop(() -> stopped++);
    }
    runFor(QUIET_LIMIT_NANOS, () -> stopped == nodes);
    check(stopped == nodes, Guarantee.NOT_STUCK, "a healthy node does not stop");
  }

  private void crashSome() {
    Life life = fleet.someCurrent();
    if (life != null) {
      world.crashesLeft--;
      fleet.nodes().get(life.nodeIndex).crash("just so");
    }
  }

  // ---- time

  private String state() {
    StringBuilder state = new StringBuilder();
    state.append(world.model.live()).append(" live jobs, pending: ").append(operations.pending());
    for (Life life : fleet.current()) {
      state
          .append(", node ")
          .append(life.nodeIndex)
          .append(": ")
          .append(life.handlers.running())
          .append(" attempts, store idle ")
          .append(life.channels.idle());
    }
    for (WorkerRecord job : world.workers.all()) {
      if (job.live) {
        state.append(", ").append(job.story());
      }
    }
    return state.toString();
  }

  private void runFor(long nanos, BooleanSupplier done) {
    runUntil(world.clock.nanos() + nanos, done);
  }

  private void runUntil(long nanos, BooleanSupplier done) {
    while (!done.getAsBoolean() && world.queue.nextNanos() <= nanos) {
      world.clock.moveTo(world.queue.nextNanos());
      world.queue.poll().run();
      if (++steps > MOST_STEPS * world.climate.nodes) {
        throw new Violation(Guarantee.NOT_STUCK, "the simulation does not end: " + state());
      }
      if (world.faulty) {
        if (world.crashesLeft > 0 && world.chance.below(EXPECTED_EVENTS) < world.crashesLeft) {
          crashSome();
        }
      } else {
        patience.look();
        if (lull != null) {
          lull.look();
        }
      }
    }
  }
}
