package dev.carillon;

import static dev.carillon.LogText.safe;

import dev.carillon.api.Job;
import dev.carillon.api.JobError;
import dev.carillon.api.JobState;
import dev.carillon.api.Rate;
import dev.carillon.engine.environment.NodeEvent;
import dev.carillon.engine.format.Micros;
import dev.carillon.engine.job.FlowSetting;
import dev.carillon.engine.job.FlowSubject;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.function.LongFunction;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;

/**
 * The log of a node: one line an event, under four loggers with stable names.
 * docs/guides/logging.md explains each line. Any thread; never waits.
 */
final class NodeLog {
  static final Logger NODE = LoggerFactory.getLogger("dev.carillon.node");
  static final Logger MEMBERS = LoggerFactory.getLogger("dev.carillon.members");
  static final Logger STORE = LoggerFactory.getLogger("dev.carillon.store");
  static final Logger ATTEMPTS = LoggerFactory.getLogger("dev.carillon.attempts");

  private static final Duration CLOSE_LIMIT = Duration.ofSeconds(1);

  private final LogQueue queue = new LogQueue(NODE);
  private volatile @Nullable Opening opening;

  /**
   * What the line about the opening says.
   *
   * @param store its kind and address
   */
  record Opening(String nodeId, String store, int slots) {}

  LogQueue queue() {
    return queue;
  }

  /** Called once, before the node's first event. */
  void start(Opening about) {
    opening = about;
    queue.start(about.nodeId());
  }

  /** Ends the log with its last line. */
  void closed(long tookNanos) {
    opened(List.of()); // where the node never saw who shares the store
    String text = "closed in " + LogText.seconds(tookNanos);
    queue.close(LogQueue.Line.of(NODE, Level.INFO, "closed", n -> text), CLOSE_LIMIT);
  }

  private void line(Logger logger, Level level, String cause, LongFunction<String> text) {
    queue.post(LogQueue.Line.of(logger, level, cause, text));
  }

  // ---- what the node tells

  void tell(NodeEvent event) {
    switch (event) {
      case NodeEvent.Joined(List<String> others) -> opened(others);
      case NodeEvent.MemberCame(String node) ->
          line(MEMBERS, Level.INFO, "came " + node, n -> "node " + safe(node) + came(node));
      case NodeEvent.MemberLeft(String node) ->
          line(MEMBERS, Level.INFO, "left " + node, n -> "node " + safe(node) + " has stopped");
      case NodeEvent.MemberDied(String node) ->
          line(
              MEMBERS,
              Level.INFO,
              "died " + node,
              n -> "node " + safe(node) + " is dead: it gave no heartbeat for the member timeout");
      case NodeEvent.TookOver(var shard, String node) ->
          gather("took over " + node, n -> "took over " + shards(n) + of(node));
      case NodeEvent.HandedBack(var shard, String home) ->
          gather("handed back " + home, n -> "handed back " + shards(n) + " of node " + safe(home));
      case NodeEvent.Fenced fenced -> fenced(fenced);
      case NodeEvent.Rejoined(long nanos) ->
          line(
              NODE,
              Level.INFO,
              "rejoined",
              n -> "not fenced any more, after " + LogText.seconds(nanos) + ": jobs start again");
      case NodeEvent.FlowSet(FlowSubject subject, FlowSetting setting) ->
          line(
              NODE,
              Level.INFO,
              "flow " + subject.scope() + subject.name(),
              n -> "operator's setting: " + flow(subject, setting));
      case NodeEvent.DrainSet(String node, boolean drained) ->
          line(
              NODE,
              Level.INFO,
              "drain " + node,
              n ->
                  "operator's order: node %s %s"
                      .formatted(safe(node), drained ? "is drained" : "is not drained any more"));
      case NodeEvent.MoveSet(var shard, String node) ->
          line(
              NODE,
              Level.INFO,
              "move " + node,
              n ->
                  "operator's order: shard %s %s"
                      .formatted(shard, node == null ? "is at home" : "is with " + safe(node)));
      case NodeEvent.AttemptFailed failed -> failed(failed);
      case NodeEvent.Convicted(NodeEvent.Subject job, String reason) ->
          about(job, "convicted", n -> "dead letter: " + job(job) + ": " + reason);
      case NodeEvent.NoHandler(String type, long jobs, NodeEvent.Subject example) ->
          line(
              ATTEMPTS,
              Level.WARN,
              "no handler " + type,
              n ->
                  "no handler: due jobs of type %s wait: %,d; the first is %s"
                      .formatted(safe(type), jobs, example.id()));
      case NodeEvent.HandlerCame(String type, int jobs) ->
          line(
              ATTEMPTS,
              Level.INFO,
              "handler " + type,
              n -> "handler of type %s is here: jobs that go on: %,d".formatted(safe(type), jobs));
      case NodeEvent.LongHistory history ->
          line(
              ATTEMPTS,
              Level.WARN,
              "long history " + history.job().type(),
              n ->
                  "long history: %s has %,d entries, %,d bytes; from %,d entries or %,d bytes on it is"
                          .formatted(
                              job(history.job()),
                              history.entries(),
                              history.bytes(),
                              history.limit().entries(),
                              history.limit().bytes())
                      + " blocked: continueAsNew begins anew");
      case NodeEvent.Undecodable(NodeEvent.Subject job, String error) ->
          about(
              job,
              "undecodable",
              n ->
                  "undecodable: the handler's input cannot be read from the payload of %s: %s;"
                          .formatted(job(job), safe(error))
                      + " the job waits, and so do others like it");
    }
  }

  private void opened(List<String> others) {
    Opening about = opening;
    if (about == null) {
      return;
    }
    opening = null;
    List<String> members = new ArrayList<>();
    members.add(safe(about.nodeId()));
    others.forEach(other -> members.add(safe(other)));
    line(
        NODE,
        Level.INFO,
        "opened",
        n ->
            "open: Carillon %s, node %s, store %s, %d slots, members: %s"
                .formatted(
                    Version.text(),
                    safe(about.nodeId()),
                    safe(about.store()),
                    about.slots(),
                    String.join(", ", members)));
  }

  private String came(String node) {
    return node.equals(queue.nodeId()) ? " is here twice: two processes have this id" : " is here";
  }

  private void gather(String cause, LongFunction<String> text) {
    queue.post(LogQueue.Line.of(MEMBERS, Level.INFO, cause, text).gathering());
  }

  private static String shards(long n) {
    return n == 1 ? "a shard" : "%,d shards".formatted(n);
  }

  private String of(String node) {
    return node.equals(queue.nodeId())
        ? " of an earlier start of this node, which did not stop in order"
        : " of node " + safe(node);
  }

  private void fenced(NodeEvent.Fenced fenced) {
    String times = fenced.inARow() > 1 ? " (%d times in a row)".formatted(fenced.inARow()) : "";
    line(
        NODE,
        Level.WARN,
        "fenced",
        n ->
            "fenced%s: the store has acknowledged no heartbeat for %s; running handlers are"
                    .formatted(times, LogText.seconds(fenced.silentNanos()))
                + " interrupted, other nodes may take the jobs over; goes on with %d slots"
                    .formatted(fenced.slots()));
  }

  private static String flow(FlowSubject subject, FlowSetting setting) {
    List<String> parts = new ArrayList<>();
    String reason = setting.paused();
    if (reason != null) {
      parts.add(reason.isEmpty() ? "paused" : "paused (" + safe(reason) + ")");
    }
    if (setting.limit() != 0) {
      parts.add("limit " + setting.limit());
    }
    Rate rate = setting.rate();
    if (rate != null) {
      parts.add("rate " + rate.permits() + " per " + rate.period());
    }
    String scope = subject.scope().name().toLowerCase(Locale.ROOT);
    String all = parts.isEmpty() ? "no pause, limit or rate" : String.join(", ", parts);
    return scope + " " + safe(subject.name()) + ": " + all;
  }

  // ---- attempts

  private void about(NodeEvent.Subject job, String kind, LongFunction<String> text) {
    queue.post(
        LogQueue.Line.of(ATTEMPTS, Level.WARN, kind + " " + job.type(), text)
            .about(JobContextMap.of(job)));
  }

  private void failed(NodeEvent.AttemptFailed failed) {
    String kind =
        switch (failed.then()) {
          case NodeEvent.Then.Retry retry -> "failed ";
          case NodeEvent.Then.End end -> "gave up ";
        };
    about(failed.job(), kind + failed.error().type(), n -> text(failed));
  }

  private static String text(NodeEvent.AttemptFailed failed) {
    JobError error = failed.error();
    String message = error.message().isEmpty() ? "" : ": " + safe(error.message());
    String where = error.node().isEmpty() ? "" : " on node " + safe(error.node());
    boolean last = failed.then() instanceof NodeEvent.Then.End;
    return attempt(failed)
        + ": "
        + job(failed.job())
        + where
        + ": "
        + safe(error.type())
        + message
        + (last || ATTEMPTS.isDebugEnabled() ? LogText.stack(error.stack()) : "");
  }

  private static String attempt(NodeEvent.AttemptFailed failed) {
    String number =
        failed.most() == 0
            ? "attempt " + failed.attempt()
            : "attempt " + failed.attempt() + " of " + failed.most();
    return switch (failed.then()) {
      case NodeEvent.Then.Retry(long micros) ->
          number + " failed, next at " + Micros.toInstant(micros).truncatedTo(ChronoUnit.MILLIS);
      case NodeEvent.Then.End(JobState state, String reason, long started, long ended) ->
          state == JobState.DEAD
              ? "dead letter: " + number + " failed, the last (" + safe(reason) + ")"
              : number + " failed, the last (" + safe(reason) + ")";
    };
  }

  private static String job(NodeEvent.Subject job) {
    boolean plain = job.namespace().equals(Job.DEFAULT_NAMESPACE);
    String namespace = plain ? "" : ", namespace " + safe(job.namespace());
    return "job " + job.id() + " (" + safe(job.type()) + namespace + ")";
  }
}
