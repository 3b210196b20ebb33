package dev.carillon.engine.worker;

import dev.carillon.api.AttemptToken;
import dev.carillon.api.FailurePolicy;
import dev.carillon.engine.attempt.Attempt;
import dev.carillon.engine.attempt.Attempts;
import dev.carillon.engine.attempt.Elsewhere;
import dev.carillon.engine.attempt.WorkerRun;
import dev.carillon.engine.commit.Basics;
import dev.carillon.engine.dispatch.Dispatcher;
import dev.carillon.engine.environment.AttemptOutcome;
import dev.carillon.engine.environment.NodeEnvironment;
import dev.carillon.engine.environment.Timers;
import dev.carillon.engine.job.JobRef;
import dev.carillon.engine.job.Report;
import dev.carillon.engine.life.Checkpoints;
import dev.carillon.engine.life.JobLife;
import dev.carillon.engine.life.ProgressReports;
import dev.carillon.engine.member.Member;
import dev.carillon.engine.member.MemberStatus;
import dev.carillon.engine.message.Wire;
import dev.carillon.engine.shard.NodeJob;
import dev.carillon.engine.shard.Shard;
import dev.carillon.engine.shard.Shards;
import dev.carillon.store.Outcome;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The workers that are connected to this node, and the attempts of its jobs that workers run. A
 * gateway calls it on the loop, and brings to the workers what their {@link WorkerStream} is told.
 *
 * <p>Crash table:
 *
 * <table>
 * <caption>what if</caption>
 * <tr><td>the worker dies</td><td>what it had not accepted within five seconds was not made; what
 * it had counts as an attempt once it was silent for five seconds, or for its lease</td></tr>
 * <tr><td>this node dies or loses the shard</td><td>the next owner adopts what is leased, and the
 * worker resumes by its token; the rest is made again</td></tr>
 * <tr><td>this node is fenced</td><td>it answers no beat, asks for what is not leased, and leaves
 * the rest to the leases</td></tr>
 * <tr><td>the connection breaks</td><td>the worker resumes at any node that owns the job</td></tr>
 * <tr><td>an answer is lost</td><td>the worker says its outcome again; the nonce decides</td></tr>
 * <tr><td>the worker stands still beyond its lease and goes on</td><td>its nonce is not out any
 * more: what it says is stale</td></tr>
 * </table>
 */
public final class Workers implements Elsewhere.ToWorkers {
  private static final long SWEEP_NANOS = 250_000_000;

  private static final long LEND_NANOS = 10_000_000;

  /** So many attempts workers may have, with those whose outcome is not durable. */
  private static final int MOST_OUT = 20_000;

  private static final int TYPES_A_TURN = 16;

  private final NodeEnvironment env;
  private final Timers timers;
  private final MemberStatus status;
  private final Shards shards;
  private final Dispatcher dispatcher;
  private final Attempts attempts;
  private final JobLife life;
  private final Checkpoints checkpoints;
  private final ProgressReports reports;
  private final WorkerLinks links;
  private final WorkerTargets targets;
  private final WorkerRelay relay;
  private final FarWorkers far;
  private final OutAttempts out;
  private Timers.@Nullable Timer sweep;
  private boolean offers;
  private boolean stopping;
  private long nextLendNanos;
  private long nextAskNanos;

  /** The parts of a node that give attempts to workers and take their outcomes. */
  public record Parts(
      MemberStatus status,
      Wire wire,
      Shards shards,
      Dispatcher dispatcher,
      Attempts attempts,
      JobLife life,
      Checkpoints checkpoints,
      ProgressReports reports) {}

  public Workers(Basics basics, Parts parts) {
    this.env = basics.env();
    this.timers = basics.timers();
    this.status = parts.status();
    this.shards = parts.shards();
    this.dispatcher = parts.dispatcher();
    this.attempts = parts.attempts();
    this.life = parts.life();
    this.checkpoints = parts.checkpoints();
    this.reports = parts.reports();
    this.links = new WorkerLinks(env);
    this.out = new OutAttempts(basics, status, shards, attempts, this::left);
    this.targets = links.targets();
    this.relay = new WorkerRelay(env, timers, status, parts.wire(), links);
    this.far = new FarWorkers(env, status, parts.wire(), new Far());
  }

  /** Workers may be connected to nodes of this store: to be said before the node starts. */
  public void expect() {
    dispatcher.expectAdopted();
  }

  /** Attempts of this node's jobs that workers have. */
  public int out() {
    return out.size();
  }

  /** Workers that are connected. */
  public int connected() {
    return links.own().size();
  }

  /** The workers that are connected, and what each has of this node's jobs. */
  public List<WorkerLook> look() {
    List<WorkerLook> looks = new ArrayList<>();
    for (WorkerLink link : links.own()) {
      long silent = now() - link.heardNanos(now());
      looks.add(new WorkerLook(link.hello, link.room(), link.draining, silent, runs(link)));
    }
    return looks;
  }

  private List<WorkerLook.Run> runs(WorkerLink link) {
    List<WorkerLook.Run> runs = relay.runs(link);
    for (OutAttempt each : out.all()) {
      Attempt attempt = each.attempt;
      if (each.link() == link && !attempt.hasReturned()) {
        runs.add(
            new WorkerLook.Run(
                attempt.token(),
                attempt.type(),
                attempt.startedMicros(),
                each.run.accepted,
                attempt.isLeased()));
      }
    }
    return runs;
  }

  // ---- connections

  /** A worker says hello; what it has of this node's attempts it says by {@link #resume}. */
  public long connect(WorkerHello hello, WorkerStream stream) {
    for (WorkerLink other : links.own()) {
      if (other.hello.worker().equals(hello.worker())) {
        gone(other.id); // it has not heard of that yet
        other.stream.close("the worker has another connection");
      }
    }
    WorkerLink link = came(hello, stream, 0);
    env.metrics().count("workers.connected", 1);
    relay.came(link);
    if (stopping) {
      stream.drain();
    }
    return link.id;
  }

  private WorkerLink came(WorkerHello hello, WorkerStream stream, long gateway) {
    WorkerLink link = links.add(hello, stream, gateway);
    life.workersCame(WorkerTargets.taken(link, dispatcher.typesWithoutHandler()));
    sweepLater();
    return link;
  }

  /**
   * The worker could run so many more.
   *
   * @param lastSeen the number of the last attempt that it knew of when it said so
   */
  public void free(long link, int slots, long lastSeen) {
    WorkerLink of = links.heard(link);
    if (of != null) {
      links.change(of, () -> of.free(slots, lastSeen));
      relay.seen(of);
      offers |= of.room() > 0;
    }
  }

  /** The worker takes nothing more. */
  public void drain(long link) {
    WorkerLink of = links.heard(link);
    if (of != null) {
      links.change(of, () -> of.draining = true);
    }
  }

  /** The worker is there. Answered only while nobody can have taken this node for dead. */
  public void beat(long link, long number) {
    WorkerLink of = links.heard(link);
    if (of != null && status.isSure()) {
      relay.beat(of);
      of.stream.beat(number);
    }
  }

  /** The connection has ended; what the worker has goes on by its lease. */
  public void gone(long link) {
    WorkerLink of = links.known(link);
    if (of != null && !of.gone) {
      relay.went(of);
      went(of);
    }
  }

  private void went(WorkerLink link) {
    long heard = link.heardNanos(now());
    links.gone(link);
    for (OutAttempt each : out.all()) {
      out.leaves(each, link, heard);
    }
    sweepLater();
  }

  // ---- other nodes

  /** Another node says something of workers. */
  public void heard(long from, byte[] bytes) {
    RelayWord word = RelayWord.decode(bytes);
    if (!far.heard(from, word)) {
      relay.heard(from, word);
    }
  }

  /** Who is there now. */
  public void saw(List<Member> members) {
    relay.saw(members);
    far.saw(members);
  }

  /** Others may have taken this node for dead. */
  public void fenced() {
    relay.fenced();
  }

  /** The store is another copy: what was said is nobody's. */
  public void exchanged() {
    relay.exchanged();
    far.exchanged();
  }

  /** Whether other nodes are about to say something of workers. */
  public boolean expectsMessages() {
    return relay.isBusy() || (!far.isEmpty() && (!out.isEmpty() || dispatcher.anyForWorkers()));
  }

  private final class Far implements FarWorkers.Host {
    @Override
    public WorkerLink came(WorkerHello hello, WorkerStream stream, long gateway) {
      return Workers.this.came(hello, stream, gateway);
    }

    @Override
    public void went(WorkerLink link) {
      Workers.this.went(link);
    }

    @Override
    public void said(WorkerLink link, RelayWord word) {
      switch (word) {
        case RelayWord.Free free -> Workers.this.free(link.id, free.slots(), free.seen());
        case RelayWord.Accepted(long at, AttemptToken token) -> accepted(link.id, token);
        case RelayWord.Resume(long at, List<AttemptToken> tokens) -> resume(link.id, tokens);
        case RelayWord.Ended(long at, AttemptToken token, AttemptOutcome outcome) ->
            outcome(link.id, token, outcome);
        case RelayWord.Save save ->
            Workers.this.save(
                link.id,
                save.token(),
                save.state(),
                outcome -> FarWorkers.saved(link, save.request(), outcome));
        case RelayWord.Reported reported -> {
          Report report = reported.report();
          Workers.this.report(link.id, reported.token(), () -> report);
        }
        case RelayWord.Withdrawn(long at, AttemptToken token) -> {
          OutAttempt each = out.find(link, token);
          if (each != null) {
            out.leaves(each, link, link.heardNanos(now()));
          }
        }
        default -> throw new IllegalStateException("word of a gateway: " + word);
      }
    }
  }

  // ---- what workers say of attempts

  /** The worker has the attempt. */
  public void accepted(long link, AttemptToken token) {
    WorkerLink of = links.heard(link);
    OutAttempt each = of != null ? out.find(of, token) : null;
    if (each != null && each.link() == of) {
      each.run.accepted = true;
      out.leaseIfLeaving(each);
    } else if (of != null && each == null) {
      relay.accepted(of, token);
    }
  }

  /** The worker still has these attempts, which it may have had from another node. */
  public void resume(long link, List<AttemptToken> tokens) {
    WorkerLink of = links.heard(link);
    if (of == null) {
      return;
    }
    List<AttemptToken> others = new ArrayList<>();
    for (AttemptToken token : tokens) {
      OutAttempt each = out.find(of, token);
      if (each == null) {
        if (!isStale(of, token) && !relay.has(of, token)) {
          others.add(token);
        }
        continue;
      }
      out.attach(each, of);
      Attempt attempt = each.attempt;
      if (each.renewing().contains(of) && status.isSure()) {
        of.stream.known(token);
        if (attempt.isLeased() && !attempt.over) {
          of.stream.leased(token, each.run.lengthMicros);
        }
      }
      if (attempt.over || attempt.stopCause != null) {
        of.stream.stop(token, OutAttempts.stopCause(attempt));
      }
    }
    relay.resume(of, others);
  }

  /** The worker says how it went; what it hears then is settled or stale, if this node knows. */
  public void outcome(long link, AttemptToken token, AttemptOutcome outcome) {
    WorkerLink of = links.heard(link);
    if (of == null) {
      return;
    }
    OutAttempt each = out.find(of, token);
    if (each == null) {
      if (relay.has(of, token)) {
        relay.ended(of, token, outcome);
      } else if (!isStale(of, token)) {
        relay.resume(of, List.of(token)); // its owner says that it is, and hears it then
      }
      return;
    }
    out.attach(each, of);
    boolean first = !each.attempt.hasReturned(); // else it is on its way to the journal
    if (first && !attempts.finished(each.attempt, outcome)) {
      of.stream.told(token, WorkerStream.Word.STALE);
      return;
    }
    each.saidOutcome = true;
    if (each.run.hasLeft()) {
      OutAttempts.answer(each, of);
    }
  }

  /** The worker has not begun it, and does not want to. */
  public void refuse(long link, AttemptToken token) {
    outcome(link, token, new AttemptOutcome.Interrupted());
  }

  /** Keeps the resume position of an attempt; {@code answer} as of {@link Checkpoints#save}. */
  public void save(long link, AttemptToken token, byte[] state, Consumer<Outcome<Boolean>> answer) {
    WorkerLink of = links.heard(link);
    OutAttempt each = of != null ? out.find(of, token) : null;
    if (of != null && each == null && relay.has(of, token)) {
      relay.save(of, token, state, answer);
    } else if (each == null || each.attempt.hasReturned()) {
      answer.accept(Outcome.ok(false));
    } else {
      checkpoints.save(each.attempt, state, answer);
    }
  }

  /** The attempt reports of its job. */
  public void report(long link, AttemptToken token, Report.Source source) {
    WorkerLink of = links.heard(link);
    OutAttempt each = of != null ? out.find(of, token) : null;
    if (of != null && each == null) {
      relay.report(of, token, source);
    } else if (each != null && !each.attempt.over) {
      reports.report(each.attempt, source);
    }
  }

  /** By which failures of the attempt are judged; null where the worker does not have it. */
  public @Nullable FailurePolicy policy(long link, AttemptToken token) {
    WorkerLink of = links.known(link);
    OutAttempt each = of != null ? out.find(of, token) : null;
    if (of == null || each != null) {
      return each != null ? each.attempt.policy() : null;
    }
    return relay.policy(of, token);
  }

  /** Says of an attempt that it is not the current one, if this node has its shard. */
  private boolean isStale(WorkerLink link, AttemptToken token) {
    JobRef ref = JobRef.parse(token.job());
    Shard shard = ref != null ? shards.known(ref.shard()) : null;
    boolean own = shard != null && shard.owned() && shard.loaded() && status.isSure();
    boolean stale = ref == null || own;
    if (stale) {
      env.metrics().count("attempts.stale", 1);
      link.stream.told(token, WorkerStream.Word.STALE);
    }
    return stale;
  }

  // ---- giving

  /** The connection that another attempt of the job is given to; 0 for none. */
  public long workerFor(NodeJob job) {
    if (targets.isEmpty() || out.size() >= MOST_OUT || stopping) {
      return 0;
    }
    WorkerLink link = targets.next(job.type, job.namespace, job.queue);
    return link != null ? link.id : 0;
  }

  /** Whether a worker takes such jobs, or did so until just now. */
  public boolean isTaken(String type, String namespace, String queue) {
    return !targets.isEmpty() && targets.isTaken(type, namespace, queue);
  }

  /** Whether any is connected, here or to another node. */
  public boolean areThere() {
    return !targets.isEmpty();
  }

  /** How many more attempts of the type workers could run, at most. */
  public int room(String type) {
    return Math.min(MOST_OUT - out.size(), targets.room(type));
  }

  /** What is known of a worker as an attempt of the job begins; null where it is none. */
  @Override
  public @Nullable WorkerRun begin(long link, NodeJob job) {
    WorkerLink of = links.known(link);
    if (of == null) {
      return null;
    }
    WorkerTake take = of.take(job.type, job.namespace, job.queue);
    long length = take != null ? take.leaseMicros() : WorkerTake.LEASE_MICROS;
    return new WorkerRun(of.hello.worker(), length);
  }

  /** The attempt's worker is to run it. */
  public void give(Attempt attempt, WorkerRun run) {
    WorkerLink link = links.known(attempt.lentTo);
    if (link == null || link.gone) {
      attempts.finished(attempt, new AttemptOutcome.Interrupted());
      return;
    }
    OutAttempt each = out.keep(attempt, run);
    sweepLater();
    each.spokenOf(link);
    each.renewedBy(link);
    run.heardNanos = now();
    env.metrics().count("attempts.given", 1);
    if (link.hello.leaseFirst()) {
      each.promisedBy = link;
      links.change(link, () -> link.promised++);
      attempts.outcomes.leases().write(attempt, () -> giveLeased(each, link));
    } else {
      pass(each, link);
    }
  }

  private void giveLeased(OutAttempt each, WorkerLink link) {
    redeem(each);
    boolean stopped = each.attempt.over || each.attempt.stopCause != null;
    if (each.link() != link || stopped) {
      attempts.finished(each.attempt, new AttemptOutcome.Interrupted()); // nobody heard of it
      return;
    }
    each.everLeased = true;
    pass(each, link);
    link.stream.leased(each.attempt.token(), each.run.lengthMicros);
  }

  /** The worker hears of the attempt: what was passed before has smaller numbers. */
  private void pass(OutAttempt each, WorkerLink link) {
    links.change(link, () -> each.number = link.nextNumber());
    each.passedNanos = now();
    link.stream.give(each.attempt, each.number);
  }

  /** The room that was kept for it, until its lease is written, is no longer kept. */
  private void redeem(OutAttempt each) {
    WorkerLink link = each.promisedBy;
    if (link != null) {
      each.promisedBy = null;
      links.change(link, () -> link.promised--);
    }
  }

  private void left(OutAttempt each) {
    redeem(each);
    offers = true;
  }

  /** A lease of an earlier owner's says that a worker has the attempt. */
  @Override
  public void adopted(Attempt attempt, WorkerRun run) {
    out.keep(attempt, run).everLeased = true;
    sweepLater();
  }

  /** Jobs that waited for workers go on, where some have room. */
  public void turn() {
    if (links.isEmpty()) {
      return;
    }
    if (offers && targets.anyRoom() && out.size() < MOST_OUT) {
      offers = dispatcher.anyForWorkers() && dispatcher.offerToWorkers(TYPES_A_TURN);
      long now = now();
      if (dispatcher.isFull() && now - nextLendNanos >= 0) {
        nextLendNanos = now + LEND_NANOS;
        timers.at(nextLendNanos, () -> offers = true);
        dispatcher.lendWaiting(MOST_OUT - out.size(), Long.MAX_VALUE / 2);
      }
    }
    relay.turn();
    askOthers();
  }

  /** Jobs wait though there is no room: nodes to which other workers are connected are asked. */
  private void askOthers() {
    if (far.isEmpty() || stopping || !dispatcher.anyForWorkers() || now() - nextAskNanos < 0) {
      return;
    }
    long wait = far.ask(dispatcher.typesForWorkers(TYPES_A_TURN));
    if (wait != 0) {
      nextAskNanos = now() + wait;
      timers.at(nextAskNanos, () -> {});
    }
  }

  // ---- stopping

  /** The attempt is asked to save and return, or to stop. */
  public void recall(Attempt attempt) {
    out.recall(attempt);
  }

  /**
   * The shard of an attempt is no longer this node's. What is leased goes on; its limits are held
   * here until the next owner holds them.
   */
  @Override
  public void disowned(Attempt attempt) {
    out.disowned(attempt);
  }

  /** The shard is about to go to another node: what workers have of it goes with it. */
  public void leaving(Shard shard) {
    out.leaving(shard);
  }

  /** The node stops: what workers have goes on under the next owner. */
  @Override
  public void beginStop() {
    stopping = true;
    out.beginStop();
    for (WorkerLink link : links.own()) {
      link.stream.drain();
    }
  }

  // ---- time

  private void sweepLater() {
    if (sweep == null || sweep.isOver()) {
      sweep = timers.at(now() + SWEEP_NANOS, this::sweep);
    }
  }

  private void sweep() {
    for (WorkerLink link : links.silent()) {
      gone(link.id);
      link.stream.close("nothing was heard of the worker");
    }
    for (WorkerLink link : links.takeMissed()) {
      life.workersWent(WorkerTargets.taken(link, dispatcher.typesWithoutHandler()));
    }
    relay.sweep();
    out.sweep();
    if (!links.isEmpty() || !out.isEmpty()) {
      sweepLater();
    }
  }

  private long now() {
    return env.monotonicNanos();
  }
}
