package dev.carillon.prove;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;

/** How long something took, each time, in microseconds. */
final class Timings {
  private final String what;
  private final List<Long> micros = new ArrayList<>();

  Timings(String what) {
    this.what = what;
  }

  void add(long tookMicros) {
    micros.add(tookMicros);
  }

  int size() {
    return micros.size();
  }

  /** The smallest that so many hundredths of them do not exceed; 0 without any. */
  long percentileMillis(int hundredths) {
    if (micros.isEmpty()) {
      return 0;
    }
    List<Long> sorted = new ArrayList<>(micros);
    Collections.sort(sorted);
    int at = Math.ceilDiv(sorted.size() * hundredths, 100) - 1;
    return sorted.get(Math.max(0, at)) / 1000;
  }

  /** Whether those hundredths stay within a bound; false without any. */
  Check within(int hundredths, long millis) {
    String bound = "%s: p%d ≤ %,d ms".formatted(what, hundredths, millis);
    Check check = Check.ofTime(bound);
    long found = percentileMillis(hundredths);
    check.that(!micros.isEmpty() && found <= millis, found + " ms of " + micros.size());
    return check;
  }

  void addTo(Map<String, Long> figures) {
    figures.put("ms " + what + ", p50", percentileMillis(50));
    figures.put("ms " + what + ", p99", percentileMillis(99));
    figures.put("ms " + what + ", most", percentileMillis(100));
  }
}
