package dev.carillon.server.operate;

import dev.carillon.Carillon;
import dev.carillon.PastInfo;
import dev.carillon.PastInfo.Slot;
import dev.carillon.PastInfo.Span;
import dev.carillon.Spread;
import dev.carillon.api.Metrics;
import dev.carillon.server.access.Role;
import dev.carillon.server.http.Answer;
import dev.carillon.server.http.Call;
import dev.carillon.server.http.Route;
import dev.carillon.server.json.JsonText;
import dev.carillon.server.json.Shape;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** Throughput, backlog and lateness of all nodes over time, as they remember it in memory. */
public final class FigureRoutes {
  private static final double NANOS_A_SECOND = 1e9;
  private static final double MICROS_A_SECOND = 1e6;

  /** So many queues a map of lateness has at most; the others are one. */
  private static final int MOST_QUEUES = 50;

  private static final int BUCKETS = Spread.bounds().size() + 1;

  /** How long a column of a map of lateness is. */
  private static final Map<Span, Duration> COLUMNS =
      Map.of(
          Span.TEN_MINUTES, Duration.ofSeconds(10),
          Span.TWO_HOURS, Duration.ofMinutes(2),
          Span.THREE_DAYS, Duration.ofHours(1));

  private final Carillon carillon;

  /**
   * The figures of the nodes of a node's store.
   *
   * @param carillon the node, which remembers its own from now on
   */
  public FigureRoutes(Carillon carillon) {
    this.carillon = carillon;
    carillon.node().keepPast();
  }

  /** The routes. */
  public List<Route> routes() {
    return List.of(
        Route.get("getFigures", "/v1/cluster/figures", Role.VIEWER, this::figures).query("range"),
        Route.get("getLateness", "/v1/cluster/lateness", Role.VIEWER, this::lateness)
            .query("range"));
  }

  private static Span span(Call call, Span standard) {
    Duration range = call.duration("range", standard.length());
    for (Span each : Span.values()) {
      if (each.length().equals(range)) {
        return each;
      }
    }
    throw Shape.invalid("range", range.toString(), "PT10M, PT2H or PT72H");
  }

  // ---- lines

  private Answer figures(Call call) {
    PastInfo past = carillon.node().past(span(call, Span.TEN_MINUTES));
    List<Slot> slots = past.slots();
    return Answer.json(
        out -> {
          head(out, past, past.span().step());
          out.numbers("at", each(slots, slot -> slot.from().getEpochSecond()))
              .numbers("gathered", each(slots, slot -> slot.gathered().toSeconds()))
              .numbers("told", each(slots, Slot::nodes))
              .numbers("started", each(slots, slot -> slot.sums().started()))
              .numbers("ended", each(slots, slot -> slot.sums().ended()))
              .numbers("failed", each(slots, slot -> slot.sums().failed()))
              .numbers("dead", each(slots, slot -> slot.sums().dead()))
              .numbers("ready", each(slots, slot -> slot.levels().ready()))
              .numbers("running", each(slots, slot -> slot.levels().running()))
              .numbers("blocked", each(slots, slot -> slot.levels().blocked()))
              .numbers("pending", each(slots, slot -> slot.levels().pending()))
              .numbers("p50", each(slots, slot -> quantile(0.5, slot)))
              .numbers("p99", each(slots, slot -> quantile(0.99, slot)));
        });
  }

  private static void head(JsonText out, PastInfo past, Duration step) {
    out.put("range", past.span().length())
        .put("step", step)
        .texts("nodes", past.nodes())
        .texts("silent", past.silent());
  }

  private static List<@Nullable Number> each(
      List<Slot> slots, Function<Slot, @Nullable Number> value) {
    List<@Nullable Number> all = new ArrayList<>(slots.size());
    slots.forEach(slot -> all.add(value.apply(slot)));
    return all;
  }

  /** Seconds within which a part started; between two bounds a guess; null where none did. */
  private static @Nullable Double quantile(double part, Slot slot) {
    long[] counts = new long[BUCKETS];
    slot.lateness().values().forEach(each -> add(counts, each));
    long total = Arrays.stream(counts).sum();
    if (total == 0) {
      return null;
    }
    double wanted = part * total;
    double below = 0;
    double start = 0;
    for (int i = 0; i < BUCKETS - 1; i++) {
      double bound = Spread.bounds().get(i) / NANOS_A_SECOND;
      if (below + counts[i] >= wanted && counts[i] > 0) {
        double found = start + (bound - start) * (wanted - below) / counts[i];
        return Math.round(found * MICROS_A_SECOND) / MICROS_A_SECOND;
      }
      below += counts[i];
      start = bound;
    }
    return start;
  }

  private static void add(long[] sums, List<Integer> counts) {
    for (int i = 0; i < BUCKETS; i++) {
      sums[i] += counts.get(i);
    }
  }

  // ---- the map

  private Answer lateness(Call call) {
    PastInfo past = carillon.node().past(span(call, Span.TWO_HOURS));
    long width = COLUMNS.getOrDefault(past.span(), past.span().step()).toSeconds();
    Map<String, SortedMap<Long, long[]>> queues = new HashMap<>();
    for (Slot slot : past.slots()) {
      long column = Math.floorDiv(slot.from().getEpochSecond(), width) * width;
      slot.lateness()
          .forEach(
              (queue, counts) ->
                  add(
                      queues
                          .computeIfAbsent(queue, name -> new TreeMap<>())
                          .computeIfAbsent(column, at -> new long[BUCKETS]),
                      counts));
    }
    Map<String, SortedMap<Long, long[]>> shown = few(queues);
    List<Double> bounds = Spread.bounds().stream().map(bound -> bound / NANOS_A_SECOND).toList();
    return Answer.json(
        out -> {
          head(out, past, Duration.ofSeconds(width));
          out.numbers("bounds", bounds)
              .list(
                  "queues",
                  shown.entrySet(),
                  (inner, each) ->
                      inner.put("queue", each.getKey()).numbers("cells", cells(each.getValue())));
        });
  }

  private static Map<String, SortedMap<Long, long[]>> few(
      Map<String, SortedMap<Long, long[]>> all) {
    SortedMap<String, SortedMap<Long, long[]>> shown = new TreeMap<>();
    all.entrySet().stream()
        .sorted(
            Map.Entry.<String, SortedMap<Long, long[]>>comparingByValue(
                    (a, b) -> Long.compare(started(b), started(a)))
                .thenComparing(Map.Entry.comparingByKey()))
        .forEach(
            each -> {
              boolean fits = shown.size() < MOST_QUEUES;
              SortedMap<Long, long[]> into =
                  shown.computeIfAbsent(
                      fits ? each.getKey() : Metrics.OTHERS, name -> new TreeMap<>());
              each.getValue()
                  .forEach(
                      (at, counts) -> {
                        long[] sums = into.computeIfAbsent(at, column -> new long[BUCKETS]);
                        for (int i = 0; i < BUCKETS; i++) {
                          sums[i] += counts[i];
                        }
                      });
            });
    return shown;
  }

  private static long started(SortedMap<Long, long[]> columns) {
    return columns.values().stream().mapToLong(counts -> Arrays.stream(counts).sum()).sum();
  }

  /** Column, bucket and count in turn, where there are any. */
  private static List<Long> cells(SortedMap<Long, long[]> columns) {
    List<Long> cells = new ArrayList<>();
    columns.forEach(
        (at, counts) -> {
          for (int i = 0; i < BUCKETS; i++) {
            if (counts[i] > 0) {
              cells.addAll(List.of(at, (long) i, counts[i]));
            }
          }
        });
    return cells;
  }
}
