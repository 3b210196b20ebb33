package dev.carillon.engine.worker;

import dev.carillon.engine.environment.NodeEnvironment;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The connections of workers: to this node, and to others that speak for them here. Only the loop
 * uses it.
 */
final class WorkerLinks {
  /** So soon a worker may come back before its types are missed. */
  static final long GAP_NANOS = 2_000_000_000L;

  /** A connection of which nothing is heard for so long is none. */
  private static final long SILENT_NANOS = 15_000_000_000L;

  private final NodeEnvironment env;
  private final Map<Long, WorkerLink> links = new LinkedHashMap<>();
  private final WorkerTargets targets = new WorkerTargets();

  WorkerLinks(NodeEnvironment env) {
    this.env = env;
  }

  WorkerTargets targets() {
    return targets;
  }

  boolean isEmpty() {
    return links.isEmpty();
  }

  /** All of them, with those that are gone for less than the gap. */
  List<WorkerLink> all() {
    return List.copyOf(links.values());
  }

  /** The connections of workers to this node itself. */
  List<WorkerLink> own() {
    List<WorkerLink> own = new ArrayList<>();
    for (WorkerLink link : links.values()) {
      if (!link.gone && !link.isFar()) {
        own.add(link);
      }
    }
    return own;
  }

  /** Adds a connection; what speaks for another node has a {@code gateway}. */
  WorkerLink add(WorkerHello hello, WorkerStream stream, long gateway) {
    WorkerLink link = new WorkerLink(env.random(), hello, stream, gateway, now());
    links.put(link.id, link);
    targets.add(link);
    return link;
  }

  /** The connection, also one that has just gone. */
  @Nullable WorkerLink known(long id) {
    return links.get(id);
  }

  /** The connection, of which something was heard; null where it is gone. */
  @Nullable WorkerLink heard(long id) {
    WorkerLink link = links.get(id);
    if (link == null || link.gone) {
      return null;
    }
    link.heard(now());
    return link;
  }

  /** Changes how much room a connection has. */
  void change(WorkerLink link, Runnable change) {
    boolean had = link.room() > 0;
    change.run();
    targets.changed(link, had);
  }

  /** It has ended; its types are kept for a while. */
  void gone(WorkerLink link) {
    change(
        link,
        () -> {
          link.gone = true;
          link.goneNanos = now();
        });
  }

  /** The connections to this node of which nothing was heard for too long. */
  List<WorkerLink> silent() {
    long now = now();
    return links.values().stream()
        .filter(link -> !link.gone && !link.isFar() && now - link.heardNanos(now) >= SILENT_NANOS)
        .toList();
  }

  /** Those that have been gone for so long that their types are missed; they are forgotten. */
  List<WorkerLink> takeMissed() {
    long now = now();
    List<WorkerLink> missed =
        links.values().stream()
            .filter(link -> link.gone && now - link.goneNanos >= GAP_NANOS)
            .toList();
    for (WorkerLink link : missed) {
      links.remove(link.id);
      targets.remove(link);
    }
    return missed;
  }

  private long now() {
    return env.monotonicNanos();
  }
}
