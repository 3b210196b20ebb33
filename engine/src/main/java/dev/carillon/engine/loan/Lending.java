package dev.carillon.engine.loan;

import dev.carillon.api.FailurePolicy;
import dev.carillon.engine.attempt.Attempt;
import dev.carillon.engine.attempt.Attempts;
import dev.carillon.engine.commit.Basics;
import dev.carillon.engine.dispatch.Dispatcher;
import dev.carillon.engine.environment.AttemptOutcome;
import dev.carillon.engine.environment.NodeEnvironment;
import dev.carillon.engine.environment.Timers;
import dev.carillon.engine.format.DamagedException;
import dev.carillon.engine.format.UnknownFormatException;
import dev.carillon.engine.job.HistoryEntry;
import dev.carillon.engine.job.PolicyFormat;
import dev.carillon.engine.job.Report;
import dev.carillon.engine.job.WorkflowTurn;
import dev.carillon.engine.life.Checkpoints;
import dev.carillon.engine.life.JobLife;
import dev.carillon.engine.life.ProgressReports;
import dev.carillon.engine.member.Member;
import dev.carillon.engine.member.MemberStatus;
import dev.carillon.engine.message.Message;
import dev.carillon.engine.message.Wire;
import dev.carillon.store.Outcome;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The attempts of this node's jobs that others run: those for which it has no handler, and those
 * that it has no slot for while another node has. A lent attempt is this node's own in all but
 * where its handler runs: it holds its limits here, and its outcome is written here.
 *
 * <p>A job that may have killed a node is lent only where this one has no handler for it: its start
 * is written down first, when the borrower has a slot for it. Nothing of a loan is in a journal, so
 * it means to the next owner of the shard what an attempt on this node would: it is made again.
 *
 * <table>
 * <caption>what if</caption>
 * <tr><td>the borrower dies</td><td>what it said before is heard first; the rest was not made, and
 * those jobs are suspected: they are started here, with a marker</td></tr>
 * <tr><td>the borrower is paused and comes back</td><td>whatever it says of them is refused: their
 * nonces are not out any more. It cannot complete them in a transaction either: its permit is
 * deleted before they go on</td></tr>
 * <tr><td>this node dies, is fenced or loses the shard</td><td>the borrower stops them; their
 * outcomes are nobody's</td></tr>
 * <tr><td>the loan, or the outcome, is not written</td><td>the {@link Wire} writes it again while
 * both live</td></tr>
 * </table>
 */
public final class Lending {
  /** How long this node must have had no slot before it lends what it could run itself. */
  private static final long FULL_NANOS = 100_000_000;

  /** How often it lends such. */
  private static final long PASS_NANOS = 10_000_000;

  /** How often it is looked how many attempts this node starts itself. */
  private static final long SAMPLE_NANOS = 1_000_000_000;

  /** What this node starts itself within that time is not lent. */
  private static final long KEPT_NANOS = 250_000_000;

  /** After so long a borrower is asked whether it still has an attempt. */
  private static final long CHECK_NANOS = 10_000_000_000L;

  /** What one node lends to another before it has said how much it would have. */
  private static final int MOST_AT_FIRST = 256;

  /** For how long what a borrower would have counts; then its heartbeat says. */
  private static final long WINDOW_NANOS = 2_000_000_000L;

  /** How soon a borrower that did not answer a recall is recalled again. */
  private static final long RECALL_NANOS = 1_000_000_000;

  /** How soon the wait for handlers of a dead node is looked at again. */
  private static final long OVER_NANOS = 1_000_000_000;

  private final NodeEnvironment env;
  private final Timers timers;
  private final Wire wire;
  private final HandlerLists handlers;
  private final MemberStatus status;
  private final Permits permits;
  private final Dispatcher dispatcher;
  private final Attempts attempts;
  private final JobLife life;
  private final Checkpoints checkpoints;
  private final ProgressReports reports;
  private @Nullable Turns turns;
  private final Map<Long, Borrower> borrowers = new LinkedHashMap<>();
  private final Map<Long, Attempt> out = new LinkedHashMap<>();

  /** What waits until a borrower has heard that it is to stop. */
  private final Map<Long, List<Runnable>> recalls = new LinkedHashMap<>();

  private long fullSinceNanos;
  private boolean full;
  private long nextPassNanos;
  private long sampledNanos;
  private long sampledStarts;
  private long startsASecond;
  private Timers.@Nullable Timer check;
  private long lentTotal;

  /** Writes what the code of workflows did; rooms below this one do. */
  public interface Turns {
    /** {@code answer} hears true once it is durable. */
    void checkpoint(Attempt attempt, WorkflowTurn turn, Consumer<Outcome<Boolean>> answer);
  }

  /** From now on {@code writer} writes what the code of lent workflows did. */
  public void turns(Turns writer) {
    turns = writer;
  }

  /** The parts of a node that lend an attempt and take it back. */
  public record Parts(
      MemberStatus status,
      Wire wire,
      HandlerLists handlers,
      Permits permits,
      Dispatcher dispatcher,
      Attempts attempts,
      JobLife life,
      Checkpoints checkpoints,
      ProgressReports reports) {}

  private static final class Borrower {
    final long incarnation;

    /** In which it is, or is about to be, by its last heartbeat. */
    long era;

    int free;

    /** How many it has got since it said that. */
    int sinceFree;

    boolean takes;
    int window;
    long windowNanos;
    int out;
    boolean lost;

    /** Whether it was lost without a word: who is forgotten later seems to have said one. */
    boolean died;

    Borrower(long incarnation) {
      this.incarnation = incarnation;
    }

    int room(long nowNanos) {
      boolean told = nowNanos - windowNanos < WINDOW_NANOS && windowNanos != 0;
      int room = told ? window - out : Math.min(free, MOST_AT_FIRST) - sinceFree;
      return lost || !takes ? 0 : Math.max(0, room);
    }
  }

  public Lending(Basics basics, Parts parts) {
    this.env = basics.env();
    this.timers = basics.timers();
    this.status = parts.status();
    this.wire = parts.wire();
    this.handlers = parts.handlers();
    this.permits = parts.permits();
    this.dispatcher = parts.dispatcher();
    this.attempts = parts.attempts();
    this.life = parts.life();
    this.checkpoints = parts.checkpoints();
    this.reports = parts.reports();
  }

  /** Attempts that others run for this node. */
  public int out() {
    return out.size();
  }

  /** How many attempts this node has lent since it started. */
  public long lentTotal() {
    return lentTotal;
  }

  // ---- to whom

  /** Who is there now, without this node. */
  public void saw(List<Member> members) {
    Map<Long, Member> there = new LinkedHashMap<>();
    members.forEach(member -> there.put(member.incarnation(), member));
    for (Member member : members) {
      Borrower known = borrowers.get(member.incarnation());
      if (known == null && member.takesShards()) {
        known = new Borrower(member.incarnation());
        borrowers.put(member.incarnation(), known);
      }
      if (known != null) {
        known.takes = member.takesShards();
        known.era = member.said().era() | 1;
        known.free = member.said().free();
        known.sinceFree = 0;
      }
    }
    for (Borrower known : List.copyOf(borrowers.values())) {
      if (!there.containsKey(known.incarnation) && !known.lost) {
        lose(known);
      }
    }
    offerBlocked();
  }

  /** Who could run another attempt of the type; 0 for nobody. */
  public long borrowerFor(String type) {
    long now = env.monotonicNanos();
    Borrower best = null;
    for (Borrower each : borrowers.values()) {
      if (each.room(now) > (best == null ? 0 : best.room(now))
          && handlers.has(each.incarnation, type)) {
        best = each;
      }
    }
    return best == null ? 0 : best.incarnation;
  }

  /** Whether anybody could run another attempt of the type. */
  public boolean mayHaveRoom(String type) {
    return borrowerFor(type) != 0;
  }

  /** How many more attempts others would have. */
  int room() {
    long now = env.monotonicNanos();
    int room = 0;
    for (Borrower each : borrowers.values()) {
      room += each.room(now);
    }
    return room;
  }

  /** Lists of another node's handlers have become known. */
  public void learnt(Set<String> types) {
    life.offerUndecodable(types);
    offerBlocked();
  }

  private void offerBlocked() {
    int room = room();
    if (room > 0) {
      life.offerBlocked(room);
    }
  }

  /** Lends what this node could run itself, if it has not got round to it for a while. */
  public void turn() {
    if (borrowers.isEmpty()) {
      return;
    }
    long now = env.monotonicNanos();
    if (!dispatcher.isFull() || !attempts.starts.mayStart()) {
      full = false;
      return;
    }
    if (!full) {
      full = true;
      fullSinceNanos = now;
      sample(now);
      nextPassNanos = now + FULL_NANOS;
      timers.at(nextPassNanos, () -> {});
    }
    if (now - nextPassNanos >= 0 && now - fullSinceNanos >= FULL_NANOS && room() > 0) {
      nextPassNanos = now + PASS_NANOS;
      timers.at(nextPassNanos, () -> {});
      measure(now);
      long soon = startsASecond * KEPT_NANOS / SAMPLE_NANOS;
      dispatcher.lendWaiting(room(), Math.min(soon, 2L * dispatcher.node().limit()));
    }
  }

  /** How many attempts this node starts itself, of those that wait for a slot. */
  private void measure(long now) {
    long elapsed = now - sampledNanos;
    if (elapsed >= FULL_NANOS) {
      startsASecond = (dispatcher.starts() - sampledStarts) * SAMPLE_NANOS / elapsed;
    }
    if (elapsed >= SAMPLE_NANOS) {
      sample(now);
    }
  }

  private void sample(long now) {
    sampledNanos = now;
    sampledStarts = dispatcher.starts();
  }

  /** What is long out is asked for: a word that was lost must not keep a job for ever. */
  private void checkLater() {
    if (check == null || check.isOver()) {
      check = timers.at(env.monotonicNanos() + CHECK_NANOS, this::check);
    }
  }

  private void check() {
    Map<Long, List<Long>> old = new LinkedHashMap<>();
    long before = env.monotonicNanos() - CHECK_NANOS;
    for (Attempt attempt : out.values()) {
      if (attempt.startedNanos - before <= 0) {
        old.computeIfAbsent(attempt.lentTo, b -> new ArrayList<>()).add(attempt.nonce());
      }
    }
    old.forEach((to, nonces) -> wire.send(to, Message.encode(new Message.Check(nonces))));
    if (!out.isEmpty()) {
      checkLater();
    }
  }

  // ---- back and forth

  /** The attempt's handler is to be called by the node that it is lent to. */
  public void lend(Attempt attempt) {
    long era = status.era();
    Borrower borrower = borrowers.get(attempt.lentTo);
    if (borrower == null || borrower.lost) {
      attempts.finished(attempt, new AttemptOutcome.Interrupted());
      return;
    }
    attempt.ofWorkflow |= handlers.isWorkflow(attempt.lentTo, attempt.type());
    borrower.out++;
    borrower.sinceFree++;
    out.put(attempt.nonce(), attempt);
    checkLater();
    lentTotal++;
    env.metrics().count("attempts.lent", 1);
    wire.send(attempt.lentTo, Message.encode(new Message.Lend(era, borrower.era, attempt.loan())));
  }

  /** The attempt is asked to save and return, or to stop. */
  public void recall(Attempt attempt, boolean now) {
    Message.Recall.Why why = Message.Recall.Why.PAUSE;
    if (now) {
      boolean cancelled = attempt.stopCause == Attempt.StopCause.CANCEL;
      why = cancelled ? Message.Recall.Why.CANCEL : Message.Recall.Why.BACK;
    }
    if (out.containsKey(attempt.nonce())) {
      wire.send(attempt.lentTo, Message.encode(new Message.Recall(attempt.nonce(), why)));
    }
  }

  /** Does {@code then} once the handler knows of a recall, or cannot do anything any more. */
  public void recalled(Attempt attempt, boolean now, Runnable then) {
    if (!out.containsKey(attempt.nonce())) {
      then.run();
      return;
    }
    List<Runnable> waiting = recalls.computeIfAbsent(attempt.nonce(), n -> new ArrayList<>(1));
    waiting.add(then);
    if (waiting.size() == 1) {
      recallAgain(attempt, now);
    }
  }

  /** A word that was lost is said again. */
  private void recallAgain(Attempt attempt, boolean now) {
    if (recalls.containsKey(attempt.nonce())) {
      recall(attempt, now);
      timers.at(env.monotonicNanos() + RECALL_NANOS, () -> recallAgain(attempt, now));
    }
  }

  private void recalled(long nonce) {
    List<Runnable> waiting = recalls.remove(nonce);
    if (waiting != null) {
      waiting.forEach(Runnable::run);
    }
  }

  /** A borrower says something; false where it is not for a lender. */
  public boolean heard(long from, Message message) {
    switch (message) {
      case Message.Window(int most) -> {
        Borrower borrower = borrowers.get(from);
        if (borrower != null) {
          borrower.window = most;
          borrower.windowNanos = env.monotonicNanos();
          offerBlocked();
        }
      }
      case Message.Done done -> done(from, done);
      case Message.OutOfTime late -> {
        Attempt attempt = lentTo(from, late.nonce());
        if (attempt != null) {
          ran(attempt, late.startedMicros(), 0, late.completes(), late.policy());
          attempts.stops.ranOutElsewhere(attempt, late.verdict());
        }
      }
      case Message.Save(long nonce, byte[] state) -> save(from, nonce, state);
      case Message.Reported(long nonce, Report report) -> {
        Attempt attempt = lentTo(from, nonce);
        if (attempt != null) {
          reports.report(attempt, () -> report);
        }
      }
      case Message.Turn(long nonce, WorkflowTurn turn) -> turn(from, nonce, turn);
      case Message.Recalled(long nonce) -> {
        if (lentTo(from, nonce) != null) {
          recalled(nonce);
        }
      }
      case Message.Ready(long nonce) -> ready(from, nonce);
      case Message.Lasted(long nonce) -> {
        Attempt attempt = lentTo(from, nonce);
        if (attempt != null) {
          attempts.starts.lasted(attempt);
        }
      }
      default -> {
        return false;
      }
    }
    return true;
  }

  private @Nullable Attempt lentTo(long borrower, long nonce) {
    Attempt attempt = out.get(nonce);
    return attempt != null && attempt.lentTo == borrower ? attempt : null;
  }

  /** Its start is written down before its handler is called: it may have killed a node before. */
  private void ready(long from, long nonce) {
    Attempt attempt = lentTo(from, nonce);
    Borrower borrower = borrowers.get(from);
    if (attempt != null && borrower != null && !borrower.lost) {
      attempts.starts.markLent(
          attempt,
          () -> wire.send(from, Message.encode(new Message.Go(nonce))),
          () -> recall(attempt, true));
    }
  }

  private void save(long from, long nonce, byte[] state) {
    Consumer<Outcome<Boolean>> answer =
        outcome -> wire.send(from, Message.encode(new Message.Saved(nonce, outcome)));
    Attempt attempt = lentTo(from, nonce);
    if (attempt == null) {
      answer.accept(Outcome.ok(false));
    } else {
      checkpoints.save(attempt, state, answer);
    }
  }

  /** The code of a workflow did something: it is written here, and the entries told back. */
  private void turn(long from, long nonce, WorkflowTurn turn) {
    Consumer<Outcome<Boolean>> answer =
        outcome -> wire.send(from, Message.encode(new Message.Turned(nonce, outcome)));
    Attempt attempt = lentTo(from, nonce);
    Turns writer = turns;
    if (attempt == null || writer == null) {
      answer.accept(Outcome.ok(false));
    } else {
      writer.checkpoint(attempt, turn, answer);
    }
  }

  /** The history of a lent workflow has an entry more: its code there is told, in order. */
  public void recorded(Attempt attempt, int count, HistoryEntry entry) {
    if (out.containsKey(attempt.nonce())) {
      Message told = new Message.Recorded(attempt.nonce(), count, entry);
      wire.send(attempt.lentTo, Message.encode(told));
    }
  }

  private void done(long from, Message.Done done) {
    Attempt attempt = lentTo(from, done.nonce());
    if (attempt == null) {
      env.metrics().count("attempts.stale", 1);
      return;
    }
    back(attempt);
    ran(attempt, done.startedMicros(), done.endedMicros(), done.completes(), done.policy());
    if (done.startedMicros() == 0 && env.hasTransactions()) {
      attempt.mayBeCompleted(); // where its end was told and the word lost
    }
    AttemptOutcome outcome = done.outcome();
    if (outcome instanceof AttemptOutcome.Undecodable
        && dispatcher.handler(attempt.type()).registered) {
      attempt.job().mark(true); // this node's handler may be a newer one: it is not lent again
      outcome = new AttemptOutcome.Interrupted();
    }
    attempts.finished(attempt, outcome);
    offerBlocked();
  }

  private void back(Attempt attempt) {
    out.remove(attempt.nonce());
    Borrower borrower = borrowers.get(attempt.lentTo);
    if (borrower != null) {
      borrower.out--;
    }
    recalled(attempt.nonce());
  }

  private static void ran(
      Attempt attempt, long started, long ended, boolean completes, byte[] policy) {
    FailurePolicy by;
    try {
      by = PolicyFormat.decode(policy);
    } catch (UnknownFormatException | DamagedException e) {
      by = attempt.policy(); // a later version's, or in a time zone that is not known here
    }
    attempt.ranElsewhere(started, ended, by);
    if (completes) {
      attempt.mayBeCompleted();
    }
  }

  // ---- those who die

  /** What it said before is heard, then nothing that it says counts. */
  private void lose(Borrower borrower) {
    borrower.lost = true;
    borrower.died = !status.stoppedInOrder(borrower.incarnation);
    if (borrower.out == 0) {
      forget(borrower);
      return;
    }
    wire.afterHearing(
        () ->
            permits.revoke(
                borrower.incarnation,
                () -> {
                  wire.send(borrower.incarnation, Message.encode(new Message.Revoked()));
                  takeBack(borrower);
                }));
  }

  private void takeBack(Borrower borrower) {
    boolean over = status.isOver(borrower.incarnation);
    List<Attempt> back = new ArrayList<>();
    for (Attempt attempt : out.values()) {
      // What it holds of a limit is held until nothing can run any more there.
      if (attempt.lentTo == borrower.incarnation && (over || !attempt.grant().isLimited())) {
        back.add(attempt);
      }
    }
    for (Attempt attempt : back) {
      back(attempt);
      if (borrower.died) {
        attempt.job().mark(true);
        attempt.lost = true;
      }
      if (env.hasTransactions()) {
        attempt.mayBeCompleted();
      }
      env.metrics().count("attempts.lent.lost", 1);
      attempts.finished(attempt, new AttemptOutcome.Interrupted());
    }
    if (borrower.out > 0) {
      timers.at(env.monotonicNanos() + OVER_NANOS, () -> takeBack(borrower));
    } else {
      forget(borrower);
    }
  }

  private void forget(Borrower borrower) {
    borrowers.remove(borrower.incarnation);
  }
}
