package dev.carillon.prove;

import dev.carillon.fixture.PostgresServer;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.function.IntFunction;
import org.jspecify.annotations.Nullable;

/**
 * Three nodes on one PostgreSQL server, each a process under load, and the ledger of what they
 * tell. A node that was killed comes back under the same id, as another incarnation; others may
 * join and leave.
 */
final class Fleet implements AutoCloseable {
  static final int NODES = 3;
  static final int START_MILLIS = 60_000;
  private static final int POLL_MILLIS = 20;
  private static final int ANSWER_MILLIS = 60_000;
  private static final int DRAIN_MILLIS = 180_000;

  /** A load that leaves room for the others on a machine of two cores. */
  private static final int SCHEDULERS = 8;

  private static final int PAUSE_MICROS = 100_000;

  private final Suite.Stage stage;
  private final PostgresServer server;
  private final Random random;
  private final Ledger ledger = new Ledger();
  private final List<String> problems = new ArrayList<>();
  private final List<Child> nodes = new ArrayList<>();
  private final IntFunction<List<String>> settings;
  private int incarnations;
  private int ids = NODES;

  Fleet(Suite.Stage stage, String name) {
    this(stage, name, node -> List.of());
  }

  /** One whose nodes differ: {@code settings} has the further arguments of each. */
  Fleet(Suite.Stage stage, String name, IntFunction<List<String>> settings) {
    this.settings = settings;
    this.stage = stage;
    this.server = PostgresServer.start(stage.postgres(), name);
    this.random = new Random(stage.seed());
  }

  /** Starts all nodes and waits until they work. */
  void begin() throws InterruptedException {
    for (int node = 0; node < NODES; node++) {
      nodes.add(launch(node));
    }
    for (Child node : List.copyOf(nodes)) {
      awaitLoading(node);
    }
  }

  private Child launch(int node) {
    List<String> arguments = new ArrayList<>();
    arguments.add(server.url());
    arguments.add("--node=node-" + node);
    arguments.add("--seed=" + stage.seed());
    arguments.add("--schedulers=" + SCHEDULERS);
    arguments.add("--pause-micros=" + PAUSE_MICROS);
    arguments.addAll(settings.apply(node));
    return Child.start(++incarnations, stage.errors(), ledger, arguments);
  }

  private void awaitLoading(Child node) throws InterruptedException {
    if (!node.awaitLoading(START_MILLIS)) {
      problems.add("incarnation " + node.incarnation() + " did not begin to work");
    }
  }

  /** One of them, at random. */
  int any() {
    return random.nextInt(NODES);
  }

  Random random() {
    return random;
  }

  Child node(int index) {
    return nodes.get(index);
  }

  List<Child> nodes() {
    return Collections.unmodifiableList(nodes);
  }

  /** Kills a node with signal 9; returns when, in microseconds since 1970. */
  long kill(int index) throws InterruptedException {
    Child node = nodes.get(index);
    long at = Note.micros(Instant.now());
    int exit = node.kill();
    ledger.disturbed(Ledger.Blow.KILL, node.incarnation(), at, Long.MAX_VALUE);
    if (exit != Child.KILLED) {
      problems.add(
          "incarnation %d: exit code %d (expected: %d, killed by signal 9)"
              .formatted(node.incarnation(), exit, Child.KILLED));
    }
    return at;
  }

  /** Starts a node again, under its id. */
  void restart(int index) throws InterruptedException {
    Child node = launch(index);
    nodes.set(index, node);
    awaitLoading(node);
  }

  /** One more node, under an id that none had before. */
  Child join() throws InterruptedException {
    Child node = launch(ids++);
    nodes.add(node);
    awaitLoading(node);
    return node;
  }

  /** Stops a node in order; null, and a problem, where it does not answer. */
  Note.@Nullable Closed stop(Child node) throws InterruptedException {
    Note.Closed closed = ask(node, new Order.Stop(), Note.Closed.class);
    if (closed != null && node.await() != 0) {
      problems.add("incarnation " + node.incarnation() + ": did not stop in order");
    }
    return closed;
  }

  /** Stops a node in order; nobody comes in its place. */
  Note.@Nullable Closed leave(Child node) throws InterruptedException {
    Note.Closed closed = stop(node);
    if (closed != null) {
      nodes.remove(node);
    }
    return closed;
  }

  /** Kills a node with signal 9; nobody comes in its place. */
  void killForGood(Child node) throws InterruptedException {
    kill(nodes.indexOf(node));
    nodes.remove(node);
  }

  /** What a node answers to an order; null, and a problem, where it does not. */
  <N extends Note> @Nullable N ask(Child node, Order order, Class<N> answer)
      throws InterruptedException {
    node.order(order);
    return answer(node, order, answer);
  }

  <N extends Note> @Nullable N answer(Child node, Order order, Class<N> answer)
      throws InterruptedException {
    N note = node.await(answer, ANSWER_MILLIS);
    if (note == null) {
      problems.add("incarnation " + node.incarnation() + " did not answer to " + order);
    }
    return note;
  }

  /** When that node next started an attempt after that time; never, after so long a wait. */
  long awaitStart(Child node, long afterMicros, long millis) throws InterruptedException {
    long deadline = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(millis);
    while (true) {
      long first = ledger.firstStart(node.incarnation(), afterMicros);
      if (first != Long.MAX_VALUE || System.nanoTime() > deadline) {
        return first;
      }
      TimeUnit.MILLISECONDS.sleep(POLL_MILLIS);
    }
  }

  /** What all nodes have counted, summed up. */
  record Counts(int shards, Map<String, Long> counters) {
    long of(String counter) {
      return counters.getOrDefault(counter, 0L);
    }
  }

  Counts counts() throws InterruptedException {
    int shards = 0;
    Map<String, Long> sum = new TreeMap<>();
    for (Child node : nodes) {
      Note.Counted counted = ask(node, new Order.Count(), Note.Counted.class);
      if (counted != null) {
        shards += counted.shards();
        Counters.parse(counted.counters()).forEach((name, n) -> sum.merge(name, n, Long::sum));
      }
    }
    return new Counts(shards, sum);
  }

  /** Lets the load end and everything that was scheduled; then all nodes stop in order. */
  void end() throws InterruptedException {
    stage.progress().accept("draining");
    nodes.forEach(node -> node.order(new Order.Rest()));
    for (Child node : nodes) {
      node.order(new Order.Drain());
      if (node.await(Note.Drained.class, DRAIN_MILLIS) == null) {
        problems.add("jobs are left after " + DRAIN_MILLIS / 1000 + " s without a blow");
      }
    }
    nodes.forEach(node -> node.order(new Order.Stop()));
    for (Child node : nodes) {
      if (!node.awaitEnd(ANSWER_MILLIS)) {
        problems.add("incarnation " + node.incarnation() + " does not stop");
        node.kill();
      } else if (node.await() != 0) {
        problems.add("incarnation " + node.incarnation() + ": did not stop in order");
      }
    }
  }

  PostgresServer server() {
    return server;
  }

  Ledger ledger() {
    return ledger;
  }

  List<String> problems() {
    return problems;
  }

  void progress(String text) {
    stage.progress().accept(text);
  }

  /** Ends what still runs. */
  @Override
  public void close() {
    nodes.forEach(Child::destroy);
    server.close();
  }
}
