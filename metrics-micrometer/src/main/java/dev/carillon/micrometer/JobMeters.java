package dev.carillon.micrometer;

import dev.carillon.Carillon;
import dev.carillon.JobFigures;
import dev.carillon.Spread;
import dev.carillon.WaitingFigures;
import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.FunctionTimer;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.function.ToDoubleFunction;
import java.util.function.ToLongFunction;
import org.jspecify.annotations.Nullable;

/**
 * The meters of jobs by type, queue and namespace. They are registered when a reading shows such
 * jobs for the first time, and stay.
 */
final class JobMeters {
  private static final double NANOS_A_SECOND = 1e9;
  private static final long FRESH_NANOS = TimeUnit.SECONDS.toNanos(1);
  private static final Spread NOTHING =
      new Spread(0, 0, java.util.Collections.nCopies(Spread.bounds().size(), 0L));

  private final Carillon carillon;
  private final Tags common;
  private final MeterRegistry registry;
  private final Map<Tags, Boolean> registered = new ConcurrentHashMap<>();
  private volatile Map<Tags, WaitingFigures> waiting = Map.of();
  private @Nullable Map<Tags, JobFigures> last;
  private long lastNanos;

  JobMeters(Carillon carillon, Tags common, MeterRegistry registry) {
    this.carillon = carillon;
    this.common = common;
    this.registry = registry;
  }

  /** Registers the meters of what is new since the last look. */
  void look(List<WaitingFigures> nowWaiting) {
    figures().keySet().forEach(this::registerIfNew);
    Map<Tags, WaitingFigures> now = new HashMap<>();
    for (WaitingFigures each : nowWaiting) {
      Tags tags = tags(each.type(), each.queue(), each.namespace()).and("reason", each.reason());
      now.put(tags, each);
    }
    waiting = now;
    for (Tags tags : now.keySet()) {
      if (registered.putIfAbsent(tags, true) == null) {
        gauge("carillon.jobs.waiting", tags, WaitingFigures::jobs);
        gauge("carillon.jobs.waiting.oldest", tags, JobMeters::ageSeconds);
      }
    }
  }

  private void gauge(String name, Tags tags, ToDoubleFunction<WaitingFigures> value) {
    Gauge.builder(
            name,
            this,
            meters -> {
              WaitingFigures found = meters.waiting.get(tags);
              return found == null ? 0 : value.applyAsDouble(found);
            })
        .tags(common.and(tags))
        .strongReference(true)
        .register(registry);
  }

  private static double ageSeconds(WaitingFigures waiting) {
    return Duration.between(waiting.oldestDue(), Instant.now()).toNanos() / NANOS_A_SECOND;
  }

  private static Tags tags(String type, String queue, String namespace) {
    return Tags.of("type", type, "queue", queue, "namespace", namespace);
  }

  private void registerIfNew(Tags tags) {
    if (registered.putIfAbsent(tags, true) == null) {
      spread("carillon.jobs.lateness", tags, JobFigures::lateness);
      spread("carillon.jobs.duration", tags, JobFigures::duration);
      counter("carillon.jobs.attempts.failed", tags, JobFigures::failed);
      counter("carillon.jobs.dead", tags, JobFigures::dead);
    }
  }

  private void counter(String name, Tags tags, ToLongFunction<JobFigures> value) {
    FunctionCounter.builder(
            name,
            this,
            meters -> {
              JobFigures found = meters.figures().get(tags);
              return found == null ? 0 : value.applyAsLong(found);
            })
        .tags(common.and(tags))
        .register(registry);
  }

  private void spread(String name, Tags tags, Function<JobFigures, Spread> value) {
    FunctionTimer.builder(
            name,
            this,
            meters -> meters.spread(tags, value).count(),
            meters -> meters.spread(tags, value).nanos(),
            TimeUnit.NANOSECONDS)
        .tags(common.and(tags))
        .register(registry);
    for (int i = 0; i < Spread.bounds().size(); i++) {
      int bound = i;
      bucket(
          name,
          tags.and("le", Double.toString(Spread.bounds().get(i) / NANOS_A_SECOND)),
          meters -> meters.spread(tags, value).within().get(bound));
    }
    bucket(name, tags.and("le", "+Inf"), meters -> meters.spread(tags, value).count());
  }

  private void bucket(String name, Tags tags, ToLongFunction<JobMeters> value) {
    FunctionCounter.builder(name + ".within", this, meters -> value.applyAsLong(meters))
        .tags(common.and(tags))
        .register(registry);
  }

  private Spread spread(Tags tags, Function<JobFigures, Spread> value) {
    JobFigures found = figures().get(tags);
    return found == null ? NOTHING : value.apply(found);
  }

  /** At most a second old: a reading asks for each meter. */
  private synchronized Map<Tags, JobFigures> figures() {
    Map<Tags, JobFigures> known = last;
    long now = System.nanoTime();
    if (known == null || now - lastNanos >= FRESH_NANOS) {
      Map<Tags, JobFigures> read = new HashMap<>();
      for (JobFigures each : carillon.node().jobFigures()) {
        read.put(tags(each.type(), each.queue(), each.namespace()), each);
      }
      known = read;
      last = known;
      lastNanos = now;
    }
    return known;
  }
}
