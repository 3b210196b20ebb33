package dev.carillon.engine.member;

import dev.carillon.engine.commit.RecordChanges;
import dev.carillon.engine.environment.NodeEnvironment;
import dev.carillon.engine.format.ByteReader;
import dev.carillon.engine.format.ByteWriter;
import dev.carillon.store.Records.Stamp;
import dev.carillon.store.Records.Stored;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Has every node act on what operators set. Whoever changes a setting raises one version for all of
 * them, in a record that lies among the heartbeats and so costs no read of its own; each node that
 * sees a higher one reads the settings again and says in its heartbeat how far it acts. A caller is
 * answered when all that are there have said so.
 *
 * <p>Crash table: the node dies between the change and the new version: its caller is told nothing,
 * and others act on the change with the next one, or when they start. A node that is judged dead is
 * not waited for: it starts nothing any more, and reads the settings before it does. The store goes
 * back in time: versions come again, so what was seen before counts for nothing.
 */
final class ControlVersion {
  static final String KEY = Heartbeat.PREFIX + "~controls";

  private final NodeEnvironment env;
  private final RecordChanges records;
  private final Heartbeat heartbeat;
  private final Host host;
  private final List<Waiting> waiting = new ArrayList<>();
  private long seen;
  private long actsOn;
  private boolean reading;

  /** How often the store became another copy. */
  private int copies;

  /** The members, as far as this needs them. */
  interface Host {
    /** Reads what is set, and acts on it; then {@code done} runs. */
    void controlsChanged(Runnable done);

    /** What everybody else who is there acts on, at least. */
    long actedOnByAll();
  }

  /**
   * @param sinceNanos only a look that was sent after it tells who is there
   */
  private record Waiting(long version, long sinceNanos, Runnable done) {}

  ControlVersion(NodeEnvironment env, RecordChanges records, Heartbeat heartbeat, Host host) {
    this.env = env;
    this.records = records;
    this.heartbeat = heartbeat;
    this.host = host;
  }

  private static long read(Stored record) {
    return new ByteReader(record.value()).varint();
  }

  /** The record was seen among the heartbeats. */
  void saw(Stored record) {
    seen = Math.max(seen, read(record));
    catchUp();
  }

  /** The store is another copy, which has versions and settings of its own. */
  void exchanged() {
    copies++;
    seen = 0;
    actsOn = 0;
    reading = false;
    heartbeat.actsOn(0);
    List<Waiting> anew = List.copyOf(waiting);
    waiting.clear();
    anew.forEach(one -> announce(one.done()));
  }

  private void catchUp() {
    if (reading || actsOn >= seen) {
      return;
    }
    reading = true;
    long version = seen;
    int known = copies;
    host.controlsChanged(
        () -> {
          if (known != copies) {
            return;
          }
          reading = false;
          actsOn = version;
          heartbeat.actsOn(version);
          catchUp();
        });
  }

  /** Runs {@code done} when everybody acts on what this node has just set. */
  void announce(Runnable done) {
    int known = copies;
    records.get(
        KEY,
        (Optional<Stored> found) -> {
          long next = 1 + found.map(ControlVersion::read).orElse(0L);
          Stamp expected = found.map(Stored::version).orElse(Stamp.ABSENT);
          byte[] value = new ByteWriter(10).varint(next).toBytes();
          records.change(
              KEY,
              expected,
              value,
              inEffect -> {
                if (inEffect && known == copies) {
                  waiting.add(new Waiting(next, env.monotonicNanos(), done));
                } else {
                  announce(done); // somebody else has just set something
                }
              });
        });
  }

  /** Tells those who waited for what all act on, as a look shows that was sent then. */
  void look(long sentNanos) {
    if (waiting.isEmpty()) {
      return;
    }
    long all = host.actedOnByAll();
    List<Waiting> over =
        waiting.stream()
            .filter(one -> one.version() <= all && sentNanos - one.sinceNanos() >= 0)
            .toList();
    waiting.removeAll(over);
    over.forEach(one -> one.done().run());
  }
}
