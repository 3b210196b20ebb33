package dev.carillon.replay;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.carillon.api.Job;
import dev.carillon.api.JobError;
import dev.carillon.api.JobId;
import dev.carillon.api.JobState;
import dev.carillon.api.error.CodecException;
import dev.carillon.api.error.InvalidJobException;
import dev.carillon.api.workflow.Workflow;
import dev.carillon.engine.environment.AttemptOutcome;
import dev.carillon.engine.environment.AttemptOutcome.Verdict;
import dev.carillon.engine.job.HistoryEntry;
import dev.carillon.engine.job.HistoryEntry.ChildEnded;
import dev.carillon.engine.job.HistoryEntry.ChildStarted;
import dev.carillon.engine.job.HistoryEntry.Signalled;
import dev.carillon.engine.job.JobRef;
import dev.carillon.engine.job.JobSpec;
import dev.carillon.engine.job.OptionalSpec;
import dev.carillon.engine.job.Report;
import dev.carillon.engine.job.WorkflowTurn;
import dev.carillon.store.Records.Stamp;
import dev.carillon.store.ShardId;
import java.lang.reflect.Type;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * A node for one workflow: its journal is a list, a checkpoint is durable at once, the clock stands
 * still until it is moved, and steps beside the code run where they are started.
 */
final class Journal implements WorkflowHost, WorkflowCode {
  static final long BEGIN_MICROS = 1_700_000_000_000_000L;
  private static final ThreadFactory INLINE =
      task ->
          new Thread(task) {
            @Override
            public void start() {
              task.run();
            }
          };

  /** Like the loop of a node: the journals belong to it. */
  private static final ExecutorService LOOP =
      Executors.newSingleThreadExecutor(
          Thread.ofPlatform().daemon().name("journal-loop").factory());

  /** What the handler does, and what it saw. */
  @FunctionalInterface
  interface Code {
    @Nullable Object run(Workflow wf, List<String> seen) throws Exception;
  }

  private final Code code;
  private final List<HistoryEntry> entries = new ArrayList<>();

  /** How many entries there were after each thing that was written as a whole. */
  private final List<Integer> cuts = new ArrayList<>(List.of(0));

  private final BlockingQueue<AttemptOutcome> outcomes = new LinkedBlockingQueue<>();
  private final List<Report> reported = new CopyOnWriteArrayList<>();
  private List<String> seen = new CopyOnWriteArrayList<>();
  private @Nullable WorkflowRun run;
  private ThreadFactory stepThreads = INLINE;
  private Runnable beforeCheckpoint = () -> {};
  private volatile boolean lost;
  private volatile boolean pause;
  private volatile long micros = BEGIN_MICROS;
  private long random = 42;
  private long children;

  Journal(Code code) {
    this.code = code;
  }

  // ---- driving

  /** The code runs from its beginning until it waits or ends. */
  AttemptOutcome begin() {
    seen = new CopyOnWriteArrayList<>();
    WorkflowRun begun = new WorkflowRun(this, this);
    run = begun;
    begun.begin(List.copyOf(entries), new Turn());
    var unused = Thread.ofVirtual().name("workflow").start(begun);
    return outcome();
  }

  /** The code goes on from its wait. */
  AttemptOutcome resume() {
    if (!resumes()) {
      throw new AssertionError("it was unwound");
    }
    return outcome();
  }

  /** Whether the code goes on from its wait. */
  boolean resumes() {
    return run().resume(new Turn());
  }

  AttemptOutcome outcome() {
    try {
      AttemptOutcome outcome = outcomes.poll(20, TimeUnit.SECONDS);
      if (outcome == null) {
        throw new AssertionError("no outcome; the code is at\n" + run().stack());
      }
      return outcome;
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }

  WorkflowRun run() {
    if (run == null) {
      throw new IllegalStateException("not begun");
    }
    return run;
  }

  /** Writes what the end of an activation carries. */
  void write(WorkflowTurn turn) {
    if (!turn.isEmpty()) {
      onLoop(() -> put(turn));
    }
  }

  private static void onLoop(Runnable action) {
    try {
      LOOP.submit(action).get();
    } catch (InterruptedException | ExecutionException e) {
      throw new AssertionError(e);
    }
  }

  private void put(WorkflowTurn turn) {
    for (WorkflowTurn.ChildStart child : turn.children()) {
      JobRef ref = new JobRef(new ShardId(1, 1, 1), ++children);
      put(new ChildStarted(micros, child.call(), child.spec().type(), ref));
    }
    turn.entries().forEach(this::put);
    cuts.add(entries.size());
  }

  private void put(HistoryEntry entry) {
    entries.add(entry);
    if (run != null) {
      run.told(entry);
    }
  }

  /** Something comes from outside. */
  void happens(HistoryEntry entry) {
    onLoop(
        () -> {
          put(entry);
          cuts.add(entries.size());
        });
  }

  /**
   * The same on the loop, before a checkpoint that is on its way: no run that knows the one comes
   * without the other.
   */
  void arrives(HistoryEntry entry) {
    put(entry);
  }

  void signal(String type, String payload) {
    happens(new Signalled(micros, type, "", payload.getBytes(UTF_8)));
  }

  void childEnds(int call, JobState state, String result) {
    JobError error = state == JobState.SUCCEEDED ? null : new JobError("child.Error", result, "");
    happens(new ChildEnded(micros, call, state, error, result.getBytes(UTF_8)));
  }

  void pass(Duration duration) {
    passTo(micros + duration.toNanos() / 1000);
  }

  void passTo(long time) {
    micros = Math.max(micros, time);
  }

  /** From now on nothing becomes durable. */
  Journal losing() {
    lost = true;
    return this;
  }

  void pause(boolean asked) {
    pause = asked;
  }

  Journal stepsOn(ThreadFactory threads) {
    stepThreads = threads;
    return this;
  }

  void beforeCheckpoint(Runnable action) {
    beforeCheckpoint = action;
  }

  /** The same workflow on another node, which has the first entries. */
  Journal cut(int size) {
    Journal other = new Journal(code);
    other.entries.addAll(entries.subList(0, size));
    other.cuts.clear();
    cuts.stream().filter(cut -> cut <= size).forEach(other.cuts::add);
    other.micros = size == 0 ? BEGIN_MICROS : micros;
    other.children = 1_000 + children;
    other.stepThreads = stepThreads;
    return other;
  }

  /** Another version of the code has the same history. */
  Journal with(Code newer) {
    Journal other = new Journal(newer);
    other.entries.addAll(entries);
    other.micros = micros;
    return other;
  }

  List<HistoryEntry> entries() {
    List<HistoryEntry> copy = new ArrayList<>();
    onLoop(() -> copy.addAll(entries));
    return copy;
  }

  List<Integer> cuts() {
    List<Integer> copy = new ArrayList<>();
    onLoop(() -> cuts.stream().distinct().forEach(copy::add));
    return copy;
  }

  List<String> seen() {
    return List.copyOf(seen);
  }

  List<Report> reported() {
    return reported;
  }

  /** An attempt. */
  private final class Turn implements Activation {
    @Override
    public void entered() {}

    @Override
    public void checkpoint(WorkflowTurn turn, Consumer<CheckpointAnswer> answer) {
      LOOP.execute(() -> write(turn, answer));
    }

    private void write(WorkflowTurn turn, Consumer<CheckpointAnswer> answer) {
      if (lost) {
        answer.accept(CheckpointAnswer.LOST);
        return;
      }
      beforeCheckpoint.run();
      put(turn);
      answer.accept(CheckpointAnswer.DURABLE);
    }

    @Override
    public void ended(AttemptOutcome outcome) {
      outcomes.add(outcome);
    }

    @Override
    public boolean pauseRequested() {
      return pause;
    }

    @Override
    public boolean cancellationRequested() {
      return false;
    }

    @Override
    public Verdict verdict(Throwable thrown) {
      return new Verdict.ByPolicy();
    }
  }

  // ---- the code

  @Override
  public @Nullable Object input() {
    return null;
  }

  @Override
  public @Nullable Object run(@Nullable Object input, Workflow wf) throws Exception {
    return code.run(wf, seen);
  }

  @Override
  public byte[] encodeResult(@Nullable Object result) {
    return encode(result, String.class);
  }

  @Override
  public byte[] encodeInput(@Nullable Object input) {
    return encode(input, String.class);
  }

  @Override
  public int typeVersion() {
    return 1;
  }

  // ---- the node

  @Override
  public JobFacts job() {
    return new JobFacts(new JobId("j1"), "test", "default", "default", null, Map.of(), 0);
  }

  @Override
  public long wallMicros() {
    return micros;
  }

  @Override
  public synchronized long random() {
    return random++;
  }

  @Override
  public byte[] encode(@Nullable Object value, Type type) {
    if (value instanceof Thread) {
      throw new CodecException("value: a thread (expected: one that can be encoded)");
    }
    return value == null ? new byte[0] : value.toString().getBytes(UTF_8);
  }

  @Override
  public @Nullable Object decode(byte[] stored, Type type) {
    String text = new String(stored, UTF_8);
    if (type == Void.class) {
      return null;
    }
    if (type == Short.class) {
      throw new CodecException("value: " + text + " (expected: one that can be decoded)");
    }
    if (type == Integer.class) {
      try {
        return Integer.valueOf(text);
      } catch (NumberFormatException e) {
        throw new CodecException("value: " + text + " (expected: a number)", e);
      }
    }
    return text;
  }

  @Override
  public JobSpec child(Job<?> job) {
    if (job.name() != null) {
      throw new InvalidJobException("name: " + job.name() + " (expected: none)");
    }
    return new JobSpec(
        micros,
        micros,
        0,
        Stamp.ABSENT,
        job.typeName(),
        1,
        "default",
        "default",
        null,
        null,
        Map.of(),
        0,
        0,
        OptionalSpec.NONE,
        new byte[0]);
  }

  @Override
  public JobError error(Throwable thrown) {
    return new JobError(thrown.getClass().getName(), String.valueOf(thrown.getMessage()), "");
  }

  @Override
  public Thread newThread(Runnable step) {
    return stepThreads.newThread(step);
  }

  @Override
  public Cancellable after(Duration delay, Runnable action) {
    Thread timer =
        Thread.ofVirtual()
            .start(
                () -> {
                  try {
                    TimeUnit.NANOSECONDS.sleep(delay.toNanos());
                    action.run();
                  } catch (InterruptedException e) {
                    // in time
                  }
                });
    return timer::interrupt;
  }

  @Override
  public void wake(WorkflowRun run) {
    run.wake();
  }

  @Override
  public void report(Report report) {
    reported.add(report);
  }
}
