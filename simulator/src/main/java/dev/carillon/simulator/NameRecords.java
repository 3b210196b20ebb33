package dev.carillon.simulator;

import dev.carillon.store.Records.Change;
import dev.carillon.store.Records.Stamp;
import dev.carillon.store.ShardId;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Names as the checker knows them: the version of each record, and the jobs that carry the name in
 * a journal.
 *
 * <p><b>Invariant</b>: while a named job lives, the record of its name has the version that its add
 * carries; so no other job can take the name.
 */
final class NameRecords {
  private final Map<String, Stamp> versions = new LinkedHashMap<>();
  private final Map<String, byte[]> values = new LinkedHashMap<>();
  private final Map<String, ModelJob> holders = new LinkedHashMap<>();
  private final Map<String, List<ModelJob>> everyone = new LinkedHashMap<>();

  /** All jobs that ever carried it. */
  List<ModelJob> everyone(String recordKey) {
    return everyone.getOrDefault(recordKey, List.of());
  }

  void changed(Change change) {
    Stamp before = versions.get(change.key());
    if (change.value() == null) {
      if (before != null && before.equals(change.expected())) {
        versions.remove(change.key());
        values.remove(change.key());
      }
    } else {
      versions.put(change.key(), change.stamp());
      values.put(change.key(), change.value());
    }
    ModelJob holder = holders.get(change.key());
    if (holder != null && holder.live()) {
      Violation.check(
          isHeldBy(change.key(), holder),
          Guarantee.NAMES,
          () -> "the name of live " + holder + " was taken from it");
    }
  }

  /** The names as they are, to go back to. */
  NameRecords copy(ModelCopy copy) {
    NameRecords names = new NameRecords();
    names.versions.putAll(versions);
    names.values.putAll(values);
    holders.forEach((key, job) -> names.holders.put(key, copy.of(job)));
    everyone.forEach(
        (key, jobs) ->
            names.everyone.put(key, new ArrayList<>(jobs.stream().map(copy::of).toList())));
    return names;
  }

  private boolean isHeldBy(String key, ModelJob job) {
    Stamp version = versions.get(key);
    return version != null
        && version.writer() == job.spec.stampWriter()
        && version.sequence() == job.spec.stampSequence();
  }

  void added(ModelJob job) {
    String key = job.spec.recordKey();
    ModelJob holder = holders.get(key);
    Violation.check(
        holder == null || !holder.live(),
        Guarantee.NAMES,
        () -> "two live jobs have one name: " + holder + " and " + job);
    Violation.check(
        isHeldBy(key, job),
        Guarantee.NAMES,
        () -> job + " was added without holding its name's record");
    holders.put(key, job);
    everyone.computeIfAbsent(key, k -> new ArrayList<>()).add(job);
  }

  /** Its shard goes: no record may point at it any more. */
  void forgotten(ModelJob job) {
    Violation.check(
        job.namedSpec == null || job.replays > 0 || !pointsAt(job.namedSpec.recordKey(), job),
        Guarantee.NAMES,
        () -> "the record of " + job + " stays behind when its shard is dropped");
  }

  private boolean pointsAt(String key, ModelJob job) {
    byte[] value = values.get(key);
    // The id of its shard and its number, as they stand in a record's value.
    return value != null
        && new String(value, 2, ShardId.TEXT_LENGTH, StandardCharsets.US_ASCII)
            .equals(job.shard.id.toString())
        && ByteBuffer.wrap(value).getLong(2 + ShardId.TEXT_LENGTH) == job.number;
  }

  /** A dead letter lives again, without its name. */
  void replayed(ModelJob job) {
    holders.values().removeIf(holder -> holder == job);
  }

  /** A replace must keep the name and its record's version. */
  void replaced(ModelJob job, JournalFormat.Spec next) {
    Violation.check(
        job.spec.recordKey().equals(next.recordKey())
            && job.spec.stampWriter() == next.stampWriter()
            && job.spec.stampSequence() == next.stampSequence(),
        Guarantee.NAMES,
        () -> "a replace changed the name of " + job);
  }
}
