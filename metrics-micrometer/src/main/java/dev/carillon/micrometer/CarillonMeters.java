package dev.carillon.micrometer;

import dev.carillon.Carillon;
import dev.carillon.CarillonFigures;
import dev.carillon.CarillonStats;
import dev.carillon.MemberInfo;
import dev.carillon.NodeControl;
import dev.carillon.WaitingFigures;
import dev.carillon.api.error.CarillonException;
import dev.carillon.gateway.ConnectedWorker;
import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.FunctionTimer;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.binder.MeterBinder;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.function.ToDoubleFunction;
import org.jspecify.annotations.Nullable;

/**
 * The figures of a node in a Micrometer registry. The node is asked when the registry is read, at
 * most once a second; between two readings nothing is done. Of a node that is closed the sums stay
 * and the rest is not a number. All meters and what they say: docs/guides/metrics.md.
 */
public final class CarillonMeters implements MeterBinder {
  private static final long FRESH_NANOS = TimeUnit.SECONDS.toNanos(1);

  private static final double NANOS_A_SECOND = 1e9;

  /** What the node counts, by the name of the meter. */
  private static final Map<String, String> COUNTERS =
      Map.ofEntries(
          Map.entry("carillon.jobs.scheduled", "jobs.added"),
          Map.entry("carillon.attempts.started", "attempts.started"),
          Map.entry("carillon.attempts.failed", "attempts.failed"),
          Map.entry("carillon.attempts.timed.out", "attempts.timeout"),
          Map.entry("carillon.attempts.stale", "attempts.stale"),
          Map.entry("carillon.attempts.lent", "attempts.lent"),
          Map.entry("carillon.attempts.borrowed", "attempts.borrowed"),
          Map.entry("carillon.attempts.given", "attempts.given"),
          Map.entry("carillon.attempts.not.accepted", "attempts.not.accepted"),
          Map.entry("carillon.attempts.relayed", "attempts.relayed"),
          Map.entry("carillon.leases.written", "leases.written"),
          Map.entry("carillon.leases.adopted", "attempts.adopted"),
          Map.entry("carillon.workers.came", "workers.connected"),
          Map.entry("carillon.workers.lost", "workers.lost"),
          Map.entry("carillon.commits.unknown", "commits.unknown"),
          Map.entry("carillon.commits.full", "commits.full"),
          Map.entry("carillon.claims", "claims"),
          Map.entry("carillon.claims.asked", "claims.asked"),
          Map.entry("carillon.shards.fenced", "shards.fenced"),
          Map.entry("carillon.shards.lost", "shards.lost"),
          Map.entry("carillon.shards.handed.back", "shards.handed.back"),
          Map.entry("carillon.members.fenced", "members.fenced"),
          Map.entry("carillon.members.judged.dead", "members.judged.dead"),
          Map.entry("carillon.store.exchanged", "store.exchanged"));

  private static final List<String> OUTCOMES =
      List.of("succeeded", "failed", "cancelled", "expired", "dead");

  private final Carillon carillon;
  private final Tags tags;
  private final List<JobMeters> jobs = new CopyOnWriteArrayList<>();
  private @Nullable Look last;
  private long lastNanos;

  /** What a reading shows. */
  private record Look(
      CarillonStats stats,
      List<MemberInfo> members,
      List<WaitingFigures> waiting,
      int workers,
      int inWorkers) {}

  /**
   * Of one node.
   *
   * @param carillon the node
   * @param tags for all its meters, names and values in turn; to tell several nodes of one process
   *     apart
   */
  public CarillonMeters(Carillon carillon, String... tags) {
    this.carillon = carillon;
    this.tags = Tags.of(tags);
  }

  @Override
  public void bindTo(MeterRegistry registry) {
    JobMeters ofJobs = new JobMeters(carillon, tags, registry);
    jobs.add(ofJobs);
    ofJobs.look(List.of());
    COUNTERS.forEach((meter, name) -> counter(registry, meter, Tags.empty(), name));
    for (String outcome : OUTCOMES) {
      counter(registry, "carillon.jobs.ended", Tags.of("outcome", outcome), "jobs." + outcome);
    }
    timer(registry, "carillon.commits", "commits");
    timer(registry, "carillon.attempts", "attempts");
    gauge(registry, "carillon.jobs.pending", look -> look.stats().loadedJobs());
    gauge(registry, "carillon.jobs.ready", look -> look.stats().ready());
    gauge(registry, "carillon.jobs.blocked", look -> look.stats().blocked());
    gauge(
        registry,
        "carillon.jobs.awaiting.transactions",
        look -> look.stats().waitingForTransactions());
    gauge(registry, "carillon.attempts.running", look -> look.stats().running());
    gauge(registry, "carillon.slots", look -> look.stats().slots());
    gauge(registry, "carillon.clock.offset", CarillonMeters::clockOffsetSeconds);
    gauge(registry, "carillon.operations.queued", look -> look.stats().queued());
    gauge(registry, "carillon.shards.owned", look -> look.stats().shards());
    gauge(registry, "carillon.shards.loaded", look -> look.stats().loadedShards());
    gauge(registry, "carillon.shards.stood.in", look -> look.stats().standsIn());
    gauge(registry, "carillon.shards.refused", look -> look.stats().refusedShards());
    gauge(registry, "carillon.callers.waiting", look -> look.stats().unansweredJobs());
    gauge(registry, "carillon.workers", Look::workers);
    gauge(registry, "carillon.attempts.in.workers", Look::inWorkers);
    gauge(registry, "carillon.problems", look -> look.stats().problems());
    for (MemberInfo.State state : MemberInfo.State.values()) {
      gauge(
          registry,
          "carillon.members",
          Tags.of("state", state.name().toLowerCase(Locale.ROOT)),
          look -> look.members().stream().filter(member -> member.state() == state).count());
    }
  }

  private static double clockOffsetSeconds(Look look) {
    Duration offset = look.members().getFirst().clockOffset();
    return offset == null ? Double.NaN : offset.toNanos() / NANOS_A_SECOND;
  }

  private void counter(MeterRegistry registry, String meter, Tags more, String name) {
    FunctionCounter.builder(meter, carillon, of -> of.node().figures().count(name))
        .tags(tags.and(more))
        .register(registry);
  }

  private void timer(MeterRegistry registry, String meter, String name) {
    ToDoubleFunction<CarillonFigures> nanos = figures -> figures.time(name).nanos();
    FunctionTimer.builder(
            meter,
            carillon,
            of -> of.node().figures().time(name).count(),
            of -> nanos.applyAsDouble(of.node().figures()),
            TimeUnit.NANOSECONDS)
        .tags(tags)
        .register(registry);
  }

  private void gauge(MeterRegistry registry, String meter, ToDoubleFunction<Look> value) {
    gauge(registry, meter, Tags.empty(), value);
  }

  private void gauge(
      MeterRegistry registry, String meter, Tags more, ToDoubleFunction<Look> value) {
    Gauge.builder(meter, this, meters -> meters.read(value))
        .tags(tags.and(more))
        .strongReference(true)
        .register(registry);
  }

  private double read(ToDoubleFunction<Look> value) {
    try {
      return value.applyAsDouble(look());
    } catch (CarillonException | IllegalStateException e) {
      return Double.NaN; // closed, or too busy to answer
    }
  }

  private synchronized Look look() {
    Look known = last;
    long now = System.nanoTime();
    if (known == null || now - lastNanos >= FRESH_NANOS) {
      NodeControl node = carillon.node();
      List<ConnectedWorker> workers = node.workers().connected();
      int inWorkers = workers.stream().mapToInt(worker -> worker.runs().size()).sum();
      known = new Look(node.stats(), node.members(), node.waiting(), workers.size(), inWorkers);
      last = known;
      lastNanos = now;
      List<WaitingFigures> waiting = known.waiting();
      jobs.forEach(each -> each.look(waiting));
    }
    return known;
  }
}
