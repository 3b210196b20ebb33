package dev.carillon.server.work;

import dev.carillon.RawPayload;
import dev.carillon.api.JobError;
import dev.carillon.gateway.WorkerOutcome;
import dev.carillon.gateway.WorkerOutcome.Next;
import dev.carillon.gateway.WorkerProgress;
import dev.carillon.gateway.WorkerTake;
import dev.carillon.server.jobs.PayloadFields;
import dev.carillon.server.json.InvalidBody;
import dev.carillon.server.json.Shape;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** What workers send. */
final class WorkBodies {
  private WorkBodies() {}

  /** What a worker asks for. */
  static final class Take {
    static final Shape<Take> SHAPE =
        Shape.of(Take::new)
            .texts("types", (t, v) -> t.types = v)
            .text("queue", (t, v) -> t.queue = v)
            .integer("most", (t, v) -> t.most = v)
            .duration("wait", (t, v) -> t.wait = v)
            .duration("lease", (t, v) -> t.lease = v)
            .text("worker", (t, v) -> t.worker = v);

    private static final int MOST = 64;
    private static final int MOST_TYPES = 100;
    private static final int LABEL_CHARS = 100;
    private static final Duration LONGEST_WAIT = Duration.ofSeconds(30);

    private List<String> types = List.of();
    private String queue = "";
    private int most = 1;
    private Duration wait = Duration.ZERO;
    private Duration lease = WorkerTake.LEASE;
    private String worker = "http";

    /** How many at once. */
    int most() {
      if (most < 1 || most > MOST) {
        throw new InvalidBody("most: " + most + " (expected: 1 to " + MOST + ")");
      }
      return most;
    }

    Duration waiting() {
      if (wait.compareTo(LONGEST_WAIT) > 0) {
        throw new InvalidBody("wait: " + wait + " (expected: at most " + LONGEST_WAIT + ")");
      }
      return wait;
    }

    String queue() {
      return queue;
    }

    Wanted wanted(String namespace) {
      if (types.isEmpty() && queue.isEmpty()) {
        throw new InvalidBody("types: missing (expected: types, a queue, or both)");
      }
      if (types.size() > MOST_TYPES) {
        throw new InvalidBody("types: " + types.size() + " (expected: at most " + MOST_TYPES + ")");
      }
      if (worker.isBlank() || worker.length() > LABEL_CHARS) {
        throw Shape.invalid(
            "worker", Shape.quoted(worker), "a name of 1 to " + LABEL_CHARS + " characters");
      }
      for (String type : types) {
        if (type.isEmpty() || type.startsWith("carillon.")) {
          throw Shape.invalid("types", Shape.quoted(type), "none of the server's own types");
        }
      }
      return new Wanted(worker, namespace, types, queue, lease);
    }
  }

  /** A beat. */
  static final class Beat {
    private static final Shape<Progress> PROGRESS =
        Shape.of(Progress::new)
            .longInteger("done", (p, v) -> p.done = v)
            .longInteger("total", (p, v) -> p.total = v)
            .text("message", (p, v) -> p.message = v);

    static final Shape<Beat> SHAPE =
        Shape.of(Beat::new).object("progress", PROGRESS, (b, v) -> b.progress = v.progress());

    @Nullable WorkerProgress progress;
  }

  /** How far it is. */
  private static final class Progress {
    private long done = WorkerProgress.UNKNOWN;
    private long total = WorkerProgress.UNKNOWN;
    private String message = "";

    WorkerProgress progress() {
      return new WorkerProgress(done, total, message);
    }
  }

  /** A payload under a name of its own. */
  static final class Payload {
    static final Shape<Payload> RESULT = shape("result");
    static final Shape<Payload> STATE = shape("state");

    private final String name;
    private @Nullable RawPayload json;
    private @Nullable String base64;
    private @Nullable String codec;

    private Payload(String name) {
      this.name = name;
    }

    private static Shape<Payload> shape(String name) {
      return Shape.of(() -> new Payload(name))
          .raw(name, (p, v) -> p.json = new RawPayload("json", v))
          .text(name + "Base64", (p, v) -> p.base64 = v)
          .text(name + "Codec", (p, v) -> p.codec = v);
    }

    /** What was given; that of no result where nothing was. */
    RawPayload payload() {
      RawPayload payload = given();
      return payload != null ? payload : new RawPayload("", new byte[0]);
    }

    /** What was given, which has to be. */
    RawPayload needed() {
      RawPayload payload = given();
      if (payload == null) {
        throw new InvalidBody(name + ": missing (expected: JSON, or " + name + "Base64)");
      }
      return payload;
    }

    private @Nullable RawPayload given() {
      return new PayloadFields(name, json, base64, codec).payload();
    }
  }

  /** A failure. */
  static final class Failure {
    private static final Shape<Failed> ERROR =
        Shape.of(Failed::new)
            .text("type", (e, v) -> e.type = v)
            .text("message", (e, v) -> e.message = v)
            .text("stack", (e, v) -> e.stack = v);

    static final Shape<Failure> SHAPE =
        Shape.of(Failure::new)
            .object("error", ERROR, (f, v) -> f.error = v)
            .flag("retry", (f, v) -> f.retry = v)
            .time("notBefore", (f, v) -> f.notBefore = v)
            .time("at", (f, v) -> f.at = v);

    private Failed error = new Failed();
    private boolean retry = true;
    private @Nullable Instant notBefore;
    private @Nullable Instant at;

    WorkerOutcome outcome() {
      return new WorkerOutcome.Failed(
          new JobError(error.type, error.message, error.stack), List.of(error.type), next());
    }

    private Next next() {
      Instant time = at;
      if (time != null) {
        if (notBefore != null || !retry) {
          throw new InvalidBody("at: given with notBefore or retry (expected: one of them)");
        }
        return new Next.At(time);
      }
      if (!retry) {
        if (notBefore != null) {
          throw new InvalidBody("notBefore: given without a retry (expected: none)");
        }
        return new Next.Never();
      }
      return new Next.ByPolicy(notBefore);
    }
  }

  /** An error in a worker's own words. */
  private static final class Failed {
    private String type = "WorkerError";
    private String message = "";
    private String stack = "";
  }

  /** Later. */
  static final class Later {
    static final Shape<Later> SHAPE =
        Shape.of(Later::new)
            .time("at", (l, v) -> l.at = v)
            .duration("in", (l, v) -> l.in = v)
            .text("note", (l, v) -> l.note = v);

    private @Nullable Instant at;
    private @Nullable Duration in;
    private String note = "";

    WorkerOutcome outcome(Instant now) {
      Instant time = at;
      Duration delay = in;
      if ((time == null) == (delay == null)) {
        throw new InvalidBody(
            "at: %s in (expected: one of them)"
                .formatted(time == null ? "missing, and" : "given with"));
      }
      return new WorkerOutcome.Again(
          time != null ? time : now.plus(delay != null ? delay : Duration.ZERO), note);
    }
  }
}
