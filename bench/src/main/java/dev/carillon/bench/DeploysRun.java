package dev.carillon.bench;

import dev.carillon.Carillon;
import dev.carillon.CarillonBuilder;
import dev.carillon.MemberInfo;
import dev.carillon.NodeIdProvider;
import dev.carillon.api.Job;
import dev.carillon.api.JobId;
import dev.carillon.api.TaskType;
import dev.carillon.store.Head;
import dev.carillon.store.Outcome;
import dev.carillon.store.Store;
import dev.carillon.store.StoreAddress;
import dev.carillon.store.Stores;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;

/**
 * Three nodes in one process, each with a connection pool of its own, that are replaced one by one
 * again and again by nodes of other ids, while jobs of the next month come in through all of them.
 */
final class DeploysRun {
  static final int NODES = 3;

  private static final TaskType<Order> ORDER = TaskType.of("order", Order.class);

  /** Both are beyond the end of the run. */
  private static final Duration SOON = Duration.ofMinutes(30);

  private static final Duration LATER = Duration.ofHours(3);

  private static final Duration DAY = Duration.ofDays(1);
  private static final Duration MONTH = Duration.ofDays(30);

  /** In place of ten minutes, so that nobody has to wait for an hour between two deploys. */
  private static final Duration FORGET_AFTER = Duration.ofSeconds(1);

  /** Beyond the load horizon of a minute: a shard that wakes later is nobody's until then. */
  private static final Duration SLEEPS_FROM = Duration.ofMinutes(2);

  private static final int SECONDS_AT_MOST = 120;
  private static final int HEADS_A_PAGE = 256;

  private final ServerPlace place;
  private final Report report;
  private final Ids ids;
  private final String address;
  private final SplittableRandom random = new SplittableRandom(1);
  private final List<Carillon> fleet = new ArrayList<>();
  private Instant moved = Instant.now().plus(LATER);
  private int started;
  private long scheduled;

  /** Whether others wait for a node that has stopped. */
  enum Ids {
    NEVER_RETURN,
    FORGOTTEN;

    String scenario() {
      return "deploys, ids " + (this == NEVER_RETURN ? "that never return" : "that are forgotten");
    }

    @Override
    public String toString() {
      return this == NEVER_RETURN ? "never-return" : "forgotten";
    }
  }

  /**
   * One deploy.
   *
   * @param shards with jobs that have not ended
   * @param buckets slices of time that have such shards
   * @param startMillis of its nodes, the median: until it has opened and scheduled a job
   * @param takeOverMillis of those that went, the median: from the beginning of the stop until
   *     others have claimed all its shards that are awake
   */
  record Deploy(int shards, int buckets, double startMillis, double takeOverMillis) {}

  /** What came of it. */
  record Found(List<Deploy> deploys, boolean nothingLost) {}

  DeploysRun(ServerPlace place, Report report, Ids ids) {
    this.place = place;
    this.report = report;
    this.ids = ids;
    this.address = place.newAddress("deploys");
  }

  /** The most shards that a deploy may leave: those that it opens and those that it found. */
  static int mostShards(int buckets) {
    return 2 * NODES * buckets;
  }

  Found run(int jobs, int more, int deploys) throws InterruptedException {
    try {
      for (int i = 0; i < NODES; i++) {
        fleet.add(open());
      }
      fleet.forEach(node -> schedule(node, jobs / NODES));
      try (Store store = Stores.openReadOnly(StoreAddress.of(address))) {
        List<Deploy> all = new ArrayList<>();
        for (int i = 1; i <= deploys; i++) {
          Deploy deploy = deploy(store, i, more);
          all.add(deploy);
          report.progress(
              ("%s %d: %d shards with pending jobs in %d buckets, at most %d; start %.0f ms,"
                      + " take-over %.0f ms")
                  .formatted(
                      ids.scenario(),
                      i,
                      deploy.shards(),
                      deploy.buckets(),
                      mostShards(deploy.buckets()),
                      deploy.startMillis(),
                      deploy.takeOverMillis()));
        }
        return new Found(all, PendingShards.of(store).jobs() == scheduled);
      }
    } finally {
      fleet.forEach(Carillon::close);
      place.remove(address);
    }
  }

  private Deploy deploy(Store store, int number, int more) throws InterruptedException {
    boolean newFirst = number % 2 == 0;
    Rounds starts = new Rounds();
    Rounds takeOvers = new Rounds();
    for (int i = 0; i < NODES; i++) {
      if (!newFirst) {
        takeOvers.add(stop(store, fleet.removeFirst()));
      }
      long from = System.nanoTime();
      Carillon fresh = open();
      fleet.add(fresh);
      schedule(fresh, 1);
      starts.add(millisSince(from));
      schedule(fresh, more);
      if (newFirst) {
        takeOvers.add(stop(store, fleet.removeFirst()));
      }
    }
    LatenessLog.await("that the old nodes are forgotten", this::isComplete, SECONDS_AT_MOST);
    PendingShards pending = PendingShards.of(store);
    return new Deploy(pending.shards(), pending.buckets(), starts.median(), takeOvers.median());
  }

  private boolean isComplete() {
    return fleet.stream().allMatch(each -> each.node().members().size() == NODES);
  }

  /** Closes a node and waits until the others have what they are to have of it. */
  private double stop(Store store, Carillon node) throws InterruptedException {
    wakeOne(node);
    List<Head> due = dueShards(store, incarnation(node));
    long from = System.nanoTime();
    node.close();
    LatenessLog.await(
        "a claim of " + due,
        () -> due.stream().allMatch(head -> isTaken(store, head)),
        SECONDS_AT_MOST);
    return millisSince(from);
  }

  /**
   * Moves a job of a far shard near: that is awake then, for whoever has it. Each comes a little
   * before the last, so that none is due later than its shard wakes anyway.
   */
  private void wakeOne(Carillon node) {
    JobId job = node.schedule(ORDER.job(Order.of(++scheduled)).in(MONTH.dividedBy(2))).id();
    moved = moved.minusSeconds(1);
    node.reschedule(job, moved);
  }

  /**
   * Whether another has claimed it since, or dropped it; or its owner let it sleep before it
   * stopped, so that nobody needs it until its time comes.
   */
  private static boolean isTaken(Store store, Head before) {
    return !(store.journals().head(before.shard()) instanceof Outcome.Ok<Head>(Head head))
        || head.epoch() > before.epoch()
        || (head.released() && head.wakeMicros() > nowMicros() + SLEEPS_FROM.toNanos() / 1000);
  }

  private static long nowMicros() {
    return Instant.now().toEpochMilli() * 1000;
  }

  private static List<Head> dueShards(Store store, long owner) {
    long now = nowMicros();
    List<Head> due = new ArrayList<>();
    Head after = null;
    while (true) {
      List<Head> page = store.journals().listByWake(now, after, HEADS_A_PAGE).orThrow();
      page.stream().filter(head -> head.owner() == owner).forEach(due::add);
      if (page.size() < HEADS_A_PAGE) {
        return due;
      }
      after = page.getLast();
    }
  }

  /** A node names itself first among the members. */
  private static long incarnation(Carillon carillon) {
    MemberInfo self = carillon.node().members().getFirst();
    return Long.parseUnsignedLong(self.incarnation(), 16);
  }

  private Carillon open() {
    String nodeId = "node-" + ++started;
    CarillonBuilder builder = Carillon.builder().url(address);
    switch (ids) {
      case NEVER_RETURN -> builder.nodeId(neverReturning(nodeId));
      case FORGOTTEN -> builder.nodeId(nodeId).advanced(a -> a.forgetAfter(FORGET_AFTER));
    }
    Carillon node = builder.open();
    node.handle(ORDER, (order, job) -> {});
    return node;
  }

  private static NodeIdProvider neverReturning(String nodeId) {
    return new NodeIdProvider() {
      @Override
      public String nodeId() {
        return nodeId;
      }

      @Override
      public boolean returns() {
        return false;
      }
    };
  }

  private void schedule(Carillon node, int jobs) {
    for (int from = 0; from < jobs; from += BurnDown.BATCH) {
      List<Job<?>> batch = new ArrayList<>();
      for (int i = from; i < Math.min(jobs, from + BurnDown.BATCH); i++) {
        batch.add(ORDER.job(Order.of(++scheduled)).at(due(i % 2 == 0 ? DAY : MONTH)));
      }
      var unused = node.scheduleAll(batch);
    }
  }

  private Instant due(Duration within) {
    long millis = random.nextLong(SOON.toMillis(), within.toMillis());
    return Instant.now().plusMillis(millis);
  }

  private static double millisSince(long nanos) {
    return (System.nanoTime() - nanos) / 1e6;
  }
}
