/** Whole clusters on simulated time, reproducible from a seed. */
@NullMarked
package dev.carillon.simulator;

import org.jspecify.annotations.NullMarked;
