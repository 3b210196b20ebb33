package dev.carillon.engine.request;

import dev.carillon.api.ControlResult;
import dev.carillon.api.Overlap;
import dev.carillon.api.Schedule;
import dev.carillon.engine.attempt.Attempt;
import dev.carillon.engine.attempt.Outcomes;
import dev.carillon.engine.attempt.Recurrences;
import dev.carillon.engine.commit.Committer;
import dev.carillon.engine.commit.Operation;
import dev.carillon.engine.environment.NodeEnvironment;
import dev.carillon.engine.fold.FoldedJob;
import dev.carillon.engine.fold.OperationBody;
import dev.carillon.engine.fold.ShardFold;
import dev.carillon.engine.format.DamagedException;
import dev.carillon.engine.format.Frame;
import dev.carillon.engine.format.Kind;
import dev.carillon.engine.format.Micros;
import dev.carillon.engine.format.UnknownFormatException;
import dev.carillon.engine.job.JobEdit;
import dev.carillon.engine.job.JobRef;
import dev.carillon.engine.job.JobSpec;
import dev.carillon.engine.job.OccurrenceSpec;
import dev.carillon.engine.job.OccurrencesAdded;
import dev.carillon.engine.job.Ran;
import dev.carillon.engine.job.ScheduleFormat;
import dev.carillon.engine.job.ScheduleState;
import dev.carillon.engine.job.Why;
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

  public void pause(JobRef ref, Why why, Consumer<Outcome<ControlResult>> answer) {
    withJob(
        new RemoteRequest.Pause(ref, why),
        answer,
        (shard, job) -> {
          OperationBody.Pause pause = new OperationBody.Pause(env.wallMicros(), why);
          append(
              shard,
              job,
              Frame.of(Kind.PAUSE, job.number, pause.encode()),
              applied -> {
                life.paused(job);
                answer.accept(Outcome.ok(ControlResult.DONE));
              },
              answer);
        });
  }

  public void resume(JobRef ref, String by, Consumer<Outcome<ControlResult>> answer) {
    withJob(
        new RemoteRequest.Resume(ref, by),
        answer,
        (shard, job) -> {
          OperationBody.Resume resume = new OperationBody.Resume(env.wallMicros(), by);
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
                        goOn(job);
                        answer.accept(Outcome.ok(ControlResult.DONE));
                      },
                      answer));
        });
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

  // ---- dead letters

  /** A dead letter lives again, as it was or with another input. */
  public void replay(
      JobRef ref, String by, @Nullable JobEdit edit, Consumer<Outcome<ControlResult>> answer) {
    env.submit(
        NodeEnvironment.Channel.READ,
        store -> new JobReader(store).endedBody(ref),
        outcome -> {
          if (!(outcome instanceof Outcome.Ok<Optional<byte[]>>(Optional<byte[]> found))) {
            answer.accept(outcome.map(body -> ControlResult.NOT_FOUND));
          } else if (found.isEmpty()) {
            answerNotDead(ref, answer);
          } else {
            replay(JobSpec.decode(found.get()), new RemoteRequest.Replay(ref, by, edit), answer);
          }
        });
  }

  private void replay(
      JobSpec spec, RemoteRequest.Replay request, Consumer<Outcome<ControlResult>> answer) {
    JobEdit edit = request.edit();
    if (edit != null && !edit.type().equals(spec.type())) {
      answer.accept(Outcome.ok(ControlResult.OTHER_TYPE));
      return;
    }
    long now = env.wallMicros();
    JobSpec again =
        spec.replayed(now, edit != null ? edit.version() : 0, edit != null ? edit.payload() : null);
    OperationBody.Replay replay = new OperationBody.Replay(now, request.by(), again.encode());
    onDead(request, Frame.of(Kind.REPLAY, request.job().number(), replay.encode()), answer);
  }

  /** A dead letter is no longer kept. */
  public void discard(JobRef ref, String by, Consumer<Outcome<ControlResult>> answer) {
    OperationBody.Discard discard = new OperationBody.Discard(env.wallMicros(), by);
    onDead(
        new RemoteRequest.Discard(ref, by),
        Frame.of(Kind.DISCARD, ref.number(), discard.encode()),
        answer);
  }

  private void onDead(RemoteRequest request, Frame frame, Consumer<Outcome<ControlResult>> answer) {
    JobRef ref = request.job();
    shards.withLoaded(
        ref.shard(),
        new Shards.ShardAccess() {
          @Override
          public void use(Shard shard) {
            if (shard.fold == null || !shard.fold.isDead(ref.number())) {
              none();
            } else if (shard.journal.isRewriting()) {
              // It may be left out: whoever reads both generations must not see it live again.
              shards.whenFree(shard, () -> onDead(request, frame, answer));
            } else {
              // The shard may sleep for ever, with nothing but dead letters in it.
              Operation operation = new Operation(frame, dead(shard, ref, answer));
              shards.ensureAwakeBy(shard, 0, () -> committer.add(shard.journal, operation));
            }
          }

          @Override
          public void none() {
            answerNotDead(ref, answer);
          }

          @Override
          public void elsewhere(Head head) {
            requests.send(head, request, answered(answer), () -> onDead(request, frame, answer));
          }
        });
  }

  private Operation.Listener dead(
      Shard shard, JobRef ref, Consumer<Outcome<ControlResult>> answer) {
    return new Operation.Listener() {
      @Override
      public void applied(ShardFold.Answer applied, @Nullable FoldedJob met) {
        shard.evidence = false; // it retires again when its jobs have ended
        if (applied == ShardFold.Answer.APPLIED && met != null) {
          life.added(shard, NodeJob.of(met));
        }
        if (applied == ShardFold.Answer.APPLIED) {
          answer.accept(Outcome.ok(ControlResult.DONE));
        } else {
          answerNotDead(ref, answer);
        }
      }

      @Override
      public void lost(Operation.Loss loss, String why) {
        answer.accept(loss.outcome(why));
      }
    };
  }

  private void answerNotDead(JobRef ref, Consumer<Outcome<ControlResult>> answer) {
    lookup.find(
        ref,
        outcome ->
            answer.accept(
                outcome.map(
                    found ->
                        found.isPresent() ? ControlResult.NOT_DEAD : ControlResult.NOT_FOUND)));
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
