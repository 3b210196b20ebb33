package dev.carillon.cli.text;

/** A colour of a terminal. */
public enum Paint {
  /** None. */
  PLAIN(""),
  /** What is good. */
  GREEN("\u001b[32m"),
  /** What is bad. */
  RED("\u001b[31m"),
  /** What to look at. */
  YELLOW("\u001b[33m"),
  /** What happens now. */
  CYAN("\u001b[36m"),
  /** What matters less. */
  DIM("\u001b[2m"),
  /** Headings. */
  BOLD("\u001b[1m");

  private static final String RESET = "\u001b[0m";

  private final String code;

  Paint(String code) {
    this.code = code;
  }

  /** The text in this colour, where the terminal has any. */
  public String on(String text, Terminal terminal) {
    return this == PLAIN || !terminal.coloured() || text.isEmpty() ? text : code + text + RESET;
  }

  /** That of a job's state. */
  public static Paint ofState(String state) {
    return switch (state) {
      case "SUCCEEDED" -> GREEN;
      case "DEAD", "FAILED", "EXPIRED" -> RED;
      case "BLOCKED", "PAUSED" -> YELLOW;
      case "RUNNING", "READY" -> CYAN;
      case "CANCELLED" -> DIM;
      default -> PLAIN;
    };
  }
}
