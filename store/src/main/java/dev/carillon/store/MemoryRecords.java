package dev.carillon.store;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Optional;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** The records of a {@link MemoryStore}. One monitor makes every call one atomic step. */
final class MemoryRecords implements Records {

  private final StoreInfo info;
  private final NavigableMap<String, Stored> records = new TreeMap<>(Utf8::compare);

  /** Per writer the highest sequence that was resolved; it and those below it are refused. */
  private final Map<Long, Long> resolved = new LinkedHashMap<>();

  private long heldBytes;

  MemoryRecords(StoreInfo info) {
    this.info = info;
  }

  synchronized MemoryRecords copy() {
    MemoryRecords copy = new MemoryRecords(info);
    copy.records.putAll(records);
    copy.resolved.putAll(resolved);
    copy.heldBytes = heldBytes;
    return copy;
  }

  synchronized long heldBytes() {
    return heldBytes;
  }

  @Override
  public synchronized Outcome<Optional<Stored>> get(String key) {
    return Outcome.ok(Optional.ofNullable(records.get(key)));
  }

  @Override
  public synchronized List<Outcome<Stamp>> apply(List<Change> changes) {
    List<Outcome<Stamp>> outcomes = new ArrayList<>(changes.size());
    for (Change change : changes) {
      outcomes.add(apply(change));
    }
    return outcomes;
  }

  private Outcome<Stamp> apply(Change change) {
    byte[] value = change.value();
    if (Utf8.length(change.key()) > info.maxKeyBytes()) {
      return new Outcome.TooLarge<>(info.maxKeyBytes());
    }
    if (value != null && value.length > info.maxValueBytes()) {
      return new Outcome.TooLarge<>(info.maxValueBytes());
    }
    long closed = resolved.getOrDefault(change.stamp().writer(), 0L);
    if (change.stamp().sequence() <= closed) {
      return new Outcome.Fenced<>(closed);
    }
    Stamp version = version(change.key());
    if (value != null && version.equals(change.stamp())) {
      return Outcome.ok(change.stamp());
    }
    if (!version.equals(change.expected())) {
      return new Outcome.Conflict<>(version.sequence());
    }
    set(change.key(), value == null ? null : new Stored(change.key(), value, change.stamp()));
    return Outcome.ok(change.stamp());
  }

  private void set(String key, @Nullable Stored stored) {
    Stored before = stored == null ? records.remove(key) : records.put(key, stored);
    heldBytes += bytes(stored) - bytes(before);
  }

  private static long bytes(@Nullable Stored stored) {
    return stored == null ? 0 : Utf8.length(stored.key()) + stored.value().length;
  }

  private Stamp version(String key) {
    Stored stored = records.get(key);
    return stored == null ? Stamp.ABSENT : stored.version();
  }

  @Override
  public synchronized Outcome<Boolean> resolve(Change unknown) {
    resolved.merge(unknown.stamp().writer(), unknown.stamp().sequence(), Math::max);
    Stamp version = version(unknown.key());
    return Outcome.ok(unknown.isInEffect(version));
  }

  @Override
  public synchronized Outcome<List<Stored>> list(
      String prefix, @Nullable String afterKey, int limit) {
    boolean paged = afterKey != null && Utf8.compare(afterKey, prefix) >= 0;
    List<Stored> page = new ArrayList<>();
    for (Stored stored : records.tailMap(paged ? afterKey : prefix, !paged).values()) {
      if (page.size() >= limit || !stored.key().startsWith(prefix)) {
        break;
      }
      page.add(stored);
    }
    return Outcome.ok(page);
  }
}
