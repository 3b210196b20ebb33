package dev.carillon.replay;

import dev.carillon.api.Job;
import dev.carillon.api.JobError;
import dev.carillon.engine.job.JobSpec;
import java.lang.reflect.Type;
import org.jspecify.annotations.Nullable;

/** How values of a workflow's code are stored. Thread-safe. */
public interface StoredForms {

  /** A result as it is stored. */
  byte[] encode(@Nullable Object value, Type type);

  /** What {@link #encode} gave, or a caller from outside. */
  @Nullable Object decode(byte[] stored, Type type);

  /** A child as it is scheduled; refuses what no child can be. */
  JobSpec child(Job<?> job);

  /** What is recorded of something thrown. */
  JobError error(Throwable thrown);
}
