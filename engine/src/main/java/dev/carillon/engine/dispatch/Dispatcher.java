package dev.carillon.engine.dispatch;

import dev.carillon.api.Concurrency;
import dev.carillon.engine.shard.NodeJob;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Decides which due job starts next, and gives each start a {@link Grant}. Lanes take turns, one
 * job a turn, so that one tenant's million jobs do not delay another tenant's job. A lane whose
 * namespace or queue is at its limit stands aside.
 *
 * <p>A job that is suspected of killing its node starts alone:
 *
 * <ol>
 *   <li>Nothing else starts from the moment that the job is next.
 *   <li>The job starts once every running attempt has ended or has lasted for the time alone.
 *   <li>Nothing starts beside the job until it has ended or has lasted for that time itself.
 * </ol>
 */
public final class Dispatcher {
  private static final int STARTS_A_TURN = 4096;

  /** So many lanes and handlers are kept without a look at whether anybody needs them. */
  private static final int FIRST_SWEEP = 4096;

  /** So many jobs that cannot be lent are passed over for those that can. */
  private static final int MOST_PASSED_OVER = 64;

  final Map<String, HandlerSlot> handlers = new LinkedHashMap<>();
  private final Map<LaneKey, Lane> lanes = new LinkedHashMap<>();
  final Map<String, Gate> namespaces = new LinkedHashMap<>();
  final Map<String, Gate> queues = new LinkedHashMap<>();
  final ArrayDeque<Lane> ring = new ArrayDeque<>();
  final List<Lane> aside = new ArrayList<>();
  private final List<Lane> crowded = new ArrayList<>();
  private final Gate node;
  final Starter starter;
  private final Keys keys;
  private final Consumer<NodeJob> blocked;
  private final PayloadMemory payloads;
  private final Admission toRun = this::mayRun;
  private final Admission toLend = this::mayLend;

  /** Jobs that were passed over while others were lent, until that is done. */
  private final List<PassedOver> passedOver = new ArrayList<>();

  Lender lender = new NoLender();

  /** Types of which jobs wait for workers that are all busy, in turn. */
  private final Set<HandlerSlot> crowdedTypes = new LinkedHashSet<>();

  /** Whether attempts may come with shards that are not loaded yet, and count at the gates. */
  private boolean expectsAdopted;

  /** How many more this node can do without, while it lends. */
  private long spare;

  /** Attempts that this node has started itself. */
  private long starts;

  @Nullable NodeJob waitsAlone;
  private @Nullable Lane lastLane;
  private @Nullable HandlerSlot lastHandler;
  boolean exclusive;

  /** An attempt of another node's runs alone, or waits to. */
  boolean reserved;

  boolean open;
  boolean stopped;
  private long ready;
  private int sweepAt = FIRST_SWEEP;

  private record LaneKey(String namespace, String queue) {}

  private record PassedOver(NodeJob job, boolean late) {}

  /** Knows who else could run an attempt: other nodes, and workers that are connected. */
  public interface Lender {
    /** The worker or node that could run another attempt of the job; 0 for none. */
    long borrowerFor(NodeJob job);

    /** Whether anybody could run another attempt of some job of the type. */
    boolean mayHaveRoom(String type);

    /** Whether a worker takes such jobs, though it may have no room now. */
    default boolean isTaken(String type, String namespace, String queue) {
      return false;
    }

    /** Whether any worker is connected. */
    default boolean anyWorkers() {
      return false;
    }

    /** How many more attempts of the type workers could run, at most. */
    default int workersRoom(String type) {
      return 0;
    }
  }

  /** Nobody else. */
  private static final class NoLender implements Lender {
    @Override
    public long borrowerFor(NodeJob job) {
      return 0;
    }

    @Override
    public boolean mayHaveRoom(String type) {
      return false;
    }
  }

  /** Starts attempts. */
  public interface Starter {
    /** Whether outcomes become durable fast enough for another attempt, of some lane at least. */
    boolean mayStart();

    /** Whether they do for one of this lane: those with few under way have some room to spare. */
    boolean mayStart(Lane lane);

    /** Whether a suspected job may start now; if not, the loop turns again when it may. */
    boolean mayStartAlone();

    /** Starts an attempt on this node. */
    void start(Grant grant);

    /** Has another node run an attempt. */
    void lend(Grant grant, long borrower);
  }

  /**
   * Nothing starts before {@link #open}.
   *
   * @param blocked told of due jobs that may not start
   * @param payloads brings the payloads of overdue jobs
   */
  public Dispatcher(
      int slots, Starter starter, Keys keys, Consumer<NodeJob> blocked, PayloadMemory payloads) {
    this.node = new Gate(slots);
    this.starter = starter;
    this.keys = keys;
    this.blocked = blocked;
    this.payloads = payloads;
  }

  public PayloadMemory payloads() {
    return payloads;
  }

  /** Says who else could run attempts; nobody, until this is called. */
  public void lender(Lender knows) {
    lender = knows;
  }

  /** What operators have set is known: attempts may start. */
  public void open() {
    open = true;
  }

  public Gate node() {
    return node;
  }

  public long ready() {
    return ready;
  }

  /** Due jobs that wait for a handler, or for one that can decode them. */
  public long blocked() {
    return handlers.values().stream().mapToLong(HandlerSlot::blocked).sum();
  }

  public HandlerSlot handler(String type) {
    HandlerSlot last = lastHandler;
    if (last != null && last.type.equals(type)) {
      return last;
    }
    HandlerSlot found = handlers.computeIfAbsent(type, HandlerSlot::new);
    lastHandler = found;
    return found;
  }

  Gate namespace(String namespace) {
    return namespaces.computeIfAbsent(namespace, n -> new Gate(Gate.OPEN));
  }

  public Gate queue(String queue) {
    return queues.computeIfAbsent(queue, q -> new Gate(Gate.OPEN));
  }

  /** The lane of a namespace and queue; most jobs have that of the job before. */
  public Lane lane(String namespace, String queue) {
    Lane last = lastLane;
    if (last != null && last.namespace.equals(namespace) && last.queue.equals(queue)) {
      return last;
    }
    Lane found = findLane(namespace, queue);
    lastLane = found;
    return found;
  }

  private Lane findLane(String namespace, String queue) {
    return lanes.computeIfAbsent(
        new LaneKey(namespace, queue), key -> new Lane(namespace, queue, this));
  }

  public void stop() {
    stopped = true;
  }

  /** Whether there are so many lanes and handlers that it is time to {@link #sweep}. */
  public boolean wantsSweep() {
    return lanes.size() + handlers.size() >= sweepAt;
  }

  /**
   * Forgets the lanes, gates and handlers that nobody needs, for their names come from users: none
   * of the live jobs, no attempt, and no setting.
   */
  public void sweep(Iterable<NodeJob> live) {
    Set<Object> used = new LinkedHashSet<>();
    for (NodeJob job : live) {
      used.add(job.lane);
      used.add(job.handler);
    }
    lanes.values().removeIf(lane -> !used.contains(lane) && lane.isIdle());
    handlers.values().removeIf(handler -> !used.contains(handler) && handler.isIdle());
    for (Lane lane : lanes.values()) {
      used.add(lane.namespaceGate);
      used.add(lane.queueGate);
    }
    namespaces.values().removeIf(gate -> !used.contains(gate) && gate.isIdle());
    queues.values().removeIf(gate -> !used.contains(gate) && gate.isIdle());
    lastLane = null;
    lastHandler = null;
    sweepAt = Math.max(FIRST_SWEEP, 2 * (lanes.size() + handlers.size()));
  }

  /** The job's time has come; false where it does not stand in its lane now. */
  public boolean ready(NodeJob job, boolean overdue) {
    if (job.busy > 0) {
      job.enter(NodeJob.Phase.READY);
      return false; // its place in line may be about to change: it comes back once it is not busy
    }
    Lane lane = laneOf(job);
    Concurrency concurrency = job.concurrency();
    if (concurrency != null && lane.paused() == null && !keys.admit(job, concurrency)) {
      return false;
    }
    job.enter(NodeJob.Phase.READY);
    lane.add(job, overdue);
    ready++;
    refill(lane);
    if (job.isWaiting() && lane.hasRate()) {
      lookAgain(); // it needs no rate, for want of which its lane may stand aside
    }
    return true;
  }

  /** Lets overdue jobs come to the front of their lane, where there is room. */
  public void refill(Lane lane) {
    ready -= lane.refill();
    if (!lane.isEmpty()) {
      activate(lane);
    }
  }

  /**
   * Takes a job out of the line it stands in, before what orders it there changes; its user lets it
   * wait again.
   */
  public void withdraw(NodeJob job) {
    Concurrency concurrency = job.concurrency();
    if (concurrency != null) {
      keys.withdraw(job, concurrency);
    }
    leaveLine(job);
  }

  /**
   * Takes a job out of the line it stands in, if it does; one that has its concurrency key keeps
   * it. Its user lets it wait again: it must not stand anywhere twice, for it is counted there by
   * what it was when it came.
   */
  public void leaveLine(NodeJob job) {
    if (waitsAlone == job) {
      waitsAlone = null;
      offerLimited(handlerOf(job));
    } else if (job.phase() == NodeJob.Phase.LIMITED) {
      Concurrency concurrency = job.concurrency();
      if (!handlerOf(job).withdraw(job) && concurrency != null) {
        keys.withdraw(job, concurrency); // it waits for its key
      }
    } else if (job.phase() == NodeJob.Phase.READY && laneOf(job).remove(job)) {
      ready--;
      offerLimited(handlerOf(job));
    }
    payloads.forget(job);
  }

  private static Lane laneOf(NodeJob job) {
    Lane lane = Lane.of(job);
    if (lane == null) {
      throw new IllegalStateException("job " + job.number + ": not in this node's hands");
    }
    return lane;
  }

  private HandlerSlot handlerOf(NodeJob job) {
    HandlerSlot handler = HandlerSlot.of(job);
    return handler != null ? handler : handler(job.type);
  }

  private void activate(Lane lane) {
    if (!lane.active) {
      lane.active = true;
      ring.add(lane);
    }
  }

  /** Starts what may start; true where there is more to start at once. */
  public boolean turn() {
    boolean more = startSome();
    ring.addAll(crowded);
    crowded.clear();
    return more;
  }

  private boolean startSome() {
    if (expectsAdopted && keys.isOpen()) {
      expectsAdopted = false; // everything due is here
      lookAgain();
    }
    for (int started = 0; started < STARTS_A_TURN; started++) {
      if (!open || stopped || exclusive || reserved || !node.hasRoom() || !starter.mayStart()) {
        return false;
      }
      NodeJob alone = waitsAlone;
      if (alone != null) {
        if (!starter.mayStartAlone()) {
          return false;
        }
        waitsAlone = null;
        if (alone.isIdle(NodeJob.Phase.READY)) {
          startAlone(alone);
        } else {
          offerLimited(handlerOf(alone));
        }
        continue;
      }
      NodeJob job = next(toRun);
      if (job == null) {
        return false;
      }
      if (job.startsAlone()) {
        waitsAlone = job;
      } else {
        start(job, false);
      }
    }
    return true;
  }

  /** What let it through when it was chosen may have changed while it waited to be alone. */
  private void startAlone(NodeJob job) {
    Lane lane = laneOf(job);
    if (!lane.hasRoom()) {
      if (!ready(job, false)) {
        offerLimited(handlerOf(job));
      }
    } else if (mayRun(job, lane)) {
      exclusive = true;
      start(job, true);
    }
  }

  /** Whether an attempt of another node's may start now. */
  public boolean mayStartBorrowed() {
    return open && !stopped && !exclusive && !reserved && waitsAlone == null && node.hasRoom();
  }

  /**
   * An attempt of another node's is to run alone: nothing starts from now on, until it has ended or
   * lasted. Says whether it may start now.
   */
  public boolean reserveAlone() {
    if (exclusive || waitsAlone != null) {
      return false; // one of this node's own is before it
    }
    reserved = true;
    return open && !stopped && node.hasRoom() && starter.mayStartAlone();
  }

  /** It is not to run here, or need not be alone any more. */
  public void endReserved() {
    reserved = false;
  }

  /** Takes a slot of the node and one of the handler; {@link #leaveSlot} returns both. */
  public void enterSlot(HandlerSlot handler) {
    node.enter();
    handler.gate.enter();
  }

  public void leaveSlot(HandlerSlot handler) {
    node.leave();
    handler.gate.leave();
    offerLimited(handler);
  }

  /** How many attempts this node has started itself. */
  public long starts() {
    return starts;
  }

  /** Whether jobs wait for a slot of the node. */
  public boolean isFull() {
    return open && !stopped && !exclusive && ready > 0 && !node.hasRoom();
  }

  /**
   * Lends jobs that wait for a slot, in turn of the lanes, but for as many as this node will soon
   * get round to; those that it has no handler for anyway.
   */
  public void lendWaiting(int most, long reserve) {
    spare = ready - reserve;
    for (int lent = 0; lent < most; ) {
      NodeJob job = next(toLend);
      if (job == null) {
        break;
      }
      long borrower = lender.borrowerFor(job);
      if (borrower != 0) {
        lendOut(job, borrower);
        offerLimited(handlerOf(job));
        lent++;
        spare--;
      }
    }
    ring.addAll(crowded);
    crowded.clear();
    List<PassedOver> back = List.copyOf(passedOver);
    passedOver.clear();
    for (PassedOver each : back) {
      Lane lane = laneOf(each.job());
      lane.add(each.job(), each.late());
      ready++;
      activate(lane);
    }
  }

  private boolean mayLend(NodeJob job, Lane lane) {
    if (!handlerOf(job).registered) {
      return mayRun(job, lane);
    }
    Concurrency concurrency = job.concurrency();
    if (spare <= 0 || !isLendable(job) || lender.borrowerFor(job) == 0) {
      passedOver.add(new PassedOver(job, lane.wasLateTurn()));
      return false;
    }
    if (concurrency != null && !keys.mayStart(job, concurrency)) {
      offerLimited(handlerOf(job));
      return false;
    }
    return true;
  }

  /** What may have killed a node, or may have been completed under another, stays here. */
  private static boolean isLendable(NodeJob job) {
    return !job.isMarked() && !job.isUnsettled() && (job.rare == null || job.rare.markers == 0);
  }

  private void lendOut(NodeJob job, long borrower) {
    starter.lend(grant(job, null, false), borrower);
  }

  /** Jobs without a handler here, as many as others have room for, go on. */
  public List<NodeJob> offerBlocked(int most) {
    List<NodeJob> offered = new ArrayList<>();
    for (HandlerSlot handler : handlers.values()) {
      if (!handler.registered && handler.hasBlocked() && lender.mayHaveRoom(handler.type)) {
        offered.addAll(handler.takeBlocked(most));
      }
    }
    return offered;
  }

  /** Jobs of that type that could not be decoded elsewhere are tried again. */
  public List<NodeJob> offerUndecodable(String type) {
    HandlerSlot handler = handlers.get(type);
    return handler == null || handler.registered ? List.of() : handler.takeUndecodable();
  }

  private interface Admission {
    boolean admits(NodeJob job, Lane lane);
  }

  /** The next job that may start now, in turn of the lanes. */
  private @Nullable NodeJob next(Admission admission) {
    while (true) {
      if (passedOver.size() >= MOST_PASSED_OVER) {
        return null;
      }
      Lane lane = ring.poll();
      if (lane == null) {
        return null;
      }
      if (!lane.hasRoom() || (expectsAdopted && lane.isLimited())) {
        aside.add(lane);
        continue;
      }
      if (!starter.mayStart(lane)) {
        crowded.add(lane);
        continue;
      }
      NodeJob job = lane.poll();
      ready -= lane.refill();
      if (lane.isEmpty()) {
        lane.active = false;
      } else {
        ring.add(lane);
      }
      if (job == null) {
        continue;
      }
      ready--;
      boolean moved = job.lane != lane; // a replace gave it another queue, where it stands as well
      if (moved || !job.isIdle(NodeJob.Phase.READY)) {
        offerLimited(handlerOf(job));
      } else if (job.isStripped()) {
        payloads.await(job, null);
        offerLimited(handlerOf(job)); // it may not come back
      } else if (admission.admits(job, lane)) {
        return job;
      }
    }
  }

  private boolean mayRun(NodeJob job, Lane lane) {
    HandlerSlot handler = handlerOf(job);
    Concurrency concurrency = job.concurrency();
    if (!handler.registered) {
      long borrower = lender.borrowerFor(job);
      if (borrower != 0) {
        if (concurrency == null || keys.mayStart(job, concurrency)) {
          lendOut(job, borrower);
        } else {
          offerLimited(handler);
        }
        return false;
      }
      if (lender.isTaken(job.type, job.namespace, job.queue)) {
        handler.limit(job, lane);
        crowdedTypes.add(handler);
        blocked.accept(job);
        return false;
      }
      handler.block(job, NodeJob.Phase.NO_HANDLER);
      if (concurrency != null) {
        keys.leave(job, concurrency);
      }
      blocked.accept(job);
      payloads.letGo(job);
      return false;
    }
    if (!handler.gate.hasRoom()) {
      handler.limit(job, lane);
      blocked.accept(job);
      return false;
    }
    if (concurrency != null && !keys.mayStart(job, concurrency)) {
      offerLimited(handler);
      return false;
    }
    return true;
  }

  private void start(NodeJob job, boolean alone) {
    starts++;
    HandlerSlot handler = handlerOf(job);
    enterSlot(handler);
    starter.start(grant(job, handler, alone));
  }

  private Grant grant(NodeJob job, @Nullable HandlerSlot handler, boolean alone) {
    Grant grant = new Grant(this, job, laneOf(job), handler, alone);
    job.enter(NodeJob.Phase.RUNNING);
    Concurrency concurrency = job.concurrency();
    if (concurrency != null) {
      keys.start(grant, concurrency);
    }
    return grant;
  }

  /** The handler of an attempt has returned; {@link Grant#leave} calls this. */
  void left(Grant grant) {
    boolean roomInNamespace = grant.lane.namespaceGate.leave();
    boolean roomInQueue = grant.lane.queueGate.leave();
    if (grant.handler != null) {
      leaveSlot(grant.handler);
    }
    if (roomInNamespace || roomInQueue) {
      lookAgain();
    }
  }

  /** The outcome of an attempt is durable too; {@link Grant#release} calls this. */
  void released(Grant grant) {
    keys.left(grant);
  }

  /** Lanes that stood aside may have room. */
  void lookAgain() {
    if (!aside.isEmpty()) {
      ring.addAll(aside);
      aside.clear();
    }
  }

  /** Those that have a concurrency key or wait for it, and are due later. */
  public List<NodeJob> keyedAfter(long micros) {
    return keys.dueAfter(micros);
  }

  /** Lanes were paused: what stands in them gives its concurrency keys back to others. */
  void paused() {
    List<NodeJob> stand = new ArrayList<>();
    for (Lane lane : lanes.values()) {
      if (lane.paused() != null) {
        lane.forEach(stand::add);
      }
    }
    for (NodeJob job : stand) {
      Concurrency concurrency = job.concurrency();
      if (concurrency != null && job.phase() == NodeJob.Phase.READY) {
        keys.leave(job, concurrency);
      }
    }
  }

  /**
   * As many jobs as the handler has room for go back to their lanes; of lanes that stand aside one
   * more each, which takes nobody's place. This is to be called whenever a job that stood in its
   * lane is not started after all: it may have been offered in the place of another.
   */
  private void offerLimited(HandlerSlot handler) {
    if (!handler.anyLimited()) {
      return;
    }
    int room =
        handler.registered
            ? handler.gate.limit() - handler.gate.running()
            : lender.workersRoom(handler.type);
    int aloof = handler.limitedLanes();
    while (room > 0 && aloof > 0) {
      NodeJob job = handler.takeLimited();
      if (job == null) {
        return;
      }
      if (!ready(job, false)) {
        continue; // it waits for its key, or ends for want of it: the place is another's
      }
      if (laneOf(job).hasRoom()) {
        room--;
      } else {
        aloof--;
      }
    }
  }

  /**
   * Limits count only once everything due is here: attempts may come with it that workers run by
   * leases of earlier owners.
   */
  public void expectAdopted() {
    expectsAdopted = true;
  }

  /**
   * Workers have room again: jobs that waited for them go on, of so many types at once.
   *
   * @return whether there are more
   */
  public boolean offerToWorkers(int mostTypes) {
    boolean more = crowdedTypes.size() > mostTypes;
    for (int i = Math.min(mostTypes, crowdedTypes.size()); i > 0; i--) {
      HandlerSlot handler = crowdedTypes.iterator().next();
      crowdedTypes.remove(handler);
      offerLimited(handler);
      if (handler.anyLimited()) {
        crowdedTypes.add(handler);
      }
    }
    return more;
  }

  /** Whether jobs wait for workers that are all busy. */
  public boolean anyForWorkers() {
    return !crowdedTypes.isEmpty();
  }

  /** The types of such jobs, so many at most. */
  public List<String> typesForWorkers(int most) {
    return crowdedTypes.stream().limit(most).map(handler -> handler.type).toList();
  }

  /** Nobody takes the type any more, or not all of it: its jobs are looked at again. */
  public List<NodeJob> workersWent(String type) {
    HandlerSlot handler = handlers.get(type);
    return handler == null || handler.registered ? List.of() : takeLimited(handler);
  }

  /** Somebody takes jobs of the type: those that waited for a handler are looked at again. */
  public List<NodeJob> workersCame(String type) {
    HandlerSlot handler = handlers.get(type);
    return handler == null || handler.registered ? List.of() : handler.takeBlocked();
  }

  /** The types whose jobs wait for a handler. */
  public List<String> typesWithoutHandler() {
    List<String> types = new ArrayList<>();
    for (HandlerSlot handler : handlers.values()) {
      if (!handler.registered && (handler.hasBlocked() || handler.anyLimited())) {
        types.add(handler.type);
      }
    }
    return types;
  }

  /** A worker has an attempt of the job already: it holds what it did under the last owner. */
  public Grant adopt(NodeJob job) {
    Grant grant = new Grant(this, job, laneOf(job));
    job.enter(NodeJob.Phase.READY);
    job.enter(NodeJob.Phase.RUNNING);
    Concurrency concurrency = job.concurrency();
    if (concurrency != null) {
      keys.adopt(grant, concurrency);
    }
    return grant;
  }

  /** The job that ran alone has ended or lasted; {@link Grant#endAlone} calls this. */
  void endExclusive() {
    exclusive = false;
  }

  /** The handler is gone: what waited for its gate goes on, to wait for a handler or elsewhere. */
  public List<NodeJob> unregister(String type) {
    HandlerSlot handler = handler(type);
    handler.registered = false;
    return takeLimited(handler);
  }

  private static List<NodeJob> takeLimited(HandlerSlot handler) {
    List<NodeJob> taken = new ArrayList<>();
    for (NodeJob job = handler.takeLimited(); job != null; job = handler.takeLimited()) {
      taken.add(job);
    }
    return taken;
  }

  /** A handler is here: what waited for it goes on. */
  public List<NodeJob> register(String type) {
    HandlerSlot handler = handler(type);
    handler.registered = true;
    List<NodeJob> released = handler.takeBlocked();
    released.addAll(takeLimited(handler));
    return released;
  }
}
