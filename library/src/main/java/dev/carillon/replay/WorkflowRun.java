package dev.carillon.replay;

import dev.carillon.api.JobError;
import dev.carillon.api.workflow.WorkflowUnwound;
import dev.carillon.engine.environment.AttemptOutcome;
import dev.carillon.engine.job.HistoryEntry;
import dev.carillon.engine.job.WorkflowTurn;
import dev.carillon.engine.job.WorkflowTurn.ChildStart;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * One run of a workflow's code, from its beginning, on a thread of its own. It lives through
 * activations: it begins in one, stays parked between them, and is over when the code is, or when
 * it is unwound.
 *
 * <p>The public methods are for those who own it, on any thread; what they change is seen by the
 * workflow's thread once it is woken. The others are for the workflow's thread and those of its
 * steps.
 */
public final class WorkflowRun implements Runnable {
  private static final StackTraceElement[] NO_STACK = {};
  private static final long LOOK_AGAIN_MICROS = 1_000_000;

  /** Prepared: when the heap is full there may be no room to say so. */
  private static final AttemptOutcome NO_MEMORY =
      new AttemptOutcome.WorkflowFailed(
          WorkflowTurn.NOTHING,
          new JobError(OutOfMemoryError.class.getName(), "no memory left to tell more", ""),
          new AttemptOutcome.Verdict.ByPolicy(),
          false);

  private final WorkflowHost host;
  private final WorkflowCode code;
  private final ReentrantLock lock = new ReentrantLock();

  // Under the lock.
  private final Queue<HistoryEntry> inbox = new ArrayDeque<>();
  private final Outbox outbox = new Outbox();
  private @Nullable Activation activation;
  private boolean entered;
  private @Nullable String unwindReason;
  private boolean over;

  private volatile @Nullable Thread thread;
  private volatile boolean cancelTold;

  /** Its thread waits in here for what the code asked of its context. */
  private volatile boolean waits;

  // The workflow's thread's own.
  private final History history = new History();
  private final StartedSteps started;
  private final Reporting reporting;
  private final Tries tries;

  /** A run that is to begin. */
  public WorkflowRun(WorkflowHost host, WorkflowCode code) {
    this.host = host;
    this.code = code;
    this.reporting = new Reporting(host);
    this.tries = new Tries(this, host);
    this.started = new StartedSteps(this, host, tries);
  }

  // ---- for those who own it

  /** What it begins with, before its thread is started. */
  public void begin(List<HistoryEntry> entries, Activation first) {
    lock.lock();
    try {
      entries.forEach(this::take);
      activation = first;
    } finally {
      lock.unlock();
    }
  }

  /**
   * It goes on in another activation: it was parked and has been told of every entry. Does nothing
   * and returns false where it has been unwound meanwhile.
   */
  public boolean resume(Activation next) {
    lock.lock();
    try {
      if (activation != null) {
        throw new IllegalStateException("workflow " + host.job().id() + ": is not parked");
      }
      if (over) {
        return false;
      }
      activation = next;
      entered = false;
    } finally {
      lock.unlock();
    }
    host.wake(this);
    return true;
  }

  /** An entry of its history is durable: the next one, in order. */
  public void told(HistoryEntry entry) {
    boolean active;
    lock.lock();
    try {
      take(entry);
      active = activation != null;
    } finally {
      lock.unlock();
    }
    if (active) {
      host.wake(this);
    }
  }

  private void take(HistoryEntry entry) {
    inbox.add(entry);
    if (entry instanceof HistoryEntry.CancelRequested || entry instanceof HistoryEntry.GivenUp) {
      cancelTold = true;
    }
  }

  /**
   * The code must not go on, and what it does is not recorded any more. A step that runs is not
   * interrupted by this; see {@link #interrupt}.
   */
  public void unwind(String reason) {
    lock.lock();
    try {
      if (unwindReason == null) {
        unwindReason = reason;
      }
    } finally {
      lock.unlock();
    }
    host.wake(this);
  }

  /** Interrupts its threads after {@link #unwind}. May block for as long as closing a channel. */
  public void interrupt() {
    Thread running = thread;
    if (running != null && !isOver()) {
      running.interrupt();
    }
    started.interrupt();
  }

  /** Lets its thread look what has changed. */
  public void wake() {
    Thread running = thread;
    if (running != null) {
      LockSupport.unpark(running);
    }
  }

  /** Whether it waits between two activations. */
  public boolean isParked() {
    lock.lock();
    try {
      return activation == null && !over;
    } finally {
      lock.unlock();
    }
  }

  /** Whether it waits between two activations and may go on: nobody has unwound it. */
  public boolean mayResume() {
    lock.lock();
    try {
      return activation == null && !over && unwindReason == null;
    } finally {
      lock.unlock();
    }
  }

  /** Whether its thread has ended. */
  public boolean isOver() {
    lock.lock();
    try {
      return over;
    } finally {
      lock.unlock();
    }
  }

  /** Where its code is now. */
  public String stack() {
    Thread running = thread;
    return text(running == null ? NO_STACK : running.getStackTrace());
  }

  /** A stack as exceptions print it. */
  public static String text(StackTraceElement[] stack) {
    StringBuilder out = new StringBuilder();
    for (StackTraceElement frame : stack) {
      out.append("\tat ").append(frame).append('\n');
    }
    return out.toString();
  }

  /**
   * Where its code is blocked that is neither in a step nor in a call of its context; empty where
   * it is not. A thread that waits for a processor is not blocked.
   */
  public StackTraceElement[] blockedOutsideSteps() {
    Thread running = thread;
    if (running == null || mayBlock() || isParked() || !isBlocked(running)) {
      return NO_STACK;
    }
    StackTraceElement[] stack = running.getStackTrace();
    return mayBlock() || isOwn(stack) ? NO_STACK : stack;
  }

  private boolean mayBlock() {
    return waits || tries.isInBody();
  }

  private static boolean isBlocked(Thread running) {
    return switch (running.getState()) {
      case BLOCKED, WAITING, TIMED_WAITING -> true;
      case NEW, RUNNABLE, TERMINATED -> false;
    };
  }

  /** Whether the code of this room waits, and not the code of a user. */
  private static boolean isOwn(StackTraceElement[] stack) {
    for (StackTraceElement frame : stack) {
      String module = frame.getModuleName();
      if (module == null || !(module.startsWith("java.") || module.startsWith("jdk."))) {
        return frame.getClassName().startsWith(WorkflowRun.class.getPackageName() + ".");
      }
    }
    return true;
  }

  // ---- its thread

  @Override
  public void run() {
    thread = Thread.currentThread();
    AttemptOutcome outcome;
    try {
      outcome = ran();
    } catch (Throwable e) {
      outcome = NO_MEMORY;
    }
    Activation last;
    lock.lock();
    try {
      over = true;
      last = activation;
      activation = null;
    } finally {
      lock.unlock();
    }
    if (last != null) {
      last.ended(outcome);
    }
  }

  private AttemptOutcome ran() {
    Context wf = new Context(this, host, code);
    AttemptOutcome outcome = new Ending(this, wf, code).run();
    started.stop();
    if (!isUnwinding()) {
      reporting.live();
    }
    return isUnwinding() ? new AttemptOutcome.Interrupted() : outcome;
  }

  boolean isThread(Thread other) {
    return other.equals(thread);
  }

  History history() {
    return history;
  }

  Reporting reporting() {
    return reporting;
  }

  StartedSteps started() {
    return started;
  }

  Tries tries() {
    return tries;
  }

  /** Sees what has become of it, and refuses to go on where it must not. */
  void look() {
    lock.lock();
    try {
      requireGoing();
      drain();
      enter();
    } finally {
      lock.unlock();
    }
  }

  boolean isUnwinding() {
    lock.lock();
    try {
      return unwindReason != null;
    } finally {
      lock.unlock();
    }
  }

  /** Whether it was cancelled or given up, also where the code has not seen it. */
  boolean cancelTold() {
    return cancelTold;
  }

  Activation activation() {
    lock.lock();
    try {
      return active();
    } finally {
      lock.unlock();
    }
  }

  private Activation active() {
    if (activation == null) {
      throw new WorkflowUnwound("no activation");
    }
    return activation;
  }

  private void requireGoing() {
    if (unwindReason != null) {
      throw new WorkflowUnwound(unwindReason);
    }
  }

  private void drain() {
    HistoryEntry entry = inbox.poll();
    while (entry != null) {
      history.add(entry);
      entry = inbox.poll();
    }
  }

  private void enter() {
    if (!entered && activation != null) {
      entered = true;
      activation.entered();
    }
  }

  /** Started steps whose next try is due: of what the history has and what is durable together. */
  List<StartedStep> dueSteps() {
    lock.lock();
    try {
      requireGoing();
      drain();
      return started.due(history, host.wallMicros());
    } finally {
      lock.unlock();
    }
  }

  // ---- writing

  /** Keeps an entry until something is written. */
  void keep(HistoryEntry entry) {
    lock.lock();
    try {
      outbox.add(entry);
    } finally {
      lock.unlock();
    }
  }

  void keep(ChildStart child) {
    lock.lock();
    try {
      outbox.add(child);
    } finally {
      lock.unlock();
    }
  }

  /** Writes an entry, and what was kept before it; returns once the history has it. */
  void write(HistoryEntry entry) {
    awaitDurable(post(entry));
  }

  /** Writes what is kept; returns once the history has it. */
  void writeKept() {
    long upTo;
    lock.lock();
    try {
      if (outbox.isEmpty() && outbox.isIdle()) {
        return;
      }
      upTo = outbox.want();
      send();
    } finally {
      lock.unlock();
    }
    awaitDurable(upTo);
  }

  /** Has an entry written, and what was kept before it; on any thread of this run. */
  long post(HistoryEntry entry) {
    lock.lock();
    try {
      outbox.add(entry);
      long upTo = outbox.want();
      send();
      return upTo;
    } finally {
      lock.unlock();
    }
  }

  boolean isDurable(long upTo) {
    lock.lock();
    try {
      return outbox.isDurable(upTo);
    } finally {
      lock.unlock();
    }
  }

  private void send() {
    WorkflowTurn turn = unwindReason == null ? outbox.next() : null;
    if (turn != null) {
      reporting.live();
      Activation writer = active();
      writer.checkpoint(turn, answer -> answered(writer, answer));
    }
  }

  private void answered(Activation writer, Activation.CheckpointAnswer answer) {
    lock.lock();
    try {
      if (!writer.equals(activation)) {
        return;
      }
      switch (answer) {
        case DURABLE -> {
          outbox.written();
          send();
        }
        case LOST -> {
          if (unwindReason == null) {
            unwindReason = "what the code did could not be recorded";
          }
        }
      }
    } finally {
      lock.unlock();
    }
    host.wake(this);
  }

  private void awaitDurable(long upTo) {
    boolean interrupted = false;
    try {
      while (!seesDurable(upTo)) {
        interrupted |= park(0);
      }
    } finally {
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }

  private boolean seesDurable(long upTo) {
    lock.lock();
    try {
      requireGoing();
      if (!outbox.isDurable(upTo)) {
        return false;
      }
      drain();
      return true;
    } finally {
      lock.unlock();
    }
  }

  /** Parks its thread until it is woken, or for so long; says whether it was interrupted. */
  private boolean park(long nanos) {
    waits = true;
    host.park(this, nanos);
    waits = false;
    return Thread.interrupted();
  }

  /** Waits until no step runs and all that was posted is written, also where it is unwound. */
  void awaitQuiet() {
    boolean interrupted = false;
    while (!isQuiet()) {
      interrupted |= park(0);
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }

  private boolean isQuiet() {
    lock.lock();
    try {
      return !started.areRunning() && (unwindReason != null || outbox.isIdle());
    } finally {
      lock.unlock();
    }
  }

  /** What was kept and never written; for the end of the last activation. */
  WorkflowTurn takeKept() {
    lock.lock();
    try {
      return outbox.take();
    } finally {
      lock.unlock();
    }
  }

  // ---- waiting

  /** Waits where a pause is asked for; returns whether it did. */
  boolean awaitNoPause() {
    if (!activation().pauseRequested()) {
      return false;
    }
    await(Awaited.condition(host.wallMicros(), seen -> !active().pauseRequested()));
    return true;
  }

  /** Waits; says whether the wait was over at once. */
  boolean await(Awaited awaited) {
    boolean atOnce = true;
    boolean interrupted = false;
    try {
      while (true) {
        Waiting waiting = waiting(awaited);
        if (waiting.over) {
          return atOnce;
        }
        atOnce = false;
        if (!waiting.due.isEmpty()) {
          waiting.due.forEach(started::launch);
          continue;
        }
        if (waiting.ended != null) {
          waiting.ended.ended(waiting.outcome);
          continue; // what it waited for inside may have used up the permit of a wake
        }
        interrupted |= park(waiting.nanos);
      }
    } finally {
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }

  /**
   * What a look at a wait shows.
   *
   * @param due started steps whose next try is due
   * @param ended the activation that ends here, and with which outcome
   * @param nanos after which to look again; 0 for when woken
   */
  private record Waiting(
      boolean over,
      List<StartedStep> due,
      @Nullable Activation ended,
      AttemptOutcome outcome,
      long nanos) {
    static final Waiting OVER = new Waiting(true, List.of(), null, NO_MEMORY, 0);

    static Waiting park(long nanos) {
      return new Waiting(false, List.of(), null, NO_MEMORY, nanos);
    }

    static Waiting launch(List<StartedStep> due) {
      return new Waiting(false, due, null, NO_MEMORY, 0);
    }
  }

  private Waiting waiting(Awaited awaited) {
    lock.lock();
    try {
      requireGoing();
      if (activation == null) {
        return Waiting.park(0);
      }
      drain();
      enter();
      long now = host.wallMicros();
      if (awaited.isOver(history, now)) {
        return Waiting.OVER;
      }
      boolean paused = activation.pauseRequested();
      if (!paused) {
        if (fireDue(awaited, now)) {
          return Waiting.park(0);
        }
        List<StartedStep> due = started.due(history, now);
        if (!due.isEmpty()) {
          return Waiting.launch(due);
        }
      }
      return parkOrEnd(awaited, paused, now);
    } finally {
      lock.unlock();
    }
  }

  private Waiting parkOrEnd(Awaited awaited, boolean paused, long now) {
    WaitList list = new WaitList();
    awaited.addTo(list, history);
    started.addTo(list, history);
    if (started.areRunning() || !outbox.isIdle() || outbox.hasNames()) {
      if (!outbox.isEmpty()) {
        outbox.want();
        send();
      }
      long micros = paused ? Long.MAX_VALUE : Math.max(1, list.until() - now);
      return Waiting.park(Math.min(LOOK_AGAIN_MICROS, micros) * 1000);
    }
    reporting.live();
    Activation ends = activation;
    activation = null;
    AttemptOutcome outcome =
        new AttemptOutcome.Waiting(
            outbox.take(), list.toWait(history.signalsRead(), history.size()));
    return new Waiting(false, List.of(), ends, outcome, 0);
  }

  /** Has the timers written that are due; true if some are, or are being written. */
  private boolean fireDue(Awaited awaited, long now) {
    List<TimerPromise> due = new ArrayList<>();
    for (TimerPromise timer : awaited.timers()) {
      if (timer.position(history) == History.NONE && timer.dueAt() <= now) {
        due.add(timer);
      }
    }
    due.sort(TimerPromise.BY_TIME);
    for (TimerPromise timer : due) {
      if (timer.fire()) {
        outbox.add(new HistoryEntry.TimerFired(now, timer.call()));
        outbox.want();
      }
    }
    send();
    return !due.isEmpty();
  }
}
