/** The node: a deterministic core that is told the time and performs no I/O. */
@NullMarked
package dev.carillon.engine;

import org.jspecify.annotations.NullMarked;
