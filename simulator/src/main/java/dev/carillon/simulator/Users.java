package dev.carillon.simulator;

import static dev.carillon.simulator.Violation.check;

import dev.carillon.api.CancelResult;
import dev.carillon.api.Dependency;
import dev.carillon.api.FailurePolicy;
import dev.carillon.api.IfExists;
import dev.carillon.api.JobInfo;
import dev.carillon.api.JobState;
import dev.carillon.api.error.CarillonException;
import dev.carillon.api.error.NameTakenException;
import dev.carillon.api.error.OutcomeUnknownException;
import dev.carillon.api.schedule.Schedule;
import dev.carillon.engine.Node;
import dev.carillon.engine.format.Micros;
import dev.carillon.engine.job.After;
import dev.carillon.engine.job.JobRef;
import dev.carillon.engine.job.JobSpec;
import dev.carillon.engine.job.JobView;
import dev.carillon.engine.job.OptionalSpec;
import dev.carillon.engine.job.PolicyFormat;
import dev.carillon.engine.job.ScheduleFormat;
import dev.carillon.engine.request.AddRequest;
import dev.carillon.simulator.UserOperations.Kind;
import dev.carillon.store.Outcome;
import dev.carillon.store.Records.Stamp;
import dev.carillon.store.ShardId;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Collections;
import java.util.EnumSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Users in the node's process: they ask, wait, give up, ask again, and check what they are told.
 */
final class Users {
  private static final int MOST_PADDING_BYTES = 60;
  private static final Set<IfExists> EXCHANGES = EnumSet.of(IfExists.REPLACE, IfExists.UPDATE);

  private final World world;
  private final Ledger ledger;
  private final UserOperations operations;
  private final Wishes wishes;
  private final List<Request> known = new ArrayList<>();
  private final List<Watcher> watchers = new ArrayList<>();

  /** Wishes with a key of which nobody knows whether they were granted. */
  private final List<Request.Wish> unsure = new ArrayList<>();

  Users(World world, Ledger ledger, UserOperations operations, Wishes wishes) {
    this.wishes = wishes;
    this.world = world;
    this.ledger = ledger;
    this.operations = operations;
  }

  List<Watcher> watchers() {
    return watchers;
  }

  /** A wish of which nobody knows whether it was granted, to be asked for again; or null. */
  Request.@Nullable Wish takeUnsure() {
    return unsure.isEmpty() ? null : unsure.removeLast();
  }

  /** A process is gone; who had a key to ask with asks again. */
  void crashed() {
    for (Request request : ledger.requests()) {
      if (request.told == Request.Told.NOTHING
          && request.batch.isEmpty()
          && !world.lives(request.incarnation)) {
        doubt(request);
      }
    }
  }

  /** An older copy of the store was put back: nobody asks about jobs that are not in it. */
  void wentBack() {
    known.removeIf(request -> request.ref == null || ledger.job(request.ref) == null);
  }

  private void doubt(Request request) {
    if (request.wish.key() != null && !request.doubted) {
      request.doubted = true;
      unsure.add(request.wish);
    }
  }

  // ---- scheduling

  Request schedule(Life life, Request.Wish wish) {
    Request request = ledger.open(wish);
    AddRequest asked = ask(request, life, kind(wish));
    world.trace.note("schedule", request.id, kind(wish).toString());
    operations.begins(life, kind(wish));
    life.node.add(asked);
    return request;
  }

  /** Jobs that wait for each other, or are free of each other. */
  List<Request> scheduleAll(Life life, List<Request.Wish> wishes, boolean tied) {
    List<Request> batch = new ArrayList<>();
    List<AddRequest> asked = new ArrayList<>();
    Kind kind = tied ? Kind.SCHEDULE_TIED : Kind.SCHEDULE_ALL;
    boolean group = tied && world.chance.oneIn(2);
    for (Request.Wish wish : wishes) {
      Request request = ledger.open(wish);
      request.batch = batch;
      asked.add(ask(request, life, kind));
      if (tied) {
        request.ties = group ? ties(batch, batch.size() + 1 == wishes.size()) : ties(batch);
      }
      batch.add(request);
      operations.begins(life, kind);
    }
    batch.forEach(Users::tie);
    if (world.chance.oneIn(2)) {
      Collections.reverse(asked); // whoever is waited for may come after who waits
    }
    world.trace.note("scheduleAll", batch.getFirst().id, batch.size(), tied ? "tied" : "");
    life.node.addAll(asked);
    return batch;
  }

  /** Some of those before it. */
  private List<Request.Tie> ties(List<Request> before) {
    List<Request.Tie> ties = new ArrayList<>();
    for (Request other : before) {
      if (world.chance.oneIn(3)) {
        ties.add(new Request.Tie(other, wishes.condition()));
      }
    }
    return ties;
  }

  /** The last of a group waits for all the others. */
  private static List<Request.Tie> ties(List<Request> before, boolean last) {
    return last
        ? before.stream().map(other -> new Request.Tie(other, Dependency.Condition.ENDED)).toList()
        : List.of();
  }

  private static void tie(Request request) {
    for (Request.Tie tie : request.ties) {
      AddRequest asked = request.asked;
      AddRequest other = tie.other().asked;
      if (asked != null && other != null) {
        asked.after(other, tie.condition());
      }
    }
  }

  /** Jobs to wait for: often ones that live. */
  List<JobRef> someToWaitFor() {
    Set<JobRef> jobs = new LinkedHashSet<>();
    for (long i = world.chance.between(1, 3); i > 0; i--) {
      JobRef ref = someJob();
      ModelJob job = ref == null ? null : ledger.job(ref);
      if (job != null && !job.live() && world.chance.oneIn(2)) {
        ref = someJob();
      }
      if (ref != null) {
        jobs.add(ref);
      }
    }
    return List.copyOf(jobs);
  }

  private static Kind kind(Request.Wish wish) {
    if (wish.rules().waits().any()) {
      return Kind.SCHEDULE_AFTER;
    }
    if (wish.rules().schedule() != null && wish.name() == null) {
      return Kind.SCHEDULE_RECURRING;
    }
    if (wish.name() != null) {
      return switch (wish.ifExists()) {
        case REPLACE -> Kind.REPLACE;
        case UPDATE -> Kind.UPDATE;
        case FAIL, KEEP -> Kind.SCHEDULE_NAMED;
      };
    }
    return wish.key() != null ? Kind.SCHEDULE_KEYED : Kind.SCHEDULE;
  }

  private AddRequest ask(Request request, Life life, Kind kind) {
    AddRequest asked =
        new AddRequest(spec(request), request.wish.ifExists(), new Answer(request, life, kind));
    Request.Waits waits = request.wish.rules().waits();
    if (waits.name() != null) {
      asked.afterNamed(waits.name(), waits.condition());
    }
    request.asked = asked;
    request.incarnation = life.incarnation;
    request.copy = life.opening.copy();
    request.askedNanos = world.clock.nanos();
    return asked;
  }

  private JobSpec spec(Request request) {
    Request.Wish wish = request.wish;
    int padding = world.chance.below(MOST_PADDING_BYTES);
    return new JobSpec(
        wish.dueMicros(),
        world.clock.wallMicros(),
        world.chance.below(3),
        Stamp.ABSENT,
        wish.type(),
        1,
        wish.namespace(),
        wish.queue(),
        wish.name(),
        wish.key(),
        wish.metadata(),
        wish.timeoutMicros(),
        wish.deadlineMicros(),
        more(wish.rules()),
        ByteBuffer.allocate(8 + padding).putLong(request.id).array());
  }

  private static OptionalSpec more(Request.Rules rules) {
    Schedule schedule = rules.schedule();
    FailurePolicy policy = rules.policy();
    return new OptionalSpec(
        schedule == null
            ? null
            : new OptionalSpec.Recurring(rules.firstMicros(), ScheduleFormat.encode(schedule)),
        policy == null ? null : PolicyFormat.encode(policy),
        null,
        rules.concurrency(),
        rules.waits().after().stream()
            .map(after -> new After(after.job(), after.condition()))
            .toList(),
        List.of());
  }

  /** Whether a request of this life still waits. */
  boolean waits(Request request, Life life) {
    return life.alive()
        && request.incarnation == life.incarnation
        && request.told == Request.Told.NOTHING;
  }

  /** Stops waiting for an answer: there must be one at once. */
  void abandon(Life life, Request request) {
    AddRequest asked = request.asked;
    if (asked == null || !waits(request, life)) {
      return;
    }
    world.trace.note("abandon", request.id);
    life.node.abandon(asked, "a while");
    check(
        request.told != Request.Told.NOTHING,
        Guarantee.UNKNOWN_IS_SAID,
        () -> request + " was abandoned and not answered");
  }

  private final class Answer implements AddRequest.Answer {
    private final Request request;
    private final Life life;
    private final Kind kind;

    Answer(Request request, Life life, Kind kind) {
      this.request = request;
      this.life = life;
      this.kind = kind;
    }

    private void answered(Request.Told told) {
      check(life.alive(), Guarantee.UNKNOWN_IS_SAID, "a dead node answers");
      check(
          request.told == Request.Told.NOTHING,
          Guarantee.UNKNOWN_IS_SAID,
          () -> request + " is answered twice: " + request.told + ", then " + told);
      request.told = told;
      operations.ends(life, kind);
      world.trace.note("answer", request.id, told.name());
    }

    /** Whether an older copy of the store was put back since it was asked: nobody knows then. */
    private boolean isBygone() {
      return request.copy != world.copy;
    }

    @Override
    public void added(JobRef ref, boolean created) {
      if (isBygone()) {
        boolean kept = !created && world.model.ofRequest(request.id) == null;
        answered(kept ? Request.Told.KEPT : Request.Told.CREATED);
        return;
      }
      ModelJob job = ledger.job(ref);
      ModelJob own = world.model.ofRequest(request.id);
      check(
          job != null,
          Guarantee.ACKNOWLEDGED_IS_DURABLE,
          () -> request + " is acknowledged as a job that is in no journal");
      if (job == null) {
        throw new IllegalStateException();
      }
      request.ref = ref;
      known.add(request);
      if (created) {
        answered(Request.Told.CREATED);
        check(
            own == job,
            Guarantee.ACKNOWLEDGED_IS_DURABLE,
            () -> request + " is acknowledged as somebody else's job");
        if (world.chance.oneIn(8)) {
          Watcher watcher = new Watcher(life, job);
          watchers.add(watcher);
          life.node.watch(ref, watcher);
        }
      } else if (own != null) {
        answered(Request.Told.REPLACED);
        check(
            own == job && EXCHANGES.contains(request.wish.ifExists()),
            Guarantee.ACKNOWLEDGED_IS_DURABLE,
            () -> request + " replaced another job than it is told");
      } else {
        answered(Request.Told.KEPT);
        kept(job);
      }
    }

    private void kept(ModelJob job) {
      Request.Wish wish = request.wish;
      boolean sameKey = wish.key() != null && job.keys.contains(wish.key());
      check(
          wish.named()
              && job.namedSpec != null
              && wish.recordKey().equals(job.namedSpec.recordKey()),
          Guarantee.NAMES,
          () -> request + " is told of a job with another name: " + job);
      check(
          wish.ifExists() == IfExists.KEEP || sameKey,
          Guarantee.ACKNOWLEDGED_IS_DURABLE,
          () -> request + " was to replace or fail, and is told of " + job);
      check(
          job.mayLookLive(life, request.askedNanos) || sameKey,
          Guarantee.NAMES,
          () -> request + " is told of a job that had ended before: " + job);
    }

    @Override
    public void refused(CarillonException why) {
      if (why instanceof OutcomeUnknownException) {
        answered(Request.Told.UNKNOWN);
        doubt(request);
        return;
      }
      if (isBygone()) {
        answered(Request.Told.UNKNOWN);
        return;
      }
      answered(Request.Told.REFUSED);
      world.trace.note("because", request.id, why.getClass().getSimpleName());
      ModelJob own = world.model.ofRequest(request.id);
      check(
          own == null,
          Guarantee.UNKNOWN_IS_SAID,
          () -> request + " is refused (" + why.getMessage() + ") but exists as " + own);
      if (why instanceof NameTakenException taken && request.batch.isEmpty()) {
        taken(taken);
      }
    }

    private void taken(NameTakenException why) {
      JobRef ref = Node.ref(why.existing());
      ModelJob holder = ref == null ? null : ledger.job(ref);
      check(
          holder != null && holder.mayLookLive(life, request.askedNanos),
          Guarantee.NAMES,
          () -> request + " is refused for a job that does not live: " + holder);
    }
  }

  // ---- asking about jobs

  /** A job that somebody may ask about: one that was acknowledged, or none at all. */
  @Nullable JobRef someJob() {
    if (world.chance.oneIn(15)) {
      ShardId shard = new ShardId(world.chance.between(1, 1L << 30), world.chance.next() | 1, 1);
      return new JobRef(shard, world.chance.between(1, 100));
    }
    if (known.isEmpty()) {
      return null;
    }
    int size = known.size();
    boolean recent = world.chance.oneIn(2);
    Request request =
        known.get(
            recent ? Math.max(0, size - 1 - world.chance.below(10)) : world.chance.below(size));
    JobRef ref = request.ref;
    ModelJob job = ref == null ? null : ledger.job(ref);
    if (job != null && !job.occurrences.isEmpty() && world.chance.oneIn(3)) {
      return world.chance.pick(job.occurrences).ref;
    }
    return ref;
  }

  /** A recurring job that somebody asked for, or null. */
  @Nullable JobRef someRecurring() {
    List<JobRef> refs = new ArrayList<>();
    for (Request request : known) {
      ModelJob job = request.ref == null ? null : ledger.job(request.ref);
      if (job != null && job.recurring() && (job.live() || world.chance.oneIn(10))) {
        refs.add(job.ref);
      }
    }
    return refs.isEmpty() ? someJob() : world.chance.pick(refs);
  }

  void cancel(Life life) {
    JobRef ref = someJob();
    if (ref == null) {
      return;
    }
    ModelJob job = ledger.job(ref);
    if (job != null) {
      job.cancelAsked = true;
      job.touchedNanos = world.clock.nanos();
    }
    int copy = life.opening.copy();
    operations.begins(life, Kind.CANCEL);
    long id = job != null ? job.request : -2;
    world.trace.note("cancel", id);
    life.node.cancel(
        ref,
        life.node.why("no longer wanted"),
        outcome -> {
          operations.ends(life, Kind.CANCEL);
          world.trace.note("cancelled", id, outcome.toString());
          if (outcome instanceof Outcome.Ok<CancelResult>(CancelResult result)
              && copy == world.copy) {
            cancelled(job, result);
          }
        });
  }

  private static void cancelled(@Nullable ModelJob job, CancelResult result) {
    if (result instanceof CancelResult.NotFound) {
      check(
          job == null || job.forgotten(),
          Guarantee.CANCEL,
          () -> job + " is not found, but it is there");
      return;
    }
    check(job != null, Guarantee.CANCEL, () -> "a job that never was is answered " + result);
    if (job == null) {
      return;
    }
    switch (result) {
      case CancelResult.Cancelled done -> {
        check(
            job.end == dev.carillon.api.JobState.CANCELLED,
            Guarantee.CANCEL,
            () -> job + " is said to be cancelled and is " + job.end);
        job.cancelAnswered = true;
      }
      case CancelResult.Stopping stopping -> {
        check(
            job.stopWritten,
            Guarantee.CANCEL,
            () -> job + " is said to stop, but its journal does not say so");
        job.cancelAnswered = job.cancelReason != null; // else it was replaced since
      }
      case CancelResult.Ended(var state) ->
          check(
              job.ends.contains(state),
              Guarantee.CANCEL,
              () -> job + " is said to have ended as " + state + " and has as " + job.end);
      case CancelResult.NotFound none -> {}
    }
  }

  void get(Life life) {
    JobRef ref = someJob();
    if (ref == null) {
      return;
    }
    ModelJob job = ledger.job(ref);
    int copy = life.opening.copy();
    operations.begins(life, Kind.GET);
    world.trace.note("get", job != null ? job.request : -2);
    life.node.get(
        ref,
        outcome -> {
          operations.ends(life, Kind.GET);
          world.trace.note("got", job != null ? job.request : -2, outcome.isOk() ? "" : "failed");
          if (outcome instanceof Outcome.Ok<Optional<JobView>>(Optional<JobView> found)
              && copy == world.copy) {
            got(job, found.map(JobView::info).orElse(null));
          }
        });
  }

  private void got(@Nullable ModelJob job, @Nullable JobInfo info) {
    if (info == null) {
      check(
          job == null || job.forgotten() || mayBeHidden(job),
          Guarantee.NOT_LOST,
          () -> job + " is not found, but it is there");
      return;
    }
    check(job != null, Guarantee.HISTORY, () -> "a job that never was is found: " + info.id());
    if (job != null && info.state().ended()) {
      check(
          job.ends.contains(info.state()),
          Guarantee.HISTORY,
          () -> job + " is shown as " + info.state() + " and is " + job.end);
    }
  }

  /** A failed job is not shown when its retention is over, though its journal may be there. */
  private boolean mayBeHidden(ModelJob job) {
    return job.end == JobState.FAILED
        && job.endAt + Micros.ceil(world.climate.options().failureRetention())
            <= world.clock.wallMicros();
  }
}
