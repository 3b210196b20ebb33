package dev.carillon.browser;

import dev.carillon.engine.member.Heartbeat;
import dev.carillon.engine.member.Member;
import dev.carillon.store.MemoryStore;
import dev.carillon.store.Records.Change;
import dev.carillon.store.Records.Stamp;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;

/** The heartbeats of a node of another version, or of one that dies: it does nothing else. */
final class Ghost implements AutoCloseable {
  private static final long INCARNATION = 0x60057;
  private static final int EVERY_MILLIS = 200;

  private final MemoryStore store;
  private final String nodeId;
  private final int format;
  private final ScheduledExecutorService heart = Executors.newSingleThreadScheduledExecutor();
  private Stamp version = Stamp.ABSENT;
  private long beats;

  Ghost(MemoryStore store, String nodeId, int format) {
    this.store = store;
    this.nodeId = nodeId;
    this.format = format;
    var unused = heart.scheduleAtFixedRate(this::beat, 0, EVERY_MILLIS, TimeUnit.MILLISECONDS);
  }

  private void beat() {
    Member.Said said = new Member.Said(format, 0, 0, 0, 0);
    Member self = new Member(nodeId, INCARNATION, ++beats, Set.of(Member.Trait.CLIENT), 0, said);
    Stamp next = new Stamp(INCARNATION, beats);
    String key = Heartbeat.PREFIX + Long.toHexString(INCARNATION);
    store
        .records()
        .apply(List.of(new Change(key, version, self.encode(), next)))
        .getFirst()
        .orThrow();
    version = next;
  }

  /** No further sign of life. */
  void die() {
    heart.close();
  }

  /** As a node does that stops in order. */
  void leave() {
    heart.close();
    String key = Heartbeat.PREFIX + Long.toHexString(INCARNATION);
    store
        .records()
        .apply(List.of(new Change(key, version, null, new Stamp(INCARNATION, ++beats))))
        .getFirst()
        .orThrow();
  }

  @Override
  public void close() {
    heart.shutdownNow();
  }
}
