package dev.carillon.engine.worker;

import dev.carillon.engine.attempt.Attempt;
import dev.carillon.engine.attempt.WorkerRun;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** An attempt of this node's that a worker has, or is to have. Only the loop uses it. */
final class OutAttempt {
  final Attempt attempt;
  final WorkerRun run;

  /** Of the attempt among those given by its first connection; 0 before the worker hears of it. */
  long number;

  /** When the worker was told of it; null before, or where an earlier owner told it. */
  @Nullable Long passedNanos;

  /** The connection that keeps room for it until its lease is written; null for none. */
  @Nullable WorkerLink promisedBy;

  boolean everLeased;

  /** The attempt was decided here, without a word of the worker: what it says is too late. */
  boolean decidedHere;

  /** The worker has said its outcome, and waits to hear that it is durable. */
  boolean saidOutcome;

  /** When the nodes that answer its beats were asked last to cease; null for never. */
  @Nullable Long withdrawnNanos;

  /** Where the worker was heard last of it; null where it is not, or not known. */
  private @Nullable WorkerLink link;

  /** The connections on which beats renew it. */
  private final Set<WorkerLink> renewing = new LinkedHashSet<>(2);

  OutAttempt(Attempt attempt, WorkerRun run) {
    this.attempt = attempt;
    this.run = run;
  }

  @Nullable WorkerLink link() {
    return link;
  }

  List<WorkerLink> renewing() {
    return List.copyOf(renewing);
  }

  /** The worker speaks of it there. */
  void spokenOf(WorkerLink of) {
    link = of;
  }

  /** From now on beats on that connection renew it. */
  void renewedBy(WorkerLink of) {
    if (renewing.add(of) && of.isFar()) {
      run.renewedElsewhere = true;
    }
  }

  /**
   * Beats on that connection do not renew it any more.
   *
   * @param heardNanos when the worker was heard there last
   * @return whether no other node renews it now, and one did
   */
  boolean leaves(WorkerLink of, long heardNanos) {
    boolean did = renewing.remove(of);
    if (did && heardNanos - run.heardNanos > 0) {
      run.heardNanos = heardNanos;
    }
    if (link == of && (of.gone || did)) {
      link = renewing.stream().reduce((one, other) -> other).orElse(null);
    }
    boolean before = run.renewedElsewhere;
    run.renewedElsewhere = renewing.stream().anyMatch(WorkerLink::isFar);
    return before && !run.renewedElsewhere;
  }
}
