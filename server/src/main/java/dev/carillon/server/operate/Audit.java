package dev.carillon.server.operate;

import dev.carillon.Carillon;
import dev.carillon.HandlerRegistration;
import dev.carillon.RawPayload;
import dev.carillon.api.Job;
import dev.carillon.api.TaskType;
import dev.carillon.api.error.CarillonException;
import dev.carillon.server.access.Arrival;
import dev.carillon.server.access.Caller;
import dev.carillon.server.access.Role;
import dev.carillon.server.http.Observer;
import dev.carillon.server.json.Json;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Who changed what, and who was not let: each is an ended job of the namespace {@value #NAMESPACE},
 * so it is listed, kept, exported and forgotten as any other job. Changes are those of operators
 * and admins; what submitters do stands in the histories of their jobs. Never a body, never a
 * secret.
 *
 * <p>Crash table:
 *
 * <ul>
 *   <li>The process dies after a change and before its entry: there is no entry, and the client has
 *       no answer. The history of a changed job names who asked all the same: that is kept in the
 *       operation itself.
 *   <li>The store does not take the entry within {@value #PATIENCE_SECONDS} s: the answer goes out,
 *       the loss is counted and logged.
 *   <li>A flood of denials: {@value #DENIALS_A_SECOND} a second are kept for each node; the next
 *       entry says how many were left out, or one of its own when the server stops.
 *   <li>The server stops while entries are under way, to the store or to another node: it waits for
 *       them for {@value #PATIENCE_SECONDS} s and logs how many are not known to be kept.
 * </ul>
 */
public final class Audit implements Observer, AutoCloseable {
  /** Where the entries are. */
  public static final String NAMESPACE = "carillon.audit";

  /** The type of the entries. */
  public static final TaskType<RawPayload> TYPE = TaskType.of("carillon.audit", RawPayload.class);

  private static final Logger LOG = LoggerFactory.getLogger(Audit.class);
  private static final int PATIENCE_SECONDS = 2;
  private static final int DENIALS_A_SECOND = 10;
  private static final int DENIALS_AT_ONCE = 100;
  private static final long DENIAL_NANOS = Duration.ofSeconds(1).toNanos() / DENIALS_A_SECOND;
  private static final int METADATA_CHARS = 200;
  private static final String LEFT_OUT = "left out";

  private final Carillon carillon;
  private final LongSupplier nanos;
  private final AtomicLong lost = new AtomicLong();
  private final AtomicLong leftOut = new AtomicLong();
  private final Map<Long, CompletableFuture<?>> underWay = new ConcurrentHashMap<>();
  private final AtomicLong numbers = new AtomicLong();
  private final @Nullable HandlerRegistration handler;
  private long denialsFrom;

  /**
   * The audit of a node; it runs the entries of all, unless it is client only.
   *
   * @param carillon the node
   */
  public Audit(Carillon carillon) {
    this(carillon, System::nanoTime);
  }

  /** By a given clock. */
  Audit(Carillon carillon, LongSupplier nanos) {
    this.carillon = carillon;
    this.nanos = nanos;
    this.denialsFrom = nanos.getAsLong() - DENIALS_AT_ONCE * DENIAL_NANOS;
    boolean runs = !carillon.node().isClientOnly();
    this.handler = runs ? carillon.handle(TYPE, (entry, job) -> {}) : null;
  }

  /** How many entries the store did not take. */
  public long lost() {
    return lost.get();
  }

  /** Has the last entries kept; requests have ended before. */
  @Override
  public void close() {
    long missing = leftOut.getAndSet(0);
    if (missing > 0) {
      keep(() -> leftOutEntry(missing), "its end", missing, true);
    }
    await(CompletableFuture.allOf(underWay.values().toArray(CompletableFuture<?>[]::new)));
    long open = underWay.size();
    if (open > 0 || lost() > 0) {
      LOG.warn("the audit ends: {} entries were not kept, and of {} it is not known", lost(), open);
    }
    if (handler != null) {
      handler.close();
    }
  }

  @Override
  public void served(Served served) {
    if (served.status() == 401 || served.status() == 403) {
      if (mayDeny()) {
        keep(served, "denied", false);
      } else {
        leftOut.incrementAndGet();
      }
    } else if (isChange(served)) {
      keep(served, served.status() == 504 ? "unknown" : "done", true);
    }
  }

  private static boolean isChange(Served served) {
    return !served.route().method().reads()
        && served.route().role().includes(Role.OPERATOR)
        && (served.status() < 400 || served.status() == 504);
  }

  private synchronized boolean mayDeny() {
    long now = nanos.getAsLong();
    denialsFrom = Math.max(denialsFrom, now - DENIALS_AT_ONCE * DENIAL_NANOS);
    if (denialsFrom + DENIAL_NANOS - now > 0) {
      return false;
    }
    denialsFrom += DENIAL_NANOS;
    return true;
  }

  private void keep(Served served, String outcome, boolean waits) {
    long missing = leftOut.getAndSet(0);
    keep(() -> entry(served, outcome, missing), served.route().operation(), missing, waits);
  }

  private void keep(Supplier<Job<?>> entry, String operation, long missing, boolean waits) {
    CompletableFuture<?> asked;
    try {
      asked = carillon.scheduleAsync(entry.get());
    } catch (CarillonException e) {
      lose(operation, missing, e);
      return;
    }
    CompletableFuture<?> kept =
        asked.whenComplete(
            (handle, e) -> {
              if (e != null) {
                lose(operation, missing, e);
              }
            });
    long number = numbers.incrementAndGet();
    underWay.put(number, kept);
    var unused = kept.whenComplete((handle, e) -> underWay.remove(number));
    if (waits) {
      await(kept);
    }
  }

  /** The answer waits for the entry, but not for ever. */
  private static void await(CompletableFuture<?> kept) {
    try {
      var unused = kept.get(PATIENCE_SECONDS, TimeUnit.SECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } catch (ExecutionException | TimeoutException e) {
      // Counted where it ends.
    }
  }

  private void lose(String operation, long missing, Throwable e) {
    leftOut.addAndGet(missing);
    long count = lost.incrementAndGet();
    if (Long.bitCount(count) == 1) { // 1, 2, 4, 8 …: a store that is away fills no log
      LOG.warn("the audit of {} was not kept ({} in all): {}", operation, count, e.getMessage());
    }
  }

  /** What nobody else tells: denials that were left out before the end. */
  private static Job<?> leftOutEntry(long missing) {
    byte[] body =
        Json.object(
            out -> out.put("operation", "").put("outcome", LEFT_OUT).put("leftOutBefore", missing));
    return TYPE.job(new RawPayload("json", body))
        .namespace(NAMESPACE)
        .queue(NAMESPACE)
        .meta("outcome", LEFT_OUT);
  }

  private static Job<?> entry(Served served, String outcome, long missing) {
    Caller caller = served.caller();
    Arrival arrival = served.arrival();
    String who = caller != null ? caller.name() : "";
    byte[] body =
        Json.object(
            out -> {
              out.put("operation", served.route().operation())
                  .put("outcome", outcome)
                  .put("status", served.status());
              if (!who.isEmpty()) {
                out.put("caller", who);
              }
              if (arrival != null) {
                out.put("address", arrival.address().getHostAddress());
              }
              out.texts("of", served.variables());
              if (missing > 0) {
                out.put("leftOutBefore", missing);
              }
            });
    Job<?> job =
        TYPE.job(new RawPayload("json", body))
            .namespace(NAMESPACE)
            .queue(NAMESPACE)
            .meta("operation", served.route().operation())
            .meta("outcome", outcome);
    if (!who.isEmpty()) {
      job = job.meta("caller", cut(who));
    }
    String namespace = served.variables().get("ns");
    return namespace != null ? job.meta("namespace", cut(namespace)) : job;
  }

  private static String cut(String text) {
    return text.length() > METADATA_CHARS ? text.substring(0, METADATA_CHARS) : text;
  }
}
