package dev.carillon.simulator;

import dev.carillon.store.FaultyStore;
import dev.carillon.store.MemoryStore;
import dev.carillon.store.Records.Stored;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A copy of the data, and of what the checker knew of it, that is put back later under the nodes,
 * as when a backup is restored. To them the store is another incarnation then. A copy that comes
 * back under the old one is what operators must not do (the command that restores says a new one);
 * nobody could notice it, and the contract promises nothing.
 */
final class Backup {
  private final World world;
  private final WatchedStore watched;
  private final FaultyStore faulty;
  private final Runnable afterwards;
  private @Nullable Taken taken;

  /** What there was when it was taken. */
  private record Taken(MemoryStore store, ModelCopy model, NameRecords names) {}

  /**
   * None yet.
   *
   * @param afterwards told when one was put back
   */
  Backup(World world, WatchedStore watched, FaultyStore faulty, Runnable afterwards) {
    this.afterwards = afterwards;
    this.world = world;
    this.watched = watched;
    this.faulty = faulty;
  }

  /** Copies what is there. */
  void take() {
    world.trace.note("backup");
    ModelCopy model = world.model.copy();
    taken = new Taken(watched.now().copy(), model, world.names.copy(model));
  }

  /** Puts the copy back, once; false where there is none. */
  boolean putBack() {
    Taken back = taken;
    if (back == null) {
      return false;
    }
    taken = null;
    faulty.deliverLate(); // what is late gets to the data of its day, or never
    watched.exchange(back.store());
    world.copy++;
    world.trace.note("backup put back", world.copy);
    world.model.goBackTo(back.model());
    world.names = back.names();
    world.keys.goBackTo(back.model());
    Map<String, byte[]> records = records(back.store());
    world.flow.wentBack(records);
    world.members.wentBack(records);
    afterwards.run();
    return true;
  }

  private static Map<String, byte[]> records(MemoryStore store) {
    Map<String, byte[]> records = new LinkedHashMap<>();
    List<Stored> all = store.records().list("", null, Integer.MAX_VALUE).orThrow();
    all.forEach(record -> records.put(record.key(), record.value()));
    return records;
  }
}
