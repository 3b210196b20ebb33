/** Real processes, killed in a loop, and a check of what survived. */
@NullMarked
package dev.carillon.prove;

import org.jspecify.annotations.NullMarked;
