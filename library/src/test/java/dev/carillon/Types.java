package dev.carillon;

import dev.carillon.api.JobType;
import dev.carillon.api.TaskType;
import java.time.Duration;

/** The types of work that tests share. */
final class Types {
  static final JobType<String, Integer> LENGTH = JobType.of("length", String.class, Integer.class);
  static final TaskType<String> NOTE = TaskType.of("note", String.class);
  static final TaskType<Void> PING = TaskType.of("ping", Void.class);

  /** Longer than anything takes, also on a busy machine. */
  static final Duration LONG = Duration.ofSeconds(20);

  private Types() {}
}
