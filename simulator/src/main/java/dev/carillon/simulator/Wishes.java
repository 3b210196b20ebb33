package dev.carillon.simulator;

import dev.carillon.api.Concurrency;
import dev.carillon.api.Dependency;
import dev.carillon.api.FailurePolicy;
import dev.carillon.api.IfExists;
import dev.carillon.api.WhenFull;
import dev.carillon.api.schedule.Misfire;
import dev.carillon.api.schedule.Overlap;
import dev.carillon.api.schedule.Schedule;
import dev.carillon.engine.job.JobRef;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Thinks up what simulated users want. */
final class Wishes {
  /** Runs at most {@link Climate#typeLimit} at once. */
  static final String LIMITED_TYPE = "limited";

  /** Runs at most {@link Climate#queueLimit} at once. */
  static final String LIMITED_QUEUE = "narrow";

  /** Runs at most {@link Climate#namespaceLimit} at once. */
  static final String LIMITED_NAMESPACE = "tenant";

  private static final int MOST_TIMES = 12;

  /** Has no handler until everything has healed. */
  static final String LATE_TYPE = "late";

  /** Jobs of this concurrency key go one by one and wait their turn. */
  static final String LINE_KEY = "line";

  /** Of this concurrency key three run at once. */
  static final String FEW_KEY = "few";

  private static final List<IfExists> IF_EXISTS =
      List.of(IfExists.FAIL, IfExists.KEEP, IfExists.REPLACE);

  private static final int FEW = 3;

  /** So few names that most declarations meet a job of one before them. */
  private static final int DECLARED = 3;

  private static final List<Temper> DECLARED_BAD =
      List.of(Temper.LONG, Temper.FLAKY, Temper.FAILING, Temper.SAVING, Temper.POSTPONING);

  static final List<String> TYPES = List.of("plain", "other", LIMITED_TYPE, LATE_TYPE);
  private static final List<String> NAMESPACES = List.of("default", "default", LIMITED_NAMESPACE);
  private static final List<String> QUEUES = List.of("default", "default", LIMITED_QUEUE);
  private static final List<String> CRONS =
      List.of("*/10 * * * * *", "*/7 * * * *", "0 * * * *", "30 2 * * *", "15 1-3 * * *");
  private static final List<String> ZONES = List.of("UTC", "Europe/Berlin", "America/New_York");
  private static final long SECOND = 1_000_000;
  private static final long HOUR = 3_600 * SECOND;
  private static final List<Temper> BAD =
      List.of(
          Temper.LONG,
          Temper.FLAKY,
          Temper.FLAKY,
          Temper.FAILING,
          Temper.HOPELESS,
          Temper.HANGING,
          Temper.DEAF,
          Temper.SAVING,
          Temper.SAVING,
          Temper.POSTPONING,
          Temper.POSTPONING,
          Temper.GARBLED);

  private final World world;
  private int keys;

  Wishes(World world) {
    this.world = world;
  }

  Request.Wish plain() {
    return wish(null, null, IfExists.FAIL);
  }

  Request.Wish recurring() {
    return recurring(wish(null, world.chance.oneIn(8) ? someKey() : null, IfExists.FAIL));
  }

  /** The same on a schedule. */
  private Request.Wish recurring(Request.Wish once) {
    Chance chance = world.chance;
    long now = world.clock.wallMicros();
    Schedule schedule = schedule();
    Instant regular = schedule.first(RecurrenceJudge.instant(now));
    boolean atItsDue = chance.oneIn(6);
    long first = atItsDue || regular == null ? once.dueMicros() : RecurrenceJudge.micros(regular);
    Instant until = schedule.until();
    if (until != null && RecurrenceJudge.micros(until) < first) {
      schedule = schedule.until(RecurrenceJudge.instant(first + SECOND));
      if (once.ifExists() == IfExists.UPDATE && schedule.times() == null) {
        // It goes on from the time of the job that it changes, which may be days before.
        schedule = schedule.times(MOST_TIMES);
      }
    }
    long jitter = chance.between(0, RecurrenceJudge.micros(schedule.jitter()));
    long deadline = once.deadlineMicros() == 0 ? 0 : first + chance.spread(SECOND, HOUR);
    return new Request.Wish(
        once.type(),
        once.namespace(),
        once.queue(),
        once.name(),
        once.key(),
        once.ifExists(),
        once.metadata(),
        first + jitter,
        once.timeoutMicros(),
        deadline,
        new Request.Rules(
            schedule,
            first,
            once.rules().policy(),
            once.rules().concurrency(),
            once.rules().waits()),
        once.temper());
  }

  /** Some schedule, which has a time left and few enough of them, or no end. */
  Schedule schedule() {
    Chance chance = world.chance;
    long now = world.clock.wallMicros();
    long span = world.climate.spanNanos / VirtualClock.MICRO;
    long period = chance.spread(SECOND / 4, Math.max(4 * SECOND, span / 8));
    Schedule schedule =
        switch (chance.below(10)) {
          case 0, 1 -> Schedule.afterEach(length(period));
          case 2 -> Schedule.cron("* * * * * *");
          case 3 -> Schedule.cron(chance.pick(CRONS), chance.pick(ZONES));
          default -> Schedule.every(length(period));
        };
    boolean cron = schedule.kind() == Schedule.Kind.CRON;
    if (!cron && chance.oneIn(4)) {
      schedule = schedule.jitter(length(chance.spread(1, period - 1)));
    }
    if (chance.oneIn(8)) {
      long start = now + chance.between(-10 * period, 3 * period);
      schedule = schedule.startingAt(RecurrenceJudge.instant(start));
    }
    schedule = schedule.overlap(chance.pick(List.of(Overlap.values()))).misfire(misfire());
    if (!cron && chance.oneIn(4)) {
      long until = now + (4 + chance.below(10)) * period;
      schedule = schedule.until(RecurrenceJudge.instant(until));
    }
    if (chance.oneIn(4)) {
      // Always too late it would go on for ever: what is passed over does not count.
      long least = schedule.until() != null ? 1_000 : 3 * SECOND;
      schedule = schedule.grace(length(chance.spread(least, 5 * 60 * SECOND)));
    }
    boolean mayBeEndless =
        schedule.kind() == Schedule.Kind.EVERY && (schedule.until() != null || period > span / 16);
    return mayBeEndless && chance.oneIn(2)
        ? schedule
        : schedule.times(chance.between(1, MOST_TIMES));
  }

  private Misfire misfire() {
    return switch (world.chance.below(3)) {
      case 0 -> Misfire.skip();
      case 1 -> Misfire.runOne();
      default -> Misfire.runAll((int) world.chance.spread(1, 20));
    };
  }

  /** What follows a failure; null for the node's rule. */
  private @Nullable FailurePolicy policy(Temper temper, long timeout) {
    Chance chance = world.chance;
    boolean sometimesSucceeds =
        timeout == 0
            && (temper == Temper.QUICK || temper == Temper.FLAKY || temper == Temper.SAVING);
    if (!chance.oneIn(temper == Temper.QUICK ? 12 : 3)) {
      return null;
    }
    int retries = sometimesSucceeds && chance.oneIn(3) ? FailurePolicy.UNLIMITED : chance.below(4);
    return switch (chance.below(5)) {
      case 0 -> FailurePolicy.drop();
      case 1 -> FailurePolicy.constant(Duration.ZERO, retries);
      case 2 -> FailurePolicy.constant(length(chance.spread(1_000, 30 * SECOND)), retries);
      case 3 -> FailurePolicy.cron(Schedule.cron("*/10 * * * * *"), retries);
      default -> {
        Duration base = length(chance.spread(1_000, 10 * SECOND));
        yield FailurePolicy.exponential(
            base, 1 + chance.below(4), base.multipliedBy(20), retries, chance.below(3) / 2.0);
      }
    };
  }

  /** A key that it shares with others, or null. */
  private @Nullable Concurrency concurrency() {
    Chance chance = world.chance;
    if (!chance.happens(world.climate.keyed)) {
      return null;
    }
    WhenFull rule = chance.oneIn(2) ? WhenFull.WAIT : chance.pick(List.of(WhenFull.values()));
    return switch (chance.below(4)) {
      case 0 -> Concurrency.of(LINE_KEY);
      case 1 -> new Concurrency(FEW_KEY, FEW, rule, null);
      case 2 -> new Concurrency("mixed", (int) chance.between(1, 3), rule, null);
      default -> new Concurrency("rated", 2, rule, world.climate.keyRate);
    };
  }

  private static Duration length(long micros) {
    return Duration.of(micros, ChronoUnit.MICROS);
  }

  /** The same, to wait for these jobs. */
  Request.Wish dependent(Request.Wish free, List<JobRef> jobs) {
    List<JournalFormat.After> after = new ArrayList<>();
    jobs.forEach(job -> after.add(new JournalFormat.After(job, condition())));
    String name = world.chance.oneIn(4) ? someName() : null;
    Request.Rules rules = free.rules();
    return new Request.Wish(
        free.type(),
        free.namespace(),
        free.queue(),
        free.name(),
        free.key(),
        free.ifExists(),
        free.metadata(),
        free.dueMicros(),
        free.timeoutMicros(),
        free.deadlineMicros(),
        new Request.Rules(
            rules.schedule(),
            rules.firstMicros(),
            rules.policy(),
            rules.concurrency(),
            new Request.Waits(after, name, condition())),
        free.temper());
  }

  Dependency.Condition condition() {
    return world.chance.oneIn(2)
        ? Dependency.Condition.ENDED
        : world.chance.pick(List.of(Dependency.Condition.values()));
  }

  /**
   * A recurring job under a name that only declarations have. What runs under it goes by the same
   * limits whichever of them it comes from; its schedule, input and metadata differ.
   */
  private Request.Wish declared() {
    Chance chance = world.chance;
    return recurring(
        new Request.Wish(
            "plain",
            "default",
            "default",
            "declared" + chance.below(DECLARED),
            null,
            IfExists.UPDATE,
            chance.oneIn(4) ? Map.of("note", "m" + chance.below(100)) : Map.of(),
            due(),
            0,
            0,
            Request.Rules.NONE,
            chance.happens(world.climate.badHandlers) ? chance.pick(DECLARED_BAD) : Temper.QUICK));
  }

  Request.Wish named() {
    if (world.chance.oneIn(8)) {
      return declared();
    }
    IfExists ifExists = world.chance.pick(IF_EXISTS);
    String key = world.chance.oneIn(6) ? someKey() : null;
    Request.Wish once = wish(someName(), key, ifExists);
    return world.chance.oneIn(8) ? recurring(once) : once;
  }

  Request.Wish keyed() {
    return wish(null, someKey(), world.chance.pick(IF_EXISTS));
  }

  /** For a batch, in which no name may stand twice. */
  Request.Wish ofBatch(int place) {
    return switch (world.chance.below(4)) {
      case 0 ->
          wish(
              "n" + (place + world.climate.names * world.chance.below(2)),
              null,
              world.chance.oneIn(2) ? IfExists.FAIL : IfExists.KEEP);
      case 1 -> wish(null, "batch-" + keys++, IfExists.FAIL);
      default -> plain();
    };
  }

  Request.Wish killer() {
    Request.Wish plain = plain();
    return new Request.Wish(
        "plain",
        plain.namespace(),
        "default",
        null,
        null,
        IfExists.FAIL,
        Map.of(),
        plain.dueMicros(),
        0,
        0,
        Request.Rules.NONE,
        Temper.KILLER);
  }

  /** A job that nothing hinders, due then. */
  Request.Wish at(long dueMicros) {
    return new Request.Wish(
        "plain",
        "default",
        "default",
        null,
        null,
        IfExists.FAIL,
        Map.of(),
        dueMicros,
        0,
        0,
        Request.Rules.NONE,
        Temper.QUICK);
  }

  /** The same name again, to see that it is free. */
  Request.Wish probe(String namespace, String name) {
    return new Request.Wish(
        "plain",
        namespace,
        "default",
        name,
        null,
        IfExists.FAIL,
        Map.of(),
        world.clock.wallMicros(),
        0,
        0,
        Request.Rules.NONE,
        Temper.QUICK);
  }

  private String someName() {
    return "n" + world.chance.below(world.climate.names);
  }

  /** Often one that was used before. */
  private String someKey() {
    int key = world.chance.oneIn(2) ? keys++ : world.chance.below(Math.max(1, keys));
    return "k" + key;
  }

  private Request.Wish wish(@Nullable String name, @Nullable String key, IfExists ifExists) {
    Chance chance = world.chance;
    long due = due();
    boolean bad = chance.happens(world.climate.badHandlers);
    Temper temper = bad ? chance.pick(BAD) : Temper.QUICK;
    boolean hangs = temper == Temper.HANGING || temper == Temper.DEAF;
    long timeout = (hangs && chance.oneIn(2)) || chance.oneIn(12) ? timeout() : 0;
    long deadline = chance.oneIn(12) ? due + chance.spread(1_000, HOUR) : 0;
    String type = name != null ? "plain" : chance.pick(TYPES);
    String namespace = chance.pick(NAMESPACES);
    return new Request.Wish(
        type,
        namespace,
        chance.pick(QUEUES),
        name,
        key,
        ifExists,
        chance.oneIn(4) ? Map.of("note", "m" + chance.below(100)) : Map.of(),
        due,
        timeout,
        deadline,
        new Request.Rules(null, 0, policy(temper, timeout), concurrency(), Request.Waits.NONE),
        temper);
  }

  private long timeout() {
    return world.chance.spread(1_000, 60 * SECOND);
  }

  /** Now, near, some minutes, or far; sometimes long ago. */
  long due() {
    Chance chance = world.chance;
    long now = world.clock.wallMicros();
    long span = world.climate.spanNanos / VirtualClock.MICRO;
    return switch (chance.below(20)) {
      case 0 -> now - chance.spread(1, 100 * HOUR);
      case 1, 2, 3, 4, 5 -> now;
      case 6, 7, 8, 9, 10, 11 -> now + chance.spread(1_000, 60 * SECOND);
      case 12, 13, 14, 15 -> now + chance.between(0, span);
      case 16, 17 -> now + chance.spread(SECOND, HOUR);
      default -> now + chance.spread(HOUR, 40 * 24 * HOUR);
    };
  }
}
