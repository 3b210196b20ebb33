package dev.carillon.engine.history;

import dev.carillon.api.JobError;
import dev.carillon.api.JobEvent;
import dev.carillon.api.JobState;
import dev.carillon.engine.fold.OperationBody;
import dev.carillon.engine.format.ByteReader;
import dev.carillon.engine.format.DamagedException;
import dev.carillon.engine.format.Frame;
import dev.carillon.engine.format.Micros;
import dev.carillon.engine.format.UnknownFormatException;
import dev.carillon.engine.job.JobSpec;
import dev.carillon.engine.job.Lease;
import dev.carillon.engine.job.Ran;
import dev.carillon.engine.job.ScheduleFormat;
import dev.carillon.engine.job.ScheduleState;
import dev.carillon.engine.job.Why;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** What operations tell of a job, for its history. */
public final class JobEvents {
  private JobEvents() {}

  /** Adds what {@code frame} tells, of a job in a shard with that home. */
  public static void of(Frame frame, String home, List<JobEvent> told) {
    ByteReader in = frame.reader();
    switch (frame.kind()) {
      case ADD -> {
        JobSpec spec = JobSpec.decodeHead(frame.body());
        told.add(event(spec.acceptedMicros(), JobEvent.Kind.SCHEDULED, 0, "", null));
      }
      case START -> {
        OperationBody.Start start = OperationBody.Start.decode(in);
        String detail = start.alone() ? "alone" : "";
        told.add(event(start.at(), JobEvent.Kind.STARTED, start.attempt(), detail, null));
      }
      case SAVE -> {
        OperationBody.Save save = OperationBody.Save.decode(in);
        String detail = save.state().length + " bytes";
        told.add(event(save.at(), JobEvent.Kind.SAVED, save.attempt(), detail, null));
      }
      case LEASE -> {
        Lease.Recorded recorded = Lease.Recorded.decode(in);
        boolean given = recorded.lease().lengthMicros() > 0;
        String detail = (given ? "run by " : "given back by ") + recorded.lease().worker();
        told.add(event(recorded.at(), JobEvent.Kind.LEASED, recorded.attempt(), detail, null));
      }
      case RETRY -> {
        OperationBody.Retry retry = OperationBody.Retry.decode(in);
        String detail = "next at " + Micros.toInstant(retry.nextDue());
        JobEvent event =
            event(retry.at(), JobEvent.Kind.RETRIED, retry.attempt(), detail, retry.error());
        told.add(ran(event, retry.ran(), home));
      }
      case AGAIN -> {
        OperationBody.Again again = OperationBody.Again.decode(in);
        String note = again.note().isEmpty() ? "" : ": " + again.note();
        String detail = "again at " + Micros.toInstant(again.due()) + note;
        JobEvent event = event(again.at(), JobEvent.Kind.POSTPONED, again.attempt(), detail, null);
        told.add(ran(event, again.ran(), home));
      }
      case REPLACE -> {
        OperationBody.Replace replace = OperationBody.Replace.decode(in);
        JobSpec spec = JobSpec.decodeHead(replace.spec());
        String detail = "due at " + Micros.toInstant(spec.dueMicros());
        Why why = new Why(replace.by(), detail);
        told.add(asked(replace.at(), JobEvent.Kind.REPLACED, why));
      }
      case CANCEL -> {
        OperationBody.Cancel cancel = OperationBody.Cancel.decode(in);
        told.add(asked(cancel.at(), JobEvent.Kind.CANCEL_REQUESTED, cancel.why()));
      }
      case PAUSE -> {
        OperationBody.Pause pause = OperationBody.Pause.decode(in);
        told.add(asked(pause.at(), JobEvent.Kind.PAUSED, pause.why()));
      }
      case RESUME -> {
        OperationBody.Resume resume = OperationBody.Resume.decode(in);
        told.add(asked(resume.at(), JobEvent.Kind.RESUMED, new Why(resume.by(), "")));
      }
      case CHANGE -> {
        OperationBody.Change change = OperationBody.Change.decode(in);
        Why why = new Why(change.by(), detail(change));
        told.add(asked(change.at(), JobEvent.Kind.CHANGED, why));
      }
      case UPDATE -> {
        OperationBody.Update update = OperationBody.Update.decode(in);
        ScheduleState move = update.move();
        String next = move != null ? "; next at " + Micros.toInstant(move.timeMicros()) : "";
        Why why = new Why(update.by(), "declared again" + next);
        told.add(asked(update.at(), JobEvent.Kind.CHANGED, why));
      }
      case NEXT -> next(OperationBody.Next.decode(in), home, told);
      case END -> told.add(end(OperationBody.End.decode(in), home));
      case REPLAY -> {
        OperationBody.Replay replay = OperationBody.Replay.decode(in);
        told.add(asked(replay.at(), JobEvent.Kind.REPLAYED, new Why(replay.by(), "")));
      }
      case MET -> {
        OperationBody.Met met = OperationBody.Met.decode(in);
        String detail = met.job().id() + (met.state() != null ? " " + met.state() : "");
        told.add(event(met.at(), JobEvent.Kind.DEPENDENCY_ENDED, 0, detail, null));
      }
      case CHECKPOINT, HISTORY, SIGNAL, CHILD_ENDED, WAIT, RENEW -> WorkflowEvents.of(frame, told);
      case CLEAR, STATE, DISCARD, WAITER, TOLD, PAYLOAD, FOOTER -> {}
      case REPORT, RESTORED -> {}
    }
  }

  private static JobEvent end(OperationBody.End end, String home) {
    String detail = end.reason() != null ? end.reason() : "";
    JobEvent.Kind kind = JobEvent.Kind.valueOf(end.state().name());
    if (end.by() != null) {
      return asked(end.at(), kind, new Why(end.by(), detail));
    }
    JobEvent event = event(end.at(), kind, end.attempt(), detail, end.error());
    return end.attempt() != 0 ? ran(event, end.ran(), home) : event;
  }

  private static String detail(OperationBody.Change change) {
    if (change.due() != null) {
      return "due at " + Micros.toInstant(change.due());
    }
    if (change.priority() != null) {
      return "priority " + change.priority();
    }
    byte[] schedule = change.schedule();
    if (schedule == null) {
      return "";
    }
    try {
      return ScheduleFormat.decode(schedule).describe();
    } catch (DamagedException | UnknownFormatException e) {
      return e.getMessage() + ""; // in a time zone that this JVM does not know, say
    }
  }

  private static void next(OperationBody.Next next, String home, List<JobEvent> told) {
    String detail =
        (next.reason() != null ? next.reason() : "")
            + (next.reason() != null && next.move() != null ? "; " : "")
            + (next.move() != null ? "next at " + Micros.toInstant(next.move().timeMicros()) : "");
    JobEvent event = event(next.at(), kind(next), next.attempt(), detail, next.error());
    told.add(next.attempt() != 0 ? ran(event, next.ran(), home) : event);
    if (next.over()) {
      told.add(event(next.at(), JobEvent.Kind.SUCCEEDED, 0, OperationBody.SCHEDULE_OVER, null));
    }
  }

  private static JobEvent.Kind kind(OperationBody.Next next) {
    JobState outcome = next.outcome();
    if (outcome == null) {
      return next.tookPlace() ? JobEvent.Kind.OCCURRENCE_ADDED : JobEvent.Kind.OCCURRENCE_SKIPPED;
    }
    return switch (outcome) {
      case SUCCEEDED -> JobEvent.Kind.OCCURRED;
      case DEAD -> JobEvent.Kind.OCCURRENCE_DEAD;
      default -> JobEvent.Kind.OCCURRENCE_FAILED;
    };
  }

  /**
   * Adds what {@code next} tells of an occurrence that it made a job of its own; one whose attempts
   * are exhausted had them under its recurring job, of which {@code occurrence} tells, beginning
   * with the end of the occurrence before.
   */
  public static void ofChild(
      OperationBody.Next next, String home, List<JobEvent> occurrence, List<JobEvent> told) {
    told.add(event(next.at(), JobEvent.Kind.SCHEDULED, 0, "", null));
    if (next.outcome() == null) {
      return;
    }
    for (JobEvent event : occurrence) {
      if (isOfAttempt(event.kind())) {
        told.add(event);
      }
    }
    String reason = next.reason() != null ? next.reason() : "";
    JobEvent dead = event(next.at(), JobEvent.Kind.DEAD, next.attempt(), reason, next.error());
    told.add(ran(dead, next.ran(), home));
  }

  private static boolean isOfAttempt(JobEvent.Kind kind) {
    return switch (kind) {
      case STARTED, SAVED, RETRIED, POSTPONED, PAUSED, RESUMED, CHANGED, CANCEL_REQUESTED -> true;
      case LEASED -> true;
      case BEGUN, STEP_DONE, STEP_FAILED, STEP_BEGUN, TIMER_SET, TIMER_FIRED, WAITING -> true;
      case SIGNAL_AWAITED, SIGNALLED, VERSION_CHOSEN, CHILD_STARTED, CHILD_ENDED, GIVEN_UP -> true;
      default -> false;
    };
  }

  private static JobEvent event(
      long at, JobEvent.Kind kind, int attempt, String detail, @Nullable JobError error) {
    return new JobEvent(Micros.toInstant(at), kind, attempt, detail, error, null, null, null);
  }

  /** What somebody asked for. */
  private static JobEvent asked(long at, JobEvent.Kind kind, Why why) {
    return new JobEvent(Micros.toInstant(at), kind, 0, why.reason(), null, null, null, why.by());
  }

  /** The same as the end of an attempt. */
  private static JobEvent ran(JobEvent event, Ran ran, String home) {
    return new JobEvent(
        event.at(),
        event.kind(),
        event.attempt(),
        event.detail(),
        event.error(),
        Micros.toInstant(ran.startedAt()),
        ran.nodeAt(home),
        null);
  }
}
