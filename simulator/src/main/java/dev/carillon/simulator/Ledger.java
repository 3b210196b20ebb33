package dev.carillon.simulator;

import dev.carillon.engine.job.JobRef;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** What users asked for and were told. */
final class Ledger {
  private final Model model;
  private final List<Request> requests = new ArrayList<>();
  private final Map<Long, Integer> crashes = new LinkedHashMap<>();

  Ledger(Model model) {
    this.model = model;
  }

  Request open(Request.Wish wish) {
    Request request = new Request(requests.size(), wish);
    requests.add(request);
    return request;
  }

  Request request(long id) {
    if (id < 0 || id >= requests.size()) {
      throw new Violation(Guarantee.UNKNOWN_IS_SAID, "a job that nobody asked for: " + id);
    }
    return requests.get((int) id);
  }

  List<Request> requests() {
    return requests;
  }

  /** The job in whose place {@code ref} points, if the journals have one. */
  @Nullable ModelJob job(JobRef ref) {
    ModelShard shard = model.shard(ref.shard());
    return shard == null ? null : shard.jobs.get(ref.number());
  }

  /** Counts a kill by the handler of the request; returns how many that makes. */
  int killed(Request request) {
    return crashes.merge(request.id, 1, Integer::sum);
  }
}
