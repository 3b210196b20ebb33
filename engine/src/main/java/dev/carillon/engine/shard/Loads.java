package dev.carillon.engine.shard;

import dev.carillon.engine.environment.NodeEnvironment;
import dev.carillon.engine.fold.ShardFold;
import dev.carillon.engine.history.ShardLoad;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;

/**
 * Loads shards: reads their journals and replays them into memory, one at a time. Shards that
 * somebody waits for and the others are read in turn. Operations that are committed while a journal
 * is read are applied after it.
 */
final class Loads {
  private final NodeEnvironment env;
  private final Shards shards;
  private final Shards.Host host;

  /** Shards that are to be read and that nobody waits for. */
  private final LinkedHashMap<Shard, Read> reads = new LinkedHashMap<>();

  /** Those that somebody waits for. */
  private final ArrayDeque<Read> awaitedReads = new ArrayDeque<>();

  private boolean reading;
  private boolean readAwaited;

  Loads(NodeEnvironment env, Shards shards, Shards.Host host) {
    this.env = env;
    this.shards = shards;
    this.host = host;
  }

  /** Reads the shard unless it is loaded or on its way. */
  void load(Shard shard) {
    if (shard.loaded() || shard.loading() || !shard.owned()) {
      return;
    }
    if (shard.visited) {
      shard.loadWanted = true; // the job that is being cancelled must not start
      return;
    }
    shard.drainedAs(null);
    shard.arrivedWhileLoading = new ArrayList<>();
    read(shard, shard.journal.generation(), shard.journal.tail());
  }

  /** A read of a journal up to an entry; later entries arrive while the shard is loading. */
  private record Read(Shard shard, int generation, long upTo) {}

  private void read(Shard shard, int generation, long upTo) {
    Read read = new Read(shard, generation, upTo);
    if (shard.awaited() || shard.visitorsWait()) {
      awaitedReads.add(read);
    } else {
      reads.put(shard, read);
    }
    readNext();
  }

  /** Reads one shard at a time, so that another read waits for one of them and not for all. */
  private void readNext() {
    while (!reading && !(awaitedReads.isEmpty() && reads.isEmpty())) {
      // Not two of the same kind while both wait: those that somebody waits for may never end.
      readAwaited = reads.isEmpty() || (!awaitedReads.isEmpty() && !readAwaited);
      Read read = readAwaited ? awaitedReads.removeFirst() : reads.pollFirstEntry().getValue();
      if (read.shard().loading()) { // it was not lost meanwhile
        reading = true;
        env.submit(
            NodeEnvironment.Channel.READ,
            store ->
                ShardLoad.read(
                    store, NodeJob::new, read.shard().id, read.generation(), read.upTo()),
            load -> {
              reading = false;
              wasRead(read.shard(), read.generation(), read.upTo(), load);
              readNext();
            });
      }
    }
  }

  private void readAgain(Shard shard, int generation, long upTo) {
    if (shard.loading()) {
      read(shard, generation, upTo);
    }
  }

  /**
   * A node that stops does not read shards that nobody waits for, except suspect ones: the job that
   * killed the last owner is convicted by the next one.
   */
  void leaveUnread() {
    for (Shard shard : List.copyOf(reads.keySet())) {
      if (!shard.suspect && shard.journal.isIdle()) {
        reads.remove(shard);
        shard.arrivedWhileLoading = null;
      }
    }
  }

  /** Runs {@code action} as soon as the shard is loaded, or lost, and has it read before others. */
  void hurry(Shard shard, Runnable action) {
    shard.whenLoaded(action);
    Read read = reads.remove(shard);
    if (read != null) {
      awaitedReads.add(read);
    }
  }

  private void wasRead(Shard shard, int generation, long upTo, ShardLoad<NodeJob> load) {
    List<Shard.Arrived> arrived = shard.arrivedWhileLoading;
    if (shard.journal.isLost() || arrived == null) {
      return;
    }
    switch (load) {
      case ShardLoad.Folded<NodeJob> folded -> {
        env.metrics().count("shards.loaded", 1);
        for (Shard.Arrived late : arrived) {
          folded.fold().at(late.number());
          folded.fold().apply(late.frame());
        }
        shard.journal.measured(folded.bytes());
        shard.compactedBytes = Math.max(shard.compactedBytes, folded.pastBytes());
        shard.arrivedWhileLoading = null;
        shard.fold = folded.fold();
        shard.added = Math.max(shard.added, folded.fold().added());
        shard.addedBytes = Math.max(shard.addedBytes, folded.fold().addedBytes());
        host.loaded(shard, folded);
        shard.fireOwned();
        shard.fireLoaded();
        shards.settling.settle(shard);
      }
      case ShardLoad.Failed<NodeJob> failed ->
          shards.later(() -> readAgain(shard, generation, upTo));
      case ShardLoad.Replaced<NodeJob> replaced when generation != shard.journal.generation() ->
          read(shard, shard.journal.generation(), shard.journal.tail());
      case ShardLoad.Replaced<NodeJob> byAnother -> shards.lost(shard);
      case ShardLoad.Gone<NodeJob> gone -> shards.lost(shard);
      case ShardLoad.Refused<NodeJob>(String why) -> shards.refuse(shard, why);
    }
  }

  /** Loads the shard and then, or when it is lost, does {@code then}. */
  void loadFor(Shard shard, Runnable then) {
    load(shard);
    hurry(shard, then);
  }

  /** Loads a shard that was just created: there is nothing to read. */
  void loadEmpty(Shard shard) {
    ShardFold<NodeJob> fold = new ShardFold<>(NodeJob::new, (job, end) -> {});
    shard.fold = fold;
    host.loaded(shard, new ShardLoad.Folded<>(fold, 0, 0, List.of(), List.of()));
  }
}
