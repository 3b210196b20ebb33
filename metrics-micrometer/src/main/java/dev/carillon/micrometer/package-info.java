/** Figures of a node for those who collect them with Micrometer. */
@NullMarked
package dev.carillon.micrometer;

import org.jspecify.annotations.NullMarked;
