/** Measurements of throughput, latency and memory. */
@NullMarked
package dev.carillon.bench;

import org.jspecify.annotations.NullMarked;
