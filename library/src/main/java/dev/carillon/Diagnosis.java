package dev.carillon;

import dev.carillon.api.DependencyInfo;
import dev.carillon.api.JobEvent;
import dev.carillon.api.JobHistory;
import dev.carillon.api.JobId;
import dev.carillon.api.JobInfo;
import dev.carillon.api.JobState;
import dev.carillon.api.WaitReason;
import dev.carillon.api.error.StoreUnavailableException;
import dev.carillon.engine.format.Micros;
import dev.carillon.engine.job.JobRef;
import dev.carillon.engine.message.Hindrance;
import dev.carillon.engine.message.JobStand;
import dev.carillon.engine.message.Question;
import dev.carillon.store.Head;
import dev.carillon.store.Outcome;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Finds out why a job does not run: asks the node that has its shard, and says what the store tells
 * where no node has it. Blocks its caller; thread-safe.
 */
final class Diagnosis {
  private static final long PATIENCE_NANOS = Duration.ofMillis(700).toNanos();
  private static final int MOST_LOOKED_AT = 10;

  private final OpenNode opened;
  private final JobQueries queries;

  Diagnosis(OpenNode opened, JobQueries queries) {
    this.opened = opened;
    this.queries = queries;
  }

  Optional<WhyInfo> why(JobId id) {
    opened.requireOpen();
    Optional<JobInfo> found = queries.get(id);
    if (found.isEmpty()) {
      return Optional.empty();
    }
    JobInfo job = found.get();
    JobRef ref = opened.tickets.untaken(id).isPresent() ? null : opened.tickets.place(id);
    if (ref == null) {
      return Optional.of(nobody(job, untaken()));
    }
    return Optional.of(job.state().ended() ? nobody(job, List.of()) : look(ref, job));
  }

  private Instant now() {
    return Micros.toInstant(opened.time.wallMicros());
  }

  private WhyInfo nobody(JobInfo job, List<WhyInfo.Reason> reasons) {
    return new WhyInfo(job, now(), null, null, reasons);
  }

  private static List<WhyInfo.Reason> untaken() {
    return List.of(
        reason(
            Hindrance.of(
                WaitReason.SHARD,
                "it was written in a transaction, and no node has taken it up yet",
                "the commit of the transaction, and then a moment")));
  }

  // ---- asking

  private WhyInfo look(JobRef ref, JobInfo job) {
    Question.Why question = new Question.Why(ref, job.type(), job.namespace(), job.queue());
    JobStand here = ask(question, 0);
    if (here != null && here.known() != JobStand.Known.ELSEWHERE) {
      return told(job, opened.options.nodeId(), here);
    }
    Outcome<Head> head =
        opened.reads.await(
            "shard of job " + job.id(), () -> opened.store.journals().head(ref.shard()));
    if (!(head instanceof Outcome.Ok<Head>(Head shard))) {
      return nobody(job, List.of(reason(unreadable(head))));
    }
    boolean there = !shard.released() && opened.options.membership() != null && isThere(shard);
    JobStand other = there ? ask(question, shard.owner()) : null;
    if (other != null && other.known() != JobStand.Known.ELSEWHERE) {
      return told(job, nodeId(shard), other);
    }
    List<Hindrance> known = new ArrayList<>(here != null ? here.hindrances() : List.of());
    known.add(there ? silent(shard) : unowned(shard));
    return composed(job, null, new JobStand(JobStand.Known.ASLEEP, null, known));
  }

  private @Nullable JobStand ask(Question.Why question, long owner) {
    return opened
        .loop
        .post(
            new Ask<Optional<JobStand>>(
                opened.loop,
                "asking why",
                Ask.Effect.READS,
                (node, asked) ->
                    node.questions()
                        .why(
                            question,
                            owner,
                            PATIENCE_NANOS,
                            stand -> asked.answer(Optional.ofNullable(stand)))))
        .await()
        .orElse(null);
  }

  private boolean isThere(Head head) {
    return opened
        .loop
        .post(
            new Ask<Boolean>(
                opened.loop,
                "looking at the members",
                Ask.Effect.READS,
                (node, asked) -> asked.answer(node.questions().isThere(head.owner()))))
        .await();
  }

  private String nodeId(Head head) {
    return opened
        .loop
        .post(
            new Ask<String>(
                opened.loop,
                "looking at the members",
                Ask.Effect.READS,
                (node, asked) -> asked.answer(node.questions().nodeId(head.owner()))))
        .await();
  }

  // ---- what the store tells

  private static Hindrance unreadable(Outcome<Head> head) {
    return switch (head) {
      case Outcome.Damaged<Head>(String where) ->
          Hindrance.of(
              WaitReason.SHARD, "its shard cannot be read: " + where, "a repair of the store");
      case Outcome.Fenced<Head> gone ->
          Hindrance.of(WaitReason.SHARD, "its shard is gone: its retention is over", "nothing");
      default -> throw new StoreUnavailableException("store: not read: " + head);
    };
  }

  private Hindrance silent(Head head) {
    return Hindrance.of(
            WaitReason.NODE,
            "the node that has its shard gave no answer within 700 ms",
            "that node answering, or another taking over from it")
        .with("node", nodeId(head));
  }

  private Hindrance unowned(Head head) {
    if (head.released()) {
      return Hindrance.of(
              WaitReason.SHARD,
              "no node has its shard now; one claims it before it wakes",
              "a node claiming it")
          .until(head.wakeMicros());
    }
    return Hindrance.of(
            WaitReason.SHARD,
            "the node that had its shard is not there",
            "another node taking it over")
        .with("node", nodeId(head));
  }

  // ---- putting it together

  private WhyInfo told(JobInfo job, String node, JobStand stand) {
    return stand.known() == JobStand.Known.GONE
        ? nobody(queries.get(job.id()).orElse(job), List.of())
        : composed(job, node, stand);
  }

  private WhyInfo composed(JobInfo job, @Nullable String node, JobStand stand) {
    JobStand.Run run = stand.run();
    List<WhyInfo.Reason> reasons = new ArrayList<>();
    stand.hindrances().forEach(each -> reasons.add(reason(each)));
    if (stand.known() == JobStand.Known.ASLEEP) {
      asleep(job, reasons);
    }
    if (run == null) {
      complete(job, reasons);
    }
    reasons.sort(Comparator.comparing(WhyInfo.Reason::reason));
    WhyInfo.Run runs =
        run != null
            ? new WhyInfo.Run(
                run.node(), run.number(), Micros.toInstant(run.startedMicros()), run.returned())
            : null;
    return new WhyInfo(job, now(), node, runs, reasons);
  }

  /** What the journal tells of a job that no node has in memory. */
  private void asleep(JobInfo job, List<WhyInfo.Reason> reasons) {
    boolean due = !job.dueAt().isAfter(now());
    if (due) {
      if (reasons.isEmpty()) {
        reasons.add(
            reason(
                Hindrance.of(
                    WaitReason.STORE,
                    "its shard is not in memory yet",
                    "its node reading the shard, which takes moments")));
      }
    } else {
      reasons.removeIf(each -> each.reason() == WaitReason.SHARD); // it wakes in time
      reasons.add(
          reason(
              Hindrance.of(
                      WaitReason.NOT_DUE,
                      job.attempt() > 0
                          ? "its next attempt after a failure is not due"
                          : job.recurring() != null
                              ? "the next time of its schedule has not come"
                              : "it is not due",
                      "its time, or a reschedule")
                  .with("attempts", job.attempt())
                  .until(Micros.ceil(job.dueAt()))));
    }
    if (job.state() == JobState.PAUSED) {
      String why = job.reason() != null ? job.reason() : "";
      reasons.add(
          reason(
              Hindrance.of(
                      WaitReason.PAUSED,
                      "the job is paused" + (why.isEmpty() ? "" : ": " + why),
                      "resuming the job")
                  .with("scope", "job")
                  .with("reason", why)));
    }
    List<DependencyInfo> open = job.dependencies().stream().filter(each -> !each.met()).toList();
    if (!open.isEmpty()) {
      reasons.add(
          reason(
              Hindrance.of(
                      WaitReason.DEPENDENCY,
                      "%d of the %d jobs that it waits for have not ended"
                          .formatted(open.size(), job.dependencies().size()),
                      "their ends")
                  .with("open", open.size())
                  .with(
                      "jobs",
                      String.join(
                          " ",
                          open.stream()
                              .limit(MOST_LOOKED_AT)
                              .map(each -> each.job().value())
                              .toList()))));
    }
  }

  /** Adds what only the journal knows: who paused a job, and how those stand that it waits for. */
  private void complete(JobInfo job, List<WhyInfo.Reason> reasons) {
    for (int i = 0; i < reasons.size(); i++) {
      WhyInfo.Reason each = reasons.get(i);
      if (each.reason() == WaitReason.PAUSED && "job".equals(each.facts().get("scope"))) {
        reasons.set(i, paused(job, each));
      } else if (each.reason() == WaitReason.DEPENDENCY) {
        reasons.set(i, standing(each));
      }
    }
  }

  private WhyInfo.Reason paused(JobInfo job, WhyInfo.Reason reason) {
    Optional<JobHistory> history = queries.history(job.id(), null);
    JobEvent last = null;
    for (JobEvent event : history.map(JobHistory::events).orElse(List.of())) {
      last = event.kind() == JobEvent.Kind.PAUSED ? event : last;
    }
    if (last == null) {
      return reason;
    }
    WhyInfo.Reason since =
        new WhyInfo.Reason(
            reason.reason(), reason.detail(), reason.facts(), last.at(), null, reason.ends());
    return last.by() != null ? since.with("by", last.by()) : since;
  }

  private WhyInfo.Reason standing(WhyInfo.Reason reason) {
    List<String> states = new ArrayList<>();
    for (String id : reason.facts().getOrDefault("jobs", "").split(" ", -1)) {
      if (!id.isEmpty()) {
        states.add(queries.get(new JobId(id)).map(job -> job.state().name()).orElse("NOT_FOUND"));
      }
    }
    return reason.with("states", String.join(" ", states));
  }

  private static WhyInfo.Reason reason(Hindrance told) {
    return new WhyInfo.Reason(
        told.reason(),
        told.detail(),
        Map.copyOf(told.facts()),
        told.sinceMicros() == 0 ? null : Micros.toInstant(told.sinceMicros()),
        told.untilMicros() == 0 ? null : Micros.toInstant(told.untilMicros()),
        told.ends());
  }
}
