package dev.carillon.server;

import dev.carillon.Carillon;
import dev.carillon.HandlerRegistration;
import dev.carillon.SharedRecords;
import dev.carillon.server.access.Tokens;
import dev.carillon.server.gateway.Gateway;
import dev.carillon.server.http.HttpFace;
import dev.carillon.server.http.Route;
import dev.carillon.server.http.Router;
import dev.carillon.server.jobs.BulkRoutes;
import dev.carillon.server.jobs.BulkRunner;
import dev.carillon.server.jobs.ControlRoutes;
import dev.carillon.server.jobs.DeadLetterRoutes;
import dev.carillon.server.jobs.JobRoutes;
import dev.carillon.server.jobs.ScheduleRoutes;
import dev.carillon.server.jobs.WhyRoutes;
import dev.carillon.server.jobs.WorkflowRoutes;
import dev.carillon.server.login.LoginRoutes;
import dev.carillon.server.login.TokenSessions;
import dev.carillon.server.operate.AccessRoutes;
import dev.carillon.server.operate.Audit;
import dev.carillon.server.operate.ClusterRoutes;
import dev.carillon.server.operate.EventRoutes;
import dev.carillon.server.operate.FigureRoutes;
import dev.carillon.server.operate.FlowRoutes;
import dev.carillon.server.operate.Meters;
import dev.carillon.server.operate.ProbeRoutes;
import dev.carillon.server.operate.QueueRoutes;
import dev.carillon.server.operate.RunningRoutes;
import dev.carillon.server.operate.TokenRoutes;
import dev.carillon.server.operate.WaitingRoutes;
import dev.carillon.server.operate.WorkerRoutes;
import dev.carillon.server.pages.PageRoutes;
import dev.carillon.server.webhook.Webhooks;
import dev.carillon.server.work.WorkRoutes;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * A node with its HTTP API. The node belongs to the caller, who closes the server first.
 *
 * <pre>{@code
 * try (Carillon carillon = Carillon.open("jdbc:sqlite:jobs.db");
 *     CarillonServer server = CarillonServer.start(carillon, ServerOptions.standard())) {
 *   System.out.println(server.address());
 * }
 * }</pre>
 *
 * <p>Thread-safe.
 */
public final class CarillonServer implements AutoCloseable {
  private final ServerOptions options;
  private final Meters meters;
  private final Audit audit;
  private final TokenSessions access;
  private final WorkRoutes work;
  private final Router router;
  private final HttpFace http;
  private @Nullable HandlerRegistration bulk;
  private final Webhooks webhooks;
  private @Nullable Gateway gateway;
  private boolean stopped;

  private CarillonServer(Carillon carillon, ServerOptions options) throws IOException {
    this.options = options;
    this.meters = new Meters(carillon);
    this.audit = new Audit(carillon);
    this.work = new WorkRoutes(carillon);
    this.access =
        new TokenSessions(
            options.access(), carillon.node().sharedRecords(LoginRoutes.area()), options.login());
    SharedRecords records = carillon.node().sharedRecords(Tokens.AREA);
    List<Route> table = new ArrayList<>();
    table.addAll(new ProbeRoutes(carillon, this::isStopping).routes());
    table.addAll(meters.routes());
    table.addAll(new JobRoutes(carillon, options.redaction()).routes());
    table.addAll(new ControlRoutes(carillon).routes());
    table.addAll(new WhyRoutes(carillon).routes());
    table.addAll(new ScheduleRoutes(carillon).routes());
    table.addAll(new WorkflowRoutes(carillon, options.redaction()).routes());
    table.addAll(new DeadLetterRoutes(carillon).routes());
    table.addAll(new BulkRoutes(carillon).routes());
    table.addAll(new FlowRoutes(carillon).routes());
    table.addAll(new QueueRoutes(carillon).routes());
    table.addAll(new ClusterRoutes(carillon).routes());
    table.addAll(new RunningRoutes(carillon).routes());
    table.addAll(new WaitingRoutes(carillon).routes());
    table.addAll(new WorkerRoutes(carillon).routes());
    table.addAll(new FigureRoutes(carillon).routes());
    table.addAll(work.routes());
    table.addAll(new EventRoutes(carillon, this::isStopping).routes());
    table.addAll(new TokenRoutes(new Tokens(records)).routes());
    table.addAll(new AccessRoutes().routes());
    table.addAll(new PageRoutes().routes());
    table.addAll(options.login().routes());
    table.addAll(access.routes());
    this.router = new Router(table);
    HttpFace.Listening listening =
        new HttpFace.Listening(options.address(), options.tls(), options.limits());
    try {
      this.http = new HttpFace(listening, router, access, List.of(meters, audit));
    } catch (IOException e) {
      work.close();
      audit.close();
      meters.close();
      throw e;
    }
    this.webhooks =
        new Webhooks(options.webhooks(), !options.access().authenticates(), this::ownPorts);
  }

  private Set<Integer> ownPorts() {
    return Set.of(http.address().getPort());
  }

  /**
   * Opens the port.
   *
   * @param carillon the node; it stays open when the server is closed. On one that is client only
   *     bulk actions, webhooks and the audit's entries are for other servers to run
   * @param options how
   * @return a server that answers
   * @throws IOException if the port cannot be opened
   */
  public static CarillonServer start(Carillon carillon, ServerOptions options) throws IOException {
    CarillonServer server = startWithoutWebhooks(carillon, options);
    if (!carillon.node().isClientOnly()) {
      server.webhooks.register(carillon);
    }
    return server;
  }

  /**
   * The same for a program that is there for a moment and does not know what signs webhooks: they
   * wait for another server.
   *
   * @param carillon the node
   * @param options how
   * @return a server that answers
   * @throws IOException if the port cannot be opened
   */
  public static CarillonServer startWithoutWebhooks(Carillon carillon, ServerOptions options)
      throws IOException {
    CarillonServer server = new CarillonServer(carillon, options);
    HandlerRegistration bulk = carillon.node().isClientOnly() ? null : BulkRunner.on(carillon);
    server.bulk = bulk;
    try {
      server.openWorkers(carillon);
      server.http.start();
    } catch (IOException e) {
      server.work.close();
      server.audit.close();
      if (bulk != null) {
        bulk.close();
      }
      if (server.gateway != null) {
        server.gateway.close();
      }
      throw e;
    }
    return server;
  }

  private void openWorkers(Carillon carillon) throws IOException {
    ServerOptions.Workers workers = options.workers();
    if (workers != null && !carillon.node().isClientOnly()) {
      gateway =
          Gateway.start(
              carillon,
              options.access(),
              new Gateway.Listening(
                  new InetSocketAddress(options.address().getAddress(), workers.port()),
                  workers.advertised(),
                  options.tls(),
                  workers.limits()),
              meters);
    }
  }

  /** The address that it listens on for workers; null where it does not. */
  public @Nullable InetSocketAddress workerAddress() {
    return gateway != null ? gateway.address() : null;
  }

  /** The address that it listens on. */
  public InetSocketAddress address() {
    return http.address();
  }

  /** The operations that it serves. */
  public List<Route> routes() {
    return router.routes();
  }

  /** How many requests are open that may last. */
  int streams() {
    return http.streams();
  }

  /** The listener, for tests that look at what it holds. */
  HttpFace http() {
    return http;
  }

  private boolean isStopping() {
    return http.isStopping();
  }

  /**
   * Stops in order: no webhook begins and the server is not ready any more, requests that run go on
   * for the grace, further ones are answered 503. Those that run after the grace are answered what
   * is known of them, 503 or 504. Then the port is closed. No further worker is let in; those that
   * are connected stay until {@link #close}: a node that is closed meanwhile leases what they have,
   * and tells them.
   */
  public void stop() {
    if (stopped) {
      return;
    }
    stopped = true;
    if (gateway != null) {
      gateway.beginStop();
    }
    webhooks.close();
    http.stop(options.stopGrace());
    if (bulk != null) {
      bulk.close();
    }
    work.close();
    audit.close();
    access.close();
    meters.close();
  }

  /** Stops as by {@link #stop}, and ends the streams of workers, whose attempts go on. */
  @Override
  public void close() {
    stop();
    if (gateway != null) {
      gateway.close();
    }
  }
}
