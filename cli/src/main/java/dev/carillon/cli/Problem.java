package dev.carillon.cli;

/** An exception for people: what is wrong and what it comes from, on a few lines. */
final class Problem {
  private static final int MAX_CHARS = 1_000;
  private static final int MAX_CAUSES = 3;

  private Problem() {}

  static String text(Throwable problem) {
    StringBuilder text = new StringBuilder(message(problem));
    Throwable cause = problem.getCause();
    for (int i = 0; cause != null && i < MAX_CAUSES; i++) {
      if (text.indexOf(message(cause)) < 0) {
        text.append("\n  because ").append(message(cause));
      }
      cause = cause.getCause();
    }
    return text.length() <= MAX_CHARS ? text.toString() : text.substring(0, MAX_CHARS) + "…";
  }

  private static String message(Throwable problem) {
    String message = problem.getMessage();
    return message == null || message.isBlank() ? problem.getClass().getSimpleName() : message;
  }
}
