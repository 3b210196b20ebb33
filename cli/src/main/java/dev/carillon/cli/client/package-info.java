/**
 * How a command finds its server and talks to it.
 *
 * <ol>
 *   <li>{@link dev.carillon.cli.client.Targets} finds the server: named by the command, by a
 *       context, by the environment, or by the file beside a SQLite file ({@link
 *       dev.carillon.cli.client.ServerFile}).
 *   <li>{@link dev.carillon.cli.client.ApiClient} sends one request at a time and reads the answer.
 *   <li>{@link dev.carillon.cli.client.CommandFailure} is every end but a good one; its {@link
 *       dev.carillon.cli.client.ExitCode} says what a script may do about it.
 * </ol>
 *
 * <p>State: the file of contexts, which only {@link dev.carillon.cli.client.ContextFile} reads and
 * writes. Tokens come from there or from the environment, never from arguments.
 */
@NullMarked
package dev.carillon.cli.client;

import org.jspecify.annotations.NullMarked;
