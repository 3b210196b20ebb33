package dev.carillon.engine.request;

import dev.carillon.api.ControlResult;
import dev.carillon.engine.commit.Basics;
import dev.carillon.engine.format.Micros;
import dev.carillon.engine.job.JobEdit;
import dev.carillon.engine.job.JobRef;
import dev.carillon.engine.job.OccurrencesAdded;
import dev.carillon.engine.job.ScheduleFormat;
import dev.carillon.engine.job.Why;
import dev.carillon.engine.life.JobLife;
import dev.carillon.engine.limit.Shares;
import dev.carillon.engine.loan.Borrowing;
import dev.carillon.engine.loan.Lending;
import dev.carillon.engine.member.MemberStatus;
import dev.carillon.engine.message.Message;
import dev.carillon.engine.message.Question;
import dev.carillon.engine.message.RemoteRequest;
import dev.carillon.engine.message.RemoteRequestFormat;
import dev.carillon.engine.message.RemoteRequests;
import dev.carillon.engine.message.Wire;
import dev.carillon.engine.worker.Workers;
import dev.carillon.store.Outcome;
import java.util.List;
import java.util.function.Consumer;

/**
 * Serves the requests of other nodes: those of the {@link RemoteRequests}, and messages of the
 * {@link Wire}. Each goes to the part of this node that serves the same request of a local caller.
 */
public final class RequestRouter implements RemoteRequests.Host, Wire.Host {
  private final Parts parts;
  private final MemberStatus status;
  private final Errands errands;
  private final Questions questions;

  /** The parts of a node that serve requests. */
  public record Parts(
      JobLife life,
      Adds adds,
      Controls controls,
      Replays replays,
      Signals signals,
      Shares shares,
      Lending lending,
      Borrowing borrowing,
      Workers workers) {}

  public RequestRouter(
      MemberStatus status, Wire wire, Parts parts, Basics basics, Questions.Parts forQuestions) {
    this.status = status;
    this.parts = parts;
    this.errands = new Errands(wire, parts.adds(), this);
    this.questions = new Questions(basics, wire, forQuestions);
  }

  /** Questions to nodes about what they have in memory. */
  public Questions questions() {
    return questions;
  }

  /** Requests that a client has other nodes serve. */
  public Errands errands() {
    return errands;
  }

  // ---- requests to shards

  @Override
  public boolean forwards(RemoteRequest request, Consumer<Outcome<byte[]>> answer) {
    if (status.isClient()) {
      errands.ask(request, answer);
    }
    return status.isClient();
  }

  @Override
  public void serve(RemoteRequest request, Consumer<Outcome<byte[]>> answer) {
    Controls controls = parts.controls();
    JobLife life = parts.life();
    Consumer<Outcome<ControlResult>> control =
        outcome -> answer.accept(outcome.map(RemoteRequestFormat::encode));
    switch (request) {
      case RemoteRequest.Cancel(JobRef job, Why why) ->
          life.cancels()
              .cancel(job, why, outcome -> answer.accept(outcome.map(RemoteRequestFormat::encode)));
      case RemoteRequest.Terminate(JobRef job, Why why) ->
          life.terminations()
              .terminate(
                  job, why, outcome -> answer.accept(outcome.map(RemoteRequestFormat::encode)));
      case RemoteRequest.Pause pause -> controls.pause(pause, control);
      case RemoteRequest.Resume resume -> controls.resume(resume, control);
      case RemoteRequest.Move(JobRef job, String by, long due) ->
          controls.reschedule(job, by, due, control);
      case RemoteRequest.Reschedule(JobRef job, String by, byte[] schedule) ->
          controls.reschedule(job, by, ScheduleFormat.decode(schedule), control);
      case RemoteRequest.Prioritise(JobRef job, String by, int priority) ->
          controls.prioritise(job, by, priority, control);
      case RemoteRequest.Trigger(JobRef job) -> controls.trigger(job, added(answer));
      case RemoteRequest.Backfill(JobRef job, long from, long to) ->
          controls.backfill(job, Micros.toInstant(from), Micros.toInstant(to), added(answer));
      case RemoteRequest.Replay(JobRef job, String by, JobEdit edit) ->
          parts.replays().replay(job, by, edit, control);
      case RemoteRequest.Discard(JobRef job, String by) ->
          parts.replays().discard(job, by, control);
      case RemoteRequest.Look(JobRef job) -> parts.adds().look(job, answer);
      case RemoteRequest.Replace replace -> parts.adds().replacements().serve(replace, answer);
      case RemoteRequest.Await(JobRef job, JobRef waiter) ->
          life.dependencies().await(job, waiter, answer);
      case RemoteRequest.Tell tell -> life.dependencies().told(tell, answer);
      case RemoteRequest.Signal signal ->
          parts
              .signals()
              .signal(signal, outcome -> answer.accept(outcome.map(RemoteRequestFormat::encode)));
    }
  }

  private static OccurrencesAdded added(Consumer<Outcome<byte[]>> answer) {
    return new OccurrencesAdded() {
      @Override
      public void added(List<JobRef> jobs) {
        answer.accept(Outcome.ok(RemoteRequestFormat.encodeAdded(jobs)));
      }

      @Override
      public void refused(Outcome<ControlResult> why) {
        answer.accept(why.map(RemoteRequestFormat::encodeNotAdded));
      }
    };
  }

  // ---- wire

  @Override
  public boolean expectsMessages() {
    return parts.lending().out() > 0
        || parts.borrowing().size() > 0
        || parts.workers().expectsMessages()
        || errands.underWay() > 0
        || questions.underWay() > 0;
  }

  @Override
  public void heard(long from, byte[] message) {
    switch (Message.decode(message)) {
      case Message.Errand(long number, byte[] asked) -> errands.run(from, number, asked);
      case Message.ErrandDone(long number, byte[] answer) -> errands.done(from, number, answer);
      case Message.OfWorker(byte[] word) -> parts.workers().heard(from, word);
      case Message.Look(String record) -> parts.shares().look(record);
      case Message.Asked(long number, Question question) -> questions.asked(from, number, question);
      case Message.Told(long number, byte[] answer) -> questions.told(from, number, answer);
      case Message said -> {
        if (!parts.lending().heard(from, said)) {
          parts.borrowing().heard(from, said);
        }
      }
    }
  }
}
