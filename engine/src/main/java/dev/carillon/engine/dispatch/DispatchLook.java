package dev.carillon.engine.dispatch;

import dev.carillon.api.Concurrency;
import dev.carillon.api.Rate;
import dev.carillon.api.WaitReason;
import dev.carillon.engine.environment.NodeEnvironment;
import dev.carillon.engine.limit.Share;
import dev.carillon.engine.limit.TokenBucket;
import dev.carillon.engine.message.Hindrance;
import dev.carillon.engine.shard.NodeJob;
import dev.carillon.engine.shard.Shard;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.LongFunction;
import org.jspecify.annotations.Nullable;

/**
 * Looks at what keeps a job from starting in the dispatcher: pauses, keys, limits, rates, the line
 * before it, slots. Changes nothing, and asks for nothing: a look costs a job no more than a look
 * at its lane. A line is counted up to {@link #MOST_COUNTED} jobs.
 */
public final class DispatchLook {
  private static final int MOST_COUNTED = 20_000;
  private static final int MOST_NAMED = 10;

  /** A pace that was measured for a shorter time says nothing. */
  private static final long LEAST_PACE_NANOS = 500_000_000;

  private final NodeEnvironment env;
  private final Dispatcher dispatcher;
  private final Keys keys;
  private final LongFunction<String> nodeId;

  /**
   * A look at a node's dispatcher.
   *
   * @param nodeId the id of the node of an incarnation; empty where it is not known
   */
  public DispatchLook(
      NodeEnvironment env, Dispatcher dispatcher, Keys keys, LongFunction<String> nodeId) {
    this.env = env;
    this.dispatcher = dispatcher;
    this.keys = keys;
    this.nodeId = nodeId;
  }

  // ---- what also holds for jobs that are not due

  /** Whether the namespace or queue is paused. */
  public void paused(String namespace, String queue, Consumer<Hindrance> found) {
    paused("namespace", namespace, dispatcher.namespaces.get(namespace), found);
    paused("queue", queue, dispatcher.queues.get(queue), found);
  }

  private static void paused(
      String scope, String name, @Nullable Gate gate, Consumer<Hindrance> found) {
    String reason = gate != null ? gate.paused : null;
    if (reason != null) {
      found.accept(
          Hindrance.of(
                  WaitReason.PAUSED,
                  scope + " " + name + " is paused" + (reason.isEmpty() ? "" : ": " + reason),
                  "resuming the " + scope)
              .with("scope", scope)
              .with("name", name)
              .with("reason", reason));
    }
  }

  /** Whether this node has a handler for the type. */
  public boolean hasHandler(String type) {
    HandlerSlot handler = dispatcher.handlers.get(type);
    return handler != null && handler.registered;
  }

  /** Whether workers that are connected take such jobs. */
  public boolean isForWorkers(String type, String namespace, String queue) {
    return dispatcher.lender.isTaken(type, namespace, queue);
  }

  /** Whether any worker is connected, whatever it takes. */
  public boolean anyWorkers() {
    return dispatcher.lender.anyWorkers();
  }

  /** How many more attempts of the type those workers would take, at most. */
  public int workersRoom(String type) {
    return dispatcher.lender.workersRoom(type);
  }

  /** When this node had a handler for the type last; 0 where nobody knows. */
  public long handlerWentMicros(String type) {
    HandlerSlot handler = dispatcher.handlers.get(type);
    return handler != null ? handler.wentMicros : 0;
  }

  /** The types that this node has handlers for. */
  public void handledTypes(Set<String> into) {
    for (HandlerSlot handler : dispatcher.handlers.values()) {
      if (handler.registered) {
        into.add(handler.type);
      }
    }
  }

  // ---- what holds for jobs that are due

  /** What keeps a due job, apart from pauses and a missing handler. */
  public void due(NodeJob job, Consumer<Hindrance> found) {
    Lane lane = Lane.of(job);
    if (lane == null) {
      return;
    }
    Concurrency concurrency = job.concurrency();
    if (concurrency != null) {
      key(job, concurrency, found);
    }
    limit(job, "namespace", lane.namespace, lane.namespaceGate, found);
    limit(job, "queue", lane.queue, lane.queueGate, found);
    HandlerSlot handler = dispatcher.handlers.get(job.type);
    boolean here = handler != null && handler.registered;
    if (handler != null && here) {
      limit(job, "handler", job.type, handler.gate, found);
    }
    if (!job.isWaiting()) { // a workflow that goes on after a wait needs no rate
      rate(job, "namespace", lane.namespace, lane.namespaceGate.bucket(), found);
      rate(job, "queue", lane.queue, lane.queueGate.bucket(), found);
    }
    if (job.isIdle(NodeJob.Phase.READY) && !job.isStripped()) {
      turn(job, lane, found);
    }
    if (here) {
      slots(job, lane, found);
    }
  }

  // ---- keys

  private void key(NodeJob job, Concurrency concurrency, Consumer<Hindrance> found) {
    KeySlot slot = keys.find(job.namespace, concurrency.key());
    boolean waits = job.phase() == NodeJob.Phase.LIMITED;
    if (!keys.mayJudge() && (slot == null || !slot.isHeldBy(job))) {
      found.accept(
          Hindrance.of(
                  WaitReason.NODE,
                  "concurrency keys are given out once this node knows everything that is due",
                  "the node loading all due shards and proving that they are its own")
              .since(job.dueMicros));
      return;
    }
    if (slot == null || slot.isHeldBy(job)) {
      return;
    }
    int room = Keys.room(slot, concurrency);
    if (slot.held() + slot.claims() >= room) {
      found.accept(taken(job, slot, concurrency, room));
      return;
    }
    NodeJob first = slot.peek();
    if (waits && first != null && first != job && ReadyLine.compare(job, first) > 0) {
      found.accept(taken(job, slot, concurrency, room));
      return;
    }
    TokenBucket bucket = slot.bucket;
    if (bucket != null && !job.isWaiting()) {
      rate(job, "key", concurrency.key(), bucket, Keys.rate(bucket, concurrency), found);
    }
  }

  private Hindrance taken(NodeJob job, KeySlot slot, Concurrency concurrency, int room) {
    List<String> holders = new ArrayList<>();
    long since = 0;
    for (KeySlot.Holder each : slot.holders()) {
      long started = each.startedMicros();
      since = started != 0 && (since == 0 || started < since) ? started : since;
      if (holders.size() < MOST_NAMED) {
        holders.add(idOf(each.job()));
      }
    }
    int elsewhere = slot.share != null ? slot.share.usedElsewhere() : 0;
    StringBuilder text = new StringBuilder("concurrency key ").append(concurrency.key());
    text.append(": ").append(slot.held()).append(" of ").append(concurrency.limit());
    text.append(" taken here");
    if (elsewhere > 0) {
      text.append(", ").append(elsewhere).append(" on other nodes");
    }
    if (!holders.isEmpty()) {
      text.append(", by ").append(String.join(", ", holders));
      text.append(slot.held() > holders.size() ? ", …" : "");
    }
    Hindrance key =
        Hindrance.of(
                WaitReason.KEY,
                text.toString(),
                room == 0 && slot.held() == 0
                    ? "other nodes giving up a part of the key's limit"
                    : "the end of one of the jobs that have the key")
            .with("key", concurrency.key())
            .with("held", slot.held())
            .with("limit", concurrency.limit())
            .with("waiting", slot.waiting())
            .since(since != 0 ? since : job.dueMicros);
    if (!holders.isEmpty()) {
      key = key.with("holders", String.join(" ", holders));
    }
    return elsewhere > 0 ? withNodes(key.with("elsewhere", elsewhere), slot.share) : key;
  }

  private static String idOf(NodeJob job) {
    Shard shard = job.shard;
    return shard != null ? shard.ref(job.number).id().value() : Long.toString(job.number);
  }

  private Hindrance withNodes(Hindrance hindrance, @Nullable Share share) {
    List<String> nodes = new ArrayList<>();
    if (share != null) {
      share.eachUserElsewhere((used, incarnation) -> nodes.add(nodeId.apply(incarnation)));
    }
    return nodes.isEmpty() ? hindrance : hindrance.with("nodes", String.join(" ", nodes));
  }

  // ---- limits and rates

  private void limit(NodeJob job, String scope, String name, Gate gate, Consumer<Hindrance> found) {
    Share share = gate.share();
    boolean full = gate.running() >= gate.limit();
    if (!full && (share == null || gate.running() < share.usable())) {
      return;
    }
    int elsewhere = share != null ? share.usedElsewhere() : 0;
    if (!full && (long) gate.running() + elsewhere < gate.limit()) {
      found.accept(
          Hindrance.of(
                  WaitReason.STORE,
                  "this node is getting its part of the limit of %s %s".formatted(scope, name),
                  "the store's answer, and other nodes giving back what they do not use")
              .with("scope", scope)
              .with("name", name)
              .since(job.dueMicros));
      return;
    }
    String where = elsewhere > 0 ? ", " + elsewhere + " kept by other nodes" : "";
    Hindrance limit =
        Hindrance.of(
                WaitReason.LIMIT,
                "%s %s: %d running here%s, of %d that may"
                    .formatted(scope, name, gate.running(), where, gate.limit()),
                "the end of one of them, or a higher limit")
            .with("scope", scope)
            .with("name", name)
            .with("running", gate.running())
            .with("limit", gate.limit())
            .since(job.dueMicros);
    found.accept(elsewhere > 0 ? withNodes(limit.with("elsewhere", elsewhere), share) : limit);
  }

  private void rate(
      NodeJob job,
      String scope,
      String name,
      @Nullable TokenBucket bucket,
      Consumer<Hindrance> found) {
    if (bucket != null) {
      rate(job, scope, name, bucket, bucket.rate(), found);
    }
  }

  private void rate(
      NodeJob job,
      String scope,
      String name,
      TokenBucket bucket,
      Rate rate,
      Consumer<Hindrance> found) {
    long wait = bucket.waitNanos(rate, env.monotonicNanos());
    if (bucket.isKnown() && wait <= 0 && bucket.isReady(rate, env.monotonicNanos())) {
      return;
    }
    String words = rate.permits() + " in " + rate.period();
    Hindrance hindrance =
        Hindrance.of(
                WaitReason.RATE,
                "%s %s: starts by its rate of %s%s"
                    .formatted(
                        scope,
                        name,
                        words,
                        bucket.isKnown() && wait > 0
                            ? ""
                            : ", of which the store is being told how far it is used up"),
                wait > 0 ? "the time of the next start, or a higher rate" : "the store's answer")
            .with("scope", scope)
            .with("name", name)
            .with("permits", rate.permits())
            .with("period", rate.period())
            .since(job.dueMicros);
    found.accept(
        bucket.isKnown() && wait > 0
            ? hindrance.until(env.wallMicros() + Math.ceilDiv(wait, 1000))
            : hindrance);
  }

  // ---- its turn

  private void turn(NodeJob job, Lane lane, Consumer<Hindrance> found) {
    int before = lane.before(job, MOST_COUNTED);
    boolean atLeast = lane.standing() > MOST_COUNTED;
    int lanes = dispatcher.ring.size() + dispatcher.aside.size();
    if (before == 0 && lanes <= 1) {
      return;
    }
    double pace = lane.pace(env.monotonicNanos(), LEAST_PACE_NANOS);
    StringBuilder text = new StringBuilder();
    text.append(atLeast ? "at least " : "").append(before).append(" before it in queue ");
    text.append(lane.queue).append(" of namespace ").append(lane.namespace);
    if (lanes > 1) {
      text.append("; ").append(lanes).append(" queues take turns");
    }
    Hindrance turn =
        Hindrance.of(WaitReason.TURN, text.toString(), "those before it starting")
            .with("before", before)
            .with("exact", !atLeast)
            .with("queues", lanes)
            .since(job.dueMicros);
    if (pace > 0) {
      turn = turn.with("startsPerSecond", String.format(java.util.Locale.ROOT, "%.1f", pace));
    }
    if (pace > 0 && !atLeast) {
      turn = turn.until(env.wallMicros() + (long) (before / pace * 1e6));
    }
    found.accept(turn);
  }

  private void slots(NodeJob job, Lane lane, Consumer<Hindrance> found) {
    Gate node = dispatcher.node();
    if (node.running() >= node.limit()) {
      found.accept(
          Hindrance.of(
                  WaitReason.SLOT,
                  "%d attempts run on this node, of %d that may"
                      .formatted(node.running(), node.limit()),
                  "the end of one of them, or more slots")
              .with("running", node.running())
              .with("limit", node.limit())
              .since(job.dueMicros));
    }
    NodeJob alone = dispatcher.waitsAlone;
    if (alone == job || (job.startsAlone() && job.phase() == NodeJob.Phase.READY)) {
      found.accept(
          Hindrance.of(
                  WaitReason.ALONE,
                  "it may have killed nodes before, so it starts while nothing else does",
                  "the attempts that run now ending or lasting for a while")
              .with("starts", job.rare != null ? job.rare.markers : 0)
              .since(job.dueMicros));
    } else if (alone != null || dispatcher.exclusive || dispatcher.reserved) {
      found.accept(
          Hindrance.of(
              WaitReason.ALONE,
              "another job runs alone on this node, or is about to: it may have killed nodes"
                  + " before",
              "that job ending or lasting for a while"));
    }
    String held = held(lane);
    if (held != null) {
      found.accept(Hindrance.of(WaitReason.NODE, held, "that being over"));
    }
  }

  /** What keeps the jobs that stand in a lane, first of all. */
  public WaitReason of(Lane lane) {
    if (lane.paused() != null) {
      return WaitReason.PAUSED;
    }
    Gate namespace = lane.namespaceGate;
    Gate queue = lane.queueGate;
    if (namespace.running() >= namespace.limit() || queue.running() >= queue.limit()) {
      return WaitReason.LIMIT;
    }
    if (!isFree(namespace.bucket()) || !isFree(queue.bucket())) {
      return WaitReason.RATE;
    }
    Gate node = dispatcher.node();
    if (node.running() >= node.limit()) {
      return WaitReason.SLOT;
    }
    if (dispatcher.exclusive || dispatcher.reserved || dispatcher.waitsAlone != null) {
      return WaitReason.ALONE;
    }
    return held(lane) != null ? WaitReason.NODE : WaitReason.TURN;
  }

  private boolean isFree(@Nullable TokenBucket bucket) {
    return bucket == null || bucket.waitNanos(bucket.rate(), env.monotonicNanos()) <= 0;
  }

  /** Why nothing of the lane starts on this node, whatever its slots; null where something may. */
  private @Nullable String held(Lane lane) {
    if (!dispatcher.open) {
      return "this node is reading what operators have set";
    }
    if (dispatcher.stopped) {
      return "this node stops";
    }
    return dispatcher.starter.mayStart(lane)
        ? null
        : "the store has not taken the outcomes of many attempts that are over";
  }
}
