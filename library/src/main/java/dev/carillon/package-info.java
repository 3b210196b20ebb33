/** Carillon as a library: opens a node inside the user's process. */
@NullMarked
package dev.carillon;

import org.jspecify.annotations.NullMarked;
