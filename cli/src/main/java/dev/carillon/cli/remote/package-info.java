/**
 * The commands that work against a server: one class a command, in groups.
 *
 * <p>Each says with {@code --json} what the server said: one object a line. For people it makes
 * tables and fields. What is told beside the answer goes to the error stream, so that pipes carry
 * answers only.
 *
 * <p>State: none. A command that dies has done what the server had answered, and perhaps the one
 * change that was on its way.
 */
@NullMarked
package dev.carillon.cli.remote;

import org.jspecify.annotations.NullMarked;
