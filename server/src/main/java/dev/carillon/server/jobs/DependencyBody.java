package dev.carillon.server.jobs;

import dev.carillon.api.Dependency;
import dev.carillon.api.JobId;
import dev.carillon.server.json.Shape;
import org.jspecify.annotations.Nullable;

/** A job that another waits for, in a body. */
final class DependencyBody {
  static final Shape<DependencyBody> SHAPE =
      Shape.of(DependencyBody::new)
          .text("job", (d, v) -> d.job = new JobId(v))
          .text("name", (d, v) -> d.name = v)
          .constant("condition", Dependency.Condition.class, (d, v) -> d.condition = v);

  private @Nullable JobId job;
  private @Nullable String name;
  private Dependency.Condition condition = Dependency.Condition.SUCCEEDED;

  Dependency dependency() {
    return new Dependency(job, name, condition);
  }

  @Nullable JobId job() {
    return job;
  }
}
