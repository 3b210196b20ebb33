package dev.carillon.simulator;

import dev.carillon.api.Job;
import dev.carillon.api.JobError;
import dev.carillon.api.error.NotRetryableException;
import dev.carillon.api.workflow.StepBody;
import dev.carillon.api.workflow.StepContext;
import dev.carillon.api.workflow.Workflow;
import dev.carillon.engine.attempt.Attempt;
import dev.carillon.engine.job.HistoryEntry;
import dev.carillon.engine.job.JobRef;
import dev.carillon.engine.job.JobSpec;
import dev.carillon.engine.job.OptionalSpec;
import dev.carillon.engine.job.Report;
import dev.carillon.replay.JobFacts;
import dev.carillon.replay.WorkflowCode;
import dev.carillon.replay.WorkflowHost;
import dev.carillon.replay.WorkflowRun;
import dev.carillon.simulator.WorkflowProgram.Kind;
import dev.carillon.simulator.WorkflowProgram.Op;
import dev.carillon.store.Records.Stamp;
import java.io.IOException;
import java.lang.reflect.Type;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * One run of a workflow's code on a simulated node: what it needs of its node, and what it tells
 * the checker. Its threads are actors of the {@link Stage}; time passes for them as for all.
 */
final class WorkflowPlay implements WorkflowHost, WorkflowCode, WorkflowProgram.Play {
  private static final long WAKE_NANOS = 100 * VirtualClock.MICRO;
  private static final long QUICK_NANOS = 20 * VirtualClock.MILLI;
  private static final long LONG_NANOS = 20 * VirtualClock.SECOND;

  private final Life life;
  private final World world;
  private final WorkflowJudge judge;
  private final JobRef ref;
  private final int revision;
  private final JobSpec spec;
  private final JobFacts facts;
  private final WorkflowProgram program;
  private final List<Stage.Actor> actors = new ArrayList<>();
  private final List<String> seen = new ArrayList<>();
  private final List<HistoryEntry> atFirst = new ArrayList<>();
  private int calls;
  private Report untold = Report.NOTHING;
  private boolean announced;

  /** The attempt that its code makes now. */
  Attempt attempt;

  /** The process is gone: nothing of what the code does counts. */
  boolean gone;

  /** The number of the call at which the code is not what it was; 0 where it is. */
  int flippedAt;

  /** The code has thrown what is mended afterwards. */
  boolean broke;

  /** The code was told that its workflow is stopped. */
  boolean stopped;

  WorkflowPlay(Life life, World world, Attempt attempt) {
    this.life = life;
    this.world = world;
    this.attempt = attempt;
    this.judge = world.workflows.judge();
    this.ref = attempt.ref();
    this.revision = attempt.revision();
    this.spec = attempt.spec();
    this.program = new WorkflowProgram(WorkflowInput.of(spec.payload()));
    this.facts =
        new JobFacts(
            attempt.id(),
            attempt.type(),
            spec.namespace(),
            spec.queue(),
            spec.name(),
            Map.of(),
            revision);
  }

  Life life() {
    return life;
  }

  JobRef ref() {
    return ref;
  }

  int revision() {
    return revision;
  }

  long id() {
    return program.input.id();
  }

  List<String> seen() {
    return seen;
  }

  /** It begins with this history. */
  void begins(List<HistoryEntry> entries) {
    atFirst.addAll(entries);
  }

  /** Starts its thread, which goes on soon. */
  void start(WorkflowRun run) {
    var unused = thread(run);
  }

  private Thread thread(Runnable body) {
    Stage.Actor actor = world.stage.actor(body);
    actors.add(actor);
    goOn(actor, WAKE_NANOS);
    return actor.thread();
  }

  private void goOn(Stage.Actor actor, long most) {
    world.in(world.chance.spread(1, most), () -> life.let(actor::goOn));
  }

  /** All its threads look what has changed. */
  void wakeAll() {
    actors.removeIf(Stage.Actor::isOver);
    actors.forEach(actor -> goOn(actor, WAKE_NANOS));
  }

  /** Its process is gone. */
  void cutOff() {
    gone = true;
    actors.forEach(world.stage::end);
  }

  // ---- the code

  @Override
  public Object input() {
    return program.input.text();
  }

  @Override
  public @Nullable Object run(@Nullable Object input, Workflow wf) throws Exception {
    return program.run(wf, this, world.climate.workflowScale);
  }

  @Override
  public byte[] encodeResult(@Nullable Object result) {
    return encode(result, String.class);
  }

  @Override
  public int typeVersion() {
    return 1;
  }

  @Override
  public byte[] encodeInput(@Nullable Object input) {
    return encode(input, String.class);
  }

  @Override
  public void saw(int at, String what) {
    if (gone) {
      return;
    }
    seen.add(what);
    stopped |= what.equals("cancelled");
    try {
      judge.saw(this, seen, isFree(what));
    } catch (Violation broken) {
      world.stage.fail(broken);
    }
  }

  /** Whether nothing need be durable of it when the code sees it. */
  private static boolean isFree(String what) {
    return what.startsWith("version ")
        || what.startsWith("now ")
        || what.startsWith("random ")
        || what.startsWith("uuid ");
  }

  @Override
  public void calls(int at, Kind kind, int count) {
    calls += count;
    if (count > 0 || WorkflowProgram.calls(kind) == 0) {
      world.table.countCall("call " + kind);
    }
  }

  @Override
  public boolean flips(int at) {
    int next = calls + 1;
    if (gone || !isPast(next) || !world.workflows.judge().mayFlip(this)) {
      return false;
    }
    flippedAt = next;
    world.trace.note("code is not what it was", id(), next, "");
    return true;
  }

  /** Whether the code has come so far before; an older copy of the store does not change that. */
  private boolean isPast(int call) {
    return atFirst.stream().anyMatch(entry -> WorkflowEntries.call(entry) >= call);
  }

  @Override
  public boolean breaks(int at) {
    broke = !gone && !isPast(calls + 1) && judge.breaks(this);
    return broke;
  }

  @Override
  public StepBody<String> body(int at, Op op) {
    return step -> body(step, nameOf(at, op), op);
  }

  private static String nameOf(int at, Op op) {
    return switch (op.kind()) {
      case STEP -> "s" + at;
      case STEP_ONCE -> "o" + at;
      case STEP_BESIDE -> "b" + at;
      default -> "other";
    };
  }

  private String body(StepContext step, String name, Op op) throws Exception {
    boolean once = op.kind() == Kind.STEP_ONCE;
    WorkflowStep begun = new WorkflowStep(name, step.attempt(), step.key(), once, false);
    String result = begins(begun);
    boolean isLong = world.faulty && op.b() == 3;
    sleep(isLong ? world.chance.spread(1, LONG_NANOS) : world.chance.between(0, QUICK_NANOS));
    if (step.attempt() <= WorkflowProgram.failingTries(op)) {
      throw new IOException("try " + step.attempt() + " of " + name);
    }
    return result;
  }

  private String begins(WorkflowStep step) {
    if (gone) {
      return "";
    }
    world.trace.note("step", id(), step.attempt(), step.name());
    try {
      return judge.begins(this, step);
    } catch (Violation broken) {
      world.stage.fail(broken);
      return "";
    }
  }

  @Override
  public void undo(int at, Op op) throws Exception {
    var unused = begins(new WorkflowStep("u" + at, 1, "", false, true));
    sleep(world.chance.between(0, QUICK_NANOS));
    if (op.a() == 0) {
      throw new NotRetryableException("cannot be undone");
    }
  }

  private void sleep(long nanos) throws InterruptedException {
    long until = world.clock.nanos() + nanos;
    Stage.Actor self = world.stage.current();
    world.queue.at(until, () -> life.let(self::goOn));
    while (world.clock.nanos() < until) {
      self.rest();
      if (Thread.interrupted()) {
        throw new InterruptedException("interrupted");
      }
    }
  }

  // ---- the node

  @Override
  public JobFacts job() {
    return facts;
  }

  @Override
  public long wallMicros() {
    return life.clock.wallMicros();
  }

  @Override
  public long random() {
    return world.chance.next();
  }

  @Override
  public byte[] encode(@Nullable Object value, Type type) {
    return value == null ? new byte[0] : value.toString().getBytes(StandardCharsets.UTF_8);
  }

  @Override
  public @Nullable Object decode(byte[] stored, Type type) {
    return type == Void.class ? null : new String(stored, StandardCharsets.UTF_8);
  }

  @Override
  public JobSpec child(Job<?> job) {
    long now = wallMicros();
    return new JobSpec(
        now,
        now,
        0,
        Stamp.ABSENT,
        job.typeName(),
        1,
        spec.namespace(),
        "default",
        null,
        null,
        Map.of(),
        0,
        0,
        OptionalSpec.NONE,
        encode(Objects.requireNonNull(job.input()), String.class));
  }

  @Override
  public JobError error(Throwable thrown) {
    return new JobError(thrown.getClass().getName(), String.valueOf(thrown.getMessage()), "");
  }

  @Override
  public Thread newThread(Runnable step) {
    return thread(step);
  }

  @Override
  public Cancellable after(Duration delay, Runnable action) {
    boolean[] cancelled = new boolean[1];
    world.in(
        delay.toNanos(),
        () -> {
          if (!cancelled[0]) {
            action.run();
            wakeAll();
          }
        });
    return () -> cancelled[0] = true;
  }

  @Override
  public void wake(WorkflowRun run) {
    if (!gone) {
      wakeAll();
    }
  }

  @Override
  public void park(WorkflowRun run, long nanos) {
    Stage.Actor self = world.stage.current();
    if (Thread.currentThread().isInterrupted()) {
      return;
    }
    if (nanos > 0) {
      world.in(nanos, () -> life.let(self::goOn));
    }
    self.rest();
  }

  @Override
  public void report(Report report) {
    world.table.countCall("reports");
    untold = untold.then(report);
    Attempt of = attempt;
    if (!announced && !gone) {
      announced = true;
      world.in(
          world.chance.spread(1, WAKE_NANOS),
          () -> life.deliver(() -> life.node.report(of, this::take)));
    }
  }

  private Report take() {
    Report taken = untold;
    announced = false;
    untold = Report.NOTHING;
    return taken;
  }
}
