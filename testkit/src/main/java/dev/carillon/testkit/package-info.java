/** What users' tests need: a node whose time they move by hand. */
@NullMarked
package dev.carillon.testkit;

import org.jspecify.annotations.NullMarked;
