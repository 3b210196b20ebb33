package dev.carillon.simulator;

import dev.carillon.api.JobError;
import dev.carillon.engine.Node;
import dev.carillon.engine.attempt.Attempt;
import dev.carillon.engine.attempt.AttemptRunner;
import dev.carillon.engine.environment.AttemptOutcome;
import dev.carillon.engine.job.HistoryEntry;
import dev.carillon.engine.job.JobRef;
import dev.carillon.store.Outcome;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;

/** The handlers of one life of the node: they take virtual time and behave as their temper says. */
final class Handlers implements AttemptRunner {
  private static final long LONGEST_ATTEMPT_NANOS = 300 * VirtualClock.SECOND;
  private static final long LONGEST_JUDGEMENT_NANOS = 30 * VirtualClock.SECOND;
  private static final long LONGEST_THREAD_NANOS = 5 * VirtualClock.MILLI;
  private static final long QUICK_NANOS = 20 * VirtualClock.MILLI;

  /** The error of a payload that does not decode, which is in no journal. */
  static final String UNDECODABLE = "simulated.undecodable";

  private final Life life;
  private final World world;
  private final UserOperations users;
  private final Ledger ledger;
  private final AttemptJudge judge;
  private final Consumer<String> crash;
  private final List<Execution> running = new ArrayList<>();
  private final Map<Attempt, Execution> executions = new LinkedHashMap<>();
  private final WorkflowActors workflows;

  Handlers(Life life, Life.Parts parts, Consumer<String> crash) {
    this.life = life;
    this.world = parts.world();
    this.users = parts.users();
    this.ledger = parts.ledger();
    this.judge = parts.judge();
    this.crash = crash;
    this.workflows = new WorkflowActors(life, parts);
  }

  int running() {
    return running.size() + workflows.running();
  }

  List<Execution> all() {
    return running;
  }

  @Override
  public void told(JobRef job, int count, HistoryEntry entry) {
    workflows.told(job, count, entry);
  }

  @Override
  public void forget(JobRef job) {
    workflows.forget(job);
  }

  @Override
  public void start(Attempt attempt) {
    if (WorkflowActors.isTheirs(attempt)) {
      workflows.start(attempt);
      return;
    }
    JobRef ref = Node.ref(attempt.id());
    ModelJob job = ref == null ? null : world.model.job(life.opening.copy(), ref);
    if (job == null) {
      throw new Violation(Guarantee.NOT_LOST, "an attempt of a job that is in no journal started");
    }
    long payload = ByteBuffer.wrap(attempt.spec().payload()).getLong();
    Request request = ledger.request(payload);
    Execution execution = new Execution(life, attempt, job, request, world);
    world.trace.note("start", request.id, attempt.number(), life.name());
    judge.started(execution, running);
    running.add(execution);
    executions.put(attempt, execution);
    job.executions.add(execution);
    users.begins(life, UserOperations.Kind.ATTEMPT);
    if (world.climate.together == null) {
      behave(execution);
    } else {
      world.in(
          world.chance.spread(VirtualClock.MICRO, LONGEST_THREAD_NANOS),
          () -> life.deliver(() -> call(execution)));
    }
  }

  /** The attempt's thread is there, and looks at the clock before it calls the handler. */
  private void call(Execution execution) {
    if (!execution.runs()) {
      return;
    }
    if (execution.attempt.isTooLate(life.clock.monotonicNanos())) {
      finished(execution, new AttemptOutcome.TooLate());
    } else {
      judge.called(execution);
      behave(execution);
    }
  }

  /** The handler's rule may take its time, and longer than it has. */
  @Override
  public void judgeTimeout(Attempt attempt, Consumer<AttemptOutcome.Verdict> answer) {
    AttemptOutcome.Verdict verdict = new AttemptOutcome.Verdict.ByPolicy();
    if (!world.faulty || world.chance.oneIn(2)) {
      answer.accept(verdict);
    } else {
      long nanos = world.chance.spread(VirtualClock.MILLI, LONGEST_JUDGEMENT_NANOS);
      world.goesWrongUntil(world.clock.nanos() + nanos);
      world.in(nanos, () -> life.deliver(() -> answer.accept(verdict)));
    }
  }

  private void behave(Execution execution) {
    Chance chance = world.chance;
    Temper temper = world.faulty ? execution.request.wish.temper() : execution.request.calmed();
    long quick = chance.between(0, QUICK_NANOS);
    switch (temper) {
      case QUICK -> succeedIn(execution, quick);
      case LONG -> succeedIn(execution, chance.spread(VirtualClock.SECOND, longest()));
      case FLAKY -> {
        if (chance.oneIn(2)) {
          succeedIn(execution, quick);
        } else {
          failIn(execution, quick, true);
        }
      }
      case FAILING -> failIn(execution, quick, true);
      case HOPELESS -> failIn(execution, quick, false);
      case HANGING, DEAF -> succeedIn(execution, chance.spread(VirtualClock.SECOND, longest()));
      case SAVING -> save(execution);
      case POSTPONING -> {
        if (chance.oneIn(3)) {
          succeedIn(execution, quick);
        } else {
          long later = chance.spread(1, 20_000_000);
          long due = life.clock.wallMicros() + (chance.oneIn(8) ? -later : later);
          finishIn(execution, quick, new AttemptOutcome.Again(due, "not yet"));
        }
      }
      case GARBLED -> {
        if (execution.job.executions.size() == 1) {
          finishIn(execution, quick, new AttemptOutcome.Undecodable(error("undecodable")));
        } else {
          succeedIn(execution, quick);
        }
      }
      case KILLER ->
          world.in(
              10 * quick,
              () -> {
                if (execution.runs() && life.alive() && world.faulty) {
                  judge.killed(execution);
                  crash.accept("killed by a handler");
                } else {
                  succeedIn(execution, 0);
                }
              });
    }
  }

  private long longest() {
    return Math.clamp(world.climate.spanNanos / 8, 2 * VirtualClock.SECOND, LONGEST_ATTEMPT_NANOS);
  }

  private static JobError error(String what) {
    return new JobError("simulated." + what, what, "");
  }

  /** The result names the execution, so that the checker sees whose outcome was kept. */
  private void succeedIn(Execution execution, long nanos) {
    byte[] result = ByteBuffer.allocate(8).putLong(execution.attempt.token().nonce()).array();
    finishIn(execution, nanos, new AttemptOutcome.Succeeded(result));
  }

  private void failIn(Execution execution, long nanos, boolean retryable) {
    String what = retryable ? "failed" : "hopeless";
    AttemptOutcome.Verdict verdict = retryable ? retryable(execution) : hopeless();
    finishIn(execution, nanos, new AttemptOutcome.Failed(error(what), verdict));
  }

  private AttemptOutcome.Verdict retryable(Execution execution) {
    boolean ownRule = world.faulty && execution.attempt.number() < 3 && world.chance.oneIn(12);
    if (!ownRule) {
      return new AttemptOutcome.Verdict.ByPolicy();
    }
    long time = life.clock.wallMicros() + world.chance.spread(1, 10_000_000);
    return world.chance.oneIn(2)
        ? new AttemptOutcome.Verdict.RetryAt(time)
        : new AttemptOutcome.Verdict.ByPolicyFrom(time);
  }

  private AttemptOutcome.Verdict hopeless() {
    return world.chance.oneIn(2)
        ? new AttemptOutcome.Verdict.NotRetryable()
        : new AttemptOutcome.Verdict.GiveUp();
  }

  private void finishIn(Execution execution, long nanos, AttemptOutcome outcome) {
    world.in(nanos, () -> finish(execution, outcome));
  }

  private void finish(Execution execution, AttemptOutcome outcome) {
    if (execution.cutOff) {
      world.trace.note("outcome of a dead attempt", execution.request.id);
      return;
    }
    life.deliver(
        () -> {
          if (execution.outcome == null) {
            finished(execution, outcome);
          }
        });
  }

  private void finished(Execution execution, AttemptOutcome outcome) {
    execution.outcome = outcome;
    execution.finishedWallMicros = life.clock.wallMicros();
    execution.finishedNanos = world.clock.nanos();
    running.remove(execution);
    executions.remove(execution.attempt);
    users.ends(life, UserOperations.Kind.ATTEMPT);
    execution.accepted = life.node.finished(execution.attempt, outcome);
    world.trace.note(
        "finish",
        execution.request.id,
        execution.attempt.number(),
        execution.accepted ? outcome.getClass().getSimpleName() : "stale");
    judge.finished(execution);
  }

  private void save(Execution execution) {
    byte[] state = ByteBuffer.allocate(8).putLong(world.chance.next()).array();
    world.in(
        world.chance.between(0, QUICK_NANOS),
        () ->
            life.deliver(
                () -> {
                  if (execution.runs()) {
                    users.begins(life, UserOperations.Kind.SAVE);
                    life.node.save(
                        execution.attempt,
                        state,
                        outcome -> saved(execution, state, outcome.equals(Outcome.ok(true))));
                  }
                }));
  }

  private void saved(Execution execution, byte[] state, boolean kept) {
    users.ends(life, UserOperations.Kind.SAVE);
    world.trace.note("saved", execution.request.id, kept ? 1 : 0, "");
    if (kept) {
      judge.saveAcknowledged(execution, state);
    }
    if (world.chance.oneIn(3)) {
      failIn(execution, QUICK_NANOS, true);
    } else {
      succeedIn(execution, QUICK_NANOS);
    }
  }

  @Override
  public void interrupt(Attempt attempt) {
    if (WorkflowActors.isTheirs(attempt)) {
      workflows.interrupt(attempt);
      return;
    }
    Execution execution = executions.get(attempt);
    if (execution == null || !execution.runs()) {
      return;
    }
    execution.interrupted = true;
    world.trace.note("interrupt", execution.request.id, attempt.number(), life.name());
    boolean deaf = world.faulty && execution.request.wish.temper() == Temper.DEAF;
    if (!deaf) {
      long nanos = world.chance.between(0, 10 * QUICK_NANOS);
      boolean asked = attempt.cancellationRequested() || attempt.pauseRequested();
      switch (world.chance.below(3)) {
        case 0 -> succeedIn(execution, nanos);
        case 1 -> failIn(execution, nanos, true);
        default -> {
          if (asked) {
            finishIn(execution, nanos, new AttemptOutcome.Interrupted());
          } else {
            failIn(execution, nanos, true);
          }
        }
      }
    }
  }

  /** Whatever hangs stops hanging. */
  void heal() {
    for (Execution execution : List.copyOf(running)) {
      succeedIn(execution, world.chance.between(0, VirtualClock.SECOND));
    }
  }

  /** The process is gone, with every handler in it. */
  void cutOff() {
    workflows.cutOff();
    for (Execution execution : running) {
      execution.cutOff = true;
    }
  }
}
