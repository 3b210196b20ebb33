package dev.carillon;

import dev.carillon.api.Health;
import dev.carillon.api.JobListener;
import dev.carillon.api.Limits;
import dev.carillon.api.Page;
import dev.carillon.api.Subscription;
import dev.carillon.api.error.InvalidArgumentException;
import dev.carillon.engine.Node;
import dev.carillon.engine.environment.Membership;
import dev.carillon.engine.history.DamagedHead;
import dev.carillon.engine.job.FlowSubject;
import dev.carillon.engine.member.ClusterLook;
import dev.carillon.engine.member.ClusterReader;
import dev.carillon.engine.member.NodeStats;
import dev.carillon.engine.message.Question;
import dev.carillon.gateway.WorkerGateway;
import dev.carillon.store.Head;
import dev.carillon.store.Outcome;
import dev.carillon.store.ShardId;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * This node for its operators: health checks, statistics, the members of the cluster, and drain.
 * Made by {@link Carillon#node()}. Thread-safe.
 *
 * <pre>{@code
 * Health health = carillon.node().health();          // for probes; never waits
 * int running = carillon.node().stats().running();
 * }</pre>
 *
 * <p>{@link #health}, {@link #figures} and {@link #jobFigures} never wait and also answer after
 * Carillon was closed. The other methods then throw {@link dev.carillon.api.error.ClosedException}.
 */
public final class NodeControl {
  private static final long STUCK_NANOS = Duration.ofSeconds(5).toNanos();

  /** How long another node may take to tell what it has in memory. */
  private static final long ANSWER_NANOS = Duration.ofMillis(700).toNanos();

  private final OpenNode opened;
  private final NodeLoop loop;

  NodeControl(OpenNode opened) {
    this.opened = opened;
    this.loop = opened.loop;
  }

  /**
   * The health of this node, for probes. Never waits.
   *
   * @return whether its loop turns, whether it can accept jobs, and the reason if it cannot
   */
  public Health health() {
    boolean live = !loop.isEnded() && loop.sinceLastTurnNanos() < STUCK_NANOS;
    String problem = problem(live);
    return new Health(live, problem == null, problem == null ? detail() : problem);
  }

  private String detail() {
    String held = loop.held();
    if (!held.isEmpty()) {
      return "ok, but nothing starts: " + held;
    }
    String troubles = loop.troubles();
    if (!troubles.isEmpty()) {
      return "ok, but " + troubles;
    }
    String refused = loop.refused();
    return refused.isEmpty() ? "ok" : "ok, but shards that cannot be read: " + refused;
  }

  private @Nullable String problem(boolean live) {
    if (opened.isClosing()) {
      return "closed";
    }
    if (!live) {
      return "loop: no turn for %d ms".formatted(loop.sinceLastTurnNanos() / 1_000_000);
    }
    long slowest = loop.slowestStoreCallNanos();
    if (slowest > STUCK_NANOS) {
      return "store: no answer for %d ms".formatted(slowest / 1_000_000);
    }
    String problem = opened.store.problem();
    return problem == null ? null : "store: " + problem;
  }

  /**
   * The shards, jobs and attempts of this node, and its totals since it started. Reads nothing from
   * the store.
   *
   * @return the numbers of one moment
   */
  public CarillonStats stats() {
    return look("looking at the node", this::stats);
  }

  private CarillonStats stats(Node node) {
    NodeStats stats = node.stats();
    return new CarillonStats(
        stats.shards(),
        stats.loadedShards(),
        stats.loadedJobs(),
        stats.running(),
        node.slots(),
        stats.ready(),
        stats.blocked(),
        stats.queued(),
        stats.refusedShards(),
        node.waitingForTransactions(),
        stats.standsIn(),
        stats.addedTotal(),
        stats.endedTotal(),
        node.lent(),
        node.lentTotal(),
        node.borrowed(),
        node.borrowedTotal(),
        opened.admission.jobs(),
        opened.admission.bytes(),
        opened.reports.count());
  }

  /**
   * The counters and timers of this node since it started. Never waits; also after it was closed.
   *
   * @return the sums of this moment
   */
  public CarillonFigures figures() {
    return opened.tally.figures();
  }

  /**
   * Lateness, duration and failures of this node's attempts since it started, by type, queue and
   * namespace. Never waits; also after it was closed.
   *
   * @return at most 1,025 rows, in no order
   */
  public List<JobFigures> jobFigures() {
    return opened.tally.jobFigures();
  }

  /**
   * The due jobs of this node that do not run, and why, counted by type, queue and namespace. Looks
   * at every job in memory: meant for a look every few seconds.
   *
   * @return in no order; empty where no due job waits
   */
  public List<WaitingFigures> waiting() {
    opened.requireOpen();
    return loop.post(
            new Ask<List<WaitingFigures>>(
                loop,
                "looking at what waits",
                Ask.Effect.READS,
                (node, asked) ->
                    node.waiting(
                        found -> asked.answer(found.stream().map(WaitingFigures::of).toList()))))
        .await();
  }

  /**
   * The jobs whose handlers run now, on this node and on the others: each node tells it from
   * memory. Reads and changes nothing of any job. Waits for an answer of a node up to 700 ms; what
   * runs on one that gave none is not known, and the answer names it.
   *
   * @param namespace of the jobs; null for all namespaces
   * @param most how many jobs a node tells, from 1 to {@link Limits#PAGE_MAX_ITEMS}: those that
   *     began first. All are counted
   * @return what runs, by node
   */
  public RunningInfo running(@Nullable String namespace, int most) {
    opened.requireOpen();
    if (namespace != null) {
      Limits.checkNamespace(namespace);
    }
    if (most < 1 || most > Limits.PAGE_MAX_ITEMS) {
      throw InvalidArgumentException.of("most", most, "1 to " + Limits.PAGE_MAX_ITEMS);
    }
    return loop.post(
            new Ask<RunningInfo>(
                loop,
                "asking what runs",
                Ask.Effect.READS,
                (node, asked) ->
                    node.questions()
                        .running(
                            namespace,
                            most,
                            ANSWER_NANOS,
                            answers -> asked.answer(RunningInfo.of(answers)))))
        .await();
  }

  /**
   * The due jobs that do not run, on this node and on the others, counted by queue and by what
   * keeps each of them first. Reads and changes nothing of any job. Waits for an answer of a node
   * up to 700 ms; one that gave none is named.
   *
   * @param namespace of the jobs; null for all namespaces
   * @param queue of the jobs; null for all queues
   * @return what waits; of each node at most 1,000 combinations
   */
  public WaitsInfo waits(@Nullable String namespace, @Nullable String queue) {
    opened.requireOpen();
    if (namespace != null) {
      Limits.checkNamespace(namespace);
    }
    if (queue != null) {
      Limits.checkQueue(queue);
    }
    return loop.post(
            new Ask<WaitsInfo>(
                loop,
                "asking what waits",
                Ask.Effect.READS,
                (node, asked) ->
                    node.questions()
                        .waiting(
                            new Question.Waiting(namespace, queue),
                            ANSWER_NANOS,
                            answers -> asked.answer(WaitsInfo.of(answers)))))
        .await();
  }

  /**
   * The queues of which operators or this node's program have set anything, now or before.
   *
   * @return what is in effect, by queue, in no order
   */
  public Map<String, FlowControl.Setting> queueSettings() {
    opened.requireOpen();
    return loop.post(
            new Ask<Map<String, FlowControl.Setting>>(
                loop,
                "looking at the queues",
                Ask.Effect.READS,
                (node, asked) ->
                    node.flows(
                        FlowSubject.Scope.QUEUE,
                        all -> {
                          Map<String, FlowControl.Setting> settings = new LinkedHashMap<>();
                          all.forEach(
                              (queue, setting) ->
                                  settings.put(queue, FlowControl.Setting.of(setting)));
                          asked.answer(settings);
                        })))
        .await();
  }

  /**
   * Which shards each node has, counted by the time of their jobs, as the nodes themselves tell:
   * loaded or asleep, on their way here or away. Reads nothing from the store. Waits for an answer
   * of a node up to 700 ms; one that gave none is named. Shards that nobody has are those of {@link
   * #cluster}.
   *
   * @return the shards by node and time
   */
  public ShardsInfo shardsByTime() {
    opened.requireOpen();
    return loop.post(
            new Ask<ShardsInfo>(
                loop,
                "asking for shards",
                Ask.Effect.READS,
                (node, asked) ->
                    node.questions()
                        .shards(ANSWER_NANOS, answers -> asked.answer(ShardsInfo.of(answers)))))
        .await();
  }

  /**
   * Throughput, backlog and lateness of all nodes in the last ten minutes, two hours or three days.
   * Each node remembers its own in memory, from the moment on at which it is first asked or {@link
   * #keepPast} was called. Waits for an answer of a node up to 700 ms; who asks again within a
   * second is told the same.
   *
   * @param span how far back
   * @return what the nodes told, added up
   */
  public PastInfo past(PastInfo.Span span) {
    opened.requireOpen();
    return opened.allPast.of(Limits.checkPresent("span", span));
  }

  /**
   * Has this node remember its figures from now on, and asks the others once a minute, so that they
   * do too and that what a node measured is not lost when it stops. For programs that show figures.
   * Costs one look at the node a second, and some 100 KB, at most 5 MB.
   */
  public void keepPast() {
    opened.requireOpen();
    opened.allPast.keep();
  }

  /**
   * Tells a listener of the jobs of this node from now on, besides those of the builder; for those
   * who look for a while. While nobody listens the node tells nothing.
   *
   * @param listener told as {@link JobListener} says; it must not block
   * @return to be closed when nobody listens any more
   */
  public Subscription listen(JobListener listener) {
    opened.requireOpen();
    return opened.relay.listen(Limits.checkPresent("listener", listener));
  }

  /**
   * Tells a listener of the jobs of all nodes from now on: of this node's at once, of the others'
   * within about a second. While somebody listens here the others are asked every half second and
   * keep what happens for ten.
   *
   * @param listener told as {@link JobListener} says, by several threads; it must not block
   * @return to be closed when nobody listens any more
   */
  public Subscription listenToAll(ClusterListener listener) {
    opened.requireOpen();
    return opened.news.listen(Limits.checkPresent("listener", listener));
  }

  /**
   * The nodes that share the store, as this node sees them. Reads nothing from the store.
   *
   * @return this node first; it alone on a store of one process
   */
  public List<MemberInfo> members() {
    return look(
        "looking at the members", node -> node.members().stream().map(MemberInfo::of).toList());
  }

  /**
   * The nodes that share the store, whose stand-ins they are, and all shards by time: a snapshot.
   * It reads the head of every shard once, up to 20,000, in pages of 256, while this node goes on;
   * {@link #stats} and {@link #members} read nothing.
   *
   * @return the cluster as this node sees it
   * @throws dev.carillon.api.error.StoreUnavailableException if the store could not be reached
   */
  public ClusterInfo cluster() {
    opened.requireOpen();
    return opened.reads.await(
        "looking at the cluster",
        () -> {
          ClusterLook.Heads heads = StoreAnswers.get(ClusterLook.heads(opened.store));
          return ClusterInfo.of(known(), heads);
        });
  }

  /**
   * A page of the shards in the store, in the order of their ids, which is that of their times.
   *
   * @param after the {@linkplain Page#next() cursor} of the page before; null for the first
   * @param limit how many at most, from 1 to {@link Limits#PAGE_MAX_ITEMS}
   * @return the shards; those whose heads are damaged are named as unreadable
   * @throws dev.carillon.api.error.InvalidArgumentException if the cursor is not one that a page
   *     gave
   * @throws dev.carillon.api.error.StoreUnavailableException if the store could not be reached
   */
  public Page<ShardInfo> shards(@Nullable String after, int limit) {
    opened.requireOpen();
    if (limit < 1 || limit > Limits.PAGE_MAX_ITEMS) {
      throw InvalidArgumentException.of("limit", limit, "1 to " + Limits.PAGE_MAX_ITEMS);
    }
    ShardId start = after != null ? shard("cursor", after) : null;
    ClusterLook look = known();
    return opened.reads.await("listing shards", () -> shards(look, start, limit));
  }

  private Page<ShardInfo> shards(ClusterLook look, @Nullable ShardId start, int limit) {
    var found = StoreAnswers.get(DamagedHead.around(opened.store, start, limit + 1));
    List<Head> heads = found.intact();
    boolean more = heads.size() > limit;
    List<Head> shown = more ? heads.subList(0, limit) : heads;
    return new Page<>(
        shown.stream().map(head -> ShardInfo.of(head, look)).toList(),
        more ? shown.getLast().shard().toString() : null,
        found.damaged().stream().map(shard -> "head of shard " + shard).toList());
  }

  private static ShardId shard(String what, String text) {
    try {
      return ShardId.parse(Limits.checkPresent(what, text));
    } catch (IllegalArgumentException e) {
      throw InvalidArgumentException.of(what, text, "the id of a shard");
    }
  }

  /** The cluster as far as this node knows it without reading anything. */
  ClusterLook known() {
    return look("looking at the cluster", Node::cluster);
  }

  /** Why nothing starts on this node; empty where attempts may start. */
  String held() {
    return loop.held();
  }

  private <T> T look(String doing, Function<Node, T> question) {
    opened.requireOpen();
    return loop.post(
            new Ask<T>(
                loop, doing, Ask.Effect.READS, (node, asked) -> asked.answer(question.apply(node))))
        .await();
  }

  /**
   * Whether this node only asks others, see {@link CarillonBuilder#clientOnly}: it takes no
   * handlers.
   */
  public boolean isClientOnly() {
    Membership membership = opened.options.membership();
    return membership != null && membership.client();
  }

  /**
   * Orders this node to hand all its shards to the other nodes that share the store, each after its
   * running attempts have ended. The node takes no shard until {@link #undrain}, also after a
   * restart under the same node id. Jobs that are scheduled through it go to the others as well.
   * Where no other node is there it keeps its shards.
   *
   * <p>Returns when the order is durable; {@link #stats} tells how many shards the node still has.
   *
   * @throws IllegalStateException if this node has its store to itself
   * @throws dev.carillon.api.error.OutcomeUnknownException if the store did not answer in time
   */
  public void drain() {
    order("draining", (node, done) -> node.drain(node.id(), true, done));
  }

  /**
   * The same for another node; see {@link #drain()}.
   *
   * @param nodeId the id of a node that is there or expected back
   * @throws dev.carillon.api.error.InvalidArgumentException if it is none
   * @throws IllegalStateException if this node has its store to itself
   * @throws dev.carillon.api.error.OutcomeUnknownException if the store did not answer in time
   */
  public void drain(String nodeId) {
    checkKnown(nodeId);
    order("draining", (node, done) -> node.drain(nodeId, true, done));
  }

  private void checkKnown(String nodeId) {
    opened.requireOpen();
    Limits.checkPresent("nodeId", nodeId);
    Set<String> known =
        opened.reads.await(
            "looking at the members", () -> StoreAnswers.get(ClusterReader.nodeIds(opened.store)));
    if (!known.isEmpty() && !known.contains(nodeId)) {
      throw InvalidArgumentException.of(
          "nodeId", nodeId, "one that is there or expected back: " + known);
    }
  }

  /**
   * Takes {@link #drain} back: the shards of this node return to it.
   *
   * @throws IllegalStateException if this node has its store to itself
   * @throws dev.carillon.api.error.OutcomeUnknownException if the store did not answer in time
   */
  public void undrain() {
    order("undraining", (node, done) -> node.drain(node.id(), false, done));
  }

  /**
   * The same for another node, also one that is not there; see {@link #undrain()}.
   *
   * @param nodeId its id
   * @throws IllegalStateException if this node has its store to itself
   * @throws dev.carillon.api.error.OutcomeUnknownException if the store did not answer in time
   */
  public void undrain(String nodeId) {
    Limits.checkPresent("nodeId", nodeId);
    order("undraining", (node, done) -> node.drain(nodeId, false, done));
  }

  /**
   * Orders that a shard is with a certain node: it goes there after its running attempts have
   * ended, and stays while that node is there. Returns when the order is durable.
   *
   * @param shardId {@link ShardInfo#id()}
   * @param nodeId the id of a node that is there or expected back; null to take the order back:
   *     then the shard is again with the node that made it
   * @throws dev.carillon.api.error.InvalidArgumentException if there is no such shard or node
   * @throws IllegalStateException if this node has its store to itself
   * @throws dev.carillon.api.error.OutcomeUnknownException if the store did not answer in time
   */
  public void move(String shardId, @Nullable String nodeId) {
    ShardId shard = shard("shardId", shardId);
    if (nodeId != null) {
      checkKnown(nodeId);
      boolean there =
          opened.reads.await(
              "looking at shard " + shard,
              () -> !(opened.store.journals().head(shard) instanceof Outcome.Fenced));
      if (!there) {
        throw InvalidArgumentException.of("shardId", shardId, "a shard that is there");
      }
    }
    order("moving a shard", (node, done) -> node.move(shard, nodeId, done));
  }

  /**
   * Small values that the programs on this store share, such as the access tokens of its servers.
   *
   * @param area which ones: a word of small letters and hyphens
   * @return the records of that area
   */
  public SharedRecords sharedRecords(String area) {
    return new SharedRecords(
        opened.store,
        area,
        new SharedRecords.Reading() {
          @Override
          public <T> T read(String what, Supplier<T> call) {
            opened.requireOpen();
            return opened.reads.await(what, call);
          }
        });
  }

  /**
   * What this node is called.
   *
   * @return the id, as members and histories have it
   */
  public String id() {
    return opened.options.nodeId();
  }

  /**
   * The workers that are connected to this node: processes elsewhere that run its jobs. For
   * gateways, which have the connections; see {@link AdvancedOptions#expectWorkers}.
   *
   * @return the workers of this node
   */
  public WorkerGateway workers() {
    return new NodeWorkers(opened);
  }

  private interface Order {
    void give(Node node, Runnable done);
  }

  private void order(String doing, Order order) {
    opened.requireOpen();
    boolean done =
        loop.post(
                new Ask<Boolean>(
                    loop,
                    doing,
                    Ask.Effect.WRITES,
                    (node, asked) -> {
                      if (node.isShared()) {
                        order.give(node, () -> asked.answer(true));
                      } else {
                        asked.answer(false);
                      }
                    }))
            .await();
    if (!done) {
      throw new IllegalStateException("store: held by this node alone (expected: a shared one)");
    }
  }
}
