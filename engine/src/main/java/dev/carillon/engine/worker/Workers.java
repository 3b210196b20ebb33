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
import dev.carillon.engine.member.MemberStatus;
import dev.carillon.engine.shard.NodeJob;
import dev.carillon.engine.shard.Shard;
import dev.carillon.engine.shard.Shards;
import dev.carillon.store.Outcome;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
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
  /** An attempt that has lasted so long is leased. */
  private static final long LEASE_AFTER_NANOS = 1_000_000_000;

  /** What is not accepted for so long goes to another worker. */
  private static final long ACCEPT_NANOS = 5_000_000_000L;

  /** A worker that is silent for so long has stopped what is not leased. */
  private static final long UNLEASED_NANOS = 5_000_000_000L;

  /** A connection of which nothing is heard for so long is none. */
  private static final long SILENT_NANOS = 15_000_000_000L;

  /** So soon a worker may come back before its types are missed. */
  private static final long GAP_NANOS = 2_000_000_000L;

  private static final long SWEEP_NANOS = 250_000_000;

  /** How long limits are held that the next owner of a shard is about to take over. */
  private static final long HANDED_OVER_NANOS = 10_000_000_000L;

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
  private final Map<Long, WorkerLink> links = new LinkedHashMap<>();
  private final WorkerTargets targets = new WorkerTargets();
  private final Map<Long, Out> out = new LinkedHashMap<>();
  private Timers.@Nullable Timer sweep;
  private boolean offers;
  private boolean stopping;
  private long nextLendNanos;

  /** The parts of a node that give attempts to workers and take their outcomes. */
  public record Parts(
      MemberStatus status,
      Shards shards,
      Dispatcher dispatcher,
      Attempts attempts,
      JobLife life,
      Checkpoints checkpoints,
      ProgressReports reports) {}

  /** An attempt that a worker has, or is to have. */
  private static final class Out {
    final Attempt attempt;
    final WorkerRun run;

    /** Where the worker is heard; null where it is not, or not known. */
    @Nullable WorkerLink link;

    /** Of the attempt among those given by its first connection. */
    long number;

    boolean everLeased;

    /** The attempt was decided here, without a word of the worker: what it says is too late. */
    boolean decidedHere;

    /** The worker has said its outcome, and waits to hear that it is durable. */
    boolean saidOutcome;

    Out(Attempt attempt, WorkerRun run) {
      this.attempt = attempt;
      this.run = run;
    }
  }

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
    int connected = 0;
    for (WorkerLink link : links.values()) {
      connected += link.gone ? 0 : 1;
    }
    return connected;
  }

  /** The workers that are connected, and what each has of this node's jobs. */
  public List<WorkerLook> look() {
    List<WorkerLook> looks = new ArrayList<>();
    for (WorkerLink link : links.values()) {
      if (!link.gone) {
        long silent = now() - link.heardNanos;
        looks.add(new WorkerLook(link.hello, link.room(), link.draining, silent, runs(link)));
      }
    }
    return looks;
  }

  private List<WorkerLook.Run> runs(WorkerLink link) {
    List<WorkerLook.Run> runs = new ArrayList<>();
    for (Out each : out.values()) {
      Attempt attempt = each.attempt;
      if (each.link == link && !attempt.hasReturned()) {
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
    for (WorkerLink other : List.copyOf(links.values())) {
      if (!other.gone && other.hello.worker().equals(hello.worker())) {
        gone(other.id); // it has not heard of that yet
        other.stream.close("the worker has another connection");
      }
    }
    WorkerLink link = new WorkerLink(env.random(), hello, stream, now());
    links.put(link.id, link);
    targets.add(link);
    env.metrics().count("workers.connected", 1);
    life.workersCame(WorkerTargets.taken(link, dispatcher.typesWithoutHandler()));
    if (stopping) {
      stream.drain();
    }
    sweepLater();
    return link.id;
  }

  /**
   * The worker could run so many more.
   *
   * @param lastSeen the number of the last attempt that it knew of when it said so
   */
  public void free(long link, int slots, long lastSeen) {
    WorkerLink of = heard(link);
    if (of != null) {
      boolean had = of.room() > 0;
      of.free(slots, lastSeen);
      targets.changed(of, had);
      offers |= of.room() > 0;
    }
  }

  /** The worker takes nothing more. */
  public void drain(long link) {
    WorkerLink of = heard(link);
    if (of != null) {
      boolean had = of.room() > 0;
      of.draining = true;
      targets.changed(of, had);
    }
  }

  /** The worker is there. Answered only while nobody can have taken this node for dead. */
  public void beat(long link, long number) {
    WorkerLink of = heard(link);
    if (of != null && status.isSure()) {
      of.stream.beat(number);
    }
  }

  /** The connection has ended; what the worker has goes on by its lease. */
  public void gone(long link) {
    WorkerLink of = links.get(link);
    if (of == null || of.gone) {
      return;
    }
    boolean had = of.room() > 0;
    of.gone = true;
    of.goneNanos = now();
    targets.changed(of, had);
    for (Out each : out.values()) {
      if (each.link == of) {
        each.link = null;
        each.run.heardNanos = later(each.run.heardNanos, of.heardNanos);
      }
    }
    sweepLater();
  }

  private @Nullable WorkerLink heard(long link) {
    WorkerLink of = links.get(link);
    if (of == null || of.gone) {
      return null;
    }
    of.heardNanos = now();
    return of;
  }

  // ---- what workers say of attempts

  /** The worker has the attempt. */
  public void accepted(long link, AttemptToken token) {
    WorkerLink of = heard(link);
    Out each = of != null ? find(of, token) : null;
    if (each != null && each.link == of) {
      each.run.accepted = true;
      leaseIfLeaving(each);
    }
  }

  /** The worker still has these attempts, which it may have had from another node. */
  public void resume(long link, List<AttemptToken> tokens) {
    WorkerLink of = heard(link);
    if (of == null) {
      return;
    }
    for (AttemptToken token : tokens) {
      Out each = find(of, token);
      if (each == null) {
        unknown(of, token);
      } else {
        attach(each, of);
        Attempt attempt = each.attempt;
        if (attempt.over || attempt.stopCause != null) {
          of.stream.stop(token, stopCause(attempt));
        } else if (attempt.isLeased() && status.isSure()) {
          of.stream.leased(token, each.run.lengthMicros);
        }
      }
    }
  }

  private void attach(Out each, WorkerLink link) {
    each.link = link;
    each.run.accepted = true;
    each.run.heardNanos = now();
  }

  /** The worker says how it went; what it hears then is settled or stale, if this node knows. */
  public void outcome(long link, AttemptToken token, AttemptOutcome outcome) {
    WorkerLink of = heard(link);
    if (of == null) {
      return;
    }
    Out each = find(of, token);
    if (each == null) {
      unknown(of, token);
      return;
    }
    attach(each, of);
    boolean first = !each.attempt.hasReturned(); // else it is on its way to the journal
    if (first && !attempts.finished(each.attempt, outcome)) {
      of.stream.told(token, WorkerStream.Word.STALE);
      return;
    }
    each.saidOutcome = true;
    if (each.run.hasLeft()) {
      answer(each, of);
    }
  }

  /** The worker has not begun it, and does not want to. */
  public void refuse(long link, AttemptToken token) {
    outcome(link, token, new AttemptOutcome.Interrupted());
  }

  /** Keeps the resume position of an attempt; {@code answer} as of {@link Checkpoints#save}. */
  public void save(long link, AttemptToken token, byte[] state, Consumer<Outcome<Boolean>> answer) {
    WorkerLink of = heard(link);
    Out each = of != null ? find(of, token) : null;
    if (each == null || each.attempt.hasReturned()) {
      answer.accept(Outcome.ok(false));
    } else {
      checkpoints.save(each.attempt, state, answer);
    }
  }

  /** The attempt reports of its job. */
  public void report(long link, AttemptToken token, Report.Source source) {
    WorkerLink of = heard(link);
    Out each = of != null ? find(of, token) : null;
    if (each != null && !each.attempt.over) {
      reports.report(each.attempt, source);
    }
  }

  /** By which failures of the attempt are judged; null where the worker does not have it. */
  public @Nullable FailurePolicy policy(long link, AttemptToken token) {
    WorkerLink of = links.get(link);
    Out each = of != null ? find(of, token) : null;
    return each != null ? each.attempt.policy() : null;
  }

  /** The attempt of that token, if the worker has it of this node. */
  private @Nullable Out find(WorkerLink link, AttemptToken token) {
    Out each = out.get(token.nonce());
    boolean same =
        each != null
            && each.run.worker.equals(link.hello.worker())
            && each.attempt.token().equals(token);
    return same ? each : null;
  }

  /** Only who has the shard can say that an attempt is not the current one. */
  private void unknown(WorkerLink link, AttemptToken token) {
    JobRef ref = JobRef.parse(token.job());
    Shard shard = ref != null ? shards.known(ref.shard()) : null;
    boolean own = shard != null && shard.owned() && shard.loaded() && status.isSure();
    if (ref == null || own) {
      env.metrics().count("attempts.stale", 1);
      link.stream.told(token, WorkerStream.Word.STALE);
    }
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

  /** How many more attempts of the type workers could run, at most. */
  public int room(String type) {
    return Math.min(MOST_OUT - out.size(), targets.room(type));
  }

  /** What is known of a worker as an attempt of the job begins; null where it is none. */
  @Override
  public @Nullable WorkerRun begin(long link, NodeJob job) {
    WorkerLink of = links.get(link);
    if (of == null) {
      return null;
    }
    WorkerTake take = of.take(job.type, job.namespace, job.queue);
    long length = take != null ? take.leaseMicros() : WorkerTake.LEASE_MICROS;
    return new WorkerRun(of.hello.worker(), length);
  }

  /** The attempt's worker is to run it. */
  public void give(Attempt attempt, WorkerRun run) {
    WorkerLink link = links.get(attempt.lentTo);
    if (link == null || link.gone) {
      attempts.finished(attempt, new AttemptOutcome.Interrupted());
      return;
    }
    Out each = keep(attempt, run);
    each.link = link;
    run.heardNanos = now();
    boolean had = link.room() > 0;
    long number = link.nextNumber();
    each.number = number;
    targets.changed(link, had);
    env.metrics().count("attempts.given", 1);
    if (link.hello.leaseFirst()) {
      attempts.outcomes.leases().write(attempt, () -> giveLeased(each, link, number));
    } else {
      link.stream.give(attempt, number);
    }
  }

  private void giveLeased(Out each, WorkerLink link, long number) {
    if (each.link != link) {
      attempts.finished(each.attempt, new AttemptOutcome.Interrupted()); // nobody heard of it
      return;
    }
    each.everLeased = true;
    link.stream.give(each.attempt, number);
    link.stream.leased(each.attempt.token(), each.run.lengthMicros);
  }

  private Out keep(Attempt attempt, WorkerRun run) {
    Out each = new Out(attempt, run);
    out.put(attempt.nonce(), each);
    run.whenLeft(() -> left(each));
    sweepLater();
    return each;
  }

  /** A lease of an earlier owner's says that a worker has the attempt. */
  @Override
  public void adopted(Attempt attempt, WorkerRun run) {
    keep(attempt, run).everLeased = true;
  }

  /** Nothing of the attempt is left here. */
  private void left(Out each) {
    out.remove(each.attempt.nonce(), each);
    offers = true;
    WorkerLink link = each.link;
    if (each.saidOutcome && link != null) {
      answer(each, link);
    }
  }

  private static void answer(Out each, WorkerLink link) {
    switch (each.run.fate()) {
      case DURABLE -> {
        if (each.decidedHere) {
          link.stream.told(each.attempt.token(), WorkerStream.Word.STALE);
        } else {
          link.stream.told(each.attempt.token(), WorkerStream.Word.SETTLED);
        }
      }
      case STALE -> link.stream.told(each.attempt.token(), WorkerStream.Word.STALE);
      case OPEN, UNKNOWN -> {} // whoever knows is asked again
    }
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
  }

  // ---- stopping

  /** The attempt is asked to save and return, or to stop. */
  public void recall(Attempt attempt) {
    Out each = out.get(attempt.nonce());
    if (each != null && each.attempt == attempt && each.link != null) {
      each.link.stream.stop(attempt.token(), stopCause(attempt));
    }
  }

  private static Attempt.StopCause stopCause(Attempt attempt) {
    return attempt.stopCause != null ? attempt.stopCause : Attempt.StopCause.TIMEOUT;
  }

  /**
   * The shard of an attempt is no longer this node's. What is leased goes on; its limits are held
   * here until the next owner holds them.
   */
  @Override
  public void disowned(Attempt attempt) {
    Out each = out.get(attempt.nonce());
    if (each == null || each.attempt != attempt) {
      return;
    }
    if (!attempt.isLeased()) {
      recall(attempt); // it is made again
      return;
    }
    out.remove(attempt.nonce(), each);
    if (each.link != null) {
      each.link.stream.told(attempt.token(), WorkerStream.Word.MOVED);
    }
    if (attempt.hasReturned()) {
      return;
    }
    Runnable gone = () -> attempts.outcomes.gone(attempt);
    if (attempt.grant().isLimited()) {
      timers.at(now() + HANDED_OVER_NANOS, gone);
    } else {
      gone.run();
    }
  }

  /** The shard is about to go to another node: what workers have of it goes with it. */
  public void leaving(Shard shard) {
    for (Out each : List.copyOf(out.values())) {
      if (each.attempt.job().shard == shard) {
        leaseIfLeaving(each);
      }
    }
  }

  /** The node stops: what workers have goes on under the next owner. */
  @Override
  public void beginStop() {
    stopping = true;
    List.copyOf(out.values()).forEach(this::leaseIfLeaving);
    for (WorkerLink link : links.values()) {
      if (!link.gone) {
        link.stream.drain();
      }
    }
  }

  private void leaseIfLeaving(Out each) {
    Shard shard = each.attempt.job().shard;
    boolean leaves = shard != null && shard.owned() && (stopping || !shard.stays());
    if (leaves && each.run.accepted) {
      lease(each);
    }
  }

  private void lease(Out each) {
    attempts
        .outcomes
        .leases()
        .write(
            each.attempt,
            () -> {
              each.everLeased = true;
              if (each.link != null) {
                each.link.stream.leased(each.attempt.token(), each.run.lengthMicros);
              }
            });
  }

  // ---- time

  private void sweepLater() {
    if (sweep == null || sweep.isOver()) {
      sweep = timers.at(now() + SWEEP_NANOS, this::sweep);
    }
  }

  private void sweep() {
    long now = now();
    for (WorkerLink link : List.copyOf(links.values())) {
      if (!link.gone && now - link.heardNanos >= SILENT_NANOS) {
        gone(link.id);
        link.stream.close("nothing was heard of the worker");
      }
      if (link.gone && now - link.goneNanos >= GAP_NANOS) {
        links.remove(link.id);
        targets.remove(link);
        life.workersWent(WorkerTargets.taken(link, dispatcher.typesWithoutHandler()));
      }
    }
    for (Out each : List.copyOf(out.values())) {
      look(each, now);
    }
    if (!links.isEmpty() || !out.isEmpty()) {
      sweepLater();
    }
  }

  private void look(Out each, long now) {
    Attempt attempt = each.attempt;
    if (attempt.hasReturned()) {
      return;
    }
    long age = now - attempt.startedNanos;
    WorkerLink link = each.link;
    long heard = link != null ? later(each.run.heardNanos, link.heardNanos) : each.run.heardNanos;
    boolean leased = each.everLeased || each.run.isLeasing();
    long patience = leased ? each.run.lengthMicros * 1000 : UNLEASED_NANOS;
    if (!each.run.accepted) {
      // By a lease that came first it may run, unless the worker has seen it and said nothing.
      boolean mayRun = leased && (link == null || !link.hasSeen(each.number));
      if (age >= ACCEPT_NANOS && (!mayRun || now - heard >= patience)) {
        takeBack(each);
      }
      return;
    }
    if (now - heard >= patience) {
      lose(each);
    } else if (!leased && !attempt.over && age >= LEASE_AFTER_NANOS && link != null) {
      leaseIfHeard(each, now - heard);
    }
  }

  /** A worker that may be dead gets no lease that others would have to wait for. */
  private void leaseIfHeard(Out each, long silentNanos) {
    if (silentNanos < GAP_NANOS && status.isSure()) {
      lease(each);
    }
  }

  private void takeBack(Out each) {
    each.decidedHere = true;
    env.metrics().count("attempts.not.accepted", 1);
    if (each.link != null) {
      each.link.stream.stop(each.attempt.token(), Attempt.StopCause.FENCED);
    }
    attempts.finished(each.attempt, new AttemptOutcome.Interrupted());
  }

  private void lose(Out each) {
    each.decidedHere = true;
    if (each.attempt.over) {
      attempts.outcomes.gone(each.attempt); // its outcome was decided before
    } else {
      attempts.finished(each.attempt, new AttemptOutcome.WorkerLost());
    }
  }

  private static long later(long one, long other) {
    return one - other > 0 ? one : other;
  }

  private long now() {
    return env.monotonicNanos();
  }
}
