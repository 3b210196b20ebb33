package dev.carillon.simulator;

import static dev.carillon.simulator.Violation.check;

import dev.carillon.api.JobEvent;
import dev.carillon.api.JobState;
import dev.carillon.engine.job.JobRef;
import dev.carillon.store.Append;
import dev.carillon.store.Entry;
import dev.carillon.store.Journals.Publication;
import dev.carillon.store.ShardId;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * What the store holds, kept beside it from the calls that took effect: heads, journals and the
 * fold of their operations, written from the documents and sharing no code with the engine. What an
 * operation means for a promise is asked of the {@link Judge}.
 */
final class Model {
  final World world;
  private final VirtualClock clock;
  private final Map<ShardId, ModelShard> shards = new LinkedHashMap<>();

  /** Those that came with the group that is being applied and wait for others. */
  private final List<ModelJob> dependents = new ArrayList<>();

  private final List<ModelShard> inOrder = new ArrayList<>();
  private final Map<Long, ModelJob> byRequest = new LinkedHashMap<>();

  /** What there was when an older copy of the store was put back, each time. */
  private final List<Map<ShardId, ModelShard>> bygone = new ArrayList<>();

  private int live;
  private @Nullable Judge judge;
  private @Nullable KeyJudge keys;

  Model(World world) {
    this.world = world;
    this.clock = world.clock;
  }

  void judge(Judge newJudge, KeyJudge newKeys) {
    judge = newJudge;
    keys = newKeys;
  }

  private KeyJudge keys() {
    KeyJudge found = keys;
    if (found == null) {
      throw new IllegalStateException("key judge: none (expected: one)");
    }
    return found;
  }

  private Judge judge() {
    Judge found = judge;
    if (found == null) {
      throw new IllegalStateException("judge: none (expected: one)");
    }
    return found;
  }

  List<ModelShard> shards() {
    return inOrder;
  }

  @Nullable ModelShard shard(ShardId id) {
    return shards.get(id);
  }

  /** The shard in that copy of the store; null for none. */
  @Nullable ModelShard shard(int copy, ShardId id) {
    return (copy < bygone.size() ? bygone.get(copy) : shards).get(id);
  }

  /** The job in whose place {@code ref} points in that copy of the store; null for none. */
  @Nullable ModelJob job(int copy, JobRef ref) {
    Map<ShardId, ModelShard> there = copy < bygone.size() ? bygone.get(copy) : shards;
    ModelShard shard = there.get(ref.shard());
    return shard == null ? null : shard.jobs.get(ref.number());
  }

  /** The job whose add or replace carried the request. */
  @Nullable ModelJob ofRequest(long request) {
    return byRequest.get(request);
  }

  int live() {
    return live;
  }

  /** A workflow or the child of one lives from now on. */
  void entered() {
    live++;
  }

  /** It has ended. */
  void left() {
    live--;
  }

  /** Whether any shard owes somebody the end of a job. */
  boolean owes() {
    for (ModelShard shard : inOrder) { // asked for often
      if (!shard.debts.isEmpty()) {
        return true;
      }
    }
    return false;
  }

  /**
   * When the last of those ended that the job waits for and has not heard of; {@link
   * Long#MAX_VALUE} while one lives.
   */
  long awaitedEndNanos(ModelJob job) {
    long last = Long.MIN_VALUE;
    for (Map.Entry<JobRef, ModelJob.Awaited> each : job.awaited.entrySet()) {
      ModelShard shard = shards.get(each.getKey().shard());
      ModelJob other = shard == null ? null : shard.jobs.get(each.getKey().number());
      if (!each.getValue().met && other != null) {
        last = other.live() ? Long.MAX_VALUE : Math.max(last, other.endedNanos);
      }
      if (last == Long.MAX_VALUE) {
        break;
      }
    }
    return last;
  }

  /** Whether the end of {@code job} reaches {@code waiter}: its shard knows or owes it. */
  boolean tells(JobRef job, JobRef waiter) {
    ModelShard shard = shards.get(job.shard());
    ModelJob found = shard == null ? null : shard.jobs.get(job.number());
    return found != null
        && ((found.live() && found.waiters.contains(waiter))
            || found.shard.debts.contains(new ModelShard.Debt(found.number, waiter)));
  }

  /**
   * How long until the next live job is due by the wall clock as it runs now; not negative.
   *
   * @param leaveOutOverdue whether those that are due already do not count
   */
  long nanosToNextDue(boolean leaveOutOverdue) {
    long earliest = Long.MAX_VALUE;
    long now = clock.latestWallMicros();
    for (ModelShard shard : inOrder) {
      if (shard.live > 0 && !shard.dropped) {
        earliest = Math.min(earliest, shard.earliestDueAfter(leaveOutOverdue ? now : 0, now));
      }
    }
    return earliest == Long.MAX_VALUE
        ? Long.MAX_VALUE
        : Math.max(0, earliest - now) * VirtualClock.MICRO;
  }

  // ---- a store that goes back in time

  /** All shards and jobs as they are, to go back to. */
  ModelCopy copy() {
    return new ModelCopy(inOrder, byRequest);
  }

  /** Everything is as it was; the shards and jobs of now are bygone. */
  void goBackTo(ModelCopy copy) {
    inOrder.forEach(shard -> shard.bygone = true);
    bygone.add(new LinkedHashMap<>(shards));
    copy.carryOver(inOrder, clock.nanos());
    inOrder.clear();
    shards.clear();
    live = 0;
    for (ModelShard shard : copy.shards()) {
      inOrder.add(shard);
      shards.put(shard.id, shard);
      live += shard.live;
      shard.ownedByCopy = true;
    }
    byRequest.clear();
    byRequest.putAll(copy.byRequest());
    judge().wentBack();
  }

  private ModelShard existing(ShardId id) {
    ModelShard shard = shards.get(id);
    check(shard != null, Guarantee.ONE_WRITER, "a call took effect on a shard that never was");
    if (shard == null) {
      throw new IllegalStateException();
    }
    check(
        !shard.dropped,
        Guarantee.ONE_WRITER,
        () -> "a call took effect on dropped shard " + shard.index);
    return shard;
  }

  // ---- calls that took effect

  void created(ShardId id, String home, long wake) {
    if (!shards.containsKey(id)) {
      ModelShard shard = new ModelShard(this, inOrder.size(), id, home);
      shard.wake = wake;
      shard.claimedNanos = clock.nanos();
      shards.put(id, shard);
      inOrder.add(shard);
    }
  }

  void claimed(ShardId id, long epoch, long owner) {
    ModelShard shard = existing(id);
    if (epoch != shard.epoch) {
      check(epoch == shard.epoch + 1, Guarantee.ONE_WRITER, "a claim skipped an epoch");
      judge().claimed(shard, owner);
      shard.epoch = epoch;
      shard.owner = owner;
      shard.owners.put(epoch, owner);
      shard.ownedByCopy = false;
      shard.claimedNanos = clock.nanos();
    } else {
      check(owner == shard.owner, Guarantee.ONE_WRITER, "two claimers won one epoch");
    }
  }

  private ModelShard writable(ShardId id, long epoch, String what) {
    ModelShard shard = existing(id);
    check(
        epoch == shard.epoch,
        Guarantee.ONE_WRITER,
        () ->
            what
                + " of epoch "
                + epoch
                + " took effect on shard "
                + shard.index
                + " at "
                + shard.epoch);
    return shard;
  }

  void appended(Append append) {
    ModelShard shard = existing(append.shard());
    if (append.number() <= shard.tail && append.generation() == shard.generation) {
      return; // it was there already
    }
    check(
        append.generation() == shard.generation,
        Guarantee.ONE_WRITER,
        "an append took effect in a replaced generation");
    writable(append.shard(), append.epoch(), "append");
    Life writer = world.writer;
    check(
        writer == null || writer.incarnation == shard.owner,
        Guarantee.ONE_WRITER,
        () -> "an append to shard " + shard.index + " took effect that is not by its owner");
    check(append.number() == shard.tail + 1, Guarantee.ONE_WRITER, "an append left a gap");
    shard.tail = append.number();
    for (JournalFormat.Op operation : JournalFormat.read(append.data())) {
      apply(shard, operation);
    }
    if (append.raiseWakeMicros() != Append.KEEP_WAKE) {
      shard.wake = append.raiseWakeMicros();
      checkWake(shard);
      check(
          shard.debts.isEmpty() || shard.wake <= world.clockOf(shard.owner).wallMicros(),
          Guarantee.WAKE_TIME,
          () -> "shard " + shard.index + " falls asleep and owes " + shard.debts);
    }
  }

  void groupDone() {
    dependents.stream().filter(ModelJob::live).forEach(job -> checkWake(job.shard, job));
    dependents.clear();
    world.workflows.groupDone();
    judge().groupDone();
  }

  void resolvedAbsent(Append append) {
    ModelShard shard = writable(append.shard(), append.epoch(), "resolution");
    if (append.number() == shard.tail + 1) {
      shard.tail = append.number();
    }
  }

  /**
   * The entries of {@code snapshot} are the shard from now on.
   *
   * @param replaced reads those of the generation before
   */
  void published(Publication publication, List<Entry> snapshot, Supplier<List<Entry>> replaced) {
    ModelShard shard = existing(publication.shard());
    if (publication.generation() == shard.generation - 1) {
      return; // it was done already
    }
    writable(publication.shard(), publication.epoch(), "publish");
    check(
        publication.generation() == shard.generation && publication.expectedTail() == shard.tail,
        Guarantee.ONE_WRITER,
        "a snapshot of another state was published");
    if (JournalFormat.isPacked(snapshot)) {
      packed(shard, snapshot, replaced.get());
    } else {
      SnapshotCheck check = new SnapshotCheck(shard, judge().keepFailedSince(shard));
      check.compare(snapshot);
      judge().leftOut(check.leftOut());
    }
    shard.generation++;
    shard.tail = publication.count();
    shard.wake = publication.wakeMicros();
    checkWake(shard);
  }

  /** A packed generation has the same operations in the same order. */
  private static void packed(ModelShard shard, List<Entry> snapshot, List<Entry> replaced) {
    check(
        JournalFormat.operations(snapshot).equals(JournalFormat.operations(replaced)),
        Guarantee.FOLD,
        () -> "shard " + shard.index + " was packed and has other operations now");
    for (ModelJob job : shard.jobs.values()) {
      job.tellOn();
    }
  }

  void droppedGenerations(ShardId id, long epoch, int oldest) {
    ModelShard shard = writable(id, epoch, "drop of generations");
    List<ModelJob> kept = shard.jobs.values().stream().filter(job -> !job.forgotten()).toList();
    shard.oldestGeneration = Math.max(shard.oldestGeneration, oldest);
    judge().droppedGenerations(kept);
  }

  void loweredWake(ShardId id, long epoch, long wake) {
    ModelShard shard = writable(id, epoch, "lowering of the wake time");
    shard.wake = Math.min(shard.wake, wake);
  }

  void sealed(ShardId id, long epoch) {
    writable(id, epoch, "seal");
  }

  void released(ShardId id, long epoch) {
    ModelShard shard = writable(id, epoch, "release");
    shard.releasedBy = shard.owner != 0 ? shard.owner : shard.releasedBy;
    shard.owner = 0;
    shard.freeNanos = clock.nanos();
  }

  void dropped(ShardId id, long epoch) {
    ModelShard shard = shards.get(id);
    if (shard == null || shard.dropped) {
      return;
    }
    writable(id, epoch, "drop");
    judge().dropped(shard);
    shard.dropped = true;
  }

  // ---- the fold

  private void apply(ModelShard shard, JournalFormat.Op operation) {
    if (world.workflows.apply(shard, operation) || world.workers.apply(shard, operation)) {
      return;
    }
    if (operation instanceof JournalFormat.Add add) {
      add(shard, add);
      return;
    }
    ModelJob job = shard.jobs.get(operation.job());
    if (job != null && isOfEnded(job, operation)) {
      return;
    }
    if (job == null || !job.live()) {
      judge().noSuchJob(shard, operation, job);
      return;
    }
    job.touchedNanos = clock.nanos();
    keys().moved(job);
    switch (operation) {
      case JournalFormat.Add add -> throw new IllegalStateException("add: seen before");
      case JournalFormat.State state ->
          throw new Violation(Guarantee.HISTORY, "a job's state was appended: " + job);
      case JournalFormat.Payload payload ->
          throw new Violation(Guarantee.HISTORY, "a payload was appended: " + job);
      case JournalFormat.Start start -> start(job, start);
      case JournalFormat.Leased leased -> leased(job, leased);
      case JournalFormat.Save save -> {
        if (job.current(save.attempt(), save.revision())) {
          judge().saved(job, save);
          job.saved = save.state();
          job.tell(JobEvent.Kind.SAVED, save.attempt());
        }
      }
      case JournalFormat.Retry retry -> retry(job, retry);
      case JournalFormat.Replace replace -> replace(job, replace);
      case JournalFormat.Cancel cancel -> {
        judge().cancelRequested(job, cancel.reason());
        if (job.cancelReason == null) {
          job.cancelReason = cancel.reason();
          job.stopWritten = true;
        }
        job.tell(JobEvent.Kind.CANCEL_REQUESTED, 0);
      }
      case JournalFormat.End end -> end(job, end);
      case JournalFormat.Clear clear -> job.clearMarkers(clear.markers());
      case JournalFormat.Next next -> next(job, next);
      case JournalFormat.Again again -> again(job, again);
      case JournalFormat.Pause pause -> {
        judge().paused(job, pause);
        job.pauseReason = pause.reason();
        job.tell(JobEvent.Kind.PAUSED, 0);
      }
      case JournalFormat.Resume resume -> {
        judge().resumed(job);
        job.pauseReason = null;
        job.pauseAnswered = false;
        job.sinceNanos = clock.nanos();
        job.tell(JobEvent.Kind.RESUMED, 0);
        checkWake(shard, job);
      }
      case JournalFormat.Change change -> change(job, change);
      case JournalFormat.Update update -> update(job, update);
      case JournalFormat.Waiter waiter -> {
        judge().waits(job, waiter.waiter());
        job.waiters.add(waiter.waiter());
      }
      case JournalFormat.Met met -> met(job, met);
      case JournalFormat.Replay replay -> judge().noSuchJob(shard, replay, job);
      case JournalFormat.Discard discard -> judge().noSuchJob(shard, discard, job);
      case JournalFormat.Told told -> judge().noSuchJob(shard, told, job);
      case JournalFormat.OfWorkflow own -> judge().noSuchJob(shard, own, null);
      case JournalFormat.Restored restored -> judge().noSuchJob(shard, restored, null);
      case JournalFormat.Reported reported -> judge().noSuchJob(shard, reported, null);
      case JournalFormat.WorkflowState state ->
          throw new Violation(Guarantee.HISTORY, "a workflow's state was appended: " + job);
    }
  }

  /** What is about jobs that have ended; false where it is something else or changes nothing. */
  private boolean isOfEnded(ModelJob job, JournalFormat.Op operation) {
    boolean dead = job.end == JobState.DEAD && !job.discarded;
    return switch (operation) {
      case JournalFormat.Told told -> {
        job.shard.debtNanos = clock.nanos();
        yield job.shard.debts.remove(new ModelShard.Debt(job.number, told.waiter()));
      }
      case JournalFormat.Replay replay -> {
        if (dead) {
          replay(job, replay);
        }
        yield dead;
      }
      case JournalFormat.Discard discard -> {
        if (dead) {
          judge().discarded(job);
          job.discarded = true;
        }
        yield dead;
      }
      default -> false;
    };
  }

  private void replay(ModelJob job, JournalFormat.Replay replay) {
    judge().replayed(job, replay);
    job.revive(replay.spec());
    job.shard.live++;
    live++;
    job.sinceNanos = clock.nanos();
    job.tell(JobEvent.Kind.REPLAYED, 0);
    checkWake(job.shard, job);
  }

  private void met(ModelJob job, JournalFormat.Met met) {
    ModelJob.Awaited one = job.awaited.get(met.ended());
    if (one == null || one.met) {
      return;
    }
    judge().met(job, met);
    one.met = true;
    one.state = met.state();
    job.sinceNanos = clock.nanos();
    job.tell(JobEvent.Kind.DEPENDENCY_ENDED, 0);
    checkWake(job.shard, job);
  }

  private void add(ModelShard shard, JournalFormat.Add add) {
    ModelJob before = shard.jobs.get(add.job());
    check(
        before == null,
        Guarantee.UNKNOWN_IS_SAID,
        () -> "the add of " + before + " was written twice");
    ModelJob job = new ModelJob(shard, add.job(), add.spec(), null);
    ModelJob twin = byRequest.put(job.request, job);
    check(
        twin == null,
        Guarantee.UNKNOWN_IS_SAID,
        () -> "request " + job.request + " became two jobs: " + twin + " and " + job);
    enter(job);
    judge().added(job);
  }

  private void enter(ModelJob job) {
    ModelShard shard = job.shard;
    job.sinceNanos = clock.nanos();
    shard.jobs.put(job.number, job);
    keys().entered(job);
    shard.live++;
    live++;
    job.tell(JobEvent.Kind.SCHEDULED, 0);
    job.beginOccurrence();
    checkNewWake(job);
    for (int copy = 0; copy < bygone.size(); copy++) {
      check(
          job(copy, job.ref) == null,
          Guarantee.WENT_BACK,
          () -> job + " has the id of one that was lost with another copy of the store");
    }
  }

  private void start(ModelJob job, JournalFormat.Start start) {
    if (job.current(start.attempt(), start.revision())) {
      if (job.markers == 0 || job.markerIncarnation != start.incarnation()) {
        job.markers++;
      }
      job.alone = start.alone();
      job.markerIncarnation = start.incarnation();
      job.markedNanos = clock.nanos();
      job.lentAlone = start.alone() && start.incarnation() != job.shard.owner;
      job.startAt = start.at();
      job.tell(JobEvent.Kind.STARTED, start.attempt());
      judge().marked(job);
    }
  }

  private static void leased(ModelJob job, JournalFormat.Leased leased) {
    if (job.current(leased.attempt(), leased.revision())) {
      JournalFormat.Lease lease = leased.lease();
      if (lease.length() > 0) {
        job.lease = lease;
      } else if (job.lease != null && job.lease.nonce() == lease.nonce()) {
        job.lease = null;
      }
      job.clearMarkers(0);
      job.tell(JobEvent.Kind.LEASED, leased.attempt());
    }
  }

  private void retry(ModelJob job, JournalFormat.Retry retry) {
    if (job.current(retry.attempt(), retry.revision())) {
      judge().retried(job, retry);
      job.attempts = retry.attempt();
      job.tried.add(retry);
      job.due = retry.nextTime() + retry.jitter();
      job.jitter = retry.jitter();
      job.lastErrorType = retry.errorType();
      job.leaseOver("worker lost".equals(retry.errorType()) ? job.workersLost + 1 : 0);
      job.clearMarkers(0);
      job.sinceNanos = clock.nanos();
      job.tell(JobEvent.Kind.RETRIED, retry.attempt());
      checkWake(job.shard, job);
    }
  }

  private void again(ModelJob job, JournalFormat.Again again) {
    if (job.current(again.attempt(), again.revision())) {
      judge().postponed(job, again);
      job.leaseOver(0);
      job.due = again.due();
      job.jitter = 0;
      job.clearMarkers(0);
      job.sinceNanos = clock.nanos();
      job.tell(JobEvent.Kind.POSTPONED, again.attempt());
      checkWake(job.shard, job);
    }
  }

  private void change(ModelJob job, JournalFormat.Change change) {
    if (change.revision() != job.revision) {
      return;
    }
    judge().changed(job, change);
    if (change.schedule() != null && change.move() != null) {
      job.noteStand();
      job.spec = job.spec.withSchedule(change.schedule());
      job.schedules.add(change.schedule());
      job.anchors.add(change.move().time());
      job.moveTo(change.move());
    }
    if (change.due() != null) {
      job.moves++;
      job.due = change.due();
      job.jitter = 0;
    }
    if (change.priority() != null) {
      job.priority = change.priority();
    }
    job.sinceNanos = clock.nanos();
    job.tell(JobEvent.Kind.CHANGED, 0);
    if (change.anew()) {
      job.anewNanos = clock.nanos();
      job.countAnew();
      job.saved = null;
      job.beginOccurrence();
    }
    checkWake(job.shard, job);
  }

  private void next(ModelJob job, JournalFormat.Next next) {
    boolean fits =
        next.attempt() != 0
            ? job.current(next.attempt(), next.revision())
            : next.stays() || next.revision() == job.revision;
    if (!fits || !job.recurring()) {
      return;
    }
    judge().next(job, next);
    for (JournalFormat.Child child : next.children()) {
      spawn(job, next, child);
    }
    job.tell(kind(next), next.attempt());
    if (next.over()) {
      judge().over(job);
      left(job, JobState.SUCCEEDED, next.at());
      job.tell(JobEvent.Kind.SUCCEEDED, 0);
    } else if (next.move() != null) {
      job.moveTo(next.move());
      job.beginAnew();
      job.saved = null;
      job.lastErrorType =
          next.outcome() == JobState.SUCCEEDED
              ? null
              : next.errorType() != null ? next.errorType() : job.lastErrorType;
      job.clearMarkers(0);
      job.countAnew();
      job.revision++;
      job.startsAllowed = 1;
      job.starts = 0;
      job.sinceNanos = clock.nanos();
      job.beginOccurrence();
      checkWake(job.shard, job);
    }
  }

  private static JobEvent.Kind kind(JournalFormat.Next next) {
    if (next.outcome() == null) {
      return next.children().isEmpty()
          ? JobEvent.Kind.OCCURRENCE_SKIPPED
          : JobEvent.Kind.OCCURRENCE_ADDED;
    }
    return switch (next.outcome()) {
      case SUCCEEDED -> JobEvent.Kind.OCCURRED;
      case DEAD -> JobEvent.Kind.OCCURRENCE_DEAD;
      default -> JobEvent.Kind.OCCURRENCE_FAILED;
    };
  }

  /** An occurrence is a job of its own, to be run or dead. */
  private void spawn(ModelJob job, JournalFormat.Next next, JournalFormat.Child child) {
    check(
        !job.shard.jobs.containsKey(child.number()),
        Guarantee.RECURRENCES,
        () -> "an occurrence of " + job + " has the number of another job");
    JournalFormat.Spec spec = job.spec.ofOccurrence(child, next.at(), job.priority);
    ModelJob occurrence = new ModelJob(job.shard, child.number(), spec, job);
    enter(occurrence);
    job.occurrences.add(occurrence);
    if (next.outcome() == null) {
      judge().spawned(occurrence);
      return;
    }
    for (int i = job.eventsBefore; i < job.events.size(); i++) {
      if (job.events.get(i) != JobEvent.Kind.OCCURRENCE_ADDED
          && job.events.get(i) != JobEvent.Kind.DEPENDENCY_ENDED) {
        occurrence.inherit(job, i);
      }
    }
    occurrence.attempts = next.attempt();
    left(occurrence, JobState.DEAD, next.at());
    occurrence.tell(JobEvent.Kind.DEAD, next.attempt());
    occurrence.inherited = occurrence.events.size();
  }

  private void replace(ModelJob job, JournalFormat.Replace replace) {
    keys().replacing(job);
    long request = exchange(job, replace.spec());
    judge().replaced(job, replace.spec(), request);
    job.begin(replace.spec());
    keys().entered(job);
    job.remember(job.spec.key());
    job.request = request;
    job.sinceNanos = clock.nanos();
    job.revision++;
    job.countAnew();
    job.saved = null;
    job.cancelReason = null;
    job.lastErrorType = null;
    job.clearMarkers(0);
    job.startsAllowed = 1;
    job.starts = 0;
    job.tell(JobEvent.Kind.REPLACED, 0);
    job.beginOccurrence();
    checkNewWake(job);
  }

  /** A recurring job was declared again: it goes on as it did, with another spec. */
  private void update(ModelJob job, JournalFormat.Update update) {
    if (update.revision() != job.revision || !job.recurring()) {
      return;
    }
    long request = exchange(job, update.spec());
    judge().updated(job, update, request);
    job.update(update.spec(), request, update.move());
    job.sinceNanos = clock.nanos();
    job.tell(JobEvent.Kind.CHANGED, 0);
    checkWake(job.shard, job);
  }

  /** Whose spec the job has from now on. */
  private long exchange(ModelJob job, JournalFormat.Spec spec) {
    long request = ModelJob.requestOf(spec);
    ModelJob twin = byRequest.put(request, job);
    check(
        twin == null,
        Guarantee.UNKNOWN_IS_SAID,
        () -> "request " + request + " was applied twice: " + twin + " and " + job);
    return request;
  }

  private void end(ModelJob job, JournalFormat.End end) {
    if (end.attempt() != 0 && !job.current(end.attempt(), end.revision())) {
      return;
    }
    judge().ended(job, end);
    if (end.attempt() != 0) {
      job.attempts = end.attempt();
    }
    left(job, end.state(), end.at());
    job.tell(JobEvent.Kind.valueOf(end.state().name()), end.attempt());
  }

  private void left(ModelJob job, JobState state, long at) {
    job.end = state;
    job.ends.add(state);
    for (JobRef waiter : job.waiters) {
      job.shard.debts.add(new ModelShard.Debt(job.number, waiter));
      job.shard.debtNanos = clock.nanos();
    }
    // The clock may have been put back while the end was on its way.
    check(
        job.waiters.isEmpty() || job.shard.wake <= clock.highestWallSince(job.sinceNanos),
        Guarantee.WAKE_TIME,
        () -> job + " has ended, others wait for that, and its shard sleeps");
    job.endAt = at;
    job.endedNanos = clock.nanos();
    job.endedBy = job.shard.owner;
    job.shard.live--;
    live--;
    if (job.parent != null) {
      for (ModelJob sibling : job.parent.occurrences) {
        sibling.siblingEndedNanos = clock.nanos();
      }
    }
  }

  // ---- wake times

  /** What it waits for may come later in the same group. */
  private void checkNewWake(ModelJob job) {
    if (job.dependent()) {
      dependents.add(job);
    } else {
      checkWake(job.shard, job);
    }
  }

  private static void checkWake(ModelShard shard, ModelJob job) {
    check(
        shard.wake <= job.awakeBy(),
        Guarantee.WAKE_TIME,
        () -> job + " needs its shard at " + job.awakeBy() + ", which wakes at " + shard.wake);
  }

  private static void checkWake(ModelShard shard) {
    long earliest = shard.earliestDue();
    check(
        shard.wake <= earliest,
        Guarantee.WAKE_TIME,
        () ->
            "shard "
                + shard.index
                + " wakes at "
                + shard.wake
                + ", a job of it is due at "
                + earliest);
  }
}
