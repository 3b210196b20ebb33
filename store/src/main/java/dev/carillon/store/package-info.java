/** The contract between the engine and whatever keeps its state, and the store in memory. */
@NullMarked
package dev.carillon.store;

import org.jspecify.annotations.NullMarked;
