package dev.carillon.server.operate;

import dev.carillon.Carillon;
import dev.carillon.ClusterListener;
import dev.carillon.api.JobInfo;
import dev.carillon.api.Subscription;
import dev.carillon.server.http.Answer;
import dev.carillon.server.jobs.JobJson;
import dev.carillon.server.json.Json;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * What happens to the jobs of all nodes, as server-sent events to one client.
 *
 * <p>The node's listener thread puts events into a queue of {@link #MOST_WAITING}; the thread of
 * the request writes them. A client that reads too slowly fills the queue: then it gets what is in
 * there, an event <em>cut</em> that says after which one the stream stopped, and the end. A comment
 * every {@link #BEAT} tells both sides that the other one is there.
 *
 * <p>Nothing is kept: a client that comes back looks at the list of jobs for what it missed.
 */
final class JobEventStream implements ClusterListener, Answer.Stream {
  /** How many events wait for a client that does not read. */
  static final int MOST_WAITING = 1_000;

  private static final int MOST_A_WRITE = 64;
  private static final Duration BEAT = Duration.ofSeconds(2);
  private static final Duration LOOK = Duration.ofMillis(500);
  private static final byte[] COMMENT = ":\n\n".getBytes(StandardCharsets.US_ASCII);

  private final Carillon carillon;
  private final EventFilter filter;
  private final BooleanSupplier stopping;
  private final Clock clock = Clock.systemUTC();
  private final BlockingQueue<Happened> waiting = new ArrayBlockingQueue<>(MOST_WAITING);
  private volatile boolean cut;

  // The writer's own.
  private long written;
  private @Nullable Instant lastAt;

  /** What happened to a job. */
  enum Kind {
    /** An attempt starts. */
    STARTED,
    /** An attempt failed, and another is due. */
    RETRYING,
    /** The job is due and cannot go on for now. */
    BLOCKED,
    /** The job, or an occurrence of a recurring one, ended. */
    ENDED
  }

  private record Happened(String name, Instant at, Json.Body data) {}

  JobEventStream(Carillon carillon, EventFilter filter, BooleanSupplier stopping) {
    this.carillon = carillon;
    this.filter = filter;
    this.stopping = stopping;
  }

  // ---- on the listener's thread

  @Override
  public void started(JobInfo job) {
    happened(Kind.STARTED, job);
  }

  @Override
  public void retrying(JobInfo job) {
    happened(Kind.RETRYING, job);
  }

  @Override
  public void blocked(JobInfo job) {
    happened(Kind.BLOCKED, job);
  }

  @Override
  public void ended(JobInfo job) {
    happened(Kind.ENDED, job);
  }

  @Override
  public void missed(String nodeId) {
    put(new Happened("missed", clock.instant(), json -> json.put("node", nodeId)));
  }

  private void happened(Kind kind, JobInfo job) {
    if (filter.takes(kind, job)) {
      put(
          new Happened(
              kind.name().toLowerCase(Locale.ROOT),
              clock.instant(),
              json -> json.object("job", inner -> JobJson.write(inner, job))));
    }
  }

  private void put(Happened happened) {
    if (!cut) {
      cut = !waiting.offer(happened);
    }
  }

  // ---- on the request's thread

  @Override
  public void write(Answer.Sink out) throws IOException {
    Subscription listening = carillon.node().listenToAll(this);
    try {
      String node = carillon.node().members().getFirst().nodeId();
      out.write(event("begun", null, json -> json.put("at", clock.instant()).put("node", node)));
      writeAll(out);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } finally {
      listening.close();
    }
  }

  private void writeAll(Answer.Sink out) throws IOException, InterruptedException {
    List<Happened> next = new ArrayList<>(MOST_A_WRITE);
    long beat = System.nanoTime();
    while (true) {
      boolean stops = stopping.getAsBoolean();
      boolean over = cut || stops;
      next.clear();
      Happened first = over ? waiting.poll() : waiting.poll(LOOK.toMillis(), TimeUnit.MILLISECONDS);
      if (first != null) {
        next.add(first);
        waiting.drainTo(next, MOST_A_WRITE - 1);
        out.write(events(next));
        beat = System.nanoTime();
      } else if (over) {
        out.write(end(stops));
        return;
      } else if (System.nanoTime() - beat >= BEAT.toNanos()) {
        out.write(COMMENT);
        beat = System.nanoTime();
      }
    }
  }

  private byte[] events(List<Happened> next) {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    for (Happened each : next) {
      written++;
      lastAt = each.at();
      bytes.writeBytes(
          event(
              each.name(),
              Long.toString(written),
              json -> each.data().write(json.put("at", each.at()))));
    }
    return bytes.toByteArray();
  }

  /** Why the stream ends, and after which event. */
  private byte[] end(boolean stops) {
    return event(
        stops ? "stopping" : "cut",
        null,
        json ->
            json.put("after", written)
                .put("lastAt", lastAt)
                .put(
                    "detail",
                    stops
                        ? "the server stops (expected: come back, to another one)"
                        : "more than %d events waited to be read (expected: look at the list of jobs"
                                .formatted(MOST_WAITING)
                            + " for what came after lastAt, and come back)"));
  }

  private static byte[] event(String name, @Nullable String id, Json.Body data) {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    if (id != null) {
      bytes.writeBytes(("id: " + id + '\n').getBytes(StandardCharsets.US_ASCII));
    }
    bytes.writeBytes(("event: " + name + "\ndata: ").getBytes(StandardCharsets.US_ASCII));
    bytes.writeBytes(Json.object(data)); // JSON escapes line ends: one line
    bytes.writeBytes(new byte[] {'\n', '\n'});
    return bytes.toByteArray();
  }
}
