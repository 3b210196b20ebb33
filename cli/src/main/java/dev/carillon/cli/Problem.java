package dev.carillon.cli;

import java.nio.file.AccessDeniedException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.NoSuchFileException;
import java.nio.file.NotDirectoryException;

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
    String file = problem instanceof FileSystemException e ? e.getFile() : null;
    return file == null ? ownMessage(problem) : fileMessage(problem, file);
  }

  /** The message of these is nothing but the name of the file. */
  private static String fileMessage(Throwable problem, String file) {
    return switch (problem) {
      case NoSuchFileException e -> file + ": not found (expected: a file in an existing folder)";
      case FileAlreadyExistsException e ->
          file + ": is there already and no folder (expected: a folder, or a name not taken)";
      case NotDirectoryException e -> file + ": not a folder (expected: a folder)";
      case AccessDeniedException e ->
          file + ": access denied (expected: a place this user may read and write)";
      default -> ownMessage(problem);
    };
  }

  private static String ownMessage(Throwable problem) {
    String message = problem.getMessage();
    return message == null || message.isBlank() ? problem.getClass().getSimpleName() : message;
  }
}
