package dev.carillon.prove;

import dev.carillon.api.TaskType;

/** The payload of the jobs. */
record Work(String request, Note.Behaviour behaviour) {
  static final TaskType<Work> TYPE = TaskType.of("work", Work.class);

  /** The metadata key that holds the request, so that a store tells which one a job came from. */
  static final String REQUEST = "request";
}
