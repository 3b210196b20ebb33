package dev.carillon.cli.remote;

import dev.carillon.cli.remote.MetricsText.Value;
import dev.carillon.cli.text.Paint;
import dev.carillon.cli.text.PlainText;
import dev.carillon.cli.text.Table;
import dev.carillon.cli.text.Table.Cell;
import dev.carillon.cli.text.Table.Column;
import dev.carillon.cli.text.Terminal;
import dev.carillon.cli.text.Times;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import tools.jackson.databind.JsonNode;

/**
 * One picture of a cluster for a screen: figures of the asked node, the nodes, what waits by type
 * and queue, what runs. Rates are between two samples. Pure: the same samples give the same lines,
 * never more nor wider than the screen.
 */
final class TopFrame {
  private static final String LATENESS = "carillon_jobs_lateness_within_total";
  private static final Set<String> LIMIT = Set.of("le");
  private static final double NANOS = 1e9;
  private static final int FEWEST_ROWS = 3;

  private final TopSample before;
  private final TopSample now;
  private final Terminal terminal;
  private final String server;

  /**
   * A picture.
   *
   * @param before the sample that rates count from; the same as now at first
   */
  TopFrame(TopSample before, TopSample now, Terminal terminal, String server) {
    this.before = before;
    this.now = now;
    this.terminal = terminal;
    this.server = server;
  }

  /** Its lines, from the top. */
  List<String> lines() {
    List<String> lines = new ArrayList<>();
    lines.add(fit(Paint.BOLD, "carillon top  %s  %s".formatted(clock(), server)));
    lines.add(jobs());
    lines.add(rates());
    lines.add(late());
    int left = terminal.rows() - lines.size();
    List<String> nodes = nodes().lines(terminal);
    List<String> work = work().lines(terminal);
    List<String> running = running().lines(terminal);
    // What is left goes to those that need it, the nodes first.
    int forNodes = Math.min(nodes.size(), Math.max(FEWEST_ROWS, left / 4));
    add(lines, nodes, forNodes, "more nodes");
    left = terminal.rows() - lines.size();
    int forRunning = Math.min(running.size(), Math.max(FEWEST_ROWS, left / 2));
    add(lines, work, Math.min(work.size(), left - forRunning - 1), "more");
    add(lines, running, terminal.rows() - lines.size() - 1, "more run");
    return lines.subList(0, Math.min(lines.size(), terminal.rows()));
  }

  private void add(List<String> lines, List<String> part, int most, String rest) {
    if (part.isEmpty() || most < 1) {
      return;
    }
    lines.add("");
    if (part.size() <= most) {
      lines.addAll(part);
    } else {
      lines.addAll(part.subList(0, most - 1));
      lines.add(fit(Paint.DIM, part.size() - most + 1 + " " + rest));
    }
  }

  private String fit(Paint paint, String text) {
    String line = PlainText.line(text);
    int width = line.codePointCount(0, line.length());
    String cut =
        width <= terminal.columns()
            ? line
            : line.substring(0, line.offsetByCodePoints(0, terminal.columns() - 1)) + "…";
    return paint.on(cut, terminal);
  }

  // ---- figures of the asked node

  private String jobs() {
    MetricsText meters = now.meters();
    double blocked = meters.sum("carillon_jobs_blocked");
    String line =
        "node %s: %s running of %s, %s ready, %s blocked, %s in memory, %s writes wait"
            .formatted(
                JobTexts.text(now.cluster(), "asked"),
                count(meters.sum("carillon_attempts_running")),
                count(meters.sum("carillon_slots")),
                count(meters.sum("carillon_jobs_ready")),
                count(blocked),
                count(meters.sum("carillon_jobs_pending")),
                count(meters.sum("carillon_operations_queued")));
    return fit(blocked > 0 ? Paint.YELLOW : Paint.PLAIN, line);
  }

  private String rates() {
    String line =
        "a second: %s scheduled, %s started, %s succeeded, %s failed, %s dead"
            .formatted(
                rate("carillon_jobs_scheduled_total", "", ""),
                rate("carillon_attempts_started_total", "", ""),
                rate("carillon_jobs_ended_total", "outcome", "succeeded"),
                rate("carillon_attempts_failed_total", "", ""),
                rate("carillon_jobs_ended_total", "outcome", "dead"));
    return fit(Paint.PLAIN, line);
  }

  private String late() {
    double commits = since("carillon_commits_seconds_count");
    double seconds = since("carillon_commits_seconds_sum");
    String line =
        "started late: p50 %s, p99 %s; %s commits a second%s"
            .formatted(
                late(lateness(Map.of()), 0.5),
                late(lateness(Map.of()), 0.99),
                perSecond(commits),
                commits > 0 ? ", each " + seconds(seconds / commits) : "");
    return fit(Paint.PLAIN, line);
  }

  private double since(String name) {
    return Math.max(0, now.meters().sum(name) - before.meters().sum(name));
  }

  private String clock() {
    return now.at().truncatedTo(ChronoUnit.SECONDS).toString();
  }

  private double seconds() {
    return Math.max((now.nanos() - before.nanos()) / NANOS, 1e-3);
  }

  private String rate(String name, String label, String value) {
    double since =
        label.isEmpty()
            ? now.meters().sum(name) - before.meters().sum(name)
            : now.meters().sum(name, label, value) - before.meters().sum(name, label, value);
    return perSecond(since);
  }

  private String perSecond(double since) {
    double rate = Math.max(0, since) / seconds(); // a node that began anew counts from zero
    return rate >= 10 || rate == 0 ? count(rate) : String.format(Locale.ROOT, "%.1f", rate);
  }

  private static String count(double number) {
    return number < 10_000_000
        ? String.format(Locale.ROOT, "%,d", Math.round(number))
        : String.format(Locale.ROOT, "%,dM", Math.round(number / 1e6));
  }

  /** How many attempts since were at most so late, by the limits of the histogram. */
  private Map<Double, Double> lateness(Map<String, String> about) {
    Map<Double, Double> within = new TreeMap<>();
    add(within, now.meters(), about, 1);
    add(within, before.meters(), about, -1);
    return within;
  }

  private static void add(
      Map<Double, Double> within, MetricsText meters, Map<String, String> about, int sign) {
    for (Value value : meters.of(LATENESS)) {
      if (about.isEmpty() || about.equals(value.without(LIMIT))) {
        String limit = value.labels().getOrDefault("le", "+Inf").replace("Inf", "Infinity");
        try {
          within.merge(Double.parseDouble(limit), sign * value.number(), Double::sum);
        } catch (NumberFormatException e) {
          // a limit of another kind
        }
      }
    }
  }

  /** The smallest limit below which that part of them is. */
  private static String late(Map<Double, Double> within, double part) {
    double all = within.getOrDefault(Double.POSITIVE_INFINITY, 0.0);
    for (double count : within.values()) {
      all = Math.max(all, count);
    }
    double below = 0;
    for (Map.Entry<Double, Double> each : within.entrySet()) {
      double limit = each.getKey();
      if (all > 0 && each.getValue() >= part * all) {
        return Double.isInfinite(limit) ? ">" + seconds(below) : "≤" + seconds(limit);
      }
      below = limit;
    }
    return "–";
  }

  private static String seconds(double seconds) {
    return Times.took(Duration.ofNanos((long) (seconds * NANOS)));
  }

  // ---- nodes

  private Table nodes() {
    Map<String, String> running = new HashMap<>();
    for (JsonNode node : now.running().path("nodes")) {
      running.put(JobTexts.text(node, "node"), JobTexts.text(node, "running"));
    }
    for (JsonNode node : now.running().path("silent")) {
      running.put(node.asString(""), "silent");
    }
    Table table =
        new Table(
            Column.cut("node"),
            Column.whole("state"),
            Column.number("running"),
            Column.number("shards"),
            Column.number("stands in"));
    for (JsonNode member : now.cluster().path("members")) {
      String node = JobTexts.text(member, "node");
      String state = JobTexts.text(member, "state");
      table.row(
          node,
          new Cell(state, ClusterCommands.paint(state)),
          running.getOrDefault(node, ""),
          JobTexts.text(member, "owned"),
          JobTexts.text(member, "standsIn"));
    }
    return table;
  }

  // ---- work by type and queue

  private static final class Work {
    private final Map<String, String> about;
    private double waiting;
    private double oldest;
    private String reason = "";
    private double started;
    private double failed;

    Work(Map<String, String> about) {
      this.about = about;
    }
  }

  private Table work() {
    Map<Map<String, String>, Work> all = new LinkedHashMap<>();
    Set<String> reason = Set.of("reason");
    for (Value value : now.meters().of("carillon_jobs_waiting")) {
      Work work = work(all, value.without(reason));
      if (value.number() > 0) {
        work.waiting += value.number();
        work.reason = value.labels().getOrDefault("reason", "");
      }
    }
    for (Value value : now.meters().of("carillon_jobs_waiting_oldest")) {
      Work work = work(all, value.without(reason));
      if (value.number() > work.oldest) {
        work.oldest = value.number();
        work.reason = value.labels().getOrDefault("reason", "");
      }
    }
    addChange(all, "carillon_jobs_lateness_seconds_count", (work, n) -> work.started += n);
    addChange(all, "carillon_jobs_attempts_failed_total", (work, n) -> work.failed += n);
    Table table =
        new Table(
            Column.cut("type"),
            Column.cut("queue"),
            Column.optional("namespace"),
            Column.number("waiting"),
            Column.number("oldest"),
            Column.cut("why"),
            Column.number("start/s"),
            Column.number("fail/s"),
            Column.number("late p99"));
    all.values().stream()
        .sorted(
            Comparator.comparingDouble((Work work) -> -work.oldest)
                .thenComparingDouble(work -> -work.waiting)
                .thenComparingDouble(work -> -work.started)
                .thenComparing(work -> work.about.toString()))
        .forEach(
            work ->
                table.row(
                    work.about.getOrDefault("type", ""),
                    work.about.getOrDefault("queue", ""),
                    work.about.getOrDefault("namespace", ""),
                    count(work.waiting),
                    work.oldest > 0 ? seconds(work.oldest) : "",
                    new Cell(work.waiting > 0 ? work.reason : "", Paint.YELLOW),
                    perSecond(work.started),
                    new Cell(perSecond(work.failed), work.failed > 0 ? Paint.RED : Paint.PLAIN),
                    late(lateness(work.about), 0.99)));
    return table;
  }

  private static Work work(Map<Map<String, String>, Work> all, Map<String, String> about) {
    return all.computeIfAbsent(about, Work::new);
  }

  private interface Change {
    void add(Work work, double number);
  }

  private void addChange(Map<Map<String, String>, Work> all, String name, Change change) {
    now.meters().of(name).forEach(value -> change.add(work(all, value.labels()), value.number()));
    before
        .meters()
        .of(name)
        .forEach(value -> change.add(work(all, value.labels()), -value.number()));
  }

  // ---- what runs

  private Table running() {
    Table table =
        new Table(
            Column.whole("running"),
            Column.cut("type"),
            Column.cut("node"),
            Column.optional("queue"),
            Column.number("attempt"),
            Column.number("for"));
    for (JsonNode item : now.running().path("items")) {
      Instant began = Report.instant(item.path("startedAt"));
      table.row(
          JobTexts.text(item, "id"),
          JobTexts.text(item, "type"),
          JobTexts.text(item, "node"),
          JobTexts.text(item, "queue"),
          JobTexts.text(item, "attempt"),
          began == null ? "" : Times.took(Duration.between(began, now.at()).abs()));
    }
    return table;
  }
}
