package dev.carillon.simulator;

import dev.carillon.api.JobEvent;
import dev.carillon.api.JobState;
import dev.carillon.api.Overlap;
import dev.carillon.api.Schedule;
import dev.carillon.engine.JobRef;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** A job as the checker knows it from the entries that took effect, and the attempts it saw. */
final class ModelJob {
  final ModelShard shard;
  final long number;
  final JobRef ref;
  JournalFormat.Spec spec;

  /** The recurring job that it is an occurrence of; null where it is none. */
  final @Nullable ModelJob parent;

  /** Its occurrences that are jobs of their own, oldest first. */
  final List<ModelJob> occurrences = new ArrayList<>();

  /** Where it stands if it is recurring. */
  JournalFormat.@Nullable Move move;

  /** The schedules it has had, also before a replace. */
  final List<Schedule> schedules = new ArrayList<>();

  /** A time of each of them, by which those of a fixed rate are known. */
  final List<Long> anchors = new ArrayList<>();

  int priority;

  /** Why it does not start until it is resumed; null where it may. */
  @Nullable String pauseReason;

  /** Its pause was answered as done: nothing starts any more. */
  boolean pauseAnswered;

  /** When it last became possible to run it, but for its due time. */
  long sinceNanos;

  /** How many of its events are of earlier occurrences. */
  int eventsBefore;

  /** The generation in which the occurrence began. */
  int occurrenceFrom;

  /** What users asked to change of it. */
  final List<Control> controls = new ArrayList<>();

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

  /** Start markers without an end, and whether the last one was written for a start alone. */
  int markers;

  boolean alone;
  long markerIncarnation;

  /** Set while an attempt alone is under way; a crash then makes it fair to convict. */
  boolean crashedAlone;

  /** How it ended, null while it lives. */
  @Nullable JobState end;

  long endAt;
  long endedNanos;

  /** Who wrote its end. */
  long endedBy;

  /** Whether that node has said so: until then its end is not yet known to anybody. */
  boolean endTold;

  /** The first generation that does not have it any more, 0 while every one has. */
  int goneFrom;

  /** The generation in which its history begins. */
  int toldFrom;

  final List<JobEvent.Kind> events = new ArrayList<>();
  final List<Integer> eventAttempts = new ArrayList<>();
  final List<Execution> executions = new ArrayList<>();

  /** The idempotency keys it was asked for with, also before a replace. */
  final Set<String> keys = new HashSet<>();

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

  /** It has this spec from now on. */
  void begin(JournalFormat.Spec newSpec) {
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

  /** When its shard must be awake for it; a paused one has at most a deadline. */
  long wakeBy() {
    if (pauseReason == null) {
      return due;
    }
    return spec.deadline() != 0 ? Math.max(due, spec.deadline()) : Long.MAX_VALUE;
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
    return overlap() == Overlap.BUFFER_ALL && !liveBefore().isEmpty();
  }

  /** The occurrences of the same recurring job before it that have not ended. */
  List<ModelJob> liveBefore() {
    return parent == null
        ? List.of()
        : parent.occurrences.stream().filter(o -> o.live() && o.number < number).toList();
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
    return shard.dropped || (goneFrom != 0 && shard.oldestGeneration >= goneFrom);
  }

  /**
   * Whether a node may take it for live, though it has ended: the end's writer until it has heard
   * the store's answer.
   */
  boolean mayLookLive(long incarnation, long sinceNanos) {
    return live() || endedNanos >= sinceNanos || (endedBy == incarnation && !endTold);
  }

  boolean live() {
    return end == null;
  }

  boolean current(int attempt, int revisionOfOp) {
    return attempt == attempts + 1 && revisionOfOp == revision;
  }

  /** What is told from here on is of another occurrence. */
  void beginOccurrence() {
    eventsBefore = events.size();
    occurrenceFrom = shard.generation;
  }

  void tell(JobEvent.Kind kind, int attempt) {
    events.add(kind);
    eventAttempts.add(attempt);
  }

  /** Forgets the events of other kinds. */
  void keepEvents(Set<JobEvent.Kind> kinds) {
    for (int i = events.size() - 1; i >= 0; i--) {
      if (!kinds.contains(events.get(i))) {
        events.remove(i);
        eventAttempts.remove(/* index */ i);
      }
    }
  }

  void clearMarkers(int left) {
    markers = Math.min(markers, left);
    alone = false;
    markerIncarnation = 0;
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
