/**
 * Carillon as a library: opens a node inside the process of the user. {@link dev.carillon.Carillon}
 * is its face; package-private classes do the work:
 *
 * <ul>
 *   <li>{@code OpenNode} builds, starts and stops the parts of a node;
 *   <li>{@code Scheduling} takes jobs from callers, {@code JobQueries} reads them, {@code
 *       JobControl} changes them, {@code Results} waits for their ends;
 *   <li>{@code NodeLoop} owns the thread of the engine, {@code HandlerRunner} runs handlers.
 * </ul>
 */
@NullMarked
package dev.carillon;

import org.jspecify.annotations.NullMarked;
