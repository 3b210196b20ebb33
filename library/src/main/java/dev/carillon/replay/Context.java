package dev.carillon.replay;

import dev.carillon.api.IfExists;
import dev.carillon.api.Job;
import dev.carillon.api.JobError;
import dev.carillon.api.JobId;
import dev.carillon.api.Limits;
import dev.carillon.api.TypeToken;
import dev.carillon.api.error.InvalidArgumentException;
import dev.carillon.api.error.StepFailedException;
import dev.carillon.api.workflow.Child;
import dev.carillon.api.workflow.Promise;
import dev.carillon.api.workflow.SignalType;
import dev.carillon.api.workflow.StepAction;
import dev.carillon.api.workflow.StepBody;
import dev.carillon.api.workflow.StepOptions;
import dev.carillon.api.workflow.Workflow;
import dev.carillon.api.workflow.WorkflowUnwound;
import dev.carillon.engine.environment.AttemptOutcome;
import dev.carillon.engine.format.Micros;
import dev.carillon.engine.job.HistoryEntry;
import dev.carillon.engine.job.HistoryEntry.Begun;
import dev.carillon.engine.job.HistoryEntry.SignalAwaited;
import dev.carillon.engine.job.HistoryEntry.StepDone;
import dev.carillon.engine.job.HistoryEntry.StepFailed;
import dev.carillon.engine.job.HistoryEntry.TimerSet;
import dev.carillon.engine.job.HistoryEntry.VersionChosen;
import dev.carillon.engine.job.JobSpec;
import dev.carillon.engine.job.Report;
import dev.carillon.engine.job.WorkflowTurn.ChildStart;
import java.lang.reflect.Type;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.UUID;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/**
 * The context of one run: each call of the code returns what is recorded or has it done. Of the
 * workflow's thread.
 *
 * <p>A call that leaves an entry of its own is refused where the history goes on without one. Steps
 * that are started beside the code and compensations leave none when they are called.
 */
final class Context implements Workflow {
  /** How this version numbers and orders calls; recorded at the beginning. */
  private static final int BEHAVIOUR = 1;

  private final WorkflowRun run;
  private final WorkflowHost host;
  private final WorkflowCode code;
  private final History history;
  private final Calls calls;
  private final System.Logger logger;
  private final List<StepCall> compensations = new ArrayList<>();
  private final List<ChildPromise<?>> children = new ArrayList<>();
  private final Map<String, Integer> signals = new HashMap<>();

  private SeededRandom random = new SeededRandom(0);
  private boolean closed;

  Context(WorkflowRun run, WorkflowHost host, WorkflowCode code) {
    this.run = run;
    this.host = host;
    this.code = code;
    this.history = run.history();
    this.calls = new Calls(run);
    this.logger =
        new ReplayLogger(
            System.getLogger("carillon.workflow." + host.job().type()),
            () -> calls.cursor().isReplaying());
  }

  /** Before the handler is called. */
  void open() {
    run.look();
    Begun begun = history.begun();
    if (begun == null) {
      begun = new Begun(host.wallMicros(), BEHAVIOUR, SeededRandom.seedOf(host.job()));
      run.keep(begun);
    } else if (begun.behaviour() != BEHAVIOUR) {
      throw calls.end(
          Divergence.outcome(
              "behaviour: %d (expected: %d; another version of Carillon wrote the history)"
                  .formatted(begun.behaviour(), BEHAVIOUR)));
    }
    calls.begin(begun.at());
    random = new SeededRandom(begun.seed());
  }

  /** The handler has ended: the code has no more calls. */
  void close() {
    closed = true;
  }

  Calls calls() {
    return calls;
  }

  History history() {
    return history;
  }

  List<StepCall> compensations() {
    return compensations;
  }

  /** Waits for children and steps under way. */
  void awaitRest(boolean untilCancel) {
    run.await(
        new Awaited() {
          @Override
          public boolean isOver(History seen, long nowMicros) {
            boolean stopped = untilCancel ? seen.isStopped() : seen.isGivenUp();
            return stopped
                || (children.stream().allMatch(child -> child.isEnded(seen))
                    && run.started().areOver(seen));
          }

          @Override
          public void addTo(WaitList list, History seen) {
            children.stream().filter(child -> !child.isEnded(seen)).forEach(c -> c.addTo(list));
            list.all();
          }
        });
  }

  // ---- calls

  /** Refuses a call where it must not be made; sees what has become of the workflow. */
  private void enter() {
    if (!run.isThread(Thread.currentThread())) {
      throw misused(
          "on thread %s (expected: the workflow's own; other threads and steps beside the code"
                  .formatted(Thread.currentThread().getName())
              + " hand their results to it)");
    }
    if (run.tries().isInBody()) {
      throw misused("in the body of a step (expected: outside of it; a body has a StepContext)");
    }
    if (closed) {
      throw misused("after its handler has ended (expected: before)");
    }
    if (calls.outcome() != null) {
      throw new WorkflowUnwound("the run is over");
    }
    run.look();
  }

  private MisusedContext misused(String how) {
    return new MisusedContext("workflow " + host.job().id() + ": its context is used " + how);
  }

  // ---- the job

  @Override
  public JobId id() {
    return host.job().id();
  }

  @Override
  public String type() {
    return host.job().type();
  }

  @Override
  public String namespace() {
    return host.job().namespace();
  }

  @Override
  public String queue() {
    return host.job().queue();
  }

  @Override
  public @Nullable String name() {
    return host.job().name();
  }

  @Override
  public Map<String, String> metadata() {
    return host.job().metadata();
  }

  // ---- steps

  @Override
  @SuppressWarnings({"unchecked", "NullAway"}) // decoded to the type; null where the body said so
  public <T> T step(
      String name, TypeToken<T> type, StepOptions options, StepBody<? extends T> body) {
    checkStep(name, type, options, body);
    enter();
    RecordedCall recorded = calls.leaving(CallKind.STEP, name);
    if (recorded == null || !recorded.isEnded()) {
      calls.cursor().live();
    }
    StepCall step = new StepCall(calls.made(), name, type.type(), options, body);
    Tries.Made made = run.tries().toItsEnd(step, true);
    if (made == null) {
      throw calls.stopped();
    }
    HistoryEntry end = made.call().end();
    calls.cursor().given(made.call().endPosition, end.at());
    if (made.here() && end instanceof StepDone) {
      made.call().forgetEnd();
      return (T) made.value();
    }
    Object result = stepResult(step);
    made.call().forgetEnd();
    return (T) result;
  }

  @Override
  public <T> Promise<T> startStep(
      String name, TypeToken<T> type, StepOptions options, StepBody<? extends T> body) {
    checkStep(name, type, options, body);
    enter();
    RecordedCall recorded = calls.fitting(CallKind.STEP, name);
    if (recorded == null && !calls.goesOn()) {
      calls.awaitNoPause();
    }
    StepCall step =
        new StepCall(calls.number(CallKind.STEP, name), name, type.type(), options, body);
    if (recorded == null || !recorded.isEnded()) {
      run.started().add(step);
      // While the code runs again, what it comes to next may be older than a try made now.
      if (!calls.cursor().isReplaying() && !run.activation().pauseRequested()) {
        run.started().launchDue();
      }
    }
    return new StepPromise<>(this, step);
  }

  private static void checkStep(
      String name, TypeToken<?> type, StepOptions options, StepBody<?> body) {
    Limits.checkCallName("step", name);
    Limits.checkPresent("type", type);
    Limits.checkPresent("options", options);
    Limits.checkPresent("body", body);
  }

  /** The result of a step that has an end in the history. */
  @Nullable Object stepResult(StepCall step) {
    return switch (history.recorded(step.number()).end()) {
      case StepDone done -> decoded(done.result(), step.type());
      case StepFailed failed ->
          throw new StepFailedException(failed.name(), failed.error(), failed.kinds());
      default -> throw new IllegalStateException("step " + step.name() + ": no end of a step");
    };
  }

  /** A recorded value; where it cannot be decoded the run ends. */
  @Nullable Object decoded(byte[] stored, Type type) {
    try {
      return host.decode(stored, type);
    } catch (Throwable e) {
      throw calls.end(new AttemptOutcome.Undecodable(JobError.of(e)));
    }
  }

  // ---- children

  @Override
  public <O> Child<O> start(Job<O> job) {
    Limits.checkPresent("job", job);
    enter();
    RecordedCall recorded = calls.fitting(CallKind.CHILD, job.typeName());
    boolean starts = true;
    if (recorded == null) {
      starts = startNew(job);
    } else {
      calls.cursor().created(recorded.position);
      calls.number(CallKind.CHILD, job.typeName());
    }
    ChildPromise<O> child = new ChildPromise<>(this, calls.made(), job);
    if (starts) {
      children.add(child);
    }
    return child;
  }

  /**
   * Whether a new child is to be started. One that is refused has taken its number all the same,
   * also when the code runs again; so has one that is not started, since the workflow is stopped.
   */
  private boolean startNew(Job<?> job) {
    boolean goesOn = calls.goesOn();
    if (!goesOn) {
      calls.awaitNoPause();
    }
    int number = calls.number(CallKind.CHILD, job.typeName());
    JobSpec spec = host.child(job);
    if (history.isStopped()) {
      return false;
    }
    if (goesOn) {
      throw calls.diverged(number, CallKind.CHILD.describe(job.typeName()));
    }
    run.keep(new ChildStart(number, spec, job.ifExists() == IfExists.KEEP, null));
    return true;
  }

  /** Waits until the history has a child's beginning. */
  void awaitStarted(ChildPromise<?> child) {
    enter();
    if (!child.isStarted(history)) {
      run.writeKept();
    }
    if (!child.isStarted(history)) {
      throw calls.stopped();
    }
  }

  // ---- waiting

  @Override
  public <T> Promise<T> signal(SignalType<T> type) {
    Limits.checkPresent("type", type);
    enter();
    return awaited(type);
  }

  private <T> SignalPromise<T> awaited(SignalType<T> type) {
    if (calls.leaving(CallKind.SIGNAL, type.name()) == null) {
      run.keep(new SignalAwaited(host.wallMicros(), calls.made(), type.name()));
    }
    return new SignalPromise<>(this, type, signals.merge(type.name(), 1, Integer::sum));
  }

  @Override
  public <T> Optional<T> await(SignalType<T> type, Duration atMost) {
    Limits.checkPresent("type", type);
    long micros = CallArguments.micros("atMost", atMost);
    enter();
    SignalPromise<T> signal = awaited(type);
    TimerPromise timeout = timerAfter(micros);
    if (isTimeout(new PromisesAwaited(List.of(signal), timeout, false))) {
      signals.merge(type.name(), -1, Integer::sum); // the next who asks gets the signal
      return Optional.empty();
    }
    return Optional.ofNullable(signal.taken());
  }

  @Override
  public Promise<Void> timer(Duration delay) {
    long micros = CallArguments.micros("delay", delay);
    enter();
    return timerAfter(micros);
  }

  @Override
  public void sleepUntil(Instant time) {
    long micros = CallArguments.micros(time);
    enter();
    var unused = timerAt(micros).join();
  }

  private TimerPromise timerAfter(long micros) {
    long latest = Micros.ceil(Limits.LATEST_DUE);
    return timerAt(Math.min(latest, host.wallMicros() + micros));
  }

  /** A timer; where it is recorded, at the recorded time. */
  private TimerPromise timerAt(long dueMicros) {
    RecordedCall recorded = calls.leaving(CallKind.TIMER, "");
    if (recorded != null) {
      return new TimerPromise(this, calls.made(), recorded.nextAt);
    }
    run.keep(new TimerSet(host.wallMicros(), calls.made(), dueMicros));
    return new TimerPromise(this, calls.made(), dueMicros);
  }

  <T> T join(ContextPromise<T> promise) {
    enter();
    var unused = isTimeout(new PromisesAwaited(List.of(promise), null, false));
    return promise.taken();
  }

  <T> Optional<T> join(ContextPromise<T> promise, Duration atMost) {
    long micros = CallArguments.micros("atMost", atMost);
    enter();
    TimerPromise timeout = timerAfter(micros);
    boolean late = isTimeout(new PromisesAwaited(List.of(promise), timeout, false));
    return late ? Optional.empty() : Optional.ofNullable(promise.taken());
  }

  @Override
  public <T> List<T> all(Collection<? extends Promise<? extends T>> promises) {
    List<ContextPromise<? extends T>> own = own(promises);
    enter();
    if (!own.isEmpty()) {
      var unused = isTimeout(new PromisesAwaited(own, null, true));
    }
    List<T> values = new ArrayList<>(own.size());
    for (ContextPromise<? extends T> promise : own) {
      values.add(promise.taken());
    }
    return values;
  }

  @Override
  public Promise<?> first(Collection<? extends Promise<?>> promises) {
    List<ContextPromise<?>> own = own(promises);
    if (own.isEmpty()) {
      throw InvalidArgumentException.of("promises", promises, "at least one");
    }
    enter();
    PromisesAwaited awaited = new PromisesAwaited(own, null, false);
    var unused = isTimeout(awaited);
    return awaited.at(history, awaited.position(history));
  }

  @SuppressWarnings("unchecked") // as what it was given
  private <P extends ContextPromise<?>> List<P> own(Collection<? extends Promise<?>> promises) {
    List<P> own = new ArrayList<>();
    for (Promise<?> promise : Limits.checkPresent("promises", promises)) {
      if (!(promise instanceof ContextPromise<?> made && made.context == this)) {
        throw InvalidArgumentException.of("promise", promise, "one of this workflow");
      }
      own.add((P) promise);
    }
    return own;
  }

  /** Waits; true where the timeout came first, an exception where a cancel did. */
  private boolean isTimeout(PromisesAwaited awaited) {
    calls.requireNotStopped();
    if (!run.await(awaited)) {
      calls.cursor().live();
    }
    return switch (awaited.first(history)) {
      case STOP -> throw calls.stopped();
      case TIMEOUT -> {
        TimerPromise timeout = Objects.requireNonNull(awaited.timeout(), "timeout");
        calls.cursor().given(timeout.position(history), timeout.at(history));
        yield true;
      }
      case PROMISE -> {
        int position = awaited.position(history);
        calls.cursor().given(position, awaited.at(history, position).at(history));
        yield false;
      }
    };
  }

  // ---- failing

  @Override
  public void onFailure(String name, StepAction undo) {
    Limits.checkCallName("compensation", name);
    Limits.checkPresent("undo", undo);
    enter();
    var unused = calls.fitting(CallKind.STEP, name);
    compensations.add(
        new StepCall(
            calls.number(CallKind.STEP, name),
            name,
            Void.class,
            StepOptions.defaults(),
            step -> {
              undo.run();
              return null;
            }));
  }

  // ---- showing

  @Override
  public void progress(long done, long total, String message) {
    report(Reporting.progress(done, total, message));
  }

  @Override
  public void progress(String message) {
    report(Reporting.progress(message));
  }

  @Override
  public void publish(@Nullable Object value) {
    byte[] encoded = value != null ? host.encode(value, value.getClass()) : null;
    if (encoded != null) {
      Limits.checkPayload(encoded.length);
    }
    report(new Report(Report.UNKNOWN, Report.UNKNOWN, null, encoded, encoded == null));
  }

  private void report(Report report) {
    enter();
    run.reporting().report(report, calls.cursor().isReplaying());
  }

  // ---- what would differ from one run to the next

  @Override
  public Instant now() {
    enter();
    return Micros.toInstant(calls.cursor().nowMicros());
  }

  @Override
  public RandomGenerator random() {
    enter();
    return random;
  }

  @Override
  public UUID uuid() {
    enter();
    return random.uuid();
  }

  @Override
  public boolean replaying() {
    enter();
    return calls.cursor().isReplaying();
  }

  @Override
  public System.Logger logger() {
    return logger;
  }

  @Override
  public int version(String change, int newest) {
    Limits.checkCallName("change", change);
    CallArguments.version(newest);
    enter();
    calls.requireNotStopped();
    if (calls.passedWithout(CallKind.VERSION, change)) {
      return 0; // it had passed here before the change came
    }
    RecordedCall recorded = calls.leaving(CallKind.VERSION, change);
    if (recorded == null) {
      run.keep(new VersionChosen(host.wallMicros(), calls.made(), change, newest));
      return newest;
    }
    if (recorded.version > newest) {
      throw calls.end(
          Divergence.outcome(
              "call %d: version %d of change \"%s\", as recorded (expected: at most %d, the newest that the code knows)"
                  .formatted(calls.made(), recorded.version, change, newest)));
    }
    return recorded.version;
  }

  @Override
  @SuppressWarnings("TypeParameterUnusedInFormals") // it never returns
  public <R> R continueAsNew(@Nullable Object input) {
    enter();
    calls.requireNotStopped();
    byte[] encoded = code.encodeInput(input);
    if (calls.endTooEarly("a new beginning")) {
      throw new WorkflowUnwound("the run is over");
    }
    awaitRest(true);
    if (history.isStopped()) {
      throw calls.stopped();
    }
    throw calls.end(
        new AttemptOutcome.Renewed(encoded, code.typeVersion(), history.unread(), history.size()));
  }
}
