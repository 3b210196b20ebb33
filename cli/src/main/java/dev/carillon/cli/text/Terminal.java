package dev.carillon.cli.text;

import java.io.IOException;
import java.lang.ProcessBuilder.Redirect;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * What a command writes to: a screen of a size, or a pipe or a file.
 *
 * @param screen whether people read it as it comes
 * @param columns its width; a pipe has none that counts
 * @param rows its height
 * @param coloured whether colours may be used: on a screen, unless NO_COLOR or a dumb terminal say
 *     otherwise
 */
public record Terminal(boolean screen, int columns, int rows, boolean coloured) {
  /** The size where nothing tells another one. */
  public static final int USUAL_COLUMNS = 80;

  /** The size where nothing tells another one. */
  public static final int USUAL_ROWS = 24;

  private static final int NARROWEST = 20;
  private static final long PATIENCE_MILLIS = 1_000;
  private static final Pattern SIZE = Pattern.compile("(\\d{1,5}) (\\d{1,5})");

  /** A pipe or a file. */
  public static Terminal pipe() {
    return new Terminal(false, USUAL_COLUMNS, USUAL_ROWS, false);
  }

  /** A screen of a size without colours. */
  public static Terminal screen(int columns, int rows) {
    return new Terminal(true, Math.max(columns, NARROWEST), Math.max(rows, 1), false);
  }

  /**
   * What this process writes to. A shell is asked, which inherits the output: Java tells only
   * whether input and output are both a terminal.
   *
   * @param environment the variables of the process
   * @return a screen or a pipe
   */
  public static Terminal ofProcess(Map<String, String> environment) {
    // Without a size the answer is an empty line, of a terminal that has none.
    String answer = ask("test -t 1 && { stty size </dev/tty >&2 2>/dev/null || echo >&2; }");
    if (answer == null || answer.isEmpty()) {
      return pipe();
    }
    Matcher size = SIZE.matcher(answer.strip());
    boolean told = size.matches();
    int rows = told ? Integer.parseInt(size.group(1)) : 0;
    int columns = told ? Integer.parseInt(size.group(2)) : 0;
    boolean coloured =
        environment.getOrDefault("NO_COLOR", "").isEmpty()
            && !environment.getOrDefault("TERM", "dumb").equals("dumb");
    return new Terminal(
        true,
        columns == 0 ? USUAL_COLUMNS : Math.max(columns, NARROWEST),
        rows == 0 ? USUAL_ROWS : rows,
        coloured);
  }

  private static @Nullable String ask(String script) {
    try {
      Process shell =
          new ProcessBuilder("sh", "-c", script)
              .redirectInput(Redirect.INHERIT)
              .redirectOutput(Redirect.INHERIT)
              .start();
      try {
        if (!shell.waitFor(PATIENCE_MILLIS, TimeUnit.MILLISECONDS)) {
          return null;
        }
        return new String(shell.getErrorStream().readAllBytes(), StandardCharsets.UTF_8);
      } finally {
        shell.destroyForcibly();
      }
    } catch (IOException e) {
      return null; // no shell: Windows
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return null;
    }
  }
}
