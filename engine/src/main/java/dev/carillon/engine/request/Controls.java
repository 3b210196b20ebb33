package dev.carillon.engine.request;

import dev.carillon.api.ControlResult;
import dev.carillon.api.schedule.Overlap;
import dev.carillon.api.schedule.Schedule;
import dev.carillon.engine.attempt.Attempt;
import dev.carillon.engine.attempt.Outcomes;
import dev.carillon.engine.attempt.Recurrences;
import dev.carillon.engine.commit.Committer;
import dev.carillon.engine.commit.Operation;
import dev.carillon.engine.environment.NodeEnvironment;
import dev.carillon.engine.fold.FoldedJob;
import dev.carillon.engine.fold.OperationBody;
import dev.carillon.engine.fold.ShardFold;
import dev.carillon.engine.fold.WorkflowState;
import dev.carillon.engine.format.DamagedException;
import dev.carillon.engine.format.Frame;
import dev.carillon.engine.format.Kind;
import dev.carillon.engine.format.Micros;
import dev.carillon.engine.format.UnknownFormatException;
import dev.carillon.engine.job.JobRef;
import dev.carillon.engine.job.JobSpec;
import dev.carillon.engine.job.OccurrenceSpec;
import dev.carillon.engine.job.OccurrencesAdded;
import dev.carillon.engine.job.Ran;
import dev.carillon.engine.job.ScheduleFormat;
import dev.carillon.engine.job.ScheduleState;
import dev.carillon.engine.life.JobLife;
import dev.carillon.engine.life.JobLookup;
import dev.carillon.engine.life.Occurrences;
import dev.carillon.engine.message.RemoteRequest;
import dev.carillon.engine.message.RemoteRequestFormat;
import dev.carillon.engine.message.RemoteRequests;
import dev.carillon.engine.query.JobReader;
import dev.carillon.engine.shard.NodeJob;
import dev.carillon.engine.shard.Shard;
import dev.carillon.engine.shard.Shards;
import dev.carillon.store.Head;
import dev.carillon.store.Outcome;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * What users change of a job that has not ended: pausing, its time, its priority, its schedule, and
 * occurrences beyond the schedule. The job's shard is loaded for it; callers are answered from the
 * fold.
 */
public final class Controls {
  /** Occurrences of one job that may not have ended. */
  public static final int MOST_OCCURRENCES = Occurrences.MOST_LIVE;

  private final NodeEnvironment env;
  private final Shards shards;
  private final Committer committer;
  private final Recurrences recurrences;
  private final RemoteRequests requests;
  private final JobLookup lookup;
  private final JobLife life;

  /** The parts of a node that take part in a change. */
  public record Parts(
      Shards shards,
      Committer committer,
      Recurrences recurrences,
      RemoteRequests requests,
      JobLookup lookup,
      JobLife life) {}

  public Controls(NodeEnvironment env, Parts parts) {
    this.env = env;
    this.shards = parts.shards();
    this.committer = parts.committer();
    this.recurrences = parts.recurrences();
    this.requests = parts.requests();
    this.lookup = parts.lookup();
    this.life = parts.life();
  }

  /** Does something about a live job, or finds that it cannot. */
  private interface Change {
    void apply(Shard shard, NodeJob job);
  }

  /**
   * Does it where the job's shard is.
   *
   * @param request asks the same of another node
   */
  private void withJob(
      RemoteRequest request, Consumer<Outcome<ControlResult>> answer, Change change) {
    withJob(request, answer, answered(answer), change);
  }

  private static Consumer<Outcome<byte[]>> answered(Consumer<Outcome<ControlResult>> answer) {
    return outcome -> answer.accept(outcome.map(RemoteRequestFormat::controlResult));
  }

  private void withJob(RemoteRequest request, OccurrencesAdded answer, Change change) {
    withJob(
        request,
        answer::refused,
        outcome -> {
          if (outcome instanceof Outcome.Ok<byte[]>(byte[] bytes)) {
            RemoteRequestFormat.readAdded(bytes, answer);
          } else {
            answer.refused(outcome.map(RemoteRequestFormat::controlResult));
          }
        },
        change);
  }

  private void withJob(
      RemoteRequest request,
      Consumer<Outcome<ControlResult>> refused,
      Consumer<Outcome<byte[]>> answered,
      Change change) {
    JobRef ref = request.job();
    shards.withLoaded(
        ref.shard(),
        new Shards.ShardAccess() {
          @Override
          public void use(Shard shard) {
            NodeJob job = shard.job(ref.number());
            if (job == null) {
              none();
            } else {
              change.apply(shard, job);
            }
          }

          @Override
          public void none() {
            answerEnded(ref, refused);
          }

          @Override
          public void elsewhere(Head head) {
            requests.send(
                head, request, answered, () -> withJob(request, refused, answered, change));
          }
        });
  }

  private void answerEnded(JobRef ref, Consumer<Outcome<ControlResult>> answer) {
    lookup.find(
        ref,
        outcome -> {
          if (outcome instanceof Outcome.Ok<Optional<JobReader.Story>>(var found)
              && found.isPresent()
              && !found.get().view().info().state().ended()) {
            answer.accept(new Outcome.Unavailable<>("the job's shard is changing hands"));
          } else {
            answer.accept(
                outcome.map(
                    story -> story.isPresent() ? ControlResult.ENDED : ControlResult.NOT_FOUND));
          }
        });
  }

  // ---- pausing

  /** Pauses a job, and with a workflow its children: answered when no call begins any more. */
  public void pause(RemoteRequest.Pause pause, Consumer<Outcome<ControlResult>> answer) {
    withJob(
        pause,
        answer,
        (shard, job) -> {
          OperationBody.Pause body =
              new OperationBody.Pause(env.wallMicros(), pause.why(), pause.withParent());
          append(
              shard,
              job,
              Frame.of(Kind.PAUSE, job.number, body.encode()),
              applied -> {
                life.paused(
                    job,
                    pause.now(),
                    () ->
                        withChildren(
                            job, (child, told) -> pause(pause.ofChild(child), told), answer));
              },
              answer);
        });
  }

  /** Lets a job go on, and with a workflow those children that were paused with it. */
  public void resume(RemoteRequest.Resume asked, Consumer<Outcome<ControlResult>> answer) {
    withJob(
        asked,
        answer,
        (shard, job) -> {
          OperationBody.Resume resume =
              new OperationBody.Resume(env.wallMicros(), asked.by(), asked.withParent());
          Frame frame = Frame.of(Kind.RESUME, job.number, resume.encode());
          shards.ensureAwakeBy(
              shard,
              job.dueMicros,
              () ->
                  append(
                      shard,
                      job,
                      frame,
                      applied -> {
                        if (!job.isPaused()) {
                          goOn(job);
                        }
                        withChildren(
                            job,
                            (child, told) ->
                                resume(new RemoteRequest.Resume(child, asked.by(), true), told),
                            answer);
                      },
                      answer));
        });
  }

  /** Does something about a child of a workflow. */
  private interface ForChild {
    void ask(JobRef child, Consumer<Outcome<ControlResult>> told);
  }

  /** Answers when that is done about every child that has not ended, or one refused. */
  private static void withChildren(
      NodeJob job, ForChild ask, Consumer<Outcome<ControlResult>> answer) {
    WorkflowState workflow = job.workflow();
    List<JobRef> children = workflow != null ? workflow.ownChildren() : List.of();
    if (children.isEmpty()) {
      answer.accept(Outcome.ok(ControlResult.DONE));
      return;
    }
    int[] left = {children.size()};
    for (JobRef child : children) {
      ask.ask(
          child,
          outcome -> {
            if (left[0] > 0 && !outcome.isOk()) {
              left[0] = 0;
              answer.accept(outcome);
            } else if (left[0] > 0 && --left[0] == 0) {
              answer.accept(Outcome.ok(ControlResult.DONE));
            }
          });
    }
  }

  private void goOn(NodeJob job) {
    Attempt attempt = Attempt.of(job);
    if (job.phase() == NodeJob.Phase.PAUSED) {
      life.rescheduled(job);
    } else if (attempt != null) {
      attempt.pauseOver();
    }
  }

  // ---- time, priority and schedule

  public void reschedule(
      JobRef ref, String by, long dueMicros, Consumer<Outcome<ControlResult>> answer) {
    withJob(
        new RemoteRequest.Move(ref, by, dueMicros),
        answer,
        (shard, job) -> {
          if (job.has(JobSpec.DEADLINE) && job.isStripped()) {
            life.whenBody(job, () -> reschedule(ref, by, dueMicros, answer)); // it ends the waiting
            return;
          }
          long due = Outcomes.notAfterDeadline(job, dueMicros);
          change(
              shard,
              job,
              new OperationBody.Change(
                  job.revision, env.wallMicros(), by, due, null, null, null, false),
              () -> reschedule(ref, by, dueMicros, answer),
              answer);
        });
  }

  public void prioritise(
      JobRef ref, String by, int priority, Consumer<Outcome<ControlResult>> answer) {
    withJob(
        new RemoteRequest.Prioritise(ref, by, priority),
        answer,
        (shard, job) ->
            change(
                shard,
                job,
                new OperationBody.Change(
                    job.revision, env.wallMicros(), by, null, priority, null, null, false),
                () -> prioritise(ref, by, priority, answer),
                answer));
  }

  /** The recurring job keeps its count and goes on by another schedule, with a first attempt. */
  public void reschedule(
      JobRef ref, String by, Schedule schedule, Consumer<Outcome<ControlResult>> answer) {
    withJob(
        new RemoteRequest.Reschedule(ref, by, ScheduleFormat.encode(schedule)),
        answer,
        (shard, job) -> {
          ScheduleState move = job.move();
          if (move == null) {
            answer.accept(Outcome.ok(ControlResult.NOT_RECURRING));
            return;
          }
          long now = env.wallMicros();
          Recurrences.Step step = recurrences.begin(schedule, move.count(), now);
          if (step.over()) {
            answer.accept(Outcome.ok(ControlResult.NO_TIME_LEFT));
            return;
          }
          byte[] encoded = ScheduleFormat.encode(schedule);
          change(
              shard,
              job,
              new OperationBody.Change(
                  job.revision, now, by, null, null, encoded, step.move(), true),
              () -> reschedule(ref, by, schedule, answer),
              answer);
        });
  }

  private void change(
      Shard shard,
      NodeJob job,
      OperationBody.Change change,
      Runnable again,
      Consumer<Outcome<ControlResult>> answer) {
    if (job.phase() == NodeJob.Phase.RUNNING) {
      answer.accept(Outcome.ok(ControlResult.RUNNING));
      return;
    }
    int bytes = job.bodyBytes;
    Long due = change.due();
    ScheduleState move = change.move();
    long wake =
        due != null ? due : move != null ? move.timeMicros() + move.jitterMicros() : job.dueMicros;
    Frame frame = Frame.of(Kind.CHANGE, job.number, change.encode());
    job.busy++;
    life.withdraw(job);
    shards.ensureAwakeBy(
        shard,
        wake,
        () -> {
          job.busy--;
          append(
              shard,
              job,
              frame,
              applied -> {
                if (applied != ShardFold.Answer.APPLIED) {
                  again.run();
                  return;
                }
                life.resized(job.bodyBytes - bytes);
                if (job.phase() != NodeJob.Phase.PAUSED) {
                  life.rescheduled(job);
                }
                answer.accept(Outcome.ok(ControlResult.DONE));
              },
              answer);
        });
  }

  // ---- occurrences beyond the schedule

  /** One more occurrence, now. */
  public void trigger(JobRef ref, OccurrencesAdded answer) {
    withJob(
        new RemoteRequest.Trigger(ref),
        answer,
        (shard, job) -> {
          if (isReadable(job, answer)) {
            add(shard, job, List.of(Micros.toInstant(env.wallMicros())), answer);
          }
        });
  }

  /** Whether the job has a schedule that this JVM can read; answers where it has not. */
  private boolean isReadable(NodeJob job, OccurrencesAdded answer) {
    if (job.move() == null) {
      answer.refused(Outcome.ok(ControlResult.NOT_RECURRING));
      return false;
    }
    try {
      var unused = recurrences.of(job);
      return true;
    } catch (DamagedException | UnknownFormatException e) {
      answer.refused(new Outcome.Damaged<>(e.getMessage() + ""));
      return false;
    }
  }

  /** The occurrences that the schedule has from one time to another, both included. */
  public void backfill(JobRef ref, Instant from, Instant to, OccurrencesAdded answer) {
    withJob(
        new RemoteRequest.Backfill(ref, Micros.ceil(from), Micros.floor(to)),
        answer,
        (shard, job) -> {
          if (isReadable(job, answer)) {
            add(shard, job, recurrences.between(job, from, to, Occurrences.MOST_LIVE + 1), answer);
          }
        });
  }

  private void add(Shard shard, NodeJob job, List<Instant> times, OccurrencesAdded answer) {
    if (times.isEmpty()) {
      answer.added(List.of());
      return;
    }
    int live = shard.fold != null ? shard.fold.occurrences(job.number).size() : 0;
    if (live + times.size() > Occurrences.MOST_LIVE) {
      answer.refused(Outcome.ok(ControlResult.TOO_MANY));
      return;
    }
    Schedule schedule = recurrences.of(job);
    Overlap overlap = Recurrences.spawns(schedule) ? schedule.overlap() : Overlap.ALLOW;
    List<OccurrenceSpec> wanted =
        times.stream()
            .map(time -> new OccurrenceSpec(job.number, 0, Micros.ceil(time), overlap))
            .toList();
    long at = env.wallMicros();
    shards.ensureAwakeBy(
        shard,
        Math.min(at, wanted.getFirst().timeMicros()),
        () -> append(shard, job, wanted, at, answer));
  }

  /** Numbers are given when the operation goes, so that they follow the journal's order. */
  private void append(
      Shard shard, NodeJob job, List<OccurrenceSpec> wanted, long at, OccurrencesAdded answer) {
    List<OperationBody.Next.Child> children = new ArrayList<>();
    for (OccurrenceSpec occurrence : wanted) {
      long due = Math.min(occurrence.timeMicros(), at);
      children.add(new OperationBody.Next.Child(shard.nextNumber(), due, occurrence));
    }
    OperationBody.Next next =
        new OperationBody.Next(
            0, job.revision, at, Ran.NOT, null, null, null, children, null, false);
    append(
        shard,
        job,
        Frame.of(Kind.NEXT, job.number, next.encode()),
        applied -> {
          if (applied != ShardFold.Answer.APPLIED) {
            answer.refused(Outcome.ok(ControlResult.NOT_RECURRING));
            return;
          }
          life.occurrences().arrived(shard);
          answer.added(children.stream().map(child -> shard.ref(child.number())).toList());
        },
        answer::refused);
  }

  // ---- the journal

  private void append(
      Shard shard,
      NodeJob job,
      Frame frame,
      Consumer<ShardFold.Answer> done,
      Consumer<Outcome<ControlResult>> answer) {
    job.busy++;
    committer.add(
        shard.journal,
        new Operation(
            frame,
            new Operation.Listener() {
              @Override
              public void applied(ShardFold.Answer applied, @Nullable FoldedJob met) {
                job.busy--;
                if (applied == ShardFold.Answer.NO_SUCH_JOB) {
                  answerEnded(shard.ref(job.number), answer);
                  return;
                }
                done.accept(applied);
                life.goOnIfPassedOver(job);
              }

              @Override
              public void lost(Operation.Loss loss, String why) {
                job.busy--;
                life.goOnIfPassedOver(job);
                answer.accept(loss.outcome(why));
              }
            }));
  }
}
