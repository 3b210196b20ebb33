package dev.carillon.engine;

import dev.carillon.api.FailurePolicy;
import dev.carillon.store.Outcome;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
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
final class Lending {
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

  /** For how long what a borrower would have counts; then its beat says. */
  private static final long WINDOW_NANOS = 2_000_000_000L;

  /** How soon the wait for handlers of a dead node is looked at again. */
  private static final long OVER_NANOS = 1_000_000_000;

  private final NodeEnvironment env;
  private final Timers timers;
  private final Wire wire;
  private final HandlerLists handlers;
  private final Host host;
  private final Map<Long, Borrower> borrowers = new LinkedHashMap<>();
  private final Map<Long, Attempt> out = new LinkedHashMap<>();
  private long fullSinceNanos;
  private boolean full;
  private long nextPassNanos;
  private long sampledNanos;
  private long sampledStarts;
  private long startsASecond;
  private Timers.@Nullable Timer check;
  private long lentTotal;

  /** The node, as far as lending needs it. */
  interface Host {
    /** The node has no slot, and jobs wait for one. */
    boolean isFull();

    /** How many attempts this node has started itself. */
    long starts();

    /** Lends what waits, as much as others have room for, but for so many. */
    void lendWaiting(long reserve);

    /** Others have room for jobs of types that this node has no handler for. */
    void offerBlocked();

    /** Whether this node has a handler for the attempt's job. */
    boolean hasHandler(Attempt attempt);

    /** An attempt went so. */
    void finished(Attempt attempt, AttemptOutcome outcome);

    /** The time of an attempt is over; its handler has not returned. */
    void ranOut(Attempt attempt, AttemptOutcome.@Nullable Verdict verdict);

    /**
     * Writes down that the handler is about to be called; {@code then} runs when that is durable,
     * {@code not} where it is not to be called any more.
     */
    void mark(Attempt attempt, Runnable then, Runnable not);

    /** The attempt has run for so long that its job does not kill its node. */
    void lasted(Attempt attempt);

    void save(Attempt attempt, byte[] state, Consumer<Outcome<Boolean>> answer);

    /** No transaction of that node completes anything any more; {@code then} runs when it is so. */
    void revoke(long borrower, Runnable then);

    /** Whether that node stopped in order: nothing that it ran has killed it. */
    boolean stoppedInOrder(long incarnation);

    /** Whether nothing can run any more of what that node ran. */
    boolean isOver(long incarnation);

    /** This node's era, by its beat. */
    long era();
  }

  private static final class Borrower {
    final long incarnation;

    /** In which it is, or is about to be, by its last beat. */
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

  Lending(NodeEnvironment env, Timers timers, Wire wire, HandlerLists handlers, Host host) {
    this.env = env;
    this.timers = timers;
    this.wire = wire;
    this.handlers = handlers;
    this.host = host;
  }

  /** Attempts that others run for this node. */
  int out() {
    return out.size();
  }

  /** How many attempts this node has lent since it started. */
  long lentTotal() {
    return lentTotal;
  }

  // ---- to whom

  /** Who is there now, without this node. */
  void saw(List<Member> members) {
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
    host.offerBlocked();
  }

  /** Who could run another attempt of the type; 0 for nobody. */
  long borrowerFor(String type) {
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

  /** How many more attempts others would have. */
  int room() {
    long now = env.monotonicNanos();
    int room = 0;
    for (Borrower each : borrowers.values()) {
      room += each.room(now);
    }
    return room;
  }

  /** Lends what this node could run itself, if it has not got round to it for a while. */
  void turn() {
    if (borrowers.isEmpty()) {
      return;
    }
    long now = env.monotonicNanos();
    if (!host.isFull()) {
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
      host.lendWaiting(startsASecond * KEPT_NANOS / SAMPLE_NANOS);
    }
  }

  /** How many attempts this node starts itself, of those that wait for a slot. */
  private void measure(long now) {
    long elapsed = now - sampledNanos;
    if (elapsed >= FULL_NANOS) {
      startsASecond = (host.starts() - sampledStarts) * SAMPLE_NANOS / elapsed;
    }
    if (elapsed >= SAMPLE_NANOS) {
      sample(now);
    }
  }

  private void sample(long now) {
    sampledNanos = now;
    sampledStarts = host.starts();
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
  void lend(Attempt attempt) {
    long era = host.era();
    Borrower borrower = borrowers.get(attempt.lentTo);
    if (borrower == null || borrower.lost) {
      host.finished(attempt, new AttemptOutcome.Interrupted());
      return;
    }
    borrower.out++;
    borrower.sinceFree++;
    out.put(attempt.nonce(), attempt);
    checkLater();
    lentTotal++;
    env.metrics().count("attempts.lent", 1);
    wire.send(attempt.lentTo, Message.encode(new Message.Lend(era, borrower.era, attempt.loan())));
  }

  /** The attempt is asked to save and return, or to stop. */
  void recall(Attempt attempt, boolean now) {
    Message.Recall.Why why = Message.Recall.Why.PAUSE;
    if (now) {
      boolean cancelled = attempt.stopCause == Attempt.StopCause.CANCEL;
      why = cancelled ? Message.Recall.Why.CANCEL : Message.Recall.Why.BACK;
    }
    if (out.containsKey(attempt.nonce())) {
      wire.send(attempt.lentTo, Message.encode(new Message.Recall(attempt.nonce(), why)));
    }
  }

  /** A borrower says something; false where it is not for a lender. */
  boolean heard(long from, Message message) {
    switch (message) {
      case Message.Window(int most) -> {
        Borrower borrower = borrowers.get(from);
        if (borrower != null) {
          borrower.window = most;
          borrower.windowNanos = env.monotonicNanos();
          host.offerBlocked();
        }
      }
      case Message.Done done -> done(from, done);
      case Message.OutOfTime late -> {
        Attempt attempt = lentTo(from, late.nonce());
        if (attempt != null) {
          ran(attempt, late.startedMicros(), 0, late.completes(), late.policy());
          host.ranOut(attempt, late.verdict());
        }
      }
      case Message.Save(long nonce, byte[] state) -> save(from, nonce, state);
      case Message.Ready(long nonce) -> ready(from, nonce);
      case Message.Lasted(long nonce) -> {
        Attempt attempt = lentTo(from, nonce);
        if (attempt != null) {
          host.lasted(attempt);
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
      host.mark(
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
      host.save(attempt, state, answer);
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
    if (outcome instanceof AttemptOutcome.Undecodable && host.hasHandler(attempt)) {
      attempt.job().mark(true); // this node's handler may be a newer one: it is not lent again
      outcome = new AttemptOutcome.Interrupted();
    }
    host.finished(attempt, outcome);
    host.offerBlocked();
  }

  private void back(Attempt attempt) {
    out.remove(attempt.nonce());
    Borrower borrower = borrowers.get(attempt.lentTo);
    if (borrower != null) {
      borrower.out--;
    }
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
    borrower.died = !host.stoppedInOrder(borrower.incarnation);
    if (borrower.out == 0) {
      forget(borrower);
      return;
    }
    wire.afterHearing(
        () ->
            host.revoke(
                borrower.incarnation,
                () -> {
                  wire.send(borrower.incarnation, Message.encode(new Message.Revoked()));
                  takeBack(borrower);
                }));
  }

  private void takeBack(Borrower borrower) {
    boolean over = host.isOver(borrower.incarnation);
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
      host.finished(attempt, new AttemptOutcome.Interrupted());
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
