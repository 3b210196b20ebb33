package dev.carillon;

import dev.carillon.engine.Node;
import dev.carillon.engine.environment.NodeOptions;
import dev.carillon.engine.member.Formats;
import dev.carillon.store.Doorbells;
import dev.carillon.store.Store;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import javax.management.ObjectName;
import org.jspecify.annotations.Nullable;

/**
 * The lifecycle of a node inside this process: builds its parts, starts them in order, and stops
 * them in the reverse order.
 *
 * <p>The parts never change. {@link Carillon} and the classes behind it take from here the parts
 * that they need. Thread-safe.
 */
final class OpenNode {
  final NodeOptions options;
  final GuardedStore store;
  final TimeSource time;
  final Reports reports;
  final Tally tally;
  final Payloads payloads;
  final Admission admission;
  final HandlerRunner runner;
  final ListenerRelay relay;
  final ClusterNews news;
  final Past past;
  final ClusterPast allPast;
  final NodeLoop loop;
  final Tickets tickets;
  final Reads reads;
  final NodeControl control;
  private final Shutdown shutdown;
  private final AutoCloseable inboxBell;
  private final List<Doorbells.Listening> notifications = new ArrayList<>();
  private volatile @Nullable ObjectName managed;

  /** Opens the store that the options name and starts a node on it. */
  static OpenNode open(CarillonBuilder options) {
    Store store = StoreOpener.open(options);
    try {
      OpenNode node = new OpenNode(options, store);
      if (options.advanced.jmx) {
        node.showOverJmx();
      }
      return node;
    } catch (Throwable e) {
      store.close();
      throw e;
    }
  }

  private OpenNode(CarillonBuilder builder, Store opened) {
    SecureRandom random = new SecureRandom();
    NodeLog log = new NodeLog();
    this.reports = new Reports(log.queue());
    Formats formats = Formats.shipped();
    this.store = new GuardedStore(formats.over(opened), reports, new StoreWatch(log.queue()));
    formats.requireReadable(store);
    this.tally = new Tally(GuardedMetrics.of(builder.metrics, reports));
    this.time = builder.advanced.time;
    this.payloads = new Payloads(builder.codec, builder.advanced.otherCodecs);
    this.admission =
        new Admission(builder.advanced.maxWaitingJobs, builder.advanced.maxWaitingBytes);
    this.options = builder.nodeOptions(random, opened);
    this.relay = new ListenerRelay(builder.listeners, reports, options.nodeId());
    this.past = new Past(tally, time, this::look, this::isClosing);
    NodeLoop.Settings settings =
        new NodeLoop.Settings(
            options,
            formats,
            time,
            builder.advanced.scheduleTimeout,
            builder.daemon,
            tally,
            relay,
            log::tell,
            past,
            random.nextLong());
    HandlerWatch watch = new HandlerWatch(log.queue());
    this.runner =
        new HandlerRunner(
            store,
            payloads,
            builder.interceptors,
            time,
            reports,
            watch,
            new WorkflowRuns.Budget(
                builder.advanced.parkedWorkflows, tally, new CodeWatch(log.queue(), tally)));
    this.loop = new NodeLoop(settings, store, admission, runner, reports);
    this.tickets = new Tickets(store, loop);
    this.reads = new Reads(builder.advanced.scheduleTimeout);
    this.shutdown = new Shutdown(loop, store, relay, reports, builder.closeGrace, log::closed);
    log.start(
        new NodeLog.Opening(options.nodeId(), StoreOpener.words(builder, opened), builder.slots));
    relay.start(loop);
    runner.start(loop);
    if (builder.advanced.workers) {
      loop.node().workers().expect();
    }
    loop.start();
    post(
        node -> {
          builder.flow.applyTo(node);
          builder.namespacePolicies.forEach(node::failurePolicy);
        });
    this.inboxBell = InboxBell.start(store, loop);
    Node.notificationChannels(options.incarnation())
        .forEach(
            (channel, heard) ->
                notifications.add(store.doorbells().listen(channel, () -> post(heard))));
    this.news = new ClusterNews(this);
    this.control = new NodeControl(this);
    this.allPast = new ClusterPast(this);
  }

  private CarillonStats look() {
    return control.stats();
  }

  private void showOverJmx() {
    managed = Management.register(control, options.nodeId(), options.incarnation(), reports);
  }

  /** Refuses calls once the node is closed. */
  void requireOpen() {
    shutdown.requireOpen();
  }

  boolean isClosing() {
    return shutdown.isClosing();
  }

  /** Has the loop do something with the node; nobody waits for it. */
  void post(Consumer<Node> action) {
    loop.post(new OnNode(loop, action));
  }

  /** Stops the node and closes the store. Safe to call again and from several threads. */
  void close() {
    Management.unregister(managed, reports);
    try {
      inboxBell.close();
    } catch (Exception e) {
      reports.report("the inbox's bell does not close", e);
    }
    shutdown.run();
    // Requests of other nodes are answered until here.
    notifications.forEach(Doorbells.Listening::close);
  }
}
