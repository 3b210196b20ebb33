/**
 * Jobs that remember their steps: what the code of a workflow is given, waits for and answers.
 *
 * <p>{@link dev.carillon.api.workflow.Workflow} is where to begin.
 */
@NullMarked
package dev.carillon.api.workflow;

import org.jspecify.annotations.NullMarked;
