package dev.carillon.engine;

import dev.carillon.api.Concurrency;
import dev.carillon.api.Dependency;
import dev.carillon.api.FailurePolicy;
import dev.carillon.api.JobError;
import dev.carillon.api.JobState;
import dev.carillon.api.Rate;
import dev.carillon.api.schedule.Overlap;
import dev.carillon.api.schedule.Schedule;
import dev.carillon.engine.fold.FoldedJob;
import dev.carillon.engine.fold.OperationBody;
import dev.carillon.engine.fold.ShardFold;
import dev.carillon.engine.fold.WorkflowState;
import dev.carillon.engine.format.Frame;
import dev.carillon.engine.format.Kind;
import dev.carillon.engine.job.After;
import dev.carillon.engine.job.HistoryEntry;
import dev.carillon.engine.job.JobRef;
import dev.carillon.engine.job.JobSpec;
import dev.carillon.engine.job.Lease;
import dev.carillon.engine.job.OccurrenceSpec;
import dev.carillon.engine.job.OptionalSpec;
import dev.carillon.engine.job.PolicyFormat;
import dev.carillon.engine.job.Ran;
import dev.carillon.engine.job.Report;
import dev.carillon.engine.job.ScheduleFormat;
import dev.carillon.engine.job.ScheduleState;
import dev.carillon.engine.job.Why;
import dev.carillon.engine.job.WorkflowWait;
import dev.carillon.store.Records.Stamp;
import dev.carillon.store.ShardId;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;

/** Makes sequences of operations, fitting and not fitting ones, from a seed. */
final class RandomOperations {
  private static final JobState[] ENDS = {
    JobState.SUCCEEDED, JobState.FAILED, JobState.CANCELLED, JobState.EXPIRED, JobState.DEAD
  };

  private final SplittableRandom random;

  /** What has become of the jobs so far: only a recurring one is declared again. */
  private final ShardFold<FoldedJob> fold = new ShardFold<>(FoldedJob::new, (job, end) -> {});

  private long clock = 1_000_000;

  RandomOperations(long seed) {
    random = new SplittableRandom(seed);
  }

  List<Frame> take(int count) {
    List<Frame> frames = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      Frame frame = next();
      frames.add(frame);
      var unused = fold.apply(frame);
    }
    return frames;
  }

  private Frame next() {
    clock += random.nextInt(1000);
    long job = JobRef.number(1 + random.nextInt(2), 1 + random.nextInt(12));
    int attempt = 1 + random.nextInt(3);
    int revision = random.nextInt(2);
    return switch (random.nextInt(33)) {
      case 0, 1, 2, 3 -> Frame.of(Kind.ADD, job, spec().encode());
      case 4 ->
          frame(
              Kind.START,
              job,
              new OperationBody.Start(
                  attempt, revision, clock, random.nextLong(), random.nextBoolean()));
      case 5 -> frame(Kind.SAVE, job, new OperationBody.Save(attempt, revision, clock, bytes()));
      case 6, 7 ->
          frame(
              Kind.RETRY,
              job,
              new OperationBody.Retry(
                  attempt, revision, clock, ran(), clock + 50, random.nextInt(9), error()));
      case 8 -> frame(Kind.REPLACE, job, new OperationBody.Replace(clock, "who", spec().encode()));
      case 9 ->
          frame(
              Kind.CANCEL,
              job,
              new OperationBody.Cancel(clock, new Why("who", "because " + clock), demand()));
      case 10 -> frame(Kind.CLEAR, job, new OperationBody.Clear(clock, random.nextInt(3)));
      case 11 ->
          frame(
              Kind.AGAIN,
              job,
              new OperationBody.Again(attempt, revision, clock, ran(), clock + 70, "not yet"));
      case 12 ->
          frame(
              Kind.PAUSE,
              job,
              new OperationBody.Pause(clock, new Why("who", "because " + clock), clock % 3 == 0));
      case 13 -> frame(Kind.RESUME, job, new OperationBody.Resume(clock, "who", clock % 2 == 0));
      case 14 -> frame(Kind.CHANGE, job, change(revision));
      case 15, 16 -> frame(Kind.NEXT, job, next(job, revision));
      case 17 -> frame(Kind.WAITER, job, new OperationBody.Waiter(clock, other()));
      case 18 ->
          frame(
              Kind.MET,
              job,
              new OperationBody.Met(
                  clock, other(), random.nextBoolean() ? ENDS[random.nextInt(ENDS.length)] : null));
      case 19 -> frame(Kind.TOLD, job, new OperationBody.Waiter(clock, other()));
      case 20, 21 -> frame(Kind.CHECKPOINT, job, checkpoint(attempt, revision));
      case 22 -> frame(Kind.WAIT, job, waits(attempt, revision));
      case 23 ->
          frame(
              Kind.SIGNAL,
              job,
              new OperationBody.Signal(clock, "s" + random.nextInt(2), key(), "who", bytes()));
      case 24 ->
          random.nextInt(3) > 0
              ? frame(
                  Kind.CHILD_ENDED,
                  job,
                  new OperationBody.ChildEnded(clock, other(), JobState.DEAD, error(), bytes()))
              : frame(
                  Kind.RENEW,
                  job,
                  new OperationBody.Renew(
                      attempt,
                      revision,
                      random.nextInt(3),
                      clock,
                      random.nextInt(4),
                      List.of(new HistoryEntry.Signalled(clock, "s0", key(), bytes())),
                      spec().encode()));
      case 25, 26 -> update(job, revision);
      case 27 -> frame(Kind.REPLAY, job, new OperationBody.Replay(clock, "who", spec().encode()));
      case 29 -> Frame.of(Kind.REPORT, job, report(revision).encode());
      case 30 -> Frame.of(Kind.RESTORED, job, restored());
      case 31 ->
          Frame.of(Kind.LEASE, job, new Lease.Recorded(attempt, revision, clock, lease()).encode());
      case 28 -> frame(Kind.DISCARD, job, new OperationBody.Discard(clock, "who"));
      default ->
          frame(
              Kind.END,
              job,
              new OperationBody.End(
                  ENDS[random.nextInt(ENDS.length)],
                  random.nextInt(4),
                  revision,
                  clock,
                  ran(),
                  random.nextBoolean() ? error() : null,
                  random.nextBoolean() ? "reason" : null,
                  bytes()));
    };
  }

  private Report.Recorded report(int revision) {
    long total = random.nextInt(5);
    long done = total == 0 ? 0 : random.nextLong(total + 1);
    boolean numbers = random.nextBoolean();
    Report report =
        new Report(
            numbers ? done : Report.UNKNOWN,
            numbers ? total : Report.UNKNOWN,
            random.nextBoolean() ? "at " + clock : null,
            null,
            false);
    return new Report.Recorded(revision, clock, random.nextInt(3) == 0, report);
  }

  private byte[] restored() {
    return WorkflowState.restored(
        random.nextInt(2), random.nextBoolean() ? List.of() : List.of("key"), List.of());
  }

  private Lease lease() {
    long length = random.nextInt(4) == 0 ? 0 : 20_000_000;
    return new Lease(random.nextInt(3), 1, "w" + random.nextInt(2), clock - 5, length);
  }

  private OperationBody.Checkpoint checkpoint(int attempt, int revision) {
    List<HistoryEntry> entries = new ArrayList<>();
    for (int i = random.nextInt(3); i >= 0; i--) {
      int call = 1 + random.nextInt(4);
      entries.add(
          switch (random.nextInt(8)) {
            case 0 -> new HistoryEntry.Begun(clock, 1, 7);
            case 1 -> new HistoryEntry.StepDone(clock, call, "step", 1, clock, bytes());
            case 2 -> {
              List<String> kinds = List.of("a", "b");
              yield new HistoryEntry.StepFailed(
                  clock, call, "step", 1, clock, error(), kinds, clock + 5);
            }
            case 3 -> new HistoryEntry.TimerSet(clock, call, clock + 9);
            case 4 -> new HistoryEntry.ChildStarted(clock, call, "type", other());
            case 5 -> new HistoryEntry.SignalAwaited(clock, call, "s0");
            case 6 -> new HistoryEntry.VersionChosen(clock, call, "change", 2);
            default -> new HistoryEntry.GivenUp(clock, JobState.DEAD, "reason", error());
          });
    }
    return new OperationBody.Checkpoint(attempt, revision, random.nextInt(3), clock, entries);
  }

  private OperationBody.Wait waits(int attempt, int revision) {
    WorkflowWait wait =
        new WorkflowWait(
            random.nextBoolean() ? WorkflowWait.FOR_EVER : clock + 20,
            random.nextBoolean(),
            List.of(new WorkflowWait.AwaitedSignal("s0", 1 + random.nextInt(3))),
            List.of(1 + random.nextInt(4)),
            random.nextInt(2),
            random.nextInt(5));
    return new OperationBody.Wait(attempt, revision, random.nextInt(3), clock, wait);
  }

  private String key() {
    return random.nextBoolean() ? "" : "k" + random.nextInt(3);
  }

  /** Of a live job the body that its owner would write; of any other one that does not fit. */
  private Frame update(long number, int revision) {
    JobSpec asked = recurring(spec());
    FoldedJob job = fold.job(number);
    JobSpec spec = job != null && job.isRecurring() ? job.spec().updated(asked) : asked;
    ScheduleState move = random.nextBoolean() ? move() : null;
    return frame(
        Kind.UPDATE,
        number,
        new OperationBody.Update(
            job != null ? job.revision : revision,
            clock,
            "who",
            move,
            random.nextInt(4) == 0 ? random.nextInt(4) : null,
            spec.encode()));
  }

  private JobSpec recurring(JobSpec spec) {
    OptionalSpec more =
        new OptionalSpec(
            new OptionalSpec.Recurring(clock + 5, schedule()),
            random.nextBoolean() ? PolicyFormat.encode(FailurePolicy.drop()) : null,
            null,
            random.nextBoolean() ? concurrency() : null,
            List.of(),
            List.of());
    return spec.withMore(more);
  }

  private OperationBody.Change change(int revision) {
    boolean schedule = random.nextInt(3) == 0;
    return new OperationBody.Change(
        revision,
        clock,
        "who",
        random.nextBoolean() ? clock + 10 : null,
        random.nextBoolean() ? random.nextInt(-100, 101) : null,
        schedule ? schedule() : null,
        schedule ? move() : null,
        schedule && random.nextBoolean());
  }

  private OperationBody.Next next(long job, int revision) {
    int attempt = random.nextInt(3);
    JobState outcome =
        attempt == 0 ? null : random.nextBoolean() ? JobState.DEAD : JobState.SUCCEEDED;
    List<OperationBody.Next.Child> children = new ArrayList<>();
    if (outcome != JobState.SUCCEEDED) {
      long number = JobRef.number(3, 1 + random.nextInt(1_000_000));
      Overlap overlap = random.nextBoolean() ? Overlap.ALLOW : Overlap.BUFFER_ALL;
      OccurrenceSpec occurrence = new OccurrenceSpec(job, 1 + random.nextInt(9), clock, overlap);
      children.add(new OperationBody.Next.Child(number, clock, occurrence));
    }
    boolean over = random.nextInt(8) == 0;
    return new OperationBody.Next(
        attempt,
        revision,
        clock,
        ran(),
        outcome,
        outcome == JobState.DEAD ? error() : null,
        random.nextBoolean() ? "reason" : null,
        children,
        over || random.nextInt(4) == 0 ? null : move(),
        over);
  }

  /** A start just before the end, or after it: clocks go back. */
  private Ran ran() {
    return new Ran(clock - random.nextInt(9) + 2, random.nextBoolean() ? "" : "elsewhere");
  }

  private ScheduleState move() {
    return new ScheduleState(
        clock + random.nextInt(1000),
        random.nextInt(5),
        random.nextInt(9),
        random.nextBoolean() ? Long.MIN_VALUE : clock,
        random.nextInt(3));
  }

  private byte[] schedule() {
    return ScheduleFormat.encode(Schedule.every(Duration.ofSeconds(1 + random.nextInt(9))));
  }

  private OptionalSpec more() {
    return new OptionalSpec(
        random.nextBoolean() ? new OptionalSpec.Recurring(clock + 5, schedule()) : null,
        random.nextBoolean() ? PolicyFormat.encode(FailurePolicy.drop()) : null,
        null,
        random.nextBoolean() ? concurrency() : null,
        random.nextInt(3) == 0 ? List.of(new After(other(), condition())) : List.of(),
        random.nextInt(4) == 0 ? List.of(other()) : List.of());
  }

  /** One of few jobs elsewhere. */
  private JobRef other() {
    return new JobRef(new ShardId(7, 5, 1), 1 + random.nextInt(3));
  }

  private Dependency.Condition condition() {
    return Dependency.Condition.ofCode(1 + random.nextInt(3));
  }

  private Concurrency concurrency() {
    Concurrency concurrency =
        Concurrency.of("key " + random.nextInt(3)).limit(1 + random.nextInt(3));
    return random.nextBoolean() ? concurrency : concurrency.rate(Rate.perSecond(5));
  }

  private static Frame frame(Kind kind, long job, OperationBody body) {
    return Frame.of(kind, job, body.encode());
  }

  private OperationBody.Cancel.Demand demand() {
    OperationBody.Cancel.Demand[] all = OperationBody.Cancel.Demand.values();
    return all[random.nextInt(all.length)];
  }

  private JobError error() {
    return new JobError("a.b.Error" + random.nextInt(3), "went wrong: \u0000 ü", "at a.b.c");
  }

  private byte[] bytes() {
    byte[] bytes = new byte[random.nextInt(20)];
    random.nextBytes(bytes);
    return bytes;
  }

  JobSpec spec() {
    boolean named = random.nextInt(3) == 0;
    boolean keyed = random.nextInt(4) == 0;
    Map<String, String> metadata = new LinkedHashMap<>();
    for (int i = random.nextInt(3); i > 0; i--) {
      metadata.put("k" + i, "v ü " + random.nextInt());
    }
    return new JobSpec(
        clock + random.nextInt(100_000),
        clock,
        random.nextInt(-100, 101),
        named || keyed ? new Stamp(random.nextLong(), random.nextLong()) : Stamp.ABSENT,
        "type-" + random.nextInt(4),
        1 + random.nextInt(300),
        random.nextBoolean() ? "default" : "tenant-" + random.nextInt(3),
        random.nextBoolean() ? "default" : "queue-" + random.nextInt(3),
        named ? "name " + random.nextInt(5) : null,
        keyed ? "key-" + random.nextInt(5) : null,
        metadata,
        random.nextInt(3) == 0 ? 1 + random.nextInt(1_000_000) : 0,
        random.nextInt(3) == 0 ? clock + random.nextInt(1_000_000) : 0,
        random.nextInt(3) == 0 ? more() : OptionalSpec.NONE,
        bytes());
  }
}
