package dev.carillon.cli.text;

import java.io.IOException;
import java.io.InputStream;
import java.lang.ProcessBuilder.Redirect;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.TimeUnit;

/**
 * The keys of a terminal as they are pressed, without Enter. The terminal is set back when this is
 * closed and when the process ends by a signal. Where there is no terminal no key ever comes.
 */
public final class RawKeys implements AutoCloseable {
  /** No key. */
  public static final int NONE = -1;

  private static final long PATIENCE_MILLIS = 1_000;

  private final InputStream input;
  private final String before;
  private final Thread restore = new Thread(this::restore, "carillon-terminal");

  private RawKeys(InputStream input, String before) {
    this.input = input;
    this.before = before;
  }

  /** Takes the terminal. */
  public static RawKeys open() {
    String before = stty("-g");
    RawKeys keys = new RawKeys(System.in, before);
    if (!before.isEmpty()) {
      Runtime.getRuntime().addShutdownHook(keys.restore);
      var unused = stty("-icanon -echo min 1");
    }
    return keys;
  }

  /** A key that was pressed; {@link #NONE} at once if none was. */
  public int next() {
    try {
      return !before.isEmpty() && input.available() > 0 ? input.read() : NONE;
    } catch (IOException e) {
      return NONE;
    }
  }

  private void restore() {
    var unused = stty(before);
  }

  /** What stty said; empty if there is no terminal. */
  private static String stty(String how) {
    try {
      Process shell =
          new ProcessBuilder("sh", "-c", "stty " + how + " </dev/tty 2>/dev/null")
              .redirectError(Redirect.DISCARD)
              .start();
      try {
        boolean ended = shell.waitFor(PATIENCE_MILLIS, TimeUnit.MILLISECONDS);
        return ended && shell.exitValue() == 0
            ? new String(shell.getInputStream().readAllBytes(), StandardCharsets.UTF_8).strip()
            : "";
      } finally {
        shell.destroyForcibly();
      }
    } catch (IOException e) {
      return "";
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return "";
    }
  }

  @Override
  public void close() {
    if (!before.isEmpty()) {
      restore();
      Runtime.getRuntime().removeShutdownHook(restore);
    }
  }
}
