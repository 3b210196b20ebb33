package dev.carillon.prove;

import dev.carillon.api.TaskType;

/** The payload of recurring jobs. */
record Tick(String schedule) {
  static final TaskType<Tick> TYPE = TaskType.of("tick", Tick.class);

  /** Between two occurrences of every schedule. */
  static final long PERIOD_MICROS = 1_000_000;
}
