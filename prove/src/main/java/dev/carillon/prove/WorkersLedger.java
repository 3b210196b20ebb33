package dev.carillon.prove;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** What workers began and ended, by the clock of the proof. Thread-safe. */
final class WorkersLedger {
  private final Map<String, List<Begun>> begun = new HashMap<>();
  private final Map<Integer, Long> connected = new HashMap<>();

  /** An attempt as its worker told of it. */
  static final class Begun {
    final String key;
    final int worker;
    final String attempt;
    final long beganNanos;
    volatile long endedNanos;
    volatile boolean returned;

    Begun(String key, int worker, String attempt, long beganNanos) {
      this.key = key;
      this.worker = worker;
      this.attempt = attempt;
      this.beganNanos = beganNanos;
    }

    boolean isOver() {
      return endedNanos != 0;
    }

    @Override
    public String toString() {
      return "%s attempt %s in worker %d%s"
          .formatted(key, attempt, worker, returned ? " returned" : isOver() ? " stopped" : "");
    }
  }

  /** A line of a worker. */
  synchronized void told(int worker, String line) {
    long now = System.nanoTime();
    String[] words = line.split(" ", -1);
    switch (words[0]) {
      case "connected" -> connected.put(worker, now);
      case "disconnected" -> connected.remove(worker);
      case "begin" ->
          begun
              .computeIfAbsent(words[1], k -> new ArrayList<>())
              .add(new Begun(words[1], worker, words[2], now));
      default -> {
        Begun attempt = find(words[1], words[2]);
        if (attempt != null) {
          attempt.endedNanos = now;
          attempt.returned = words[0].equals("end");
        }
      }
    }
  }

  private @Nullable Begun find(String key, String attempt) {
    return begun.getOrDefault(key, List.of()).stream()
        .filter(each -> each.attempt.equals(attempt))
        .findFirst()
        .orElse(null);
  }

  synchronized List<Begun> of(String key) {
    return List.copyOf(begun.getOrDefault(key, List.of()));
  }

  /** When the worker connected last; null while it is not. */
  synchronized @Nullable Long connectedSince(int worker) {
    return connected.get(worker);
  }

  /** The attempts that run in a worker, of some jobs. */
  synchronized List<Begun> running(int worker, List<String> keys) {
    return keys.stream()
        .flatMap(key -> begun.getOrDefault(key, List.of()).stream())
        .filter(each -> each.worker == worker && !each.isOver())
        .filter(Objects::nonNull)
        .toList();
  }
}
