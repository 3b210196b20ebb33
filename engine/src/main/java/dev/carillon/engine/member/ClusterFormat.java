package dev.carillon.engine.member;

import dev.carillon.engine.environment.NodeEnvironment;
import dev.carillon.engine.environment.Timers;
import dev.carillon.engine.format.ByteReader;
import dev.carillon.engine.format.ByteWriter;
import dev.carillon.store.Head;
import dev.carillon.store.Outcome;
import dev.carillon.store.Records.Change;
import dev.carillon.store.Records.Stamp;
import dev.carillon.store.Records.Stored;
import dev.carillon.store.Store;
import java.util.List;
import java.util.Optional;

/**
 * The format in which all nodes write, in a record that lies among the heartbeats. Whoever comes
 * first to a new store writes there the newest that it reads; from then on only an {@link Upgrade}
 * raises it, when everybody reads more. A node that reads less does not begin; one that runs when
 * it is raised beyond what it reads gives its shards away.
 *
 * <p>Crash table: the node dies before the record is there: the next one to start writes it. Two
 * write it at once: one of them does, and the other reads what that wrote. What is unknown is asked
 * again; it counts only where there is no record.
 */
public final class ClusterFormat {
  public static final String KEY = Heartbeat.PREFIX + "~format";

  private static final long RETRY_NANOS = 50_000_000;

  private final NodeEnvironment env;
  private final Timers timers;
  private final Formats formats;
  private final Host host;
  private final long writer;
  private long sequence;
  private boolean outdated;

  /** The node, as far as this needs it. */
  public interface Host {
    /** The cluster writes what this node cannot read. */
    void outdated(String why);
  }

  public ClusterFormat(NodeEnvironment env, Timers timers, Formats formats, Host host) {
    this.env = env;
    this.timers = timers;
    this.formats = formats;
    this.host = host;
    this.writer = env.random() | 1;
  }

  /** The newest format that this node reads and writes. */
  int newest() {
    return formats.newest();
  }

  /** Runs {@code begin} as soon as it is known that this node reads what others write. */
  public void learn(Runnable begin) {
    Stamp stamp = new Stamp(writer, ++sequence);
    env.submit(
        NodeEnvironment.Channel.HEARTBEAT,
        store -> settle(store, formats.newest(), stamp),
        outcome -> {
          if (!(outcome instanceof Outcome.Ok<Integer>(Integer format))) {
            timers.at(env.monotonicNanos() + RETRY_NANOS, () -> learn(begin));
          } else if (isReadable(format)) {
            begin.run();
          }
        });
  }

  /** The record was seen among the heartbeats. */
  void saw(Stored record) {
    isReadable(read(record));
  }

  private boolean isReadable(int format) {
    if (format <= formats.newest()) {
      formats.writes(format);
      return true;
    }
    if (!outdated) {
      outdated = true;
      host.outdated(problem(format, formats.newest()));
    }
    return false;
  }

  static String problem(int format, int newest) {
    return "the cluster's format is "
        + format
        + " (expected: at most "
        + newest
        + ", which is what this version reads); use a newer one";
  }

  public static int read(Stored record) {
    return (int) new ByteReader(record.value()).varint();
  }

  public static byte[] encode(int format) {
    return new ByteWriter(4).varint(format).toBytes();
  }

  /** The cluster's format; where there is none yet, what {@code newest} or the data makes it. */
  static Outcome<Integer> settle(Store store, int newest, Stamp stamp) {
    Outcome<Optional<Stored>> found = store.records().get(KEY);
    if (!(found instanceof Outcome.Ok<Optional<Stored>>(Optional<Stored> record))) {
      return found.map(none -> 0);
    }
    if (record.isPresent()) {
      return Outcome.ok(read(record.get()));
    }
    Outcome<Boolean> fresh = isFresh(store);
    if (!(fresh instanceof Outcome.Ok<Boolean>(Boolean isFresh))) {
      return fresh.map(none -> 0);
    }
    int format = isFresh ? newest : Formats.OLDEST;
    Change change = new Change(KEY, Stamp.ABSENT, encode(format), stamp);
    Outcome<Stamp> written = store.records().apply(List.of(change)).getFirst();
    if (written instanceof Outcome.Full<Stamp>) {
      return Outcome.ok(Formats.OLDEST); // what everybody reads; the next to start writes it
    }
    return written instanceof Outcome.Conflict<Stamp>
        ? new Outcome.Unavailable<>("somebody else has just written the format")
        : written.map(done -> format);
  }

  /** Whether nobody has written anything yet that others may have to read. */
  private static Outcome<Boolean> isFresh(Store store) {
    Outcome<List<Head>> heads = store.journals().listById(null, 1);
    return heads instanceof Outcome.Damaged<List<Head>>
        ? Outcome.ok(false)
        : heads.map(List::isEmpty);
  }
}
