package dev.carillon.cli.remote;

import dev.carillon.cli.client.ApiClient;
import dev.carillon.cli.client.CommandFailure;
import dev.carillon.cli.client.ExitCode;
import dev.carillon.cli.text.Paint;
import dev.carillon.cli.text.PlainText;
import dev.carillon.cli.text.RawKeys;
import dev.carillon.cli.text.Terminal;
import java.io.PrintWriter;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** A live view. */
@Command(
    name = "top",
    header = "Shows live what happens: figures, nodes, what waits and why, what runs.",
    description =
        "Figures and what waits are those of the asked node; nodes and what runs are of all. Keys:"
            + " q ends it, space holds it. It goes on while the server is away. In a pipe it prints"
            + " --count pictures, one by default, one below the other.")
public final class Top extends ServerCommand {
  private static final String ENTER = "\u001b[?1049h\u001b[?25l";
  private static final String LEAVE = "\u001b[?25h\u001b[?1049l";
  private static final String HOME = "\u001b[H";
  private static final String REST_OF_LINE = "\u001b[K";
  private static final String REST_OF_SCREEN = "\u001b[J";
  private static final Duration KEY_LOOK = Duration.ofMillis(50);
  private static final Duration SHORTEST = Duration.ofMillis(200);

  @Option(
      names = "--interval",
      paramLabel = "DURATION",
      defaultValue = "2s",
      description = "between two pictures, from 200ms on (default: ${DEFAULT-VALUE})")
  private String interval = "";

  @Option(names = "--count", paramLabel = "COUNT", description = "end after so many pictures")
  private @Nullable Integer count;

  private @Nullable TopSample before;
  private @Nullable TopSample latest;
  private String trouble = "";

  /** The command. */
  public Top() {}

  @Override
  ExitCode run(ApiClient server) {
    Duration pause = Durations.of("--interval", interval);
    if (pause.compareTo(SHORTEST) < 0) {
      throw CommandFailure.invalid("--interval", interval, "at least 200ms");
    }
    if (isJson()) {
      throw CommandFailure.invalid(
          "--json", "given", "no --json; cluster running --json and /metrics have the figures");
    }
    return report().isScreen() ? live(server, pause) : plain(server, pause);
  }

  /** One picture below the other. */
  private ExitCode plain(ApiClient server, Duration pause) {
    int most = count == null ? 1 : count;
    Terminal page = Terminal.screen(Terminal.USUAL_COLUMNS, Terminal.USUAL_ROWS);
    for (int i = 0; i < most; i++) {
      if (i > 0) {
        sleep(pause);
        report().out().println();
      }
      before = latest;
      latest = TopSample.of(server);
      frame(page, server).forEach(report().out()::println);
      report().out().flush();
    }
    return ExitCode.DONE;
  }

  private List<String> frame(Terminal terminal, ApiClient server) {
    TopSample now = latest;
    if (now == null) {
      return List.of();
    }
    return new TopFrame(before == null ? now : before, now, terminal, server.server()).lines();
  }

  private ExitCode live(ApiClient server, Duration pause) {
    PrintWriter out = report().out();
    try (RawKeys keys = RawKeys.open()) {
      // A signal that ends the process must not leave the screen as it is.
      Thread restore = new Thread(() -> print(out, LEAVE), "carillon-screen");
      Runtime.getRuntime().addShutdownHook(restore);
      print(out, ENTER);
      try {
        watch(server, pause, keys);
      } finally {
        print(out, LEAVE);
        Runtime.getRuntime().removeShutdownHook(restore);
      }
    }
    return ExitCode.DONE;
  }

  private void watch(ApiClient server, Duration pause, RawKeys keys) {
    boolean held = false;
    long due = System.nanoTime();
    int shown = 0;
    while (true) {
      if (!held && System.nanoTime() - due >= 0) {
        look(server);
        show(server, "q ends, space holds");
        due = System.nanoTime() + pause.toNanos();
        if (count != null && ++shown >= count) {
          return;
        }
      }
      switch (keys.next()) {
        case 'q', 'Q', 3 -> {
          return;
        }
        case ' ' -> {
          held = !held;
          show(server, held ? "held; space goes on, q ends" : "q ends, space holds");
        }
        default -> sleep(KEY_LOOK);
      }
    }
  }

  private void look(ApiClient server) {
    try {
      TopSample sample = TopSample.of(server);
      before = latest;
      latest = sample;
      trouble = "";
    } catch (CommandFailure e) {
      if (latest == null || e.exitCode() == ExitCode.DENIED) {
        throw e;
      }
      trouble = String.valueOf(e.getMessage());
    }
  }

  private void show(ApiClient server, String keys) {
    Terminal terminal = surroundings().terminal().get();
    Terminal above =
        new Terminal(true, terminal.columns(), terminal.rows() - 1, terminal.coloured());
    List<String> lines = new ArrayList<>(frame(above, server));
    while (lines.size() < above.rows()) {
      lines.add("");
    }
    String last = PlainText.line(trouble.isEmpty() ? keys : trouble);
    String cut = last.length() > terminal.columns() ? last.substring(0, terminal.columns()) : last;
    lines.add((trouble.isEmpty() ? Paint.DIM : Paint.RED).on(cut, terminal));
    String text = String.join(REST_OF_LINE + "\r\n", lines);
    print(report().out(), HOME + text + REST_OF_LINE + REST_OF_SCREEN);
  }

  private static void print(PrintWriter out, String text) {
    out.print(text);
    out.flush();
  }

  private static void sleep(Duration pause) {
    try {
      Thread.sleep(pause);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new CommandFailure(ExitCode.FAILED, "interrupted", e);
    }
  }
}
