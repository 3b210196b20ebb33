package dev.carillon.engine.member;

import dev.carillon.store.Outcome;
import dev.carillon.store.Records.Change;
import dev.carillon.store.Records.Stamp;
import dev.carillon.store.Records.Stored;
import dev.carillon.store.Store;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * The end of an upgrade of all nodes: from then on they write the newest format, and an older
 * version does not start any more. Worked out from the store alone; no node is asked. Who is there
 * shows only in time, so the heartbeats are read twice, more than a heartbeat interval apart.
 *
 * <p>A node that is there, or that may come back, is not left behind: while one of them reads less
 * than the others the format stays. Of a node that is there again an earlier start does not count.
 */
public final class Upgrade {
  private final Formats formats;
  private final Map<Long, Stamp> before = new LinkedHashMap<>();

  /** By one who reads these formats. */
  public Upgrade(Formats formats) {
    this.formats = formats;
  }

  /**
   * A node that counts.
   *
   * @param reads the highest format that it reads
   * @param there whether it gave a sign of life between the two looks
   */
  public record Reader(String nodeId, int reads, boolean there) {}

  /**
   * How the fleet stands.
   *
   * @param format in which all write
   * @param next in which all could write if everybody read it
   * @param readers the nodes that count, by their names
   */
  public record Standing(int format, int next, List<Reader> readers) {

    /** Those that do not read what the others could write. */
    public List<Reader> behind() {
      return readers.stream().filter(reader -> reader.reads() < next).toList();
    }
  }

  /** The first look: who has a new heartbeat by the second is there. */
  public Outcome<Boolean> look(Store store) {
    return Members.all(store)
        .map(
            records -> {
              records.stream()
                  .filter(Members::isHeartbeat)
                  .forEach(
                      heartbeat ->
                          before.put(Members.read(heartbeat).incarnation(), heartbeat.version()));
              return true;
            });
  }

  /** The second look. */
  public Outcome<Standing> standing(Store store) {
    return Members.all(store).map(this::standing);
  }

  private Standing standing(List<Stored> records) {
    int format = Formats.OLDEST;
    List<Reader> all = new ArrayList<>();
    Set<String> there = new LinkedHashSet<>();
    for (Stored record : records) {
      if (record.key().equals(ClusterFormat.KEY)) {
        format = ClusterFormat.read(record);
      } else if (Members.isHeartbeat(record)) {
        Reader reader = reader(record);
        all.add(reader);
        if (reader.there()) {
          there.add(reader.nodeId());
        }
      }
    }
    List<Reader> counted =
        all.stream()
            .filter(reader -> reader.there() || !there.contains(reader.nodeId()))
            .sorted(java.util.Comparator.comparing(Reader::nodeId))
            .toList();
    int next = counted.stream().mapToInt(Reader::reads).max().orElse(formats.newest());
    return new Standing(format, Math.max(format, next), counted);
  }

  private Reader reader(Stored record) {
    Member member = Members.read(record);
    boolean beaten = !record.version().equals(before.get(member.incarnation()));
    return new Reader(member.nodeId(), member.said().format(), beaten && !member.isGone());
  }

  /**
   * Raises the format as far as {@code standing} says.
   *
   * @return false where somebody else has just changed it: look again
   */
  public Outcome<Boolean> finish(Store store, Standing standing, Stamp stamp) {
    if (!standing.behind().isEmpty()) {
      throw new IllegalStateException(
          "format: " + standing.format() + " (expected: nobody who reads less than the next one)");
    }
    Outcome<Optional<Stored>> found = store.records().get(ClusterFormat.KEY);
    if (!(found instanceof Outcome.Ok<Optional<Stored>>(Optional<Stored> record))) {
      return found.map(none -> false);
    }
    int format = record.map(ClusterFormat::read).orElse(Formats.OLDEST);
    if (format != standing.format()) {
      return Outcome.ok(false);
    }
    Change change =
        new Change(
            ClusterFormat.KEY,
            record.map(Stored::version).orElse(Stamp.ABSENT),
            ClusterFormat.encode(standing.next()),
            stamp);
    Outcome<Stamp> written = store.records().apply(List.of(change)).getFirst();
    return written instanceof Outcome.Conflict<Stamp>
        ? Outcome.ok(false)
        : written.map(done -> true);
  }
}
