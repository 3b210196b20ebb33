package dev.carillon.server.http;

import dev.carillon.server.json.Json;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Why a request was not served, by RFC 9457. Immutable.
 *
 * @param kind what kind of problem: its type, title and status
 * @param detail what was wrong this time: the value and what was expected
 * @param more further members, such as the id of the job that has the name
 * @param retryAfterSeconds when to come back; 0 for no advice
 */
public record Problem(Kind kind, String detail, Map<String, String> more, int retryAfterSeconds) {
  /** What the types begin with. */
  public static final String TYPE_PREFIX = "urn:carillon:problem:";

  /** The kinds of problems. Their names are part of the API. */
  public enum Kind {
    /** The request is not acceptable as it is. */
    INVALID("invalid", "The request is not acceptable", 400),
    /** It is not known who asks. */
    UNAUTHENTICATED("unauthenticated", "It is not known who asks", 401),
    /** The caller may not do that. */
    FORBIDDEN("forbidden", "Not allowed", 403),
    /** There is no such thing. */
    NOT_FOUND("not-found", "Not found", 404),
    /** The path has no such method. */
    METHOD("method-not-allowed", "The path has no such method", 405),
    /** The body did not come in time. */
    SLOW("request-timeout", "The request did not come in time", 408),
    /** What was asked for does not fit the state of the job. */
    CONFLICT("conflict", "Not possible as things stand", 409),
    /** The job whose result was asked for ended in another way. */
    JOB_FAILED("job-failed", "The job did not succeed", 409),
    /** The attempt is not the current one of its job: what its worker says does not count. */
    STALE("stale-attempt", "It is not the current attempt of its job", 409),
    /** The name is taken. */
    NAME_TAKEN("name-taken", "The name is taken", 409),
    /** What was to be overwritten has changed. */
    CHANGED("changed-meanwhile", "It was changed meanwhile", 412),
    /** Too many jobs or bytes. */
    TOO_LARGE("too-large", "Too large", 413),
    /** The body is not of a type that the API reads. */
    MEDIA_TYPE("unsupported-media-type", "Not a type that is read here", 415),
    /** Too much at once; nothing was done. */
    OVERLOADED("overloaded", "Too much at once", 429),
    /** The header is too large. */
    HEADER("header-too-large", "The header is too large", 431),
    /** A bug of the server. */
    INTERNAL("internal", "The server failed", 500),
    /** The store does not answer; nothing was done. */
    STORE_AWAY("store-away", "The store does not answer", 503),
    /** What is asked for lies in a part of the store that is damaged. */
    STORE_DAMAGED("store-damaged", "The store is damaged there", 503),
    /** The server stops; nothing was done. */
    STOPPING("stopping", "The server stops", 503),
    /** It may or may not have been done. */
    UNKNOWN("unknown-outcome", "It is not known whether it was done", 504);

    private final String type;
    private final String title;
    private final int status;

    Kind(String type, String title, int status) {
      this.type = type;
      this.title = title;
      this.status = status;
    }

    /** The type, a URN. */
    public String type() {
      return TYPE_PREFIX + type;
    }

    /** The status. */
    public int status() {
      return status;
    }
  }

  /** Copies the members. */
  public Problem {
    more = Map.copyOf(more);
  }

  /** A problem with a detail. */
  public static Problem of(Kind kind, String detail) {
    return new Problem(kind, detail, Map.of(), 0);
  }

  /** With a further member. */
  public Problem with(String name, String value) {
    Map<String, String> all = new LinkedHashMap<>(more);
    all.put(name, value);
    return new Problem(kind, detail, all, retryAfterSeconds);
  }

  /** With the advice to come back. */
  public Problem retryAfter(int seconds) {
    return new Problem(kind, detail, more, seconds);
  }

  /** To be thrown. */
  public Refusal refusal() {
    return new Refusal(this);
  }

  /** The answer. */
  public Answer answer() {
    byte[] body =
        Json.object(
            out -> {
              out.put("type", kind.type())
                  .put("title", kind.title)
                  .put("status", kind.status)
                  .put("detail", detail);
              more.forEach((name, value) -> out.put(name, value));
            });
    Answer answer = new Answer(kind.status, "application/problem+json", Map.of(), body, null);
    return retryAfterSeconds > 0
        ? answer.header("Retry-After", Integer.toString(retryAfterSeconds))
        : answer;
  }

  /** A problem on its way to the client. */
  public static final class Refusal extends RuntimeException {
    private static final long serialVersionUID = 1L;

    private final transient Problem problem;

    private Refusal(Problem problem) {
      super(problem.detail(), null, false, false);
      this.problem = problem;
    }

    /** The problem. */
    public Problem problem() {
      return problem;
    }

    /** The problem of an exception, or null if it is none. */
    public static @Nullable Problem of(Throwable thrown) {
      return thrown instanceof Refusal refusal ? refusal.problem() : null;
    }
  }
}
