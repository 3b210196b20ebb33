package dev.carillon.prove;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/** What the clients of a server asked for and were told, and what its webhooks did. Thread-safe. */
final class ApiLedger {
  private final Map<String, Line> lines = new LinkedHashMap<>();
  private final List<String> strange = new ArrayList<>();
  private int launches;
  private int looked;
  private int acknowledged;

  /** A job under its key. */
  static final class Line {
    final String key;
    final int batch;
    final boolean webhook;
    final Set<String> ids = new TreeSet<>();
    final List<Integer> deliveries = new ArrayList<>();
    final Set<String> webhookIds = new TreeSet<>();
    int timesAsked;
    boolean cancelled;

    Line(String key, int batch, boolean webhook) {
      this.key = key;
      this.batch = batch;
      this.webhook = webhook;
    }

    @Override
    public String toString() {
      return "%s %s asked %d times, deliveries in lives %s%s"
          .formatted(key, ids, timesAsked, deliveries, cancelled ? ", cancelled" : "");
    }
  }

  /** Somebody will ask for a job. */
  synchronized void asks(String key, int batch, boolean webhook) {
    lines.put(key, new Line(key, batch, webhook));
  }

  synchronized void acknowledged(String key, String id, int times) {
    Line line = lines.get(key);
    acknowledged++;
    if (line != null) {
      line.ids.add(id);
      line.timesAsked += times;
    }
  }

  synchronized void cancelled(String key) {
    Line line = lines.get(key);
    if (line != null) {
      line.cancelled = true;
    }
  }

  /** A webhook came. */
  synchronized void delivered(@Nullable String key, @Nullable String webhookId) {
    Line line = key == null ? null : lines.get(key);
    if (line == null) {
      strange.add("a delivery for " + key + ", which nobody asked for");
      return;
    }
    line.deliveries.add(launches);
    line.webhookIds.add(String.valueOf(webhookId));
  }

  synchronized void strange(String what) {
    strange.add(what);
  }

  synchronized void looked() {
    looked++;
  }

  /** The server is started anew. */
  synchronized void launched() {
    launches++;
  }

  synchronized int requests() {
    return lines.size();
  }

  /** How many jobs were acknowledged so far, by all lives of the server. */
  synchronized int acknowledgements() {
    return acknowledged;
  }

  private static Set<String> idsOf(Map<String, Set<String>> byKey, String key) {
    return byKey.getOrDefault(key, Set.of());
  }

  private static String stateOf(@Nullable JsonNode job) {
    return job == null ? "none" : job.path("state").asString();
  }

  /** Holds it against all jobs that the server lists at the end. */
  synchronized List<Check> checks(List<JsonNode> jobs) {
    Check there = new Check("every acknowledged job is there under its id and key");
    Check once = new Check("one job for each key, and every answer names it");
    Check whole = new Check("of a batch all jobs are there or none");
    Check asked = new Check("nothing is there that nobody asked for");
    Check cancels = new Check("a job whose cancel was acknowledged is cancelled");
    Check sent = new Check("every webhook was delivered, under one id, and succeeded");
    Check repeats = new Check("a webhook is delivered again only by another life of the server");
    Check answers = new Check("every answer is one that the API describes, also after a kill");
    Map<String, JsonNode> byId = new LinkedHashMap<>();
    Map<String, Set<String>> byKey = new LinkedHashMap<>();
    for (JsonNode job : jobs) {
      String key = job.path("key").asString();
      String id = job.path("id").asString();
      byId.put(id, job);
      byKey.computeIfAbsent(key, k -> new TreeSet<>()).add(id);
      asked.that(lines.containsKey(key), id + " " + key);
    }
    Map<Integer, List<Boolean>> batches = new LinkedHashMap<>();
    for (Line line : lines.values()) {
      Set<String> found = idsOf(byKey, line.key);
      for (String id : line.ids) {
        JsonNode job = byId.get(id);
        there.that(job != null && job.path("key").asString().equals(line.key), line);
      }
      once.that(found.size() == 1 && line.ids.equals(found), line + " found " + found);
      if (line.batch > 0) {
        batches.computeIfAbsent(line.batch, b -> new ArrayList<>()).add(!found.isEmpty());
      }
      String state = found.size() == 1 ? stateOf(byId.get(found.iterator().next())) : "none";
      if (line.cancelled) {
        cancels.that(state.equals("CANCELLED"), line + " is " + state);
      } else if (line.webhook) {
        sent.that(state.equals("SUCCEEDED") && line.webhookIds.size() == 1, line + " is " + state);
        repeats.that(Set.copyOf(line.deliveries).size() == line.deliveries.size(), line);
      }
    }
    batches.forEach(
        (batch, jobsThere) ->
            whole.that(Set.copyOf(jobsThere).size() == 1, "batch " + batch + ": " + jobsThere));
    for (int i = 0; i < looked; i++) {
      answers.that(true, "");
    }
    strange.forEach(what -> answers.that(false, what));
    return List.of(there, once, whole, asked, cancels, sent, repeats, answers);
  }

  synchronized Map<String, Long> figures() {
    Map<String, Long> figures = new LinkedHashMap<>();
    figures.put("jobs asked for", (long) lines.size());
    figures.put("of these asked for again", count(line -> line.timesAsked > 1));
    figures.put("cancels acknowledged", count(line -> line.cancelled));
    figures.put("webhooks delivered", count(line -> !line.deliveries.isEmpty()));
    figures.put("of these more than once", count(line -> line.deliveries.size() > 1));
    figures.put("jobs looked at", (long) looked);
    return figures;
  }

  private long count(java.util.function.Predicate<Line> which) {
    return lines.values().stream().filter(which).count();
  }
}
