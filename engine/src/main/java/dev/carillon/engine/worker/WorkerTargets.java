package dev.carillon.engine.worker;

import java.util.ArrayList;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Which connections take which jobs, and which of them have room: in turn. */
final class WorkerTargets {
  /** As the type of those that take every type. */
  private static final String ANY = "";

  private static final int MOST_COUNTED = 1_000;

  private final Map<String, Set<WorkerLink>> takers = new LinkedHashMap<>();
  private final Map<String, Set<WorkerLink>> withRoom = new LinkedHashMap<>();

  private static Set<String> types(WorkerLink link) {
    Set<String> types = new LinkedHashSet<>();
    link.hello.takes().forEach(take -> types.add(take.type()));
    return types;
  }

  void add(WorkerLink link) {
    for (String type : types(link)) {
      takers.computeIfAbsent(type, t -> new LinkedHashSet<>(2)).add(link);
    }
  }

  void remove(WorkerLink link) {
    for (String type : types(link)) {
      remove(takers, type, link);
      remove(withRoom, type, link);
    }
  }

  private static void remove(Map<String, Set<WorkerLink>> from, String type, WorkerLink link) {
    Set<WorkerLink> links = from.get(type);
    if (links != null && links.remove(link) && links.isEmpty()) {
      from.remove(type);
    }
  }

  /** The room of the connection may be another. */
  void changed(WorkerLink link, boolean hadRoom) {
    boolean has = link.room() > 0;
    if (has == hadRoom) {
      return;
    }
    for (String type : types(link)) {
      if (has) {
        withRoom.computeIfAbsent(type, t -> new LinkedHashSet<>(2)).add(link);
      } else {
        remove(withRoom, type, link);
      }
    }
  }

  boolean isEmpty() {
    return takers.isEmpty();
  }

  boolean anyRoom() {
    return !withRoom.isEmpty();
  }

  /** The next connection with room that takes such a job; null where none does. */
  @Nullable WorkerLink next(String type, String namespace, String queue) {
    WorkerLink found = next(withRoom.get(type), type, namespace, queue);
    return found != null ? found : next(withRoom.get(ANY), type, namespace, queue);
  }

  private static @Nullable WorkerLink next(
      @Nullable Set<WorkerLink> links, String type, String namespace, String queue) {
    if (links == null) {
      return null;
    }
    for (Iterator<WorkerLink> i = links.iterator(); i.hasNext(); ) {
      WorkerLink link = i.next();
      if (link.take(type, namespace, queue) != null) {
        i.remove();
        links.add(link); // the others first
        return link;
      }
    }
    return null;
  }

  /** Whether anybody takes such a job, with room or without. */
  boolean isTaken(String type, String namespace, String queue) {
    return isTaken(takers.get(type), type, namespace, queue)
        || isTaken(takers.get(ANY), type, namespace, queue);
  }

  private static boolean isTaken(
      @Nullable Set<WorkerLink> links, String type, String namespace, String queue) {
    return links != null
        && links.stream().anyMatch(link -> link.take(type, namespace, queue) != null);
  }

  /** How many more of the type could run, at most; not all are counted. */
  int room(String type) {
    return Math.min(MOST_COUNTED, room(withRoom.get(type)) + room(withRoom.get(ANY)));
  }

  private static int room(@Nullable Set<WorkerLink> links) {
    int room = 0;
    if (links != null) {
      for (WorkerLink link : links) {
        room += Math.min(MOST_COUNTED, link.room());
        if (room >= MOST_COUNTED) {
          return MOST_COUNTED;
        }
      }
    }
    return room;
  }

  /** Those of the types that the connection takes. */
  static List<String> taken(WorkerLink link, List<String> types) {
    Set<String> own = types(link);
    List<String> taken = new ArrayList<>();
    for (String type : types) {
      if (own.contains(ANY) || own.contains(type)) {
        taken.add(type);
      }
    }
    return taken;
  }
}
