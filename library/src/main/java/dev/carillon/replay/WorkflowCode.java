package dev.carillon.replay;

import dev.carillon.api.workflow.Workflow;
import org.jspecify.annotations.Nullable;

/** The code of a workflow with what goes in and out of it. Thread-safe. */
public interface WorkflowCode {

  /**
   * The input.
   *
   * @throws RuntimeException if it cannot be decoded
   */
  @Nullable Object input();

  /** Runs the handler and what wraps it. */
  @Nullable Object run(@Nullable Object input, Workflow wf) throws Exception;

  /**
   * A result as it is stored.
   *
   * @throws RuntimeException if it cannot be encoded or is too large
   */
  byte[] encodeResult(@Nullable Object result);

  /**
   * An input of the same workflow as it is stored.
   *
   * @throws RuntimeException if it cannot be encoded or is too large
   */
  byte[] encodeInput(@Nullable Object input);

  /** The version of the type in which {@link #encodeInput} writes. */
  int typeVersion();
}
