package dev.carillon;

import dev.carillon.api.TypeToken;

/** The result of tasks. */
final class TaskTypeResult {
  static final TypeToken<Void> NONE = TypeToken.of(Void.class);

  private TaskTypeResult() {}
}
