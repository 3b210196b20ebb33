package dev.carillon.simulator;

import dev.carillon.api.Concurrency;
import dev.carillon.api.Dependency;
import dev.carillon.api.FailurePolicy;
import dev.carillon.api.IfExists;
import dev.carillon.api.schedule.Schedule;
import dev.carillon.engine.job.JobRef;
import dev.carillon.engine.request.AddRequest;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/** A job that a simulated user asked for, and what they were told. */
final class Request {
  final long id;
  final Wish wish;

  /** The requests it stands or falls with, itself included; empty where it is alone. */
  List<Request> batch = List.of();

  /** Those of its batch that it waits for. */
  List<Tie> ties = List.of();

  @Nullable AddRequest asked;

  /** Of the life that it was asked of. */
  long incarnation;

  /** The copy of the store that it went by. */
  int copy;

  long askedNanos;
  Told told = Told.NOTHING;

  /** It was asked for again, because nobody knows what became of it. */
  boolean doubted;

  @Nullable JobRef ref;

  /** What the user wants. */
  record Wish(
      String type,
      String namespace,
      String queue,
      @Nullable String name,
      @Nullable String key,
      IfExists ifExists,
      Map<String, String> metadata,
      long dueMicros,
      long timeoutMicros,
      long deadlineMicros,
      Rules rules,
      Temper temper) {
    boolean named() {
      return name != null || key != null;
    }

    /** The key of the record that would hold its name. */
    String recordKey() {
      return name != null ? "n\0" + namespace + "\0" + name : "k\0" + namespace + "\0" + key;
    }
  }

  /**
   * What few wishes have.
   *
   * @param firstMicros the time of the first occurrence, without jitter
   */
  record Rules(
      @Nullable Schedule schedule,
      long firstMicros,
      @Nullable FailurePolicy policy,
      @Nullable Concurrency concurrency,
      Waits waits) {
    static final Rules NONE = new Rules(null, 0, null, null, Waits.NONE);

    boolean unlimitedRetries() {
      return policy != null && policy.maxRetries() == FailurePolicy.UNLIMITED;
    }

    /** Whether nothing ends its schedule. */
    static boolean endless(Schedule schedule) {
      return schedule.times() == null && schedule.until() == null;
    }
  }

  /**
   * What it waits for.
   *
   * @param after jobs that somebody knows
   * @param name of a job, null where none is waited for by name
   */
  record Waits(
      List<JournalFormat.After> after, @Nullable String name, Dependency.Condition condition) {
    static final Waits NONE = new Waits(List.of(), null, Dependency.Condition.ENDED);

    boolean any() {
      return !after.isEmpty() || name != null;
    }
  }

  /** Another of its batch that it waits for. */
  record Tie(Request other, Dependency.Condition condition) {}

  /** What the user was told. */
  enum Told {
    /** No answer, or none that reached them. */
    NOTHING,
    /** The job is durable. */
    CREATED,
    /** The name or key had a job; it was kept. */
    KEPT,
    /** The job of that name has the new input. */
    REPLACED,
    /** It was not scheduled, definitely. */
    REFUSED,
    /** Nobody can say. */
    UNKNOWN
  }

  Request(long id, Wish wish) {
    this.id = id;
    this.wish = wish;
  }

  /** Whether the spec waits for what the request was to wait for. */
  boolean waitsAs(JournalFormat.Spec spec, Predicate<JobRef> isNamed) {
    List<JournalFormat.After> left = new ArrayList<>(spec.more().after());
    Waits waits = wish.rules().waits();
    boolean all = true;
    for (JournalFormat.After each : waits.after()) {
      all &= left.remove(each);
    }
    if (waits.name() != null) {
      all &= left.removeIf(each -> isNamed.test(each.job()));
    }
    return all && left.size() == ties.size();
  }

  /** How its handler behaves once everything has healed. */
  Temper calmed() {
    return switch (wish.temper()) {
      case FAILING -> wish.rules().unlimitedRetries() ? Temper.QUICK : Temper.FAILING;
      case HOPELESS -> Temper.HOPELESS;
      default -> Temper.QUICK;
    };
  }

  @Override
  public String toString() {
    return "request " + id;
  }
}
