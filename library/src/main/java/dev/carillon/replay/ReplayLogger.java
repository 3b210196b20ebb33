package dev.carillon.replay;

import java.util.ResourceBundle;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/** A logger that says nothing while the code runs again what it ran before. */
final class ReplayLogger implements System.Logger {
  private final System.Logger logger;
  private final BooleanSupplier replaying;

  ReplayLogger(System.Logger logger, BooleanSupplier replaying) {
    this.logger = logger;
    this.replaying = replaying;
  }

  @Override
  public String getName() {
    return logger.getName();
  }

  @Override
  public boolean isLoggable(Level level) {
    return !replaying.getAsBoolean() && logger.isLoggable(level);
  }

  @Override
  public void log(
      Level level,
      @Nullable ResourceBundle bundle,
      @Nullable String text,
      @Nullable Throwable thrown) {
    if (!replaying.getAsBoolean()) {
      logger.log(level, bundle, text, thrown);
    }
  }

  @Override
  public void log(
      Level level, @Nullable ResourceBundle bundle, @Nullable String format, Object... values) {
    if (!replaying.getAsBoolean()) {
      logger.log(level, bundle, format, values);
    }
  }
}
