package dev.carillon.simulator;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Everything that happened, as one running hash, and the last lines of it. Two runs of a seed are
 * the same run exactly if their hashes are equal.
 */
final class Trace {
  private static final int KEPT = 4096;

  private final VirtualClock clock;
  private final @Nullable Consumer<String> printer;
  private final long[] times = new long[KEPT];
  private final String[] whats = new String[KEPT];
  private final long[] firsts = new long[KEPT];
  private final long[] seconds = new long[KEPT];
  private final String[] details = new String[KEPT];
  private long hash = 0x243F6A8885A308D3L;
  private long events;

  Trace(VirtualClock clock, @Nullable Consumer<String> printer) {
    this.clock = clock;
    this.printer = printer;
  }

  void note(String what, long first, long second, String detail) {
    long now = clock.nanos();
    hash = Chance.mix(hash ^ now);
    hash = Chance.mix(hash + first * 31 + second);
    hash = Chance.mix(hash + what.hashCode() * 31L + detail.hashCode());
    int at = (int) (events++ % KEPT);
    times[at] = now;
    whats[at] = what;
    firsts[at] = first;
    seconds[at] = second;
    details[at] = detail;
    if (printer != null) {
      printer.accept(line(at));
    }
  }

  void note(String what, long first, String detail) {
    note(what, first, -1, detail);
  }

  void note(String what, long first) {
    note(what, first, -1, "");
  }

  void note(String what) {
    note(what, -1, -1, "");
  }

  long hash() {
    return hash;
  }

  long events() {
    return events;
  }

  /** The last {@code count} lines, oldest first. */
  List<String> last(int count) {
    List<String> lines = new ArrayList<>();
    long from = Math.max(0, events - Math.min(count, KEPT));
    for (long i = from; i < events; i++) {
      lines.add(line((int) (i % KEPT)));
    }
    return lines;
  }

  private String line(int at) {
    StringBuilder line = new StringBuilder();
    line.append("%16.6f  ".formatted(times[at] / 1e9)).append(whats[at]);
    if (firsts[at] != -1) {
      line.append(' ').append(firsts[at]);
    }
    if (seconds[at] != -1) {
      line.append(' ').append(seconds[at]);
    }
    if (!details[at].isEmpty()) {
      line.append("  ").append(details[at]);
    }
    return line.toString();
  }
}
