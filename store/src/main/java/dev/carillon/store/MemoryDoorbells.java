package dev.carillon.store;

import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import org.jspecify.annotations.Nullable;

/** The doorbells of a {@link MemoryStore}: heard on the thread that rings, before it goes on. */
final class MemoryDoorbells implements Doorbells {

  private final Map<String, List<Listener>> listeners = new ConcurrentHashMap<>();

  /** By identity: one runnable may listen twice. */
  private static final class Listener {
    final Runnable heard;

    Listener(Runnable heard) {
      this.heard = heard;
    }
  }

  @Override
  public void ring(String name) {
    listeners.getOrDefault(name, List.of()).forEach(listener -> listener.heard.run());
  }

  @Override
  public Listening listen(String name, Runnable heard) {
    Listener listener = new Listener(heard);
    listeners.compute(name, (key, all) -> with(all, listener));
    return () -> remove(name, listener);
  }

  private static List<Listener> with(@Nullable List<Listener> all, Listener listener) {
    List<Listener> more = all == null ? new CopyOnWriteArrayList<>() : all;
    more.add(listener);
    return more;
  }

  private void remove(String name, Listener listener) {
    listeners.computeIfPresent(
        name,
        (key, all) -> {
          all.remove(listener);
          return all.isEmpty() ? null : all;
        });
  }
}
