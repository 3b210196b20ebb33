package dev.carillon;

import dev.carillon.api.Job;
import dev.carillon.api.JobHandle;
import dev.carillon.api.error.CarillonException;
import dev.carillon.api.error.OutcomeUnknownException;
import dev.carillon.engine.Node;
import dev.carillon.engine.job.JobRef;
import dev.carillon.engine.job.JobSpec;
import dev.carillon.engine.request.AddRequest;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** One job on its way into the store, and its caller. */
final class PendingAdd<O> extends Pending<JobHandle<O>> implements AddRequest.Answer {
  private final Carillon carillon;
  private final Job<O> job;
  private final AddRequest request;

  /** What it was let in with: it leaves with the same, though dependencies make it grow. */
  private long weight;

  PendingAdd(
      Carillon carillon,
      Job<O> job,
      JobSpec spec,
      @Nullable CompletableFuture<JobHandle<O>> future) {
    super(carillon.loop(), future);
    this.carillon = carillon;
    this.job = job;
    this.request = new AddRequest(spec, job.ifExists(), this);
    if (!job.dependencies().isEmpty()) {
      Specs.tie(List.of(job), List.of(request));
    }
  }

  void prepare(Consumer<AddRequest> change) {
    change.accept(request);
  }

  @Override
  long weight() {
    if (weight == 0) {
      weight = Admission.weight(1, request.bytes());
    }
    return weight;
  }

  @Override
  void ask(Node node) {
    node.add(request);
  }

  @Override
  void giveUp(Node node, String waited) {
    node.abandon(request, waited);
  }

  @Override
  boolean isRefusedWhileAway() {
    return true;
  }

  @Override
  void giveUpUnsent(Node node, String why) {
    node.abandonUnsent(request, why);
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
    return "scheduling a job of type " + job.typeName();
  }

  @Override
  public void added(JobRef ref, boolean created) {
    answer(new ScheduledJob<>(carillon, ref, created, job.outputType()));
  }

  @Override
  public void refused(CarillonException why) {
    fail(why);
  }
}
