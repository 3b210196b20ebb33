/** The store in a PostgreSQL database: for production, and for several nodes. */
@NullMarked
package dev.carillon.store.postgres;

import org.jspecify.annotations.NullMarked;
