package dev.carillon.server.http;

import dev.carillon.api.error.BatchTooLargeException;
import dev.carillon.api.error.ChangedMeanwhileException;
import dev.carillon.api.error.ClosedException;
import dev.carillon.api.error.CodecException;
import dev.carillon.api.error.InvalidArgumentException;
import dev.carillon.api.error.JobNotFoundException;
import dev.carillon.api.error.NameTakenException;
import dev.carillon.api.error.OutcomeUnknownException;
import dev.carillon.api.error.OverloadedException;
import dev.carillon.api.error.StoreCorruptedException;
import dev.carillon.api.error.StoreUnavailableException;
import dev.carillon.api.error.WaitInterruptedException;
import dev.carillon.server.access.Denied;
import dev.carillon.server.http.Problem.Kind;
import dev.carillon.server.http.Problem.Refusal;
import dev.carillon.server.json.InvalidBody;
import java.util.UUID;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The problem of what a handler throws. What the store's drivers say stays here: it may name the
 * store's address. A bug is logged with its stack, and told by the id of that line.
 */
final class Problems {
  private static final Logger LOG = LoggerFactory.getLogger(Problems.class);
  private static final int SOON_SECONDS = 1;
  private static final int STORE_SECONDS = 2;

  private Problems() {}

  static Problem of(Throwable thrown, String operation) {
    return switch (thrown) {
      case Refusal refusal -> refusal.problem();
      case InvalidBody e -> Problem.of(Kind.INVALID, e.getMessage());
      case Denied e ->
          Problem.of(e.isUnknown() ? Kind.UNAUTHENTICATED : Kind.FORBIDDEN, e.getMessage());
      case BatchTooLargeException e -> Problem.of(Kind.TOO_LARGE, message(e));
      case InvalidArgumentException e -> Problem.of(Kind.INVALID, message(e));
      case CodecException e -> Problem.of(Kind.INVALID, message(e));
      case NameTakenException e ->
          Problem.of(Kind.NAME_TAKEN, message(e)).with("existing", e.existing().value());
      case ChangedMeanwhileException e -> Problem.of(Kind.CHANGED, message(e));
      case JobNotFoundException e -> notFound();
      case OverloadedException e ->
          Problem.of(Kind.OVERLOADED, "too many requests wait for the store; nothing was done")
              .retryAfter(SOON_SECONDS);
      case StoreUnavailableException e ->
          Problem.of(Kind.STORE_AWAY, "the store does not answer; nothing was done")
              .retryAfter(STORE_SECONDS);
      case StoreCorruptedException e ->
          Problem.of(Kind.STORE_DAMAGED, "this lies in a damaged part of the store");
      case ClosedException e ->
          Problem.of(Kind.STOPPING, "the server stops; nothing was done").retryAfter(SOON_SECONDS);
      case WaitInterruptedException e ->
          Problem.of(Kind.STOPPING, "the server stops; nothing was changed")
              .retryAfter(SOON_SECONDS);
      case OutcomeUnknownException e -> unknown(e);
      default -> bug(thrown, operation);
    };
  }

  /** The same text for what is not there and what the caller may not see. */
  static Problem notFound() {
    return Problem.of(Kind.NOT_FOUND, "there is no such job here, or its retention is over");
  }

  private static Problem unknown(OutcomeUnknownException e) {
    String how =
        switch (e.again()) {
          case SAFE -> "asking again is safe";
          case SAFE_WITH_KEY ->
              "asking again with the same Idempotency-Key or name makes no second job";
          case ADDS -> "look before asking again, which would add as much once more";
        };
    return Problem.of(Kind.UNKNOWN, "the store did not answer in time; " + how)
        .with("again", e.again().name());
  }

  private static Problem bug(Throwable thrown, String operation) {
    String id = UUID.randomUUID().toString();
    LOG.error("{} failed, told as {}", operation, id, thrown);
    return Problem.of(Kind.INTERNAL, "a bug; the server's log has it under the id").with("id", id);
  }

  private static String message(Throwable e) {
    return String.valueOf(e.getMessage());
  }
}
