package dev.carillon.cli.client;

import org.jspecify.annotations.Nullable;

/** A command that does not end well: what is said, and the exit code. */
public final class CommandFailure extends RuntimeException {
  private static final long serialVersionUID = 1L;

  private final ExitCode exitCode;

  /** A failure with what caused it. */
  public CommandFailure(ExitCode exitCode, String message, @Nullable Throwable cause) {
    super(message, cause);
    this.exitCode = exitCode;
  }

  /** A failure. */
  public CommandFailure(ExitCode exitCode, String message) {
    this(exitCode, message, null);
  }

  /** A value that is wrong. */
  public static CommandFailure invalid(String name, String value, String expected) {
    return new CommandFailure(
        ExitCode.USAGE, "%s: %s (expected: %s)".formatted(name, value, expected));
  }

  /** How the command ends. */
  public ExitCode exitCode() {
    return exitCode;
  }
}
