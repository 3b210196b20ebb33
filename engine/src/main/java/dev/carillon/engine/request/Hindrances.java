package dev.carillon.engine.request;

import dev.carillon.api.DependencyInfo;
import dev.carillon.api.WaitReason;
import dev.carillon.engine.attempt.Attempt;
import dev.carillon.engine.attempt.Attempts;
import dev.carillon.engine.commit.Committer;
import dev.carillon.engine.dispatch.DispatchLook;
import dev.carillon.engine.dispatch.SlowStart;
import dev.carillon.engine.environment.NodeEnvironment;
import dev.carillon.engine.fold.Awaited;
import dev.carillon.engine.fold.FoldedJob;
import dev.carillon.engine.fold.WorkflowState;
import dev.carillon.engine.format.Micros;
import dev.carillon.engine.job.JobRef;
import dev.carillon.engine.job.WorkflowWait;
import dev.carillon.engine.life.Occurrences;
import dev.carillon.engine.loan.HandlerLists;
import dev.carillon.engine.loan.Lending;
import dev.carillon.engine.member.MemberStatus;
import dev.carillon.engine.message.Hindrance;
import dev.carillon.engine.message.JobStand;
import dev.carillon.engine.message.Question;
import dev.carillon.engine.shard.NodeJob;
import dev.carillon.engine.shard.Shard;
import dev.carillon.engine.shard.Shards;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

/**
 * Says what keeps a job of this node from starting: everything, in the order in which it would have
 * to go. A look reads memory and changes nothing.
 *
 * <ol>
 *   <li>What holds whenever it is looked at (a pause, a job that it waits for, a missing handler)
 *       is named also for a job that is not due.
 *   <li>What changes from moment to moment (keys, limits, rates, its turn, slots) is named for a
 *       due job alone.
 *   <li>A due job that does not run is never without a reason: where nothing else is found, it is
 *       its node's turn to take it up.
 * </ol>
 */
public final class Hindrances {
  private static final int MOST_NAMED = 10;

  private final NodeEnvironment env;
  private final Parts parts;

  /** The parts of a node that keep jobs from starting. */
  public record Parts(
      MemberStatus status,
      Shards shards,
      Committer committer,
      Attempts attempts,
      SlowStart slowStart,
      DispatchLook dispatch,
      HandlerLists handlers,
      Lending lending) {}

  /** What keeps jobs of a node. */
  public Hindrances(NodeEnvironment env, Parts parts) {
    this.env = env;
    this.parts = parts;
  }

  /** The look at what waits in lanes. */
  DispatchLook dispatch() {
    return parts.dispatch();
  }

  /** How a job that has not ended stands here. */
  public JobStand of(Question.Why asked) {
    JobRef ref = asked.job();
    Shard shard = parts.shards().known(ref.shard());
    String refusal = parts.shards().refused().get(ref.shard());
    if (shard == null) {
      return refusal != null
          ? stand(JobStand.Known.ELSEWHERE, refused(refusal))
          : JobStand.of(JobStand.Known.ELSEWHERE);
    }
    NodeJob job = shard.job(ref.number());
    if (job != null) {
      return of(shard, job);
    }
    return shard.loaded() ? JobStand.of(JobStand.Known.GONE) : asleep(shard, asked);
  }

  private static JobStand stand(JobStand.Known known, Hindrance... found) {
    return new JobStand(known, null, List.of(found));
  }

  private static Hindrance refused(String why) {
    return Hindrance.of(
        WaitReason.SHARD,
        "its shard cannot be read: " + why,
        "a node that can read it, or its repair");
  }

  // ---- not in memory

  private JobStand asleep(Shard shard, Question.Why asked) {
    List<Hindrance> found = new ArrayList<>();
    parts.dispatch().paused(asked.namespace(), asked.queue(), found::add);
    handler(asked.type(), asked.namespace(), asked.queue(), 0, found);
    if (!shard.owned()) {
      found.add(
          Hindrance.of(
              WaitReason.SHARD, "its shard is being claimed by this node", "the store's answer"));
    } else if (shard.loading()) {
      found.add(
          Hindrance.of(WaitReason.STORE, "its shard is being read", "the journal being read"));
    }
    return new JobStand(JobStand.Known.ASLEEP, null, sorted(found));
  }

  // ---- in memory

  private JobStand of(Shard shard, NodeJob job) {
    Attempt attempt = Attempt.of(job);
    boolean runs = job.phase() == NodeJob.Phase.RUNNING && attempt != null;
    if (runs && attempt != null && attempt.wasCalled()) {
      String node = attempt.lentTo == 0 ? ownId() : attempt.borrower();
      return new JobStand(
          JobStand.Known.HERE,
          new JobStand.Run(node, attempt.number(), attempt.startedMicros(), attempt.hasReturned()),
          attempt.waitsForTransaction() ? List.of(transaction(job)) : List.of());
    }
    List<Hindrance> found = new ArrayList<>();
    boolean due = job.dueMicros <= env.wallMicros();
    time(job, due, found);
    parts.dispatch().paused(job.namespace, job.queue, found::add);
    dependencies(job, found);
    if (job.isOccurrence() && job.phase() == NodeJob.Phase.LIMITED && Occurrences.mustWait(job)) {
      found.add(
          Hindrance.of(
                  WaitReason.OVERLAP,
                  "the occurrence before it has not ended, and its schedule lets one run at a time",
                  "the end of that occurrence")
              .since(job.dueMicros));
    }
    handler(job.type, job.namespace, job.queue, job.dueMicros, found);
    unfit(job, found);
    if (due && !runs) {
      parts.dispatch().due(job, found::add);
    }
    if (attempt != null && attempt.waitsForTransaction()) {
      found.add(transaction(job));
    } else if (job.busy > 0 || runs) {
      found.add(
          Hindrance.of(
              WaitReason.STORE, "a change of it is on its way to the store", "the store's answer"));
    } else if (due && job.isStripped() && job.phase() == NodeJob.Phase.READY) {
      found.add(
          Hindrance.of(
              WaitReason.STORE, "its payload is being read from the store", "the store's answer"));
    }
    node(due, found);
    shard(shard, found);
    if (due && found.isEmpty()) {
      found.add(
          Hindrance.of(WaitReason.TURN, "its node is about to take it up", "the node's next turn")
              .since(job.dueMicros)
              .with("before", 0));
    }
    return new JobStand(JobStand.Known.HERE, null, sorted(found));
  }

  private String ownId() {
    return parts.status().states().getFirst().nodeId();
  }

  private static List<Hindrance> sorted(List<Hindrance> found) {
    found.sort(Comparator.comparing(Hindrance::reason));
    return found;
  }

  private static Hindrance transaction(NodeJob job) {
    return Hindrance.of(
            WaitReason.TRANSACTION,
            "a transaction that may complete it is open, or the store has not said that none is",
            "the end of the transaction")
        .since(job.dueMicros);
  }

  // ---- time and pauses

  private void time(NodeJob job, boolean due, List<Hindrance> found) {
    WorkflowState workflow = job.workflow();
    WorkflowWait wait = workflow != null ? workflow.waits() : null;
    if (!due && job.isWaiting() && wait != null) {
      found.add(waiting(job, wait));
    } else if (!due) {
      found.add(notDue(job));
    }
    if (job.isPaused()) {
      FoldedJob.UncommonState rare = job.rare;
      String reason = rare != null && rare.pauseReason != null ? rare.pauseReason : "";
      found.add(
          Hindrance.of(
                  WaitReason.PAUSED,
                  "the job is paused" + (reason.isEmpty() ? "" : ": " + reason),
                  "resuming the job")
              .with("scope", "job")
              .with("reason", reason));
    }
  }

  private static Hindrance notDue(NodeJob job) {
    FoldedJob.UncommonState rare = job.rare;
    boolean retry = job.attempts > 0 && rare != null && rare.lastErrorType != null;
    long jitter = job.dueMicros - job.timeMicros();
    String cause = retry ? "retry" : job.isRecurring() ? "schedule" : "time";
    StringBuilder text = new StringBuilder();
    switch (cause) {
      case "retry" -> text.append("its next attempt after a failure is not due");
      case "schedule" -> text.append("the next time of its schedule has not come");
      default -> text.append("it is not due");
    }
    if (jitter > 0) {
      text.append("; jitter makes it ").append(jitter / 1000).append(" ms later");
    }
    Hindrance hindrance =
        Hindrance.of(WaitReason.NOT_DUE, text.toString(), "its time, or a reschedule")
            .with("cause", cause)
            .with("attempts", job.attempts)
            .until(job.dueMicros);
    return jitter > 0 ? hindrance.with("jitterMillis", jitter / 1000) : hindrance;
  }

  private static Hindrance waiting(NodeJob job, WorkflowWait wait) {
    List<String> signals =
        wait.signals().stream().map(WorkflowWait.AwaitedSignal::type).distinct().toList();
    StringBuilder text = new StringBuilder("the code of the workflow waits for");
    text.append(signals.isEmpty() ? "" : " the signal " + String.join(", ", signals));
    text.append(wait.children().isEmpty() ? "" : " " + wait.children().size() + " children");
    text.append(signals.isEmpty() && wait.children().isEmpty() ? " a time" : "");
    Hindrance hindrance =
        Hindrance.of(
                WaitReason.WAITING, text.toString(), "what it waits for, its time, or a cancel")
            .with("signals", String.join(" ", signals))
            .with("children", wait.children().size());
    return wait.untilMicros() < WorkflowWait.FOR_EVER ? hindrance.until(job.dueMicros) : hindrance;
  }

  private static void dependencies(NodeJob job, List<Hindrance> found) {
    Awaited awaited = job.awaited();
    if (awaited == null || !job.isDependent()) {
      return;
    }
    List<String> named = new ArrayList<>();
    int open = 0;
    for (DependencyInfo each : awaited.infos()) {
      if (!each.met()) {
        open++;
        if (named.size() < MOST_NAMED) {
          named.add(each.job().value());
        }
      }
    }
    found.add(
        Hindrance.of(
                WaitReason.DEPENDENCY,
                "%d of the %d jobs that it waits for have not ended"
                    .formatted(open, awaited.infos().size()),
                "their ends")
            .with("jobs", String.join(" ", named))
            .with("open", open)
            .since(job.dueMicros <= 0 ? 0 : job.dueMicros));
  }

  // ---- handlers

  private void handler(
      String type, String namespace, String queue, long sinceMicros, List<Hindrance> found) {
    if (parts.dispatch().hasHandler(type)) {
      return;
    }
    if (parts.dispatch().isForWorkers(type, namespace, queue)) {
      if (parts.dispatch().workersRoom(type) == 0) {
        found.add(
            Hindrance.of(
                    WaitReason.SLOT,
                    "workers take it, and have room for no more attempts now",
                    "a free slot of one of them")
                .since(sinceMicros));
      }
      return;
    }
    List<Long> others = parts.handlers().having(type);
    if (!others.isEmpty()) {
      if (parts.lending().borrowerFor(type) == 0) {
        found.add(
            Hindrance.of(
                    WaitReason.SLOT,
                    "other nodes have its handler, and room for no more attempts now",
                    "a free slot there, or the handler here")
                .with("nodes", String.join(" ", others.stream().map(this::name).toList()))
                .since(sinceMicros));
      }
      return;
    }
    long went = parts.dispatch().handlerWentMicros(type);
    List<String> near = near(type);
    String text = "no node has a handler for the type " + type;
    text += went != 0 ? "; this one had until " + instant(went) : "";
    text += parts.dispatch().anyWorkers() ? "; no worker that is connected takes it" : "";
    text += near.isEmpty() ? "" : "; there is one for " + String.join(", ", near);
    Hindrance hindrance =
        Hindrance.of(WaitReason.NO_HANDLER, text, "a node that registers one")
            .with("type", type)
            .since(Math.max(went, sinceMicros));
    found.add(near.isEmpty() ? hindrance : hindrance.with("near", String.join(" ", near)));
  }

  private String name(long incarnation) {
    String id = parts.status().nodeId(incarnation);
    return id.isEmpty() ? Long.toHexString(incarnation) : id;
  }

  private static String instant(long micros) {
    return Micros.toInstant(micros).toString();
  }

  private List<String> near(String type) {
    Set<String> types = new LinkedHashSet<>();
    parts.dispatch().handledTypes(types);
    parts.handlers().types(types);
    return NearNames.of(type, types);
  }

  private static void unfit(NodeJob job, List<Hindrance> found) {
    boolean diverged = job.phase() == NodeJob.Phase.DIVERGED;
    boolean full = job.phase() == NodeJob.Phase.HISTORY_FULL;
    if (!diverged && !full && job.phase() != NodeJob.Phase.UNDECODABLE) {
      return;
    }
    FoldedJob.UncommonState rare = job.rare;
    String error = rare != null && rare.lastErrorType != null ? rare.lastErrorType : "";
    String message = rare != null && rare.lastErrorMessage != null ? rare.lastErrorMessage : "";
    if (full) {
      found.add(
          Hindrance.of(
                  WaitReason.LIMIT,
                  "its history has reached its limit: " + message,
                  "a higher limit of histories, or a cancel")
              .with("scope", "history")
              .since(job.dueMicros));
      return;
    }
    found.add(
        Hindrance.of(
                WaitReason.UNFIT,
                (diverged
                        ? "the code of its workflow does not fit its history: "
                        : "no handler here reads what is stored of it: ")
                    + (message.isEmpty() ? error : message),
                diverged
                    ? "a handler whose code fits the history"
                    : "a handler that reads it, or another input")
            .with("error", error)
            .since(job.dueMicros));
  }

  // ---- the node and the shard

  private void node(boolean due, List<Hindrance> found) {
    MemberStatus status = parts.status();
    String clock = status.clockProblem();
    if (clock != null) {
      found.add(Hindrance.of(WaitReason.NODE, clock, "a right clock"));
    } else if (due && !status.mayStart()) {
      String fenced = parts.slowStart().problem();
      found.add(
          Hindrance.of(
              WaitReason.NODE,
              fenced != null ? fenced : "this node has not proven yet that its shards are its own",
              "the store answering its heartbeats"));
    }
    if (due && status.isStopping()) {
      found.add(
          Hindrance.of(
              WaitReason.NODE, "this node stops", "another node taking its shards, or its start"));
    }
    String unwritten = parts.committer().unwritten();
    if (due && unwritten != null) {
      found.add(
          Hindrance.of(
              WaitReason.NODE,
              "the store does not take what this node writes: " + unwritten,
              "the store answering"));
    }
  }

  private static void shard(Shard shard, List<Hindrance> found) {
    if (!shard.owned()) {
      found.add(
          Hindrance.of(
              WaitReason.SHARD,
              "its shard is not this node's any more, or not yet",
              "its claim by a node"));
    } else if (shard.handingBack) {
      found.add(
          Hindrance.of(
              WaitReason.SHARD,
              "its shard moves to another node as soon as nothing of it runs here",
              "that node claiming it"));
    }
  }
}
