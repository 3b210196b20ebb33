package dev.carillon.simulator;

import dev.carillon.api.Dependency;
import dev.carillon.api.JobEvent;
import dev.carillon.api.JobState;
import dev.carillon.api.schedule.Overlap;
import dev.carillon.api.schedule.Schedule;
import dev.carillon.engine.job.JobRef;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** A job as the checker knows it from the entries that took effect, and the attempts it saw. */
final class ModelJob {
  final ModelShard shard;
  final long number;
  final JobRef ref;
  JournalFormat.Spec spec;

  /** The last spec with a name or key; a replay has none. */
  JournalFormat.@Nullable Spec namedSpec;

  /** The recurring job that it is an occurrence of; null where it is none. */
  final @Nullable ModelJob parent;

  /** Its occurrences that are jobs of their own, oldest first. */
  final List<ModelJob> occurrences = new ArrayList<>();

  /** At least so many of its oldest occurrences have ended; a replay of one starts over. */
  int endedFirst;

  /** Where it stands if it is recurring. */
  JournalFormat.@Nullable Move move;

  /** The schedules it has had, also before a replace. */
  final List<Schedule> schedules = new ArrayList<>();

  /** A time of each of them, by which those of a fixed rate are known. */
  final List<Long> anchors = new ArrayList<>();

  /** What it was declared as before, as long as its occurrence may still go by that. */
  final List<Declared> declaredBefore = new ArrayList<>();

  /** Where it stood before other changes of its occurrence; who makes one need not know of them. */
  final List<Stand> standsBefore = new ArrayList<>();

  int priority;

  /** Why it does not start until it is resumed; null where it may. */
  @Nullable String pauseReason;

  /** Its pause was answered as done: nothing starts any more. */
  boolean pauseAnswered;

  /** When it last became possible to run it, but for its due time and the occurrences beside it. */
  long sinceNanos;

  /** When an occurrence of the same schedule last ended: one of the others may be next in line. */
  long siblingEndedNanos;

  /** When it last said that it is blocked by a limit, and the incarnation that said so; 0: none. */
  long blockedNanos;

  long blockedBy;

  /** When something was last asked or done about it. */
  long touchedNanos = -1;

  /** Whether it may have cancelled others under its key before it was replaced. */
  boolean mayHaveCancelled;

  /** When it was last replaced while it was due under a key. */
  long dueReplacedNanos = Long.MIN_VALUE;

  /** When it was last given a schedule with which its attempts count anew. */
  long anewNanos = Long.MIN_VALUE;

  /** Its last start marker was written on its way since then, by the wall clock. */
  long startAt;

  /** It was refused because its concurrency key was full. */
  boolean refused;

  /** How many of its events are of earlier occurrences. */
  int eventsBefore;

  /** The jobs that it waits for, in order, and how they ended as far as it has been told. */
  final Map<JobRef, Awaited> awaited = new LinkedHashMap<>();

  /** The jobs whose waiting for its end is in its journal. */
  final Set<JobRef> waiters = new LinkedHashSet<>();

  /** How it ended each time; a dead letter may be replayed. */
  final List<JobState> ends = new ArrayList<>();

  /** It was a dead letter and lived again, so often. */
  int replays;

  /** How often a user gave it another time: it may not have been due when its node died. */
  int moves;

  /** The newest occurrence beside it when it last lived again: later ones are behind it in line. */
  long newestAtReplay;

  /** All jobs that it ever waited for, also before a replace. */
  final Set<JobRef> everAwaited = new LinkedHashSet<>();

  /** It was a dead letter that nobody keeps any more. */
  boolean discarded;

  /** What users asked to change of it. */
  final Asked asked = new Asked();

  /** The request whose payload it has; a replace changes it. */
  long request;

  long due;

  /** How much later than its time the next attempt is due. */
  long jitter;

  int attempts;
  int revision;
  @Nullable String cancelReason;
  byte @Nullable [] saved;
  @Nullable String lastErrorType;

  /** By which a worker has its attempt, and how many of its last attempts lost theirs. */
  JournalFormat.@Nullable Lease lease;

  int workersLost;

  /** Start markers without an end, and whether the last one was written for a start alone. */
  int markers;

  boolean alone;
  long markerIncarnation;
  long markedNanos;

  /** Whether it was to run alone on another node than its owner. */
  boolean lentAlone;

  /** Set while an attempt alone is under way; a crash then makes it fair to convict. */
  boolean crashedAlone;

  /** An occurrence of it was convicted of killing its node. */
  boolean occurrenceConvicted;

  /** How it ended, null while it lives. */
  @Nullable JobState end;

  long endAt;
  long endedNanos;

  /** Who wrote its end. */
  long endedBy;

  /** Whether that node has said so: until then its end is not yet known to anybody. */
  boolean endTold;

  long endToldNanos;

  /** When a retry of it was written last, and by which incarnation. */
  long retriedNanos = Long.MIN_VALUE;

  long retriedBy;

  /** When that node was last heard to know of a retry. */
  long retryToldNanos = Long.MIN_VALUE;

  /** How many ends were told of it; it has more than one if it was replayed. */
  int endsTold;

  /** The first generation that does not have it any more, 0 while every one has. */
  int goneFrom;

  /** Its retention was over, by its owner's clock, when that generation was published. */
  boolean retentionSeenOver;

  /** How many of its first events it had under its recurring job: it was born dead. */
  int inherited;

  final List<JobEvent.Kind> events = new ArrayList<>();
  final List<Integer> eventAttempts = new ArrayList<>();

  /** The newest generation that tells each of them. */
  final List<Integer> eventGenerations = new ArrayList<>();

  /** Its failed attempts since the next one was last the first. */
  final List<JournalFormat.Retry> tried = new ArrayList<>();

  final List<Execution> executions = new ArrayList<>();

  /** The idempotency keys it was asked for with, also before a replace. */
  final Set<String> keys = new LinkedHashSet<>();

  /** Somebody asked for its end. */
  boolean cancelAsked;

  /** A request to stop it was written, perhaps before a replace. */
  boolean stopWritten;

  /** A cancel was answered as stopping or done: nothing starts any more. */
  boolean cancelAnswered;

  /** A lower bound is 1: how many starts of the current revision are accounted for. */
  int startsAllowed = 1;

  int starts;

  ModelJob(ModelShard shard, long number, JournalFormat.Spec spec, @Nullable ModelJob parent) {
    this.shard = shard;
    this.number = number;
    this.ref = new JobRef(shard.id, number);
    this.parent = parent;
    this.spec = spec;
    this.request = requestOf(spec);
    begin(spec);
    remember(spec.key());
  }

  /** A request that declared a recurring job, and the schedule that it brought. */
  record Declared(long request, Schedule schedule) {}

  /** By which schedule a recurring job went, and where it stood. */
  record Stand(Schedule schedule, JournalFormat.Move move) {}

  /** One job that another waits for. */
  static final class Awaited {
    final Dependency.Condition condition;
    boolean met;

    /** How it ended; null where it has not or nobody knows. */
    @Nullable JobState state;

    Awaited(Dependency.Condition condition) {
      this.condition = condition;
    }

    Awaited copy() {
      Awaited copy = new Awaited(condition);
      copy.met = met;
      copy.state = state;
      return copy;
    }

    /** It has ended, but not as it had to. */
    boolean broken() {
      return met
          && switch (condition) {
            case SUCCEEDED -> state != JobState.SUCCEEDED;
            case FAILED ->
                state != JobState.FAILED && state != JobState.DEAD && state != JobState.EXPIRED;
            case ENDED -> false;
          };
    }
  }

  /** It has this spec from now on. */
  void begin(JournalFormat.Spec newSpec) {
    if (newSpec.named()) {
      namedSpec = newSpec;
    }
    awaited.clear();
    for (JournalFormat.After after : newSpec.more().after()) {
      awaited.put(after.job(), new Awaited(after.condition()));
      everAwaited.add(after.job());
    }
    waiters.addAll(newSpec.more().waiters());
    beginAnew();
    spec = newSpec;
    due = newSpec.due();
    jitter = 0;
    move = null;
    priority = newSpec.priority();
    if (newSpec.more().schedule() != null) {
      schedules.add(newSpec.more().schedule());
      anchors.add(newSpec.more().first());
      long first = newSpec.more().first();
      jitter = Math.max(0, due - first);
      move = new JournalFormat.Move(first, jitter, 0, Long.MIN_VALUE, 0);
    }
  }

  /** What it was before no longer counts for its occurrence. */
  void beginAnew() {
    declaredBefore.clear();
    standsBefore.clear();
  }

  /** Its schedule is about to change. */
  void noteStand() {
    Schedule schedule = spec.more().schedule();
    if (schedule != null && move != null) {
      standsBefore.add(new Stand(schedule, move));
    }
  }

  /** It has another spec from now on, and goes on as it did. */
  void update(JournalFormat.Spec newSpec, long newRequest, JournalFormat.@Nullable Move newMove) {
    noteStand();
    Schedule before = spec.more().schedule();
    Schedule after = newSpec.more().schedule();
    if (before != null) {
      declaredBefore.add(new Declared(request, before));
    }
    if (newSpec.priority() != spec.priority()) {
      priority = newSpec.priority();
    }
    spec = newSpec;
    namedSpec = newSpec;
    request = newRequest;
    if (newMove != null) {
      moveTo(newMove);
    }
    if (after != null && !after.equals(before) && move != null) {
      schedules.add(after);
      anchors.add(move.time());
    }
  }

  /** The schedules that its occurrence may go by: the present one first. */
  List<Schedule> schedulesOfOccurrence() {
    List<Schedule> all = new ArrayList<>();
    all.add(RecurrenceJudge.scheduleOf(this));
    declaredBefore.forEach(before -> all.add(before.schedule()));
    return all;
  }

  /** Whether an attempt that was made by that request is one of its occurrence. */
  boolean isDeclaredBy(long id) {
    return request == id || declaredBefore.stream().anyMatch(before -> before.request() == id);
  }

  /** The recurring job's next occurrence. */
  void moveTo(JournalFormat.Move next) {
    move = next;
    jitter = next.jitter();
    due = next.time() + next.jitter();
  }

  /** When its next attempt is to be, without jitter. */
  long time() {
    return due - jitter;
  }

  /** Whether a job that it waits for has not ended, as far as it has been told. */
  boolean dependent() {
    return !awaited.isEmpty() && awaited.values().stream().anyMatch(one -> !one.met);
  }

  /** Whether a job that it waited for ended otherwise than it had to. */
  boolean broken() {
    return !awaited.isEmpty() && awaited.values().stream().anyMatch(Awaited::broken);
  }

  /**
   * When its shard must be awake for it; what is paused or is told later has a deadline at most.
   */
  long wakeBy() {
    if (pauseReason == null && !(dependent() && willBeTold())) {
      return due;
    }
    return spec.deadline() != 0 ? Math.max(due, spec.deadline()) : Long.MAX_VALUE;
  }

  /**
   * The same; a job whose waiting is not known where it must be has its shard awake, or what it
   * waits for may be long forgotten when its time comes.
   */
  long awakeBy() {
    return dependent() && !willBeTold() ? 0 : wakeBy();
  }

  /** Whether all that it still waits for know that, or owe it the news. */
  private boolean willBeTold() {
    for (Map.Entry<JobRef, Awaited> each : awaited.entrySet()) {
      if (!each.getValue().met && !shard.model.tells(each.getKey(), ref)) {
        return false;
      }
    }
    return true;
  }

  boolean recurring() {
    return spec.more().schedule() != null;
  }

  @Nullable Overlap overlap() {
    JournalFormat.Occurrence occurrence = spec.more().occurrence();
    return occurrence != null ? occurrence.overlap() : null;
  }

  /** Whether it waits for an earlier occurrence. */
  boolean waitsInLine() {
    return overlap() == Overlap.BUFFER_ALL
        && liveSiblingsBefore().anyMatch(o -> o.replays == 0 || o.newestAtReplay < number);
  }

  /** The same, or it may wait for any other because one came back from the dead. */
  boolean mayWaitInLine() {
    return waitsInLine() || (overlap() == Overlap.BUFFER_ALL && replayedBeside());
  }

  /** Whether the line has lost its order because a dead letter came back to it. */
  private boolean replayedBeside() {
    return parent != null
        && parent.occurrencesFromFirstLive().anyMatch(o -> o.replays > 0 && o.live())
        && parent.occurrencesFromFirstLive().anyMatch(o -> o.live() && o != this);
  }

  /** The same, and those that came back from the dead. */
  List<ModelJob> siblingsBefore() {
    return liveSiblingsBefore().toList();
  }

  /** The occurrences of the same recurring job before it that have not ended. */
  List<ModelJob> liveBefore() {
    return liveSiblingsBefore().filter(o -> o.replays == 0).toList();
  }

  private Stream<ModelJob> liveSiblingsBefore() {
    return parent == null
        ? Stream.empty()
        : parent
            .occurrencesFromFirstLive()
            .takeWhile(o -> o.number < number)
            .filter(ModelJob::live);
  }

  /** Its occurrences without those that have ended before the first live one: mostly thousands. */
  private Stream<ModelJob> occurrencesFromFirstLive() {
    while (endedFirst < occurrences.size() && !occurrences.get(endedFirst).live()) {
      endedFirst++;
    }
    return occurrences.subList(endedFirst, occurrences.size()).stream();
  }

  void remember(@Nullable String key) {
    if (key != null) {
      keys.add(key);
    }
  }

  static long requestOf(JournalFormat.Spec spec) {
    return ByteBuffer.wrap(spec.payload()).getLong();
  }

  /** Whether its journal has been dropped, with its shard or before. */
  boolean forgotten() {
    return shard.dropped || discarded || (goneFrom != 0 && shard.oldestGeneration >= goneFrom);
  }

  /**
   * Whether a node may take it for live, though it has ended: the end's writer until it has heard
   * the store's answer, and whoever asks that writer.
   */
  boolean mayLookLive(Life asked, long sinceNanos) {
    boolean writerIsAsked = endedBy == asked.incarnation || asked.hasPeers();
    return live()
        || endedNanos >= sinceNanos
        || (writerIsAsked && !endTold)
        || (asked.hasPeers() && endToldNanos >= sinceNanos)
        || asked.mayHaveLost(shard);
  }

  /**
   * Whether an older copy of the store was put back since: what it is is said by another object.
   */
  boolean bygone() {
    return shard.bygone;
  }

  boolean live() {
    return end == null;
  }

  /** When it last became possible to run it, but for its due time. */
  long possibleNanos() {
    return Math.max(sinceNanos, siblingEndedNanos);
  }

  boolean current(int attempt, int revisionOfOp) {
    return attempt == attempts + 1 && revisionOfOp == revision;
  }

  /** A dead letter lives again, as if it had never been tried. */
  void revive(JournalFormat.Spec again) {
    replays++;
    newestAtReplay = parent == null ? 0 : parent.occurrences.getLast().number;
    end = null;
    endTold = false;
    if (parent != null) {
      parent.endedFirst = 0;
    }
    waiters.clear();
    begin(again);
    countAnew();
    revision = 0;
    saved = null;
    cancelReason = null;
    cancelAnswered = false;
    lastErrorType = null;
    pauseReason = null;
    pauseAnswered = false;
    clearMarkers(0);
    startsAllowed = 1;
    starts = 0;
    executions.clear(); // of the attempts before there is nothing more to say
  }

  /** The next attempt is the first. */
  void countAnew() {
    attempts = 0;
    tried.clear();
    leaseOver(0);
  }

  /** No worker has it any more. */
  void leaseOver(int lost) {
    lease = null;
    workersLost = lost;
  }

  /** What is told from here on is of another occurrence. */
  void beginOccurrence() {
    eventsBefore = events.size();
  }

  void tell(JobEvent.Kind kind, int attempt) {
    tell(kind, attempt, shard.generation);
  }

  private void tell(JobEvent.Kind kind, int attempt, int generation) {
    events.add(kind);
    eventAttempts.add(attempt);
    eventGenerations.add(generation);
  }

  /** Takes over what was told under its recurring job. */
  void inherit(ModelJob from, int i) {
    tell(from.events.get(i), from.eventAttempts.get(i), from.eventGenerations.get(i));
  }

  /** The generation after this one tells everything of it that this one does. */
  void tellOn() {
    eventGenerations.replaceAll(
        generation -> generation == shard.generation ? generation + 1 : generation);
  }

  /** The generation after this one tells the last so many failed attempts, and nothing else. */
  void tellAttemptsOn(int most) {
    int left = Math.min(most, tried.size());
    for (int i = events.size() - 1; left > 0; i--) {
      if (events.get(i) == JobEvent.Kind.RETRIED) {
        eventGenerations.set(i, shard.generation + 1);
        left--;
      }
    }
  }

  /**
   * Forgets the events of other kinds that it had under its recurring job, and those that this
   * generation does not tell.
   */
  void keepInherited(Set<JobEvent.Kind> kinds) {
    for (int i = inherited - 1; i >= 0; i--) {
      if (!kinds.contains(events.get(i)) || eventGenerations.get(i) < shard.generation) {
        events.remove(i);
        eventAttempts.remove(/* index */ i);
        eventGenerations.remove(/* index */ i);
        inherited--;
      }
    }
  }

  void clearMarkers(int left) {
    markers = Math.min(markers, left);
    alone = false;
    markerIncarnation = 0;
    lentAlone = false;
    crashedAlone = false;
  }

  @Override
  public String toString() {
    return "job "
        + request
        + " (shard "
        + shard.index
        + " number "
        + Long.toHexString(number)
        + ")";
  }
}
