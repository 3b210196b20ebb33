package dev.carillon;

import dev.carillon.api.Metrics;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.LongAdder;

/** Adds up what a node counts, for whoever asks later, and passes it on. Any thread. */
final class Tally implements Metrics {
  private final Metrics next;
  private final Map<String, LongAdder> counts = new ConcurrentHashMap<>();
  private final Map<String, Times> times = new ConcurrentHashMap<>();

  private record Times(LongAdder count, LongAdder nanos) {}

  Tally(Metrics next) {
    this.next = next;
  }

  @Override
  public void count(String name, long delta) {
    counts.computeIfAbsent(name, n -> new LongAdder()).add(delta);
    next.count(name, delta);
  }

  @Override
  public void time(String name, long nanos) {
    Times of = times.computeIfAbsent(name, n -> new Times(new LongAdder(), new LongAdder()));
    of.count().increment();
    of.nanos().add(nanos);
    next.time(name, nanos);
  }

  @Override
  public void gauge(String name, long value) {
    next.gauge(name, value);
  }

  CarillonFigures figures() {
    Map<String, Long> counted = new HashMap<>();
    counts.forEach((name, count) -> counted.put(name, count.sum()));
    Map<String, CarillonFigures.Time> measured = new HashMap<>();
    times.forEach(
        (name, of) ->
            measured.put(name, new CarillonFigures.Time(of.count().sum(), of.nanos().sum())));
    return new CarillonFigures(counted, measured);
  }
}
