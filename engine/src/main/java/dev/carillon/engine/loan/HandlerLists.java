package dev.carillon.engine.loan;

import dev.carillon.engine.commit.RecordChanges;
import dev.carillon.engine.commit.RecordSweep;
import dev.carillon.engine.environment.NodeEnvironment;
import dev.carillon.engine.format.ByteReader;
import dev.carillon.engine.format.ByteWriter;
import dev.carillon.engine.format.DamagedException;
import dev.carillon.engine.format.UnknownFormatException;
import dev.carillon.engine.member.Member;
import dev.carillon.store.Outcome;
import dev.carillon.store.Records.Stamp;
import dev.carillon.store.Records.Stored;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/**
 * Which nodes have which handlers. Each writes its list when that changes and says with its
 * heartbeat which one it wrote last; the others read it then.
 *
 * <pre>
 * key    "h\0" incarnation, hex, "." part
 * value  byte 1, varint count, strings
 * </pre>
 */
public final class HandlerLists {
  private static final String PREFIX = "h\0";
  private static final int VERSION = 1;
  private static final int TYPES_A_PART = 100;
  private static final int MOST_PARTS = 500;

  private final NodeEnvironment env;
  private final RecordChanges records;
  private final long incarnation;
  private final Host host;
  private final RecordSweep sweep;

  /** The types that this node has handlers for, and which of them are workflows. */
  private final Map<String, Boolean> own = new TreeMap<>();

  private final Map<Long, Known> others = new LinkedHashMap<>();
  private boolean dirty;
  private boolean writing;
  private long versions;

  /** How many records this node's list takes in the store. */
  private int partsWritten;

  /** The node, as far as lists of handlers need it. */
  public interface Host {
    /** This node's list is written, under that version. */
    void announce(long version);

    /** Another node's list has become known. */
    void learnt(Set<String> types);

    /** Whether nobody expects that incarnation back. */
    boolean isForgotten(long incarnation);
  }

  private static final class Known {
    long version;
    boolean reading;
    Map<String, Boolean> types = Map.of();
  }

  public HandlerLists(NodeEnvironment env, RecordChanges records, long incarnation, Host host) {
    this.env = env;
    this.records = records;
    this.incarnation = incarnation;
    this.host = host;
    this.sweep = new RecordSweep(env, records, PREFIX, this::isOfDead);
  }

  /** This node has a handler for that type, or a workflow. */
  public void add(String type, boolean workflow) {
    Boolean before = own.put(type, workflow);
    dirty |= before == null || before != workflow;
  }

  /** This node has no handler for that type any more. */
  public void remove(String type) {
    dirty |= own.remove(type) != null;
  }

  /** What was written may not be there any more. */
  public void writeAgain() {
    dirty |= !own.isEmpty() || partsWritten > 0;
  }

  /** Writes this node's list if it has changed. */
  public void turn() {
    if (!dirty || writing) {
      return;
    }
    dirty = false;
    writing = true;
    List<String> types = List.copyOf(own.keySet());
    // A list that has become shorter leaves empty records behind, which the sweep deletes later.
    int parts = Math.max(1, Math.ceilDiv(types.size(), TYPES_A_PART));
    partsWritten = Math.max(partsWritten, parts);
    int[] left = {partsWritten};
    for (int i = 0; i < partsWritten; i++) {
      int from = Math.min(types.size(), i * TYPES_A_PART);
      List<String> part = types.subList(from, Math.min(types.size(), from + TYPES_A_PART));
      write(
          key(incarnation) + i,
          encode(part),
          () -> {
            if (--left[0] == 0) {
              writing = false;
              host.announce(++versions);
            }
          });
    }
  }

  private void write(String key, byte[] value, Runnable done) {
    records.get(
        key,
        found -> {
          Stamp version = found.map(Stored::version).orElse(Stamp.ABSENT);
          var unused =
              records.change(
                  key,
                  version,
                  value,
                  inEffect -> {
                    if (inEffect) {
                      done.run();
                    } else {
                      write(key, value, done);
                    }
                  });
        });
  }

  private static String key(long incarnation) {
    return PREFIX + Long.toHexString(incarnation) + '.';
  }

  private byte[] encode(List<String> types) {
    ByteWriter out = new ByteWriter(16 * types.size()).u8(VERSION).varint(types.size());
    types.forEach(type -> out.string(type).u8(own.getOrDefault(type, false) ? 1 : 0));
    return out.toBytes();
  }

  /** Whether that node has a handler for the type, as far as is known. */
  boolean has(long other, String type) {
    Known known = others.get(other);
    return known != null && known.types.containsKey(type);
  }

  /** Whether the type is one of workflows there, as far as is known. */
  boolean isWorkflow(long other, String type) {
    Known known = others.get(other);
    return known != null && known.types.getOrDefault(type, false);
  }

  /** The incarnations of other nodes that have a handler for the type, as far as is known. */
  public List<Long> having(String type) {
    return others.entrySet().stream()
        .filter(other -> other.getValue().types.containsKey(type))
        .map(Map.Entry::getKey)
        .toList();
  }

  /** The types that other nodes have handlers for. */
  public void types(Set<String> into) {
    others.values().forEach(other -> into.addAll(other.types.keySet()));
  }

  /** Who is there now. */
  public void saw(List<Member> members) {
    Set<Long> there = new LinkedHashSet<>();
    for (Member member : members) {
      there.add(member.incarnation());
      if (member.incarnation() != incarnation && member.said().handlers() != 0) {
        Known known = others.computeIfAbsent(member.incarnation(), m -> new Known());
        if (known.version != member.said().handlers() && !known.reading) {
          read(member.incarnation(), member.said().handlers(), known);
        }
      }
    }
    others.keySet().retainAll(there);
  }

  private void read(long other, long version, Known known) {
    known.reading = true;
    env.submit(
        NodeEnvironment.Channel.RECORDS,
        store -> store.records().list(key(other), null, MOST_PARTS),
        outcome -> {
          known.reading = false;
          if (outcome instanceof Outcome.Ok<List<Stored>>(List<Stored> parts)) {
            try {
              known.types = decode(parts);
            } catch (UnknownFormatException e) {
              known.types = Map.of(); // of a later version: nothing is lent to it
            } catch (DamagedException e) {
              known.types = Map.of();
              env.report("a list of handlers could not be read: " + e.getMessage(), e);
            }
            known.version = version;
            host.learnt(known.types.keySet());
          }
        });
  }

  private static Map<String, Boolean> decode(List<Stored> parts) {
    Map<String, Boolean> types = new LinkedHashMap<>();
    for (Stored part : parts) {
      ByteReader in = new ByteReader(part.value());
      in.requireVersion("handlers", VERSION);
      for (long left = in.varint(); left > 0; left--) {
        types.put(in.string(), in.u8() == 1);
      }
    }
    return types;
  }

  /** Deletes the lists of those who do not come back. */
  public void sweep() {
    sweep.begin();
  }

  private boolean isOfDead(Stored record) {
    int end = record.key().indexOf('.');
    return host.isForgotten(Long.parseUnsignedLong(record.key(), PREFIX.length(), end, 16));
  }
}
