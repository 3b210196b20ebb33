/**
 * What people read: tables that fit their terminal, times in words, colours.
 *
 * <p>Texts of jobs come from anywhere: {@link dev.carillon.cli.text.PlainText} takes out whatever a
 * terminal would obey. In a pipe nothing is cut, coloured or put into words, so that scripts read
 * whole values.
 *
 * <p>State: none.
 */
@NullMarked
package dev.carillon.cli.text;

import org.jspecify.annotations.NullMarked;
