/**
 * What users of Carillon write and read: jobs, their types, handlers and schedules, what is known
 * about a job, and the exceptions.
 *
 * <p>A {@link dev.carillon.api.JobType} or {@link dev.carillon.api.TaskType} names work and the
 * type of its payload. It makes {@link dev.carillon.api.Job} requests. A handler runs the jobs and
 * gets a {@link dev.carillon.api.JobContext}. A {@link dev.carillon.api.JobInfo} says how a job is
 * doing. A {@link dev.carillon.api.schedule.Schedule} says when a recurring job has its
 * occurrences. The life of a job:
 *
 * <pre>
 *   SCHEDULED ──► READY ──► RUNNING ──► SUCCEEDED
 *       ▲           ▲        │ │ │ └──► FAILED      its failure policy says drop
 *       │ retry     │        │ │ └────► DEAD        given up, kept with its evidence
 *       └───────────┼────────┘ │
 *                   └─ WAITING ┘                    a workflow waits
 *   PAUSED, BLOCKED(reason)                         held, visible, left again
 *   CANCELLED, EXPIRED                              from every state that has not ended
 * </pre>
 *
 * <p>A job runs <em>at least once</em>: a crash between the work and its recorded outcome repeats
 * the attempt, so handlers should be idempotent. Values in this package are immutable and safe to
 * share between threads.
 *
 * <p>Every bad argument, null included, is refused with an {@link
 * dev.carillon.api.error.InvalidArgumentException} or a subclass of it, before anything is done.
 * The message reads {@code name: value (expected: …)}. {@link
 * dev.carillon.api.error.InvalidJobException} is about a job, {@link
 * dev.carillon.api.error.InvalidScheduleException} about a schedule, {@link
 * dev.carillon.api.error.BatchTooLargeException} about a batch. Records that only Carillon makes,
 * such as {@link dev.carillon.api.JobInfo}, check themselves with the exceptions of the JDK.
 */
@NullMarked
package dev.carillon.api;

import org.jspecify.annotations.NullMarked;
