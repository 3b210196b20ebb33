package dev.carillon;

import dev.carillon.api.Dependency;
import dev.carillon.api.Job;
import dev.carillon.api.JobHandle;
import dev.carillon.api.error.CarillonException;
import dev.carillon.api.error.OutcomeUnknownException;
import dev.carillon.engine.Node;
import dev.carillon.engine.job.JobRef;
import dev.carillon.engine.job.JobSpec;
import dev.carillon.engine.request.AddRequest;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Jobs that are added together or not at all, and their caller. */
final class PendingBatch extends Pending<List<JobHandle<?>>> {
  private final Carillon carillon;
  private final List<AddRequest> requests;
  private final JobHandle<?>[] handles;

  /** What it was let in with: it leaves with the same, though dependencies make it grow. */
  private long weight;

  // The loop's own.
  private int unanswered;
  private @Nullable CarillonException refusal;

  PendingBatch(Carillon carillon, List<? extends Job<?>> jobs, List<JobSpec> specs) {
    super(carillon.loop(), null);
    this.carillon = carillon;
    this.requests = new ArrayList<>(jobs.size());
    this.handles = new JobHandle<?>[jobs.size()];
    this.unanswered = jobs.size();
    for (int i = 0; i < jobs.size(); i++) {
      Job<?> job = jobs.get(i);
      requests.add(new AddRequest(specs.get(i), job.ifExists(), new One<>(i, job)));
    }
    Specs.tie(jobs, requests);
  }

  /** The last starts when all the others have ended. */
  void tieLastToAll() {
    AddRequest last = requests.getLast();
    for (AddRequest request : requests.subList(0, requests.size() - 1)) {
      last.after(request, Dependency.Condition.ENDED);
    }
  }

  /** What it would take of a journal. */
  long bytes() {
    return requests.stream().mapToLong(AddRequest::bytes).sum();
  }

  @Override
  long weight() {
    if (weight == 0) {
      weight = Admission.weight(requests.size(), bytes());
    }
    return weight;
  }

  @Override
  void ask(Node node) {
    node.addAll(requests);
  }

  @Override
  void giveUp(Node node, String waited) {
    requests.forEach(request -> node.abandon(request, waited));
  }

  @Override
  boolean isRefusedWhileAway() {
    return true;
  }

  @Override
  void giveUpUnsent(Node node, String why) {
    requests.forEach(request -> node.abandonUnsent(request, why));
  }

  @Override
  boolean changesSomething() {
    return true;
  }

  @Override
  CarillonException unknown(String why) {
    return new OutcomeUnknownException(what() + ": " + why);
  }

  @Override
  String what() {
    return "scheduling " + handles.length + " jobs together";
  }

  private void oneAnswered() {
    if (--unanswered > 0) {
      return;
    }
    if (refusal != null) {
      fail(refusal);
    } else {
      answer(Arrays.asList(handles));
    }
  }

  private final class One<O> implements AddRequest.Answer {
    private final int index;
    private final Job<O> job;

    One(int index, Job<O> job) {
      this.index = index;
      this.job = job;
    }

    @Override
    public void added(JobRef ref, boolean created) {
      handles[index] = new ScheduledJob<>(carillon, ref, created, job.outputType());
      oneAnswered();
    }

    @Override
    public void refused(CarillonException why) {
      if (refusal == null) {
        refusal = why;
      }
      oneAnswered();
    }
  }
}
