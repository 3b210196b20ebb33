package dev.carillon.engine.history;

import dev.carillon.api.JobError;
import dev.carillon.api.JobEvent;
import dev.carillon.engine.fold.OperationBody;
import dev.carillon.engine.format.Frame;
import dev.carillon.engine.format.Micros;
import dev.carillon.engine.job.HistoryEntry;
import dev.carillon.engine.job.WorkflowWait;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** What the operations of a workflow tell of it, for its history. */
final class WorkflowEvents {
  private WorkflowEvents() {}

  /** Adds what {@code frame} tells. */
  static void of(Frame frame, List<JobEvent> told) {
    switch (frame.kind()) {
      case CHECKPOINT ->
          OperationBody.Checkpoint.decode(frame.reader())
              .entries()
              .forEach(entry -> told.add(event(entry)));
      case HISTORY ->
          OperationBody.History.decode(frame.reader())
              .entries()
              .forEach(entry -> told.add(event(entry)));
      case SIGNAL -> told.add(event(OperationBody.Signal.decode(frame.reader()).entry()));
      case CHILD_ENDED -> told.add(event(OperationBody.ChildEnded.decode(frame.reader()).entry(0)));
      case WAIT -> {
        OperationBody.Wait wait = OperationBody.Wait.decode(frame.reader());
        told.add(event(wait.at(), JobEvent.Kind.WAITING, 0, detail(wait.waitFor()), null));
      }
      case RENEW ->
          told.add(
              event(
                  OperationBody.Renew.decode(frame.reader()).at(),
                  JobEvent.Kind.RENEWED,
                  0,
                  "",
                  null));
      default -> throw new IllegalArgumentException("kind: " + frame.kind());
    }
  }

  private static String detail(WorkflowWait wait) {
    StringBuilder out = new StringBuilder();
    if (wait.untilMicros() < WorkflowWait.FOR_EVER) {
      out.append("until ").append(Micros.toInstant(wait.untilMicros()));
    }
    for (WorkflowWait.AwaitedSignal signal : wait.signals()) {
      out.append(out.isEmpty() ? "" : ", ").append("for signal ").append(signal.type());
    }
    if (!wait.children().isEmpty()) {
      out.append(out.isEmpty() ? "" : ", ")
          .append("for ")
          .append(wait.all() ? "all of " : "one of ")
          .append(wait.children().size())
          .append(" children");
    }
    return out.toString();
  }

  /** An entry of its history, as an event. */
  static JobEvent event(HistoryEntry entry) {
    long at = entry.at();
    return switch (entry) {
      case HistoryEntry.Begun e -> event(at, JobEvent.Kind.BEGUN, 0, "", null);
      case HistoryEntry.StepDone e ->
          ran(event(at, JobEvent.Kind.STEP_DONE, e.attempt(), e.name(), null), e.startedAt());
      case HistoryEntry.StepFailed e -> {
        String next = e.nextAt() == 0 ? "" : "; next at " + Micros.toInstant(e.nextAt());
        JobEvent event =
            event(at, JobEvent.Kind.STEP_FAILED, e.attempt(), e.name() + next, e.error());
        yield ran(event, e.startedAt());
      }
      case HistoryEntry.StepBegun e ->
          event(at, JobEvent.Kind.STEP_BEGUN, e.attempt(), e.name(), null);
      case HistoryEntry.TimerSet e ->
          event(at, JobEvent.Kind.TIMER_SET, 0, "due at " + Micros.toInstant(e.dueAt()), null);
      case HistoryEntry.TimerFired e -> event(at, JobEvent.Kind.TIMER_FIRED, 0, "", null);
      case HistoryEntry.SignalAwaited e ->
          event(at, JobEvent.Kind.SIGNAL_AWAITED, 0, e.type(), null);
      case HistoryEntry.VersionChosen e ->
          event(at, JobEvent.Kind.VERSION_CHOSEN, 0, e.change() + " " + e.version(), null);
      case HistoryEntry.ChildStarted e ->
          event(at, JobEvent.Kind.CHILD_STARTED, 0, e.type() + " " + e.child().id(), null);
      case HistoryEntry.ChildEnded e ->
          event(at, JobEvent.Kind.CHILD_ENDED, 0, e.state().name(), e.error());
      case HistoryEntry.Signalled e -> event(at, JobEvent.Kind.SIGNALLED, 0, e.type(), null);
      case HistoryEntry.CancelRequested e ->
          event(at, JobEvent.Kind.CANCEL_REQUESTED, 0, e.reason(), null);
      case HistoryEntry.GivenUp e -> {
        String reason = e.reason() != null ? ": " + e.reason() : "";
        yield event(at, JobEvent.Kind.GIVEN_UP, 0, e.state() + reason, e.error());
      }
    };
  }

  private static JobEvent event(
      long at, JobEvent.Kind kind, int attempt, String detail, @Nullable JobError error) {
    return new JobEvent(Micros.toInstant(at), kind, attempt, detail, error, null, null, null);
  }

  /** The same of a try that began then. */
  private static JobEvent ran(JobEvent event, long startedAt) {
    return new JobEvent(
        event.at(),
        event.kind(),
        event.attempt(),
        event.detail(),
        event.error(),
        Micros.toInstant(startedAt),
        null,
        null);
  }
}
