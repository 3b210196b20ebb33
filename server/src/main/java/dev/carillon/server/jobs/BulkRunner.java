package dev.carillon.server.jobs;

import dev.carillon.Carillon;
import dev.carillon.HandlerOptions;
import dev.carillon.HandlerRegistration;
import dev.carillon.RawPayload;
import dev.carillon.Requester;
import dev.carillon.api.JobContext;
import dev.carillon.api.JobInfo;
import dev.carillon.api.JobQuery;
import dev.carillon.api.JobType;
import dev.carillon.api.Page;
import dev.carillon.api.error.CarillonException;
import dev.carillon.api.error.OutcomeUnknownException;
import dev.carillon.api.error.WaitInterruptedException;
import dev.carillon.server.json.Json;
import dev.carillon.server.json.Shape;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/**
 * Runs bulk actions: a job each, which goes over the jobs of its query page by page and saves where
 * it is after each page. Only jobs that were there when the action was asked for are touched, and
 * no bulk action touches another one.
 *
 * <p>Crash table: the process dies within a page: the next attempt does that page again, which
 * changes nothing that is done. It dies between the last page and the end: the same with nothing
 * left to do. An outcome is unknown, or the store is away: the attempt fails and another follows
 * from the last saved page. The action is cancelled: it stops after the jobs that are under way and
 * succeeds with what it has done.
 */
public final class BulkRunner {
  /** The namespace of the server's own jobs. */
  static final String NAMESPACE = "carillon";

  static final String QUEUE = "carillon";

  /** The metadata entry that says which namespace an action is about. */
  static final String ABOUT = "namespace";

  static final JobType<RawPayload, RawPayload> TYPE =
      JobType.of(Jobs.RESERVED + "bulk", RawPayload.class, RawPayload.class);

  private static final int A_PAGE = 200;
  private static final int AT_ONCE_ON_A_NODE = 4;

  private final Carillon carillon;

  private BulkRunner(Carillon carillon) {
    this.carillon = carillon;
  }

  /**
   * Has a node run bulk actions.
   *
   * @param carillon the node
   * @return to be closed when it is to run no more of them
   */
  public static HandlerRegistration on(Carillon carillon) {
    return carillon.handle(
        TYPE, new BulkRunner(carillon)::run, HandlerOptions.defaults().limit(AT_ONCE_ON_A_NODE));
  }

  /** What the job of an action has as its input. */
  static final class Order {
    static final Shape<Order> SHAPE =
        Shape.of(Order::new)
            .text("namespace", (o, v) -> o.namespace = v)
            .text("by", (o, v) -> o.by = v)
            .time("at", (o, v) -> o.at = v)
            .object("asked", BulkBody.SHAPE, (o, v) -> o.asked = v);

    private String namespace = "";
    private String by = "";
    private Instant at = Instant.EPOCH;
    private BulkBody asked = new BulkBody();

    static Order read(RawPayload payload) {
      return SHAPE.read(payload.bytes());
    }

    /** The input of an action that somebody asks for now. */
    static RawPayload payload(String namespace, String by, Instant at, byte[] asked) {
      return new RawPayload(
          "json",
          Json.object(
              out ->
                  out.put("namespace", namespace)
                      .put("by", by)
                      .put("at", at)
                      .raw("asked", new String(asked, StandardCharsets.UTF_8))));
    }

    String by() {
      return by;
    }

    BulkBody asked() {
      return asked;
    }
  }

  private RawPayload run(RawPayload input, JobContext job) throws Exception {
    Order order = Order.read(input);
    BulkPosition position =
        job.saved(RawPayload.class).map(BulkPosition::read).orElseGet(BulkPosition::new);
    JobQuery query = order.asked.query(order.namespace).limit(A_PAGE);
    Requester requester = carillon.as(order.by);
    try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
      while (!position.complete()) {
        if (job.cancellationRequested() || job.pauseRequested()) {
          return stopped(job, position);
        }
        Page<JobInfo> page = carillon.list(query.cursor(position.cursor()));
        List<JobInfo> meant = page.items().stream().filter(each -> isMeant(each, order)).toList();
        long changed = act(threads, requester, order.asked, meant);
        position.goOn(page.next(), changed, meant.size(), page.unreadable());
        job.save(position.payload());
      }
    } catch (InterruptedException | WaitInterruptedException e) {
      return stopped(job, position);
    } catch (OutcomeUnknownException e) {
      if (!Thread.currentThread().isInterrupted()) {
        throw e;
      }
      return stopped(job, position);
    }
    return position.payload();
  }

  /** Whether the job was there already, and is no bulk action itself. */
  private static boolean isMeant(JobInfo job, Order order) {
    return !job.type().equals(TYPE.name())
        && !job.scheduledAt().isAfter(order.at)
        && order.asked.isAbout(job);
  }

  private static long act(
      ExecutorService threads, Requester requester, BulkBody asked, List<JobInfo> jobs)
      throws InterruptedException {
    List<Callable<Boolean>> acts = new ArrayList<>(jobs.size());
    for (JobInfo each : jobs) {
      acts.add(() -> asked.action().act(requester, each.id(), asked));
    }
    long changed = 0;
    for (Future<Boolean> each : threads.invokeAll(acts)) {
      changed += result(each) ? 1 : 0;
    }
    return changed;
  }

  private static boolean result(Future<Boolean> done) throws InterruptedException {
    try {
      return done.get();
    } catch (ExecutionException e) {
      if (e.getCause() instanceof CarillonException failed) {
        throw failed; // the next attempt does the page again
      }
      throw new IllegalStateException(e.getCause());
    }
  }

  /** Cancelled it ends with what it has done; else its node stops, and another goes on. */
  private RawPayload stopped(JobContext job, BulkPosition position) throws InterruptedException {
    var unused = Thread.interrupted(); // so that the job can be looked at
    if (carillon.get(job.id()).filter(JobInfo::cancelRequested).isPresent()) {
      return position.stop().payload();
    }
    throw new InterruptedException("to go on later");
  }
}
