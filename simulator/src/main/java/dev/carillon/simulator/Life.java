package dev.carillon.simulator;

import dev.carillon.api.BlockReason;
import dev.carillon.api.JobInfo;
import dev.carillon.api.JobListener;
import dev.carillon.api.Metrics;
import dev.carillon.api.OccurrenceInfo;
import dev.carillon.engine.Node;
import dev.carillon.engine.environment.NodeEnvironment;
import dev.carillon.engine.job.JobRef;
import dev.carillon.engine.member.Formats;
import dev.carillon.store.FaultyStore;
import dev.carillon.store.Store;
import java.util.ArrayDeque;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * One start of the node, until it stops or dies: a real {@link Node} in a simulated environment.
 * Everything that reaches the node goes through {@link #deliver}, so that a dead one hears nothing
 * and a paused one hears it later.
 */
final class Life implements NodeEnvironment {
  private static final long LONGEST_TURN_NANOS = 50 * VirtualClock.MICRO;
  private static final long FINE_SLEEP_NANOS = 100 * VirtualClock.MILLI;
  private static final long COARSEST_SLEEP_NANOS = 3_600 * VirtualClock.SECOND;
  private static final String WENT_BACK = "the store went back in time";
  private static final int ENDLESS = 20_000;

  final int index;

  /** Which of the nodes it is a start of, from 0. */
  final int nodeIndex;

  final long incarnation;
  final NodeClock clock;
  final Node node;
  final Opening opening;
  final StoreChannels channels;
  final Handlers handlers;
  private final World world;
  private final UserOperations users;
  private final Formats formats = Formats.shipped();
  private final Listener listener = new Listener();
  private boolean alive = true;
  private boolean probing;
  private long pausedUntil;
  private long turnAt = Long.MAX_VALUE;

  /** When the event queue wakes it, the next time first, perhaps before its turn. */
  private final ArrayDeque<Long> wakes = new ArrayDeque<>();

  private int turnsAtOnce;

  /** It was told to stop and starts nothing more. */
  boolean stopping;

  /** A new life, which {@code crash} ends, for the reason it is given. */
  Life(Place place, Parts parts, Consumer<String> crash) {
    this.world = parts.world();
    this.index = world.nextLife();
    this.nodeIndex = place.node();
    this.clock = world.clock.of(nodeIndex);
    this.users = parts.users();
    this.incarnation = world.chance.next() | 1;
    this.opening = new Opening(world, parts.store());
    this.channels = new StoreChannels(this, parts, place.line(), crash);
    this.handlers = new Handlers(this, parts, crash);
    this.node = new Node(this, handlers, formats, world.climate.options(nodeIndex, incarnation));
    Node.notificationChannels(incarnation)
        .forEach(
            (channel, heard) -> {
              var unused = world.rings.listen(channel, () -> deliver(() -> heard.accept(node)));
            });
  }

  /** Where a node runs: which one it is, and its line to the store. */
  record Place(int node, StoreLine line) {}

  /**
   * What every life of every node shares.
   *
   * @param store with faults
   * @param watched the same without
   */
  record Parts(
      World world,
      FaultyStore store,
      WatchedStore watched,
      StoreFaults faults,
      UserOperations users,
      Ledger ledger,
      AttemptJudge judge) {}

  /** Whether there are other nodes. */
  boolean hasPeers() {
    return world.climate.nodes > 1;
  }

  /** Whether it, or one that it asks, may not know yet that another has taken the shard. */
  boolean mayHaveLost(ModelShard shard) {
    return hasPeers() && world.members.movedOfLate(shard);
  }

  /** Whether an older copy of the store was put back and it goes by the one before. */
  boolean stale() {
    return opening.copy() != world.copy;
  }

  /** The job in whose place {@code ref} points in the copy of the store that it goes by. */
  private @Nullable ModelJob job(@Nullable JobRef ref) {
    return ref == null ? null : world.model.job(opening.copy(), ref);
  }

  /** Which node it is, where there are several. */
  String name() {
    return world.climate.nodes == 1 ? "" : world.climate.nodeId(nodeIndex);
  }

  boolean alive() {
    return alive;
  }

  /** Takes new requests. */
  boolean open() {
    return alive && !stopping;
  }

  /** Ends it: from now on nothing reaches the node and nothing comes from it. */
  void end() {
    alive = false;
    channels.crash();
    handlers.cutOff();
  }

  /** Runs {@code event} on the loop, now or when it goes on; then the node has a turn. */
  void deliver(Runnable event) {
    if (!alive) {
      return;
    }
    if (world.clock.nanos() < pausedUntil) {
      world.queue.at(pausedUntil, () -> deliver(event));
      return;
    }
    event.run();
    turnIn(world.chance.between(0, LONGEST_TURN_NANOS));
  }

  /** Runs what does not touch the node, now or when the process goes on. */
  void let(Runnable event) {
    if (!alive) {
      return;
    }
    if (world.clock.nanos() < pausedUntil) {
      world.queue.at(pausedUntil, () -> let(event));
      return;
    }
    event.run();
  }

  boolean paused() {
    return world.clock.nanos() < pausedUntil;
  }

  /** Whether it has stood still then or later. */
  boolean stoodStillSince(long nanos) {
    return pausedUntil >= nanos;
  }

  long pausedUntil() {
    return pausedUntil;
  }

  /** The whole process stands still for a while. */
  void pause(long nanos) {
    pausedUntil = Math.max(pausedUntil, world.clock.nanos() + nanos);
    world.goesWrongUntil(pausedUntil);
  }

  /** Lets the node have a turn after so much of virtual time. */
  void turnIn(long nanos) {
    long at = world.clock.nanos() + nanos;
    if (at < turnAt) {
      turnAt = at;
      wakeAt(at);
    }
  }

  /** One wake before that time is enough: it sees that it is too early and asks for the next. */
  private void wakeAt(long at) {
    Long next = wakes.peek();
    if (next == null || at < next) {
      wakes.push(at);
      world.queue.at(at, this::wake);
    }
  }

  private void wake() {
    long at = wakes.pop();
    if (!alive || turnAt == Long.MAX_VALUE) {
      return;
    }
    turnAt = Math.max(turnAt, pausedUntil);
    if (at < turnAt) {
      wakeAt(turnAt);
      return;
    }
    turnAt = Long.MAX_VALUE;
    long sleep = node.turn();
    world.why.turned(this);
    if (sleep == 0) {
      Violation.check(
          ++turnsAtOnce < ENDLESS, Guarantee.NOT_STUCK, "the loop turns without end and sleep");
      turnIn(world.chance.between(VirtualClock.MICRO, LONGEST_TURN_NANOS));
    } else {
      turnsAtOnce = 0;
      long virtual = clock.virtualNanos(sleep);
      turnIn(sleep < FINE_SLEEP_NANOS ? virtual + oversleep() : longSleep(virtual));
    }
  }

  private long oversleep() {
    return world.chance.oneIn(4) ? world.chance.between(0, 2 * VirtualClock.MILLI) : 0;
  }

  /**
   * With nothing to do the node looks at the clock every second; over days of virtual time that
   * would be most of the work. So an idle one oversleeps, but never past the next due time. One
   * that sends heartbeats never is idle.
   */
  private long longSleep(long asked) {
    boolean workers = world.climate.workerJobs > 0 && (world.faulty || node.workers().out() > 0);
    if (world.climate.nodes > 1 || workers) {
      return asked;
    }
    boolean busy = !channels.idle() || handlers.running() > 0 || world.model.owes();
    if (busy || users.any() || stopping) {
      return asked;
    }
    long toNextDue = world.model.nanosToNextDue(world.faulty);
    long horizon = world.climate.horizonNanos();
    long sleep = horizon / 4;
    if (toNextDue > 2 * horizon) {
      sleep = Math.min(COARSEST_SLEEP_NANOS, toNextDue - horizon - horizon / 4);
    }
    return Math.max(asked, Math.min(sleep, toNextDue));
  }

  /** Runs {@code question} without letting the node reach the store. */
  void probe(Runnable question) {
    probing = true;
    question.run();
    probing = false;
  }

  // ---- the node's environment

  @Override
  public long wallMicros() {
    return clock.wallMicros();
  }

  @Override
  public long monotonicNanos() {
    return clock.monotonicNanos();
  }

  @Override
  public long random() {
    return world.chance.next();
  }

  @Override
  public <T> void submit(Channel channel, Function<Store, T> work, Consumer<T> done) {
    if (!probing) {
      channels.submit(channel, work, done);
    }
  }

  @Override
  public boolean commitsBeside() {
    return world.climate.commitsBeside;
  }

  @Override
  public String firstCopy() {
    return opening.incarnation();
  }

  @Override
  public Metrics metrics() {
    return Metrics.none();
  }

  @Override
  public @Nullable JobListener listener() {
    return listener;
  }

  @Override
  public void report(String problem, @Nullable Throwable cause) {
    if (cause instanceof Violation broken) {
      throw broken; // the engine keeps what one message does from those behind it
    }
    world.trace.note("report", 0, problem);
    if (problem.startsWith(WENT_BACK)) {
      opening.saysThatItWentBack();
    }
    Violation.check(
        !world.healthy() && (stale() || !problem.contains("refused")),
        Guarantee.NO_ERROR,
        () -> "the engine reports: " + problem);
  }

  /** Hears when the node knows of an end; that it has something to say at each moment is a test. */
  private final class Listener implements JobListener {
    @Override
    public void ended(JobInfo info) {
      if (isOfWorkflow(info)) {
        return;
      }
      ModelJob job = job(Node.ref(info.id()));
      if (job != null && job.bygone()) {
        return;
      }
      if (job != null && isOwnOccurrence(info)) {
        Violation.check( // it may have been replaced by one without a schedule since
            info.state().ended(),
            Guarantee.HISTORY,
            () -> "an occurrence of " + job + " is said to have ended as " + info.state());
        world.trace.note("told of an occurrence", job.request, info.state().name());
        return;
      }
      Violation.check(
          job != null && job.ends.contains(info.state()),
          Guarantee.HISTORY,
          () -> job + " is said to have ended as " + info.state());
      if (job != null) {
        Violation.check(
            ++job.endsTold <= job.ends.size(),
            Guarantee.HISTORY,
            () -> "the end of " + job + " is told twice");
        job.endTold = !job.live();
        job.endToldNanos = world.clock.nanos();
        world.trace.note("told", job.request, info.state().name());
      }
    }

    private static boolean isOfWorkflow(JobInfo info) {
      return info.type().startsWith("wf-") || info.type().startsWith(WorkerModel.PREFIX);
    }

    /** Whether a recurring job that goes on has run it itself. */
    private static boolean isOwnOccurrence(JobInfo info) {
      OccurrenceInfo occurrence = info.occurrence();
      return occurrence != null && occurrence.schedule().equals(info.id());
    }

    @Override
    public void blocked(JobInfo info) {
      ModelJob job = job(Node.ref(info.id()));
      if (job != null) {
        boolean limited = info.blockReason() == BlockReason.LIMIT;
        job.blockedBy = limited ? incarnation : 0;
        job.blockedNanos = world.clock.nanos();
        world.trace.note("blocked", job.request, String.valueOf(info.blockReason()));
      }
    }

    @Override
    public void retrying(JobInfo info) {
      ModelJob job = job(Node.ref(info.id()));
      if (job != null) {
        job.retryToldNanos = world.clock.nanos();
      }
      world.trace.note("listener: retrying", info.attempt());
    }
  }
}
