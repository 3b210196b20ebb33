package dev.carillon;

import dev.carillon.api.CancelResult;
import dev.carillon.api.ControlResult;
import dev.carillon.api.JobId;
import dev.carillon.api.error.CarillonException;
import dev.carillon.api.error.InvalidJobException;
import dev.carillon.api.error.JobNotFoundException;
import dev.carillon.api.error.WaitInterruptedException;
import dev.carillon.engine.Node;
import dev.carillon.engine.job.JobRef;
import dev.carillon.engine.job.OccurrencesAdded;
import dev.carillon.engine.job.Why;
import dev.carillon.engine.request.Controls;
import dev.carillon.store.Outcome;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BiConsumer;
import java.util.function.Consumer;

/** Changes of jobs that have not ended, put to the node. */
final class JobControl {
  private final NodeLoop loop;
  private final Tickets tickets;

  JobControl(NodeLoop loop, Tickets tickets) {
    this.loop = loop;
    this.tickets = tickets;
  }

  /** Puts a change to the node. */
  interface Change {
    void put(Node node, JobRef job, Consumer<Outcome<ControlResult>> answer);
  }

  ControlResult change(JobId id, String doing, Change change) {
    JobRef ref = tickets.place(id);
    if (ref == null) {
      return ControlResult.NOT_FOUND;
    }
    String what = doing + " job " + id;
    checkInterrupt(what);
    return loop.post(
            new Ask<ControlResult>(
                loop,
                what,
                Ask.Effect.WRITES,
                (node, asked) -> change.put(node, ref, outcome -> pass(what, outcome, asked))))
        .await();
  }

  CancelResult cancel(JobId id, Why why) {
    JobRef ref = tickets.place(id);
    if (ref == null) {
      return new CancelResult.NotFound();
    }
    return stop("cancelling job " + id, (node, answer) -> node.cancel(ref, why, answer)).await();
  }

  /**
   * Cancels several: all are asked for before the first answer is awaited. All answers are awaited,
   * also where one is a failure, which is thrown then.
   */
  List<CancelResult> cancelAll(List<JobId> ids, Why why) {
    List<Ask<CancelResult>> asked = new ArrayList<>(ids.size());
    for (JobId id : ids) {
      JobRef ref = tickets.place(id);
      if (ref != null) {
        asked.add(stop("cancelling job " + id, (node, answer) -> node.cancel(ref, why, answer)));
      }
    }
    List<CancelResult> results = new ArrayList<>(ids.size());
    CarillonException failure = null;
    for (Ask<CancelResult> each : asked) {
      try {
        results.add(each.await());
      } catch (WaitInterruptedException e) {
        throw e;
      } catch (CarillonException e) {
        failure = failure == null ? e : failure;
      }
    }
    if (failure != null) {
      throw failure;
    }
    return results;
  }

  CancelResult terminate(JobId id, Why why) {
    JobRef ref = tickets.place(id);
    if (ref == null) {
      return new CancelResult.NotFound();
    }
    return stop("terminating job " + id, (node, answer) -> node.terminate(ref, why, answer))
        .await();
  }

  private Ask<CancelResult> stop(
      String what, BiConsumer<Node, Consumer<Outcome<CancelResult>>> request) {
    checkInterrupt(what);
    return loop.post(
        new Ask<CancelResult>(
            loop,
            what,
            Ask.Effect.WRITES,
            (node, asked) -> request.accept(node, outcome -> pass(what, outcome, asked))));
  }

  private static <T> void pass(String what, Outcome<T> outcome, Ask<T> asked) {
    if (outcome instanceof Outcome.Ok<T>(T result)) {
      asked.answer(result);
    } else {
      asked.fail(StoreAnswers.notWritten(what, outcome));
    }
  }

  static void checkInterrupt(String what) {
    if (Thread.currentThread().isInterrupted()) {
      throw new WaitInterruptedException(what + ": interrupted before anything was written", null);
    }
  }

  /** Adds the occurrences that a schedule had in a range of time; the range must be over. */
  List<JobId> backfill(JobId id, TimeRange range, Instant now) {
    if (range.to().isAfter(now)) {
      throw new InvalidJobException(
          "to: " + range.to() + " (expected: not after now, " + now + ")");
    }
    return occurrences(
        id,
        "backfilling",
        (node, job, answer) -> node.backfill(job, range.from(), range.to(), answer));
  }

  /** Puts a wish for more occurrences to the node. */
  interface Wish {
    void put(Node node, JobRef job, OccurrencesAdded answer);
  }

  List<JobId> occurrences(JobId id, String doing, Wish wish) {
    JobRef ref = tickets.existing(id);
    String what = doing + " job " + id;
    checkInterrupt(what);
    return loop.post(
            new Ask<List<JobId>>(
                loop,
                what,
                Ask.Effect.ADDS,
                (node, asked) -> wish.put(node, ref, new Answer(id, what, asked))))
        .await();
  }

  private record Answer(JobId id, String what, Ask<List<JobId>> asked) implements OccurrencesAdded {
    @Override
    public void added(List<JobRef> jobs) {
      asked.answer(jobs.stream().map(JobRef::id).toList());
    }

    @Override
    public void refused(Outcome<ControlResult> why) {
      if (!(why instanceof Outcome.Ok<ControlResult>(ControlResult result))) {
        asked.fail(
            why instanceof Outcome.Unknown<ControlResult>
                ? asked.unknown("the store does not know")
                : StoreAnswers.notWritten(what, why));
        return;
      }
      asked.fail(
          switch (result) {
            case NOT_FOUND, ENDED -> new JobNotFoundException(id);
            case NOT_RECURRING ->
                new InvalidJobException("job " + id + ": not recurring (expected: a schedule)");
            case TOO_MANY, DONE, RUNNING, NO_TIME_LEFT, NOT_DEAD, OTHER_TYPE, NOT_RESUMABLE ->
                new InvalidJobException(
                    what
                        + ": too many occurrences (expected: at most "
                        + Controls.MOST_OCCURRENCES
                        + " that have not ended)");
          });
    }
  }
}
