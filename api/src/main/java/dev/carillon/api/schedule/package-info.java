/**
 * When jobs are due: once, by a cron expression or at an interval, with the rules for clock
 * changes, missed times and occurrences that overlap.
 *
 * <p>{@link dev.carillon.api.schedule.Schedule} is where to begin. The arithmetic of calendars and
 * the reading of texts stand beside it and are not for users.
 */
@NullMarked
package dev.carillon.api.schedule;

import org.jspecify.annotations.NullMarked;
