package dev.carillon.store;

import dev.carillon.store.Head.Status;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.TreeMap;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * The journals of a {@link MemoryStore}. One monitor makes every call one atomic step.
 *
 * <p>Refusals are looked for in the order of the contract: limits, then whether the shard is there,
 * then its epoch, then everything else.
 */
final class MemoryJournals implements Journals {

  private final StoreInfo info;
  private final Map<ShardId, Journal> journals = new LinkedHashMap<>();
  private final NavigableMap<ShardId, Journal> byId = new TreeMap<>();
  private final NavigableMap<WakeKey, Journal> byWake = new TreeMap<>();

  /** The highest sequence each incarnation has created; outlives the shards. */
  private final Map<Long, Integer> created = new LinkedHashMap<>();

  private long heldBytes;

  MemoryJournals(StoreInfo info) {
    this.info = info;
  }

  synchronized MemoryJournals copy() {
    MemoryJournals copy = new MemoryJournals(info);
    copy.created.putAll(created);
    copy.heldBytes = heldBytes;
    for (Journal journal : journals.values()) {
      Journal same = journal.copy();
      copy.journals.put(same.shard, same);
      copy.byId.put(same.shard, same);
      copy.byWake.put(same.wakeKey(), same);
    }
    return copy;
  }

  synchronized long heldBytes() {
    return heldBytes;
  }

  @Override
  public synchronized Outcome<Head> create(
      ShardId shard, String home, long wakeMicros, byte[] summary) {
    if (Utf8.length(home) > info.maxKeyBytes()) {
      return new Outcome.TooLarge<>(info.maxKeyBytes());
    }
    if (summary.length > info.maxEntryBytes()) {
      return new Outcome.TooLarge<>(info.maxEntryBytes());
    }
    Journal existing = journals.get(shard);
    if (existing != null && (existing.epoch == 1 || existing.owner == shard.incarnation())) {
      return Outcome.ok(existing.head());
    }
    int highest = created.getOrDefault(shard.incarnation(), 0);
    if (shard.sequence() <= highest) {
      return new Outcome.Conflict<>(highest);
    }
    created.put(shard.incarnation(), shard.sequence());
    Journal journal = new Journal(shard, home, wakeMicros, summary);
    journals.put(shard, journal);
    byId.put(shard, journal);
    byWake.put(journal.wakeKey(), journal);
    heldBytes += summary.length;
    return Outcome.ok(journal.head());
  }

  @Override
  public synchronized Outcome<Claim> claim(ShardId shard, long expectedEpoch, long owner) {
    Journal journal = journals.get(shard);
    if (journal == null) {
      return new Outcome.Fenced<>(Head.DROPPED);
    }
    if (journal.epoch == expectedEpoch) {
      journal.suspect = journal.owner != 0;
      journal.owner = owner;
      journal.epoch++;
    } else if (journal.epoch != expectedEpoch + 1 || journal.owner != owner) {
      return new Outcome.Fenced<>(journal.epoch);
    }
    return Outcome.ok(new Claim(journal.head(), journal.tail()));
  }

  @Override
  public synchronized List<Outcome<Long>> append(List<Append> group, boolean allOrNothing) {
    long bytes = 0;
    for (Append append : group) {
      bytes += append.data().length;
    }
    List<Outcome<Long>> outcomes = new ArrayList<>(group.size());
    if (bytes > info.maxGroupBytes()) {
      group.forEach(append -> outcomes.add(new Outcome.TooLarge<>(info.maxGroupBytes())));
      return outcomes;
    }
    List<Undo> undos = allOrNothing ? new ArrayList<>(group.size()) : null;
    boolean refused = false;
    for (Append append : group) {
      Outcome<Long> outcome = append(append, outcomes.size(), undos);
      refused |= !outcome.isOk();
      outcomes.add(outcome);
    }
    if (refused && undos != null) {
      undo(undos, outcomes);
    }
    return outcomes;
  }

  private Outcome<Long> append(Append append, int index, @Nullable List<Undo> undos) {
    if (append.data().length > info.maxEntryBytes()) {
      return new Outcome.TooLarge<>(info.maxEntryBytes());
    }
    Journal journal = journals.get(append.shard());
    if (journal == null) {
      return new Outcome.Fenced<>(Head.DROPPED);
    }
    if (journal.epoch != append.epoch()) {
      return new Outcome.Fenced<>(journal.epoch);
    }
    long tail = journal.tail();
    if (append.generation() != journal.generation()) {
      return new Outcome.Conflict<>(tail);
    }
    if (append.number() != tail + 1) {
      return journal.holds(append) ? Outcome.ok(append.number()) : new Outcome.Conflict<>(tail);
    }
    if (undos != null) {
      undos.add(new Undo(journal, journal.wakeMicros, index));
    }
    add(journal, new Entry(append.number(), append.epoch(), append.batch(), append.data()));
    if (append.raiseWakeMicros() != Append.KEEP_WAKE) {
      moveWake(journal, append.raiseWakeMicros());
    }
    return Outcome.ok(append.number());
  }

  /** What was true before the entry of a group's append at {@code index} went in. */
  private record Undo(Journal journal, long wakeMicros, int index) {}

  private void undo(List<Undo> undos, List<Outcome<Long>> outcomes) {
    for (Undo undo : undos.reversed()) {
      heldBytes -= undo.journal.current.entries.removeLast().data().length;
      moveWake(undo.journal, undo.wakeMicros);
      outcomes.set(
          undo.index, new Outcome.Unavailable<>("another append of the group was refused"));
    }
  }

  @Override
  public synchronized Outcome<Resolution> resolve(Append unknown) {
    return fenced(
        unknown.shard(),
        unknown.epoch(),
        journal -> {
          long tail = journal.tail();
          if (unknown.generation() != journal.generation() || unknown.number() > tail + 1) {
            return new Outcome.Conflict<>(tail);
          }
          if (unknown.number() <= tail) {
            return Outcome.ok(journal.holds(unknown) ? Resolution.COMMITTED : Resolution.ABSENT);
          }
          add(journal, new Entry(unknown.number(), unknown.epoch(), 0, new byte[0]));
          return Outcome.ok(Resolution.ABSENT);
        });
  }

  @Override
  public synchronized Outcome<Head> lowerWake(ShardId shard, long epoch, long wakeMicros) {
    return fenced(
        shard,
        epoch,
        journal -> {
          moveWake(journal, Math.min(journal.wakeMicros, wakeMicros));
          return Outcome.ok(journal.head());
        });
  }

  @Override
  public synchronized Outcome<Head> seal(ShardId shard, long epoch, byte[] summary) {
    if (summary.length > info.maxEntryBytes()) {
      return new Outcome.TooLarge<>(info.maxEntryBytes());
    }
    return fenced(
        shard,
        epoch,
        journal -> {
          if (journal.status != Status.SEALED) {
            journal.status = Status.SEALED;
            summarise(journal, summary);
          }
          return Outcome.ok(journal.head());
        });
  }

  @Override
  public synchronized Outcome<Head> release(
      ShardId shard, long epoch, long expectedTail, byte[] summary) {
    if (summary.length > info.maxEntryBytes()) {
      return new Outcome.TooLarge<>(info.maxEntryBytes());
    }
    return fenced(
        shard,
        epoch,
        journal -> {
          if (journal.tail() != expectedTail) {
            return new Outcome.Conflict<>(journal.tail());
          }
          if (journal.owner != 0) {
            journal.owner = 0;
            summarise(journal, summary);
          }
          return Outcome.ok(journal.head());
        });
  }

  @Override
  public synchronized Outcome<ReadPage> read(
      ShardId shard, int generation, long from, int maxBytes) {
    Journal journal = journals.get(shard);
    if (journal == null) {
      return new Outcome.Fenced<>(Head.DROPPED);
    }
    if (generation < journal.oldestGeneration || generation > journal.generation()) {
      return new Outcome.Conflict<>(journal.tail());
    }
    List<Entry> entries = journal.generations.get(generation - journal.oldestGeneration).entries;
    int first = (int) Math.min(Math.max(from, 1) - 1, entries.size());
    int next = first;
    long bytes = 0;
    while (next < entries.size()) {
      bytes += entries.get(next).data().length;
      if (bytes > maxBytes && next > first) {
        break;
      }
      next++;
    }
    return Outcome.ok(new ReadPage(entries.subList(first, next), next == entries.size()));
  }

  @Override
  public synchronized Outcome<Long> stage(
      ShardId shard, long epoch, int generation, long snapshot, long number, byte[] data) {
    if (data.length > info.maxEntryBytes()) {
      return new Outcome.TooLarge<>(info.maxEntryBytes());
    }
    return fenced(
        shard,
        epoch,
        journal -> {
          if (generation != journal.generation()) {
            return new Outcome.Conflict<>(journal.tail());
          }
          return stage(journal, snapshot, number, data);
        });
  }

  private Outcome<Long> stage(Journal journal, long snapshot, long number, byte[] data) {
    Generation staged = journal.staged;
    if (staged == null || staged.snapshot != snapshot) {
      if (number != 1) {
        return new Outcome.Conflict<>(0);
      }
      heldBytes -= staged == null ? 0 : staged.bytes();
      staged = new Generation(snapshot);
      journal.staged = staged;
    }
    if (number > staged.entries.size() + 1) {
      return new Outcome.Conflict<>(staged.entries.size());
    }
    if (number == staged.entries.size() + 1) {
      staged.entries.add(new Entry(number, 0, snapshot, data));
      heldBytes += data.length;
    }
    return Outcome.ok(number);
  }

  @Override
  public synchronized Outcome<Head> publish(Publication publication) {
    if (publication.summary().length > info.maxEntryBytes()) {
      return new Outcome.TooLarge<>(info.maxEntryBytes());
    }
    return fenced(
        publication.shard(),
        publication.epoch(),
        journal -> {
          if (publication.generation() == journal.generation() - 1
              && publication.snapshot() == journal.current.snapshot) {
            return Outcome.ok(journal.head());
          }
          if (publication.generation() != journal.generation()
              || publication.expectedTail() != journal.tail()
              || !journal.hasStaged(publication)) {
            return new Outcome.Conflict<>(journal.tail());
          }
          publish(journal, publication);
          return Outcome.ok(journal.head());
        });
  }

  private void publish(Journal journal, Publication publication) {
    Generation next = new Generation(publication.snapshot());
    Generation staged = journal.staged;
    if (staged != null) {
      next.entries.addAll(staged.entries.subList(0, (int) publication.count()));
      heldBytes += next.bytes() - staged.bytes();
      journal.staged = null;
    }
    journal.generations.add(next);
    journal.current = next;
    moveWake(journal, publication.wakeMicros());
    summarise(journal, publication.summary());
  }

  @Override
  public synchronized Outcome<Head> dropGenerations(ShardId shard, long epoch, int oldest) {
    return fenced(
        shard,
        epoch,
        journal -> {
          if (oldest > journal.generation()) {
            return new Outcome.Conflict<>(journal.tail());
          }
          while (journal.oldestGeneration < oldest) {
            heldBytes -= journal.generations.removeFirst().bytes();
            journal.oldestGeneration++;
          }
          return Outcome.ok(journal.head());
        });
  }

  @Override
  public synchronized Outcome<Boolean> drop(ShardId shard, long epoch) {
    Journal journal = journals.get(shard);
    if (journal == null) {
      return Outcome.ok(true);
    }
    if (journal.epoch != epoch) {
      return new Outcome.Fenced<>(journal.epoch);
    }
    journals.remove(shard);
    byId.remove(shard);
    byWake.remove(journal.wakeKey());
    heldBytes -= journal.bytes();
    return Outcome.ok(true);
  }

  @Override
  public synchronized Outcome<Head> head(ShardId shard) {
    Journal journal = journals.get(shard);
    return journal == null ? new Outcome.Fenced<>(Head.DROPPED) : Outcome.ok(journal.head());
  }

  @Override
  public synchronized Outcome<List<Head>> listByWake(
      long beforeMicros, @Nullable Head after, int limit) {
    NavigableMap<WakeKey, Journal> rest =
        after == null
            ? byWake
            : byWake.tailMap(new WakeKey(after.wakeMicros(), after.shard()), false);
    List<Head> heads = new ArrayList<>();
    for (Journal journal : rest.values()) {
      if (heads.size() >= limit || journal.wakeMicros >= beforeMicros) {
        break;
      }
      heads.add(journal.head());
    }
    return Outcome.ok(heads);
  }

  @Override
  public synchronized Outcome<List<Head>> listById(@Nullable ShardId after, int limit) {
    NavigableMap<ShardId, Journal> rest = after == null ? byId : byId.tailMap(after, false);
    List<Head> heads = new ArrayList<>();
    for (Journal journal : rest.values()) {
      if (heads.size() >= limit) {
        break;
      }
      heads.add(journal.head());
    }
    return Outcome.ok(heads);
  }

  private <T> Outcome<T> fenced(ShardId shard, long epoch, Function<Journal, Outcome<T>> step) {
    Journal journal = journals.get(shard);
    if (journal == null) {
      return new Outcome.Fenced<>(Head.DROPPED);
    }
    return journal.epoch == epoch ? step.apply(journal) : new Outcome.Fenced<>(journal.epoch);
  }

  private void add(Journal journal, Entry entry) {
    journal.current.entries.add(entry);
    heldBytes += entry.data().length;
  }

  private void moveWake(Journal journal, long wakeMicros) {
    if (wakeMicros != journal.wakeMicros) {
      byWake.remove(journal.wakeKey());
      journal.wakeMicros = wakeMicros;
      byWake.put(journal.wakeKey(), journal);
    }
  }

  private void summarise(Journal journal, byte[] summary) {
    heldBytes += summary.length - journal.summary.length;
    journal.summary = summary;
  }

  /** The place of a shard in the listing by wake time. */
  private record WakeKey(long wakeMicros, ShardId shard) implements Comparable<WakeKey> {
    @Override
    public int compareTo(WakeKey other) {
      int byWake = Long.compare(wakeMicros, other.wakeMicros);
      return byWake != 0 ? byWake : shard.compareTo(other.shard);
    }
  }

  /** Entries 1 to n, the first of them perhaps from the snapshot that began the generation. */
  private static final class Generation {
    final long snapshot;
    final ArrayList<Entry> entries = new ArrayList<>();

    Generation(long snapshot) {
      this.snapshot = snapshot;
    }

    Generation copy() {
      Generation copy = new Generation(snapshot);
      copy.entries.addAll(entries);
      return copy;
    }

    long bytes() {
      long bytes = 0;
      for (Entry entry : entries) {
        bytes += entry.data().length;
      }
      return bytes;
    }
  }

  /** A shard as it is; the fields of {@link Head}, its generations and what is staged. */
  private static final class Journal {
    final ShardId shard;
    final String home;
    final ArrayList<Generation> generations = new ArrayList<>();
    Generation current = new Generation(0);
    @Nullable Generation staged;
    long epoch = 1;
    long owner;
    boolean suspect;
    Status status = Status.OPEN;
    int oldestGeneration = 1;
    long wakeMicros;
    byte[] summary;

    Journal(ShardId shard, String home, long wakeMicros, byte[] summary) {
      this.shard = shard;
      this.home = home;
      this.owner = shard.incarnation();
      this.wakeMicros = wakeMicros;
      this.summary = summary;
      generations.add(current);
    }

    Journal copy() {
      Journal copy = new Journal(shard, home, wakeMicros, summary);
      copy.generations.clear();
      generations.forEach(generation -> copy.generations.add(generation.copy()));
      copy.current = copy.generations.getLast();
      copy.staged = staged == null ? null : staged.copy();
      copy.epoch = epoch;
      copy.owner = owner;
      copy.suspect = suspect;
      copy.status = status;
      copy.oldestGeneration = oldestGeneration;
      return copy;
    }

    Head head() {
      return new Head(
          shard,
          epoch,
          owner,
          suspect,
          status,
          generation(),
          oldestGeneration,
          wakeMicros,
          home,
          summary);
    }

    WakeKey wakeKey() {
      return new WakeKey(wakeMicros, shard);
    }

    int generation() {
      return oldestGeneration + generations.size() - 1;
    }

    long tail() {
      return current.entries.size();
    }

    boolean holds(Append append) {
      return append.number() >= 1
          && append.number() <= tail()
          && current.entries.get((int) append.number() - 1).batch() == append.batch();
    }

    boolean hasStaged(Publication publication) {
      return publication.count() == 0
          || (staged != null
              && staged.snapshot == publication.snapshot()
              && staged.entries.size() >= publication.count());
    }

    long bytes() {
      return summary.length
          + (staged == null ? 0 : staged.bytes())
          + generations.stream().mapToLong(Generation::bytes).sum();
    }
  }
}
