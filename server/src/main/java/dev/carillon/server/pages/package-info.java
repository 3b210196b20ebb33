/**
 * The dashboard: files that a browser loads, and what the caller may. The pages are a client of the
 * public API and of nothing else; no route is made for them alone.
 *
 * <p>The files are resources of the jar, read once. A test compares their list with the folder and
 * the vendored ones with their hashes. State: none.
 */
@NullMarked
package dev.carillon.server.pages;

import org.jspecify.annotations.NullMarked;
