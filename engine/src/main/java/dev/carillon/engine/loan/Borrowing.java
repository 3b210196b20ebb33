package dev.carillon.engine.loan;

import dev.carillon.api.FailurePolicy;
import dev.carillon.api.JobError;
import dev.carillon.engine.attempt.Attempt;
import dev.carillon.engine.attempt.AttemptRunner;
import dev.carillon.engine.dispatch.Dispatcher;
import dev.carillon.engine.dispatch.Gate;
import dev.carillon.engine.dispatch.HandlerSlot;
import dev.carillon.engine.environment.AttemptOutcome;
import dev.carillon.engine.environment.NodeEnvironment;
import dev.carillon.engine.environment.NodeOptions;
import dev.carillon.engine.environment.Timers;
import dev.carillon.engine.format.DamagedException;
import dev.carillon.engine.format.UnknownFormatException;
import dev.carillon.engine.job.HistoryEntry;
import dev.carillon.engine.job.JobSpec;
import dev.carillon.engine.job.PolicyFormat;
import dev.carillon.engine.job.Report;
import dev.carillon.engine.job.WorkflowTurn;
import dev.carillon.engine.member.Member;
import dev.carillon.engine.member.MemberStatus;
import dev.carillon.engine.message.Loan;
import dev.carillon.engine.message.Message;
import dev.carillon.engine.message.RunningJob;
import dev.carillon.engine.message.Wire;
import dev.carillon.store.Outcome;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * The attempts that this node runs for others. Each takes a slot of the node and of its handler;
 * its timeout and deadline are watched here, its limits and its outcome are its owner's.
 *
 * <p>How much a lender may have here at once is told it: more, where slots stay free although it
 * has given all it may; less, where what it gave has to wait. What cannot be started soon goes
 * back.
 *
 * <p>Crash table: this node dies: the lender has what was said before, and makes the others again.
 * It is fenced: what runs is asked to stop, what waits goes back. The lender dies or leaves: what
 * runs for it is asked to stop, and whatever comes of it is nobody's. The lender may have been dead
 * to others since it lent something: it has another era, and what it lent before is not started, or
 * asked to stop. It has taken this node for dead: it says so, and what it lent before that is
 * stopped.
 */
public final class Borrowing {
  private static final int MOST_WINDOW = 2_048;

  /** How soon a window may grow again: what the last change brought must have come. */
  private static final long GROW_NANOS = 50_000_000;

  /** What waits longer than this has been too much. */
  private static final long LONG_WAIT_NANOS = 250_000_000;

  /** What waits longer than this goes back. */
  private static final long LONGEST_WAIT_NANOS = 1_000_000_000;

  /** The same for what has to wait until it is alone. */
  private static final long LONGEST_WAIT_ALONE_NANOS = 60_000_000_000L;

  /** A lender that gives nothing for so long has to begin anew. */
  private static final long FORGET_LENDER_NANOS = 1_000_000_000;

  /** How soon it is looked again whether a handler has written that it completes its attempt. */
  private static final long COMPLETING_NANOS = 10_000_000;

  /** So often a lender hears how much it may have, though that is as before. */
  private static final long SAY_AGAIN_NANOS = 1_000_000_000;

  /** How long what follows a timeout may be thought about; then the policy says. */
  private static final long JUDGED_WITHIN_NANOS = 10_000_000_000L;

  private final NodeEnvironment env;
  private final AttemptRunner runner;
  private final BorrowedTurns turns;
  private final NodeOptions options;
  private final Timers timers;
  private final Wire wire;
  private final Dispatcher dispatcher;
  private final Permits permits;
  private final MemberStatus status;
  private final BorrowedReports reports;
  private final Map<Long, Borrowed> all = new LinkedHashMap<>();
  private final List<Borrowed> waiting = new ArrayList<>();

  /** Whose handlers have returned and whose lenders are about to be told. */
  private final Set<Long> telling = new LinkedHashSet<>();

  /** What handlers want to be kept, by attempts: the first of each is on its way. */
  private final Map<Long, ArrayDeque<Save>> saves = new LinkedHashMap<>();

  private final Map<Long, Lender> lenders = new LinkedHashMap<>();
  private Timers.@Nullable Timer look;
  private @Nullable Borrowed alone;
  private boolean stopping;
  private long borrowedTotal;

  private static final class Lender {
    int window;
    long changedNanos;
    long gaveNanos;
  }

  /** Its handler may have returned before it is answered. */
  @SuppressWarnings("ArrayRecordComponent") // bytes are handed over, never compared or copied
  private record Save(long lender, byte[] state, Consumer<Outcome<Boolean>> answer) {}

  private static final class Borrowed {
    final long lender;

    /** Of the lender: what it lent before it may have been dead is not its own any more. */
    final long era;

    final Loan loan;
    final JobSpec spec;
    final FailurePolicy given;
    final long sinceNanos;
    final List<Timers.Timer> timers = new ArrayList<>(0);

    /** Entries of its workflow that came before it was started. */
    final List<Message.Recorded> early = new ArrayList<>(0);

    @Nullable Attempt attempt;
    @Nullable HandlerSlot handler;

    /** It has its slot and waits for its marker to be written. */
    boolean ready;

    byte[] policy;

    /** It is asked what follows its timeout: what its handler says meanwhile comes after that. */
    boolean judging;

    @Nullable Runnable afterJudgement;

    /** Its lender was told what became of it. */
    boolean told;

    boolean lenderGone;

    /** Others may have taken the lender for dead since it lent this, and run it. */
    boolean lenderWasAway;

    Borrowed(long lender, long era, Loan loan, long sinceNanos) {
      this.lender = lender;
      this.era = era;
      this.loan = loan;
      this.spec = JobSpec.decodeHead(loan.body());
      this.given = PolicyFormat.decode(loan.policy());
      this.sinceNanos = sinceNanos;
      this.policy = loan.policy();
    }
  }

  public Borrowing(
      NodeEnvironment env,
      AttemptRunner runner,
      NodeOptions options,
      Timers timers,
      Wire wire,
      Dispatcher dispatcher,
      Permits permits,
      MemberStatus status) {
    this.env = env;
    this.runner = runner;
    this.turns = new BorrowedTurns(env, runner, wire);
    this.options = options;
    this.timers = timers;
    this.wire = wire;
    this.dispatcher = dispatcher;
    this.permits = permits;
    this.status = status;
    this.reports = new BorrowedReports(env, timers, wire);
  }

  /** Attempts of others that are here, with those that wait. */
  public int size() {
    return all.size();
  }

  /** The jobs of others whose handlers run on this node. */
  public void eachRunning(Consumer<RunningJob> each) {
    for (Borrowed one : all.values()) {
      if (one.attempt != null) {
        each.accept(one.attempt.asRunning(one.spec.namespace(), one.spec.queue()));
      }
    }
  }

  /** How many attempts of others this node has run or begun since it started. */
  public long borrowedTotal() {
    return borrowedTotal;
  }

  /** How many more this node could run at once. */
  public int free() {
    if (stopping || !permits.isReady() || !status.mayStart() || dispatcher.ready() > 0) {
      return 0;
    }
    Gate node = dispatcher.node();
    return Math.max(0, node.limit() - node.running() - waiting.size());
  }

  // ---- what lenders say

  /** Brings the history of the workflow of an attempt that this node runs for another. */
  public void history(Attempt attempt, Consumer<Outcome<List<HistoryEntry>>> answer) {
    turns.history(attempt, answer);
  }

  /** Makes what the code of a workflow did durable, at its owner's. */
  public void checkpoint(Attempt attempt, WorkflowTurn turn, Consumer<Outcome<Boolean>> answer) {
    Borrowed one = all.get(attempt.nonce());
    if (one == null || one.told || one.lenderGone || one.lenderWasAway || attempt.over) {
      answer.accept(Outcome.ok(false));
    } else {
      turns.checkpoint(attempt, one.lender, turn, answer);
    }
  }

  private void recorded(long from, Message.Recorded told) {
    Borrowed one = all.get(told.nonce());
    if (one == null || one.lender != from) {
      return;
    }
    Attempt attempt = one.attempt;
    if (attempt != null) {
      turns.recorded(attempt, told.count(), told.entry());
    } else {
      one.early.add(told);
    }
  }

  /** False where it is not for a borrower. */
  public boolean heard(long from, Message message) {
    switch (message) {
      case Message.Lend(long era, long borrowerEra, Loan loan) ->
          take(from, era, borrowerEra == status.era(), loan);
      case Message.Recall(long nonce, Message.Recall.Why why) -> recall(from, nonce, why);
      case Message.Check(List<Long> nonces) -> nonces.forEach(nonce -> check(from, nonce));
      case Message.Saved(long nonce, Outcome<Boolean> outcome) -> saved(nonce, outcome);
      case Message.Turned(long nonce, Outcome<Boolean> outcome) ->
          turns.turned(from, nonce, outcome);
      case Message.Recorded told -> recorded(from, told);
      case Message.Revoked revoked -> revoked(from);
      case Message.Go(long nonce) -> go(from, nonce);
      default -> {
        return false;
      }
    }
    return true;
  }

  /**
   * Takes up a loan.
   *
   * @param current it was lent since nobody can have taken this node for dead; else its lender may
   *     have taken it back for that
   */
  private void take(long from, long era, boolean current, Loan loan) {
    Borrowed one;
    try {
      one = new Borrowed(from, era, loan, now());
    } catch (UnknownFormatException | DamagedException e) {
      AttemptOutcome strange = new AttemptOutcome.Undecodable(JobError.of(e));
      wire.send(
          from,
          Message.encode(new Message.Done(loan.nonce(), 0, 0, false, loan.policy(), strange)));
      return;
    }
    all.put(loan.nonce(), one);
    if (stopping || !current || !status.mayStart() || isPaused(one)) {
      giveBack(one);
      return;
    }
    waiting.add(one);
    lenders.computeIfAbsent(from, f -> new Lender()).gaveNanos = now();
  }

  /** That node took this one for dead: what it lent before it said so is its own again. */
  private void revoked(long from) {
    permits.renew();
    for (Borrowed one : List.copyOf(all.values())) {
      if (one.lender == from) {
        stop(one, Attempt.StopCause.FENCED);
      }
    }
  }

  private void recall(long from, long nonce, Message.Recall.Why why) {
    Borrowed one = all.get(nonce);
    if (one == null || one.lender != from) {
      check(from, nonce);
      return;
    }
    Attempt attempt = one.attempt;
    if (attempt == null) {
      waiting.remove(one);
      giveBack(one);
      return;
    }
    switch (why) {
      case PAUSE -> attempt.requestStop(Attempt.StopCause.PAUSE);
      case CANCEL -> stop(one, Attempt.StopCause.CANCEL);
      case BACK -> stop(one, Attempt.StopCause.FENCED);
    }
    wire.send(from, Message.encode(new Message.Recalled(nonce)));
  }

  /** Says of one that is not here that it is not: what was said of it before may be lost. */
  private void check(long from, long nonce) {
    if (!all.containsKey(nonce) && !telling.contains(nonce)) {
      AttemptOutcome none = new AttemptOutcome.Interrupted();
      wire.send(from, Message.encode(new Message.Done(nonce, 0, 0, false, new byte[0], none)));
    }
  }

  private void saved(long nonce, Outcome<Boolean> outcome) {
    ArrayDeque<Save> asked = saves.get(nonce);
    if (asked == null) {
      return;
    }
    Save answered = asked.remove();
    if (asked.isEmpty()) {
      saves.remove(nonce);
    } else {
      send(nonce, asked.element());
    }
    answered.answer.accept(outcome);
  }

  private void send(long nonce, Save save) {
    wire.send(save.lender, Message.encode(new Message.Save(nonce, save.state)));
  }

  // ---- running

  /** Starts what may start; own jobs have had their turn. */
  public void turn() {
    if (!waiting.isEmpty()) {
      startWaiting();
      lookAgain();
    }
    if (!lenders.isEmpty()) {
      changeWindows();
    }
  }

  private void startWaiting() {
    long now = now();
    boolean oldest = now - waiting.getFirst().sinceNanos > LONGEST_WAIT_NANOS;
    boolean anyAlone = waiting.stream().anyMatch(one -> one.loan.alone());
    if (!oldest && !anyAlone && (!status.mayStart() || !dispatcher.mayStartBorrowed())) {
      return;
    }
    List<Borrowed> tried = List.copyOf(waiting);
    waiting.clear();
    for (Borrowed one : tried) {
      HandlerSlot handler = dispatcher.handler(one.spec.type());
      long most = one.loan.alone() ? LONGEST_WAIT_ALONE_NANOS : LONGEST_WAIT_NANOS;
      boolean late = isPastDeadline(one) || now - one.sinceNanos > most;
      if (!handler.registered || late || isPaused(one)) {
        giveBack(one);
      } else if (mayStart(one, handler)) {
        start(one, handler);
      } else {
        waiting.add(one);
      }
    }
  }

  /** What waits is looked at again, for its clock or its node may let it start, or it goes back. */
  private void lookAgain() {
    if (!waiting.isEmpty() && (look == null || look.isOver())) {
      look = timers.at(now() + LONG_WAIT_NANOS, () -> {});
    }
  }

  private boolean mayStart(Borrowed one, HandlerSlot handler) {
    return permits.isReady()
        && status.mayStart()
        && isHeard(one)
        && handler.gate.hasRoom()
        && env.wallMicros() >= one.loan.dueMicros()
        && (one.loan.alone() ? mayStartAlone(one) : dispatcher.mayStartBorrowed());
  }

  private boolean isHeard(Borrowed one) {
    return status.heardUntil(one.lender, one.era) != null;
  }

  /** Until when its handler must be called: the lives of both nodes stand behind it. */
  private long startBy(Borrowed one) {
    Long heard = status.heardUntil(one.lender, one.era);
    Long own = status.startBy();
    if (own == null) {
      throw new IllegalStateException("a node that is alone has borrowed an attempt");
    }
    return heard != null && heard - own < 0 ? heard : own;
  }

  /** One at a time; the others wait. */
  private boolean mayStartAlone(Borrowed one) {
    if (alone == null) {
      alone = one;
    }
    return alone == one && dispatcher.reserveAlone();
  }

  private void endAlone(Borrowed one) {
    if (alone == one) {
      alone = null;
      dispatcher.endReserved();
    }
  }

  /** Operators have paused its queue or namespace, which every node acts on. */
  private boolean isPaused(Borrowed one) {
    return dispatcher.lane(one.spec.namespace(), one.spec.queue()).paused() != null;
  }

  /** Its owner says so and ends it. */
  private boolean isPastDeadline(Borrowed one) {
    long deadline = one.spec.deadlineMicros();
    return deadline != 0 && env.wallMicros() >= deadline;
  }

  /** It has its slot; what may have killed a node asks its lender to write that down first. */
  private void start(Borrowed one, HandlerSlot handler) {
    one.handler = handler;
    dispatcher.enterSlot(handler);
    if (one.loan.marked()) {
      one.ready = true;
      wire.send(one.lender, Message.encode(new Message.Ready(one.loan.nonce())));
    } else {
      call(one, handler);
    }
  }

  private void go(long from, long nonce) {
    Borrowed one = all.get(nonce);
    if (one == null || one.lender != from || !one.ready || one.handler == null) {
      return;
    }
    one.ready = false;
    boolean inTime = env.wallMicros() >= one.loan.dueMicros() && !isPastDeadline(one);
    if (!inTime || !status.mayStart() || !isHeard(one) || stopping || isPaused(one)) {
      giveBack(one);
      return;
    }
    call(one, one.handler);
    long lasts = now() + options.aloneTime().toNanos();
    one.timers.add(timers.at(lasts, () -> lasted(one)));
  }

  private void lasted(Borrowed one) {
    endAlone(one);
    if (!one.lenderGone) {
      wire.send(one.lender, Message.encode(new Message.Lasted(one.loan.nonce())));
    }
  }

  private void call(Borrowed one, HandlerSlot handler) {
    FailurePolicy policy = one.given;
    if (!one.loan.ownPolicy() && handler.policy != null) {
      policy = handler.policy;
      one.policy = PolicyFormat.encode(policy);
    }
    Attempt attempt =
        new Attempt(
            one.loan,
            one.spec.type(),
            policy,
            new Attempt.Borrowed(env.wallMicros(), startBy(one), permits.own()));
    one.attempt = attempt;
    borrowedTotal++;
    watchTime(one, attempt);
    env.metrics().count("attempts.borrowed", 1);
    attempt.startedNanos = now();
    runner.start(attempt);
    one.early.forEach(told -> turns.recorded(attempt, told.count(), told.entry()));
    one.early.clear();
  }

  /** How long until all that runs for others has run for that time; 0 where it has. */
  public long waitUntilLasted(long nanos) {
    long wait = 0;
    for (Borrowed one : all.values()) {
      if (one.attempt != null) {
        wait = Math.max(wait, one.attempt.startedNanos + nanos - now());
      } else if (one.ready) {
        wait = Math.max(wait, nanos); // its marker is on its way
      }
    }
    return wait;
  }

  private void watchTime(Borrowed one, Attempt attempt) {
    JobSpec spec = one.spec;
    long ofHandler = one.handler != null ? one.handler.timeoutMicros : 0;
    long timeout = spec.timeoutMicros() != 0 ? spec.timeoutMicros() : ofHandler;
    if (timeout != 0) {
      stopAfter(one, timeout, () -> timedOut(one, attempt));
    }
    if (spec.deadlineMicros() != 0) {
      stopAfter(one, spec.deadlineMicros() - env.wallMicros(), () -> expired(one, attempt));
    }
  }

  private void stopAfter(Borrowed one, long micros, Runnable action) {
    long nanos = Math.multiplyExact(Math.clamp(micros, 0, Long.MAX_VALUE / 2000), 1000L);
    one.timers.add(timers.at(now() + nanos, action));
  }

  private void timedOut(Borrowed one, Attempt attempt) {
    if (one.told || attempt.over) {
      return;
    }
    attempt.over = true;
    one.judging = true;
    attempt.requestStop(Attempt.StopCause.TIMEOUT);
    boolean[] judged = new boolean[1];
    Consumer<AttemptOutcome.Verdict> judge =
        verdict -> {
          if (!judged[0]) {
            judged[0] = true;
            outOfTime(one, attempt, verdict);
          }
        };
    runner.judgeTimeout(attempt, judge);
    if (!judged[0]) {
      one.timers.add(
          timers.at(
              now() + JUDGED_WITHIN_NANOS,
              () -> judge.accept(new AttemptOutcome.Verdict.ByPolicy())));
    }
    runner.interrupt(attempt);
  }

  private void expired(Borrowed one, Attempt attempt) {
    if (!one.told && !attempt.over) {
      attempt.over = true;
      attempt.requestStop(Attempt.StopCause.DEADLINE);
      outOfTime(one, attempt, null);
      runner.interrupt(attempt);
    }
  }

  private void outOfTime(Borrowed one, Attempt attempt, AttemptOutcome.@Nullable Verdict verdict) {
    boolean completes = attempt.closeCompletion();
    whenNotCompleting(
        attempt,
        () -> {
          Message late =
              new Message.OutOfTime(
                  one.loan.nonce(), attempt.startedMicros(), completes, one.policy, verdict);
          wire.send(one.lender, Message.encode(late));
          one.judging = false;
          Runnable after = one.afterJudgement;
          if (after != null) {
            one.afterJudgement = null;
            after.run();
          }
        });
  }

  /** Nothing is said of an attempt while its handler writes that it completes it. */
  private void whenNotCompleting(Attempt attempt, Runnable then) {
    if (attempt.isCompleting()) {
      timers.at(now() + COMPLETING_NANOS, () -> whenNotCompleting(attempt, then));
    } else {
      then.run();
    }
  }

  /** The handler of an attempt that was borrowed has returned; false where it no longer counts. */
  public boolean finished(Attempt attempt, AttemptOutcome outcome) {
    Borrowed one = all.remove(attempt.nonce());
    if (one == null || one.handler == null) {
      return false;
    }
    leave(one);
    boolean completes = attempt.closeCompletion();
    boolean failed =
        outcome instanceof AttemptOutcome.Failed
            || outcome instanceof AttemptOutcome.WorkflowFailed;
    boolean none = attempt.isFenced() && failed;
    AttemptOutcome said = none ? new AttemptOutcome.Interrupted() : outcome;
    if (said instanceof AttemptOutcome.WorkflowFailed of) {
      said =
          new AttemptOutcome.WorkflowFailed(
              of.turn(), of.error().on(options.nodeId()), of.verdict(), of.compensations());
    }
    if (said instanceof AttemptOutcome.Failed(JobError error, AttemptOutcome.Verdict verdict)) {
      said = new AttemptOutcome.Failed(error.on(options.nodeId()), verdict);
    }
    AttemptOutcome last = said;
    telling.add(attempt.nonce());
    Runnable tell = () -> whenNotCompleting(attempt, () -> tell(one, attempt, completes, last));
    if (one.judging) {
      one.afterJudgement = tell;
    } else {
      tell.run();
    }
    return !attempt.over;
  }

  /** It gives its slot back, if it has one. */
  private void leave(Borrowed one) {
    one.timers.forEach(timers::cancel);
    endAlone(one);
    HandlerSlot handler = one.handler;
    if (handler != null) {
      one.handler = null;
      dispatcher.leaveSlot(handler);
    }
  }

  private void giveBack(Borrowed one) {
    all.remove(one.loan.nonce());
    leave(one);
    tell(one, null, false, new AttemptOutcome.Interrupted());
  }

  /**
   * Tells the lender how it went.
   *
   * @param ran null where its handler was not called
   */
  private void tell(
      Borrowed one, @Nullable Attempt ran, boolean completes, AttemptOutcome outcome) {
    one.told = true;
    telling.remove(one.loan.nonce());
    reports.last(one.loan.nonce());
    Message done =
        new Message.Done(
            one.loan.nonce(),
            ran != null ? ran.startedMicros() : 0,
            ran != null ? ran.endedMicros() : 0,
            completes,
            one.policy,
            outcome);
    wire.send(one.lender, Message.encode(done)); // one that seemed dead may be back
  }

  /** A handler reports of its job, which {@code source} has; its owner records it. */
  public void report(Attempt attempt, Report.Source source) {
    Borrowed one = all.get(attempt.nonce());
    if (one != null && !one.told && !one.lenderGone && !attempt.over) {
      reports.report(attempt, one.lender, source);
    }
  }

  /** A handler's resume position; its owner keeps it. */
  public void save(Attempt attempt, byte[] state, Consumer<Outcome<Boolean>> answer) {
    Borrowed one = all.get(attempt.nonce());
    if (one == null || one.told || one.lenderGone || attempt.over) {
      answer.accept(Outcome.ok(false));
      return;
    }
    Save save = new Save(one.lender, state, answer);
    ArrayDeque<Save> asked = saves.computeIfAbsent(attempt.nonce(), n -> new ArrayDeque<>(1));
    asked.add(save);
    if (asked.size() == 1) {
      send(attempt.nonce(), save);
    }
  }

  // ---- how much of it

  private void changeWindows() {
    long now = now();
    lenders.values().removeIf(lender -> now - lender.gaveNanos > FORGET_LENDER_NANOS);
    long waits = waiting.isEmpty() ? 0 : now - waiting.getFirst().sinceNanos;
    boolean more = waiting.isEmpty() && free() > 0;
    lenders.forEach(
        (id, lender) -> {
          long unchanged = now - lender.changedNanos;
          if (waits > LONG_WAIT_NANOS && unchanged >= LONG_WAIT_NANOS && lender.window > 1) {
            change(id, lender, lender.window / 2);
          } else if (more && unchanged >= GROW_NANOS && lender.window < MOST_WINDOW) {
            int slots = dispatcher.node().limit();
            change(id, lender, Math.min(MOST_WINDOW, Math.max(2 * lender.window, slots)));
          } else if (unchanged >= SAY_AGAIN_NANOS && lender.window > 0) {
            change(id, lender, lender.window);
          }
        });
  }

  private void change(long id, Lender lender, int window) {
    lender.window = window;
    lender.changedNanos = now();
    wire.send(id, Message.encode(new Message.Window(window)));
  }

  // ---- those who go

  /** Who is there now: what runs for others is asked to stop. */
  public void saw(List<Member> members) {
    if (all.isEmpty() && saves.isEmpty() && turns.isEmpty()) {
      return;
    }
    Map<Long, Long> eras = new LinkedHashMap<>();
    members.forEach(member -> eras.put(member.incarnation(), member.said().era()));
    for (Borrowed one : List.copyOf(all.values())) {
      Long era = eras.get(one.lender);
      if (era == null && !one.lenderGone) {
        one.lenderGone = true;
        stop(one, Attempt.StopCause.CANCEL);
      } else if (era != null && era > one.era && !one.lenderWasAway) {
        one.lenderWasAway = true;
        stop(one, Attempt.StopCause.FENCED);
      }
    }
    takeSaves(save -> !eras.containsKey(save.lender));
    turns.forget(lender -> !eras.containsKey(lender));
  }

  /** Those that are not answered any more: their attempts are nobody's. */
  private void takeSaves(Predicate<Save> gone) {
    List<Save> taken = new ArrayList<>();
    saves
        .values()
        .removeIf(
            asked -> {
              boolean gives = gone.test(asked.element());
              taken.addAll(gives ? asked : List.of());
              return gives;
            });
    taken.forEach(save -> save.answer.accept(Outcome.ok(false)));
  }

  /** The store is another copy: what was lent by the one before is nobody's. */
  public void exchanged() {
    fence();
    takeSaves(save -> true);
    turns.forget(lender -> true);
  }

  /** Others may take this node for dead. */
  public void fence() {
    List.copyOf(all.values()).forEach(one -> stop(one, Attempt.StopCause.FENCED));
  }

  private void stop(Borrowed one, Attempt.StopCause cause) {
    Attempt attempt = one.attempt;
    if (attempt == null) {
      waiting.remove(one);
      giveBack(one);
    } else {
      attempt.requestStop(cause);
      runner.interrupt(attempt);
    }
  }

  /** Nothing starts any more; what runs is asked to save and return. */
  public void beginStop() {
    stopping = true;
    lenders.forEach((id, lender) -> change(id, lender, 0));
    for (Borrowed one : List.copyOf(all.values())) {
      Attempt attempt = one.attempt;
      if (attempt == null) {
        waiting.remove(one);
        giveBack(one);
      } else if (attempt.stopCause == null) {
        attempt.requestStop(Attempt.StopCause.SHUTDOWN);
      }
    }
  }

  public void interruptAll() {
    for (Borrowed one : all.values()) {
      if (one.attempt != null) {
        runner.interrupt(one.attempt);
      }
    }
  }

  private long now() {
    return env.monotonicNanos();
  }
}
