package dev.carillon.prove;

import dev.carillon.api.Metrics;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.LongAdder;
import java.util.stream.Collectors;

/** What a node counts of itself, to be told in a line. */
final class Counters implements Metrics {
  private final Map<String, LongAdder> counted = new ConcurrentHashMap<>();

  @Override
  public void count(String name, long delta) {
    counted.computeIfAbsent(name, n -> new LongAdder()).add(delta);
  }

  @Override
  public void time(String name, long nanos) {}

  @Override
  public void gauge(String name, long value) {}

  /** How often that was counted. */
  long of(String name) {
    LongAdder adder = counted.get(name);
    return adder != null ? adder.sum() : 0;
  }

  /** All counters: {@code name=value name=value}. */
  String line() {
    return new TreeMap<>(counted)
        .entrySet().stream()
            .map(counter -> counter.getKey() + "=" + counter.getValue())
            .collect(Collectors.joining(" "));
  }

  /** Reads what {@link #line()} wrote. */
  static Map<String, Long> parse(String line) {
    Map<String, Long> counted = new TreeMap<>();
    if (!line.isEmpty()) {
      for (String counter : line.split(" ", -1)) {
        int at = counter.indexOf('=');
        counted.put(counter.substring(0, at), Long.parseLong(counter.substring(at + 1)));
      }
    }
    return counted;
  }
}
