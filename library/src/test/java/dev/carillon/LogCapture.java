package dev.carillon;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Predicate;
import java.util.logging.Handler;
import java.util.logging.Level;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;

/** The lines that nodes of this process log, from when it is made until it is closed. */
class LogCapture extends Handler {
  // Held, or they are collected.
  private static final Logger ALL = Logger.getLogger("dev.carillon");
  private static final Logger ATTEMPTS = Logger.getLogger("dev.carillon.attempts");

  private final @Nullable Level level = ALL.getLevel();
  private final @Nullable Level attemptsLevel = ATTEMPTS.getLevel();

  private final List<Line> lines = new CopyOnWriteArrayList<>();

  record Line(Level level, String logger, String text, long nanos) {}

  LogCapture() {
    ALL.addHandler(this);
    ALL.setLevel(Level.INFO);
    ATTEMPTS.setLevel(Level.INFO);
    ALL.setUseParentHandlers(false);
  }

  @Override
  public void publish(LogRecord entry) {
    lines.add(
        new Line(entry.getLevel(), entry.getLoggerName(), entry.getMessage(), System.nanoTime()));
  }

  List<Line> lines() {
    return List.copyOf(lines);
  }

  List<Line> with(String part) {
    return lines.stream().filter(line -> line.text().contains(part)).toList();
  }

  Line await(String part) {
    return await(line -> line.text().contains(part));
  }

  Line await(Predicate<Line> wanted) {
    return Awaitility.await()
        .until(() -> lines.stream().filter(wanted).findFirst(), java.util.Optional::isPresent)
        .orElseThrow();
  }

  @Override
  public void flush() {}

  @Override
  public void close() {
    ALL.removeHandler(this);
    ALL.setUseParentHandlers(true);
    ALL.setLevel(level);
    ATTEMPTS.setLevel(attemptsLevel);
  }
}
