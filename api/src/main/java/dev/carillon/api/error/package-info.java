/**
 * What goes wrong, as users see it. All of it is a {@link
 * dev.carillon.api.error.CarillonException}.
 *
 * <p>Bad arguments are {@link dev.carillon.api.error.InvalidArgumentException}s. A write of which
 * nobody knows whether it happened is an {@link dev.carillon.api.error.OutcomeUnknownException};
 * its page says how to ask again. A handler throws some of them to say what is to follow, such as
 * {@link dev.carillon.api.error.NotRetryableException}.
 */
@NullMarked
package dev.carillon.api.error;

import org.jspecify.annotations.NullMarked;
