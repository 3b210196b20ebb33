package dev.carillon.server.gateway;

import com.google.protobuf.ByteString;
import dev.carillon.RawPayload;
import dev.carillon.api.AttemptToken;
import dev.carillon.api.DependencyInfo;
import dev.carillon.api.JobError;
import dev.carillon.api.JobId;
import dev.carillon.api.OccurrenceInfo;
import dev.carillon.gateway.GivenAttempt;
import dev.carillon.gateway.WorkerHello;
import dev.carillon.gateway.WorkerListener.StopReason;
import dev.carillon.gateway.WorkerOutcome;
import dev.carillon.gateway.WorkerOutcome.Next;
import dev.carillon.gateway.WorkerProgress;
import dev.carillon.gateway.WorkerTake;
import dev.carillon.protocol.Again;
import dev.carillon.protocol.Attempt;
import dev.carillon.protocol.Dependency;
import dev.carillon.protocol.Failed;
import dev.carillon.protocol.Hello;
import dev.carillon.protocol.Occurrence;
import dev.carillon.protocol.Outcome;
import dev.carillon.protocol.Payload;
import dev.carillon.protocol.Progress;
import dev.carillon.protocol.Stop;
import dev.carillon.protocol.Take;
import dev.carillon.protocol.Token;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Objects;

/** Words of the protocol as the node has them, and back. Total: bad ones throw what is wrong. */
final class Words {
  private static final int MOST_KINDS = 32;
  private static final int MOST_LABELS = 16;
  private static final int LABEL_CHARS = 200;
  private static final long FURTHEST_MILLIS = Duration.ofDays(36_500).toMillis();

  private Words() {}

  // ---- of workers

  static AttemptToken token(Token token) {
    if (token.getAttempt() < 1) {
      throw wrong("token.attempt", Integer.toUnsignedString(token.getAttempt()), "1 to 2147483647");
    }
    if (token.getEpoch() < 0) {
      throw wrong("token.epoch", Long.toUnsignedString(token.getEpoch()), "a number of 63 bits");
    }
    return new AttemptToken(
        new JobId(token.getJob()), token.getEpoch(), token.getAttempt(), token.getNonce());
  }

  static List<AttemptToken> tokens(List<Token> tokens) {
    return tokens.stream().map(Words::token).toList();
  }

  static WorkerHello hello(Hello hello) {
    if (hello.getWorker().chars().anyMatch(Character::isISOControl)) {
      throw wrong("hello.worker", "a name with control characters", "a name without");
    }
    if (hello.getLabelsCount() > MOST_LABELS) {
      throw wrong("hello.labels", Integer.toString(hello.getLabelsCount()), "at most 16");
    }
    hello
        .getLabelsMap()
        .forEach(
            (label, value) -> {
              if (label.length() > LABEL_CHARS || value.length() > LABEL_CHARS) {
                throw wrong("hello.labels", "a long one", "at most 200 characters");
              }
            });
    if (hello.getTakesCount() > WorkerHello.TAKES_MAX) {
      throw wrong(
          "hello.takes", Integer.toString(hello.getTakesCount()), "1 to " + WorkerHello.TAKES_MAX);
    }
    return new WorkerHello(
        hello.getWorker(),
        hello.getTakesList().stream().map(Words::take).toList(),
        hello.getLeaseFirst());
  }

  private static WorkerTake take(Take take) {
    long millis = Integer.toUnsignedLong(take.getLeaseMillis());
    return new WorkerTake(
        take.getNamespace(),
        take.getQueue(),
        take.getType(),
        millis == 0 ? WorkerTake.LEASE : Duration.ofMillis(millis));
  }

  static RawPayload payload(Payload payload) {
    return new RawPayload(payload.getCodec(), payload.getData().toByteArray());
  }

  static WorkerOutcome outcome(Outcome outcome, Instant now) {
    return switch (outcome.getHowCase()) {
      case SUCCEEDED -> new WorkerOutcome.Succeeded(payload(outcome.getSucceeded().getResult()));
      case FAILED -> failed(outcome.getFailed(), now);
      case AGAIN -> again(outcome.getAgain(), now);
      case UNDECODABLE -> new WorkerOutcome.Undecodable(error(outcome.getUndecodable().getError()));
      case INTERRUPTED -> new WorkerOutcome.GivenBack();
      case HOW_NOT_SET ->
          throw wrong("outcome.how", "none", "succeeded, failed, again, undecodable, interrupted");
    };
  }

  private static WorkerOutcome failed(Failed failed, Instant now) {
    if (failed.getKindsCount() > MOST_KINDS) {
      throw wrong("failed.kinds", Integer.toString(failed.getKindsCount()), "at most 32");
    }
    Next next =
        switch (failed.getNextCase()) {
          case NOT_BEFORE_MILLIS -> new Next.ByPolicy(after(now, failed.getNotBeforeMillis()));
          case NEVER -> new Next.Never();
          case RETRY_MILLIS -> new Next.At(after(now, failed.getRetryMillis()));
          case GIVE_UP -> new Next.GiveUp();
          case NEXT_NOT_SET -> new Next.ByPolicy(null);
        };
    return new WorkerOutcome.Failed(error(failed.getError()), failed.getKindsList(), next);
  }

  private static WorkerOutcome again(Again again, Instant now) {
    Instant due =
        switch (again.getWhenCase()) {
          case AFTER_MILLIS -> after(now, again.getAfterMillis());
          case AT_MICROS -> instant(again.getAtMicros());
          case WHEN_NOT_SET -> now;
        };
    return new WorkerOutcome.Again(due, cut(again.getNote()));
  }

  /** A note of whatever length is no failure. */
  private static String cut(String note) {
    return note.length() <= 300 ? note : note.substring(0, 300);
  }

  private static Instant after(Instant now, long millis) {
    if (millis < 0 || millis > FURTHEST_MILLIS) {
      throw wrong("millis", Long.toUnsignedString(millis), "0 to " + FURTHEST_MILLIS);
    }
    return now.plusMillis(millis);
  }

  private static JobError error(dev.carillon.protocol.Error error) {
    return new JobError(error.getType(), error.getMessage(), error.getStack());
  }

  static WorkerProgress progress(Progress progress) {
    boolean numbers = progress.hasTotal();
    return new WorkerProgress(
        numbers ? progress.getDone() : WorkerProgress.UNKNOWN,
        numbers ? progress.getTotal() : WorkerProgress.UNKNOWN,
        progress.getMessage());
  }

  private static IllegalArgumentException wrong(String field, String value, String expected) {
    return new IllegalArgumentException(field + ": " + value + " (expected: " + expected + ")");
  }

  // ---- of the node

  static Token token(AttemptToken token) {
    return Token.newBuilder()
        .setJob(token.job().value())
        .setEpoch(token.epoch())
        .setAttempt(token.attempt())
        .setNonce(token.nonce())
        .build();
  }

  static Attempt attempt(GivenAttempt given) {
    Attempt.Builder attempt =
        Attempt.newBuilder()
            .setToken(token(given.token()))
            .setNumber(given.sequence())
            .setNamespace(given.namespace())
            .setQueue(given.queue())
            .setType(given.type())
            .setTypeVersion(given.typeVersion())
            .setInput(payload(given.input()))
            .setScheduledMicros(micros(given.scheduledTime()))
            .putAllMetadata(given.metadata());
    String name = given.name();
    if (name != null) {
      attempt.setName(name);
    }
    RawPayload saved = given.saved();
    if (saved != null) {
      attempt.setSaved(payload(saved));
    }
    OccurrenceInfo occurrence = given.occurrence();
    if (occurrence != null) {
      attempt.setOccurrence(
          Occurrence.newBuilder()
              .setSchedule(occurrence.schedule().value())
              .setNumber(occurrence.number())
              .setTimeMicros(micros(occurrence.time())));
    }
    for (DependencyInfo each : given.dependencies()) {
      attempt.addDependencies(
          Dependency.newBuilder()
              .setJob(each.job().value())
              .setCondition(each.condition().name())
              .setMet(each.met())
              .setState(each.state() != null ? Objects.toString(each.state()) : ""));
    }
    Duration timeout = given.timeout();
    if (timeout != null) {
      attempt.setTimeoutMillis(timeout.toMillis());
    }
    Instant deadline = given.deadline();
    if (deadline != null) {
      attempt.setDeadlineMicros(micros(deadline));
    }
    return attempt.build();
  }

  private static Payload payload(RawPayload payload) {
    return Payload.newBuilder()
        .setCodec(payload.codec())
        .setData(ByteString.copyFrom(payload.bytes()))
        .build();
  }

  static Stop.Why why(StopReason reason) {
    return switch (reason) {
      case CANCELLED -> Stop.Why.CANCEL;
      case TIMED_OUT -> Stop.Why.TIMEOUT;
      case EXPIRED -> Stop.Why.DEADLINE;
      case PAUSED -> Stop.Why.PAUSE;
      case SHUTDOWN -> Stop.Why.SHUTDOWN;
      case ELSEWHERE -> Stop.Why.FENCED;
    };
  }

  private static long micros(Instant time) {
    return Math.addExact(
        Math.multiplyExact(time.getEpochSecond(), 1_000_000), time.getNano() / 1000);
  }

  private static Instant instant(long micros) {
    return Instant.ofEpochSecond(
        Math.floorDiv(micros, 1_000_000), Math.floorMod(micros, 1_000_000) * 1000L);
  }
}
