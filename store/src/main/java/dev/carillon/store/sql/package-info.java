/**
 * The part that all stores on SQL databases share: the rules of a journal's changes, checksums of
 * rows, and keys as bytes. A store adds its tables, its transactions and its way to append.
 *
 * <p>It knows {@code java.sql} and no driver. Only stores use it.
 */
@NullMarked
package dev.carillon.store.sql;

import org.jspecify.annotations.NullMarked;
