package dev.carillon.prove;

import dev.carillon.Carillon;
import dev.carillon.api.CancelResult;
import dev.carillon.api.JobId;
import dev.carillon.api.error.CarillonException;
import java.time.Instant;

/** Cancels jobs and tells what was answered. */
final class Cancels {
  private final Carillon carillon;
  private final Pipe pipe;

  Cancels(Carillon carillon, Pipe pipe) {
    this.carillon = carillon;
    this.pipe = pipe;
  }

  void cancel(String job) {
    pipe.tell(new Note.CancelAsked(job));
    try {
      CancelResult result = carillon.cancel(new JobId(job), "proving");
      pipe.tell(
          switch (result) {
            case CancelResult.Cancelled c -> answered(job, Note.Answer.CANCELLED, "");
            case CancelResult.Stopping s -> answered(job, Note.Answer.STOPPING, "");
            case CancelResult.Ended e -> answered(job, Note.Answer.ENDED, e.outcome().name());
            case CancelResult.NotFound n -> answered(job, Note.Answer.NOT_FOUND, "");
          });
    } catch (CarillonException e) {
      pipe.tell(answered(job, Note.Answer.UNKNOWN, ""));
    }
  }

  private static Note answered(String job, Note.Answer answer, String state) {
    return new Note.CancelAnswered(job, answer, state, Note.micros(Instant.now()));
  }
}
