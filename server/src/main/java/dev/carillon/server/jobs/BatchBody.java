package dev.carillon.server.jobs;

import dev.carillon.server.json.Shape;
import java.util.List;

/** Jobs that are scheduled together. */
final class BatchBody {
  /** How many there may be is said by the library, with a problem of its own. */
  static final Shape<BatchBody> SHAPE =
      Shape.of(BatchBody::new).list("jobs", JobBody.SHAPE, Integer.MAX_VALUE, (b, v) -> b.jobs = v);

  private List<JobBody> jobs = List.of();

  List<JobBody> jobs() {
    return jobs;
  }
}
