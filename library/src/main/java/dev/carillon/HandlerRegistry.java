package dev.carillon;

import dev.carillon.api.JobHandler;
import dev.carillon.api.JobType;
import dev.carillon.api.Limits;
import dev.carillon.api.TaskHandler;
import dev.carillon.api.TaskType;
import dev.carillon.api.error.InvalidArgumentException;
import dev.carillon.api.workflow.WorkflowHandler;
import dev.carillon.api.workflow.WorkflowTask;

/**
 * Takes the code that runs jobs: the part of {@link Carillon} that registers handlers and
 * workflows. Code that only brings handlers can ask for this type.
 *
 * <p>Registrations are of this process and not durable: register at each start. A job whose type
 * has no handler on any node waits as {@code BLOCKED} ({@code NO_HANDLER}). Thread-safe.
 */
public interface HandlerRegistry {
  /**
   * Registers the code that runs jobs of a type. Jobs that waited for it go at once.
   *
   * @param type the type
   * @param handler its code; see {@link JobHandler} for what it must bear
   * @param <I> the input
   * @param <O> the result
   * @return the registration, to be closed where the handler goes before Carillon does
   * @throws InvalidArgumentException if the type has a handler already, or this node is {@code
   *     clientOnly}
   */
  default <I, O> HandlerRegistration handle(
      JobType<I, O> type, JobHandler<? super I, ? extends O> handler) {
    return handle(type, handler, HandlerOptions.defaults());
  }

  /**
   * Registers the code that runs jobs of a type, with options.
   *
   * @param type the type
   * @param handler its code
   * @param options limit, timeout, threads, upcaster, policy and rule
   * @param <I> the input
   * @param <O> the result
   * @return the registration, to be closed where the handler goes before Carillon does
   * @throws InvalidArgumentException if the type has a handler already, or this node is {@code
   *     clientOnly}
   */
  <I, O> HandlerRegistration handle(
      JobType<I, O> type, JobHandler<? super I, ? extends O> handler, HandlerOptions options);

  /**
   * Registers the code that runs tasks of a type. Jobs that waited for it go at once.
   *
   * @param type the type
   * @param handler its code; see {@link TaskHandler} for what it must bear
   * @param <I> the input
   * @return the registration, to be closed where the handler goes before Carillon does
   * @throws InvalidArgumentException if the type has a handler already, or this node is {@code
   *     clientOnly}
   */
  default <I> HandlerRegistration handle(TaskType<I> type, TaskHandler<? super I> handler) {
    return handle(type, handler, HandlerOptions.defaults());
  }

  /**
   * Registers the code that runs tasks of a type, with options.
   *
   * @param type the type
   * @param handler its code
   * @param options limit, timeout, threads, upcaster, policy and rule
   * @param <I> the input
   * @return the registration, to be closed where the handler goes before Carillon does
   * @throws InvalidArgumentException if the type has a handler already, or this node is {@code
   *     clientOnly}
   */
  <I> HandlerRegistration handle(
      TaskType<I> type, TaskHandler<? super I> handler, HandlerOptions options);

  /**
   * Registers the code that runs tasks without input.
   *
   * @param type the type, of {@link TaskType#of(String)}
   * @param handler its code
   * @return the registration, to be closed where the handler goes before Carillon does
   * @throws InvalidArgumentException if the type has a handler already, or this node is {@code
   *     clientOnly}
   */
  default HandlerRegistration handle(TaskType<Void> type, TaskHandler.WithoutInput handler) {
    return handle(type, handler, HandlerOptions.defaults());
  }

  /**
   * Registers the code that runs tasks without input, with options.
   *
   * @param type the type, of {@link TaskType#of(String)}
   * @param handler its code
   * @param options limit, timeout, threads, upcaster, policy and rule
   * @return the registration, to be closed where the handler goes before Carillon does
   * @throws InvalidArgumentException if the type has a handler already, or this node is {@code
   *     clientOnly}
   */
  default HandlerRegistration handle(
      TaskType<Void> type, TaskHandler.WithoutInput handler, HandlerOptions options) {
    Limits.checkPresent("handler", handler);
    TaskHandler<Void> taken = (none, job) -> handler.run(job);
    return handle(type, taken, options);
  }

  /**
   * Registers the code of workflows of a type: jobs that remember what they have done. Interceptors
   * run around the code from its beginning, so again whenever it runs again.
   *
   * @param type the type
   * @param handler its code; see {@link WorkflowHandler} for what it must bear
   * @param <I> the input
   * @param <O> the result
   * @return the registration, to be closed where the handler goes before Carillon does
   * @throws InvalidArgumentException if the type has a handler already, or this node is {@code
   *     clientOnly}
   */
  default <I, O> HandlerRegistration workflow(
      JobType<I, O> type, WorkflowHandler<? super I, ? extends O> handler) {
    return workflow(type, handler, HandlerOptions.defaults());
  }

  /**
   * Registers the code of workflows of a type, with options. A timeout limits each stretch of
   * running code, from a start or the end of a wait to the next wait; what limits the whole is the
   * job's deadline.
   *
   * @param type the type
   * @param handler its code
   * @param options limit, timeout, upcaster, policy and rule; neither platform threads nor an
   *     executor
   * @param <I> the input
   * @param <O> the result
   * @return the registration, to be closed where the handler goes before Carillon does
   * @throws InvalidArgumentException if the type has a handler already, this node is {@code
   *     clientOnly}, or the options name other threads
   */
  <I, O> HandlerRegistration workflow(
      JobType<I, O> type, WorkflowHandler<? super I, ? extends O> handler, HandlerOptions options);

  /**
   * Registers the code of workflows of a type without a result.
   *
   * @param type the type
   * @param handler its code; see {@link WorkflowHandler} for what it must bear
   * @param <I> the input
   * @return the registration, to be closed where the handler goes before Carillon does
   * @throws InvalidArgumentException if the type has a handler already, or this node is {@code
   *     clientOnly}
   */
  default <I> HandlerRegistration workflow(TaskType<I> type, WorkflowTask<? super I> handler) {
    return workflow(type, handler, HandlerOptions.defaults());
  }

  /**
   * Registers the code of workflows of a type without a result, with options.
   *
   * @param type the type
   * @param handler its code
   * @param options as for {@link #workflow(JobType, WorkflowHandler, HandlerOptions)}
   * @param <I> the input
   * @return the registration, to be closed where the handler goes before Carillon does
   * @throws InvalidArgumentException if the type has a handler already, this node is {@code
   *     clientOnly}, or the options name other threads
   */
  <I> HandlerRegistration workflow(
      TaskType<I> type, WorkflowTask<? super I> handler, HandlerOptions options);
}
