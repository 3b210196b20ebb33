/** The store contract on SQL databases. */
@NullMarked
package dev.carillon.store.jdbc;

import org.jspecify.annotations.NullMarked;
