/**
 * Jobs over HTTP: what bodies look like, how jobs are written down, and what each operation does.
 *
 * <p>{@link dev.carillon.server.jobs.JobBody} and its parts read requests by {@link
 * dev.carillon.server.json.Shape}; {@link dev.carillon.server.jobs.JobJson} writes jobs. The names
 * of fields are those of the library. An input is not decoded: JSON is stored as it stands in the
 * body, and given back so.
 *
 * <p>A job of another namespace does not exist: every operation on a job looks at its namespace
 * first and answers as for an id that no job has.
 *
 * <p>State: none. Crash behaviour is that of the library: an answer that says that a job was
 * scheduled or changed was durable before it was written.
 */
@NullMarked
package dev.carillon.server.jobs;

import org.jspecify.annotations.NullMarked;
