/** The real engine on simulated time, with faults, reproducible from a seed. */
@NullMarked
package dev.carillon.simulator;

import org.jspecify.annotations.NullMarked;
