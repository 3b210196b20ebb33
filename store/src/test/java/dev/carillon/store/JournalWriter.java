package dev.carillon.store;

import dev.carillon.store.Journals.Publication;
import dev.carillon.store.Journals.Resolution;
import dev.carillon.store.Transactions.Rider;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/**
 * The owner of one shard in a case: knows its epoch, generation and tail, and keeps what was
 * acknowledged. For one thread.
 */
final class JournalWriter {

  private static final int MAX_DATA_BYTES = 100;
  private static final int MAX_SNAPSHOTS = 100;

  private final Workbench bench;
  private final ShardId shard;
  private final long epoch;
  private final List<Append> acknowledged = new ArrayList<>();
  private int generation;
  private long tail;
  private long unsettled;

  JournalWriter(Workbench bench, Head head, long tail) {
    this.bench = bench;
    this.shard = head.shard();
    this.epoch = head.epoch();
    this.generation = head.generation();
    this.tail = tail;
  }

  ShardId shard() {
    return shard;
  }

  long epoch() {
    return epoch;
  }

  int generation() {
    return generation;
  }

  /** The last number this writer knows to be taken. */
  long tail() {
    return tail;
  }

  /** What was acknowledged in the current generation. */
  List<Append> acknowledged() {
    return List.copyOf(acknowledged);
  }

  /** The batch whose fate this writer was refused to learn, or 0. */
  long unsettled() {
    return unsettled;
  }

  /** Bytes that follow from the batch that carries them. */
  static byte[] data(long batch) {
    Random random = new Random(batch);
    byte[] data = new byte[random.nextInt(MAX_DATA_BYTES)];
    random.nextBytes(data);
    return data;
  }

  /** The next entry, not yet submitted. */
  Append next() {
    long batch = bench.id();
    return next(batch, data(batch));
  }

  Append next(long batch, byte[] data) {
    return new Append(shard, epoch, generation, tail + 1, batch, data);
  }

  /** Appends an entry and insists. */
  Append append() {
    long batch = bench.id();
    return append(data(batch));
  }

  Append append(byte[] data) {
    tryAppend(data, Append.KEEP_WAKE).orThrow();
    return acknowledged.getLast();
  }

  void append(int entries) {
    for (int i = 0; i < entries; i++) {
      append();
    }
  }

  Outcome<Long> tryAppend() {
    long batch = bench.id();
    return tryAppend(data(batch), Append.KEEP_WAKE);
  }

  /**
   * Appends an entry; under a new number and batch where a resolution took the place of the one
   * before.
   */
  Outcome<Long> tryAppend(byte[] data, long raiseWakeMicros) {
    while (true) {
      long batch = bench.id();
      Append append =
          new Append(shard, epoch, generation, tail + 1, batch, data, raiseWakeMicros, false);
      boolean[] unknown = {false};
      Outcome<Long> outcome = bench.settle(append, () -> unknown[0] = true);
      if (outcome.isOk()) {
        accept(append);
      }
      if (!(outcome instanceof Outcome.Conflict<Long> conflict)
          || !bench.isFaulty()
          || conflict.tail() != tail + 1) {
        unsettled = unknown[0] && !outcome.isOk() ? batch : 0;
        return outcome;
      }
      tail++;
    }
  }

  /** Appends an entry with what rides along, once; resolves what is unknown. */
  Outcome<Long> tryAppend(byte[] data, Rider rider) {
    Append append = next(bench.id(), data);
    Outcome<Long> outcome =
        bench.store().transactions().append(List.of(append), List.of(rider), false).getFirst();
    if (outcome instanceof Outcome.Unknown) {
      if (bench.ok(() -> bench.journals().resolve(append)) == Resolution.COMMITTED) {
        outcome = Outcome.ok(append.number());
      } else {
        skip();
      }
    }
    if (outcome.isOk()) {
      accept(append);
    }
    return outcome;
  }

  /** Takes note of an entry that was acknowledged otherwise. */
  void accept(Append append) {
    tail = append.number();
    acknowledged.add(append);
  }

  /** Takes note of an empty entry that a resolution put in. */
  void skip() {
    tail++;
  }

  Outcome<Head> tryStageAll(long snapshot, List<byte[]> entries) {
    for (int i = 0; i < entries.size(); i++) {
      int number = i + 1;
      Outcome<Long> staged =
          bench.ask(
              () ->
                  bench
                      .journals()
                      .stage(shard, epoch, generation, snapshot, number, entries.get(number - 1)));
      if (!staged.isOk()) {
        return staged.map(
            never -> {
              throw new IllegalStateException();
            });
      }
    }
    return bench.ask(() -> bench.journals().head(shard));
  }

  Publication publication(long snapshot, int count, long wakeMicros) {
    return new Publication(
        shard, epoch, generation, tail, snapshot, count, wakeMicros, Workbench.NO_WORDS);
  }

  /**
   * Stages and publishes a snapshot, again from the start where a late call of an earlier snapshot
   * discarded what was staged.
   */
  Outcome<Head> tryPublish(List<byte[]> entries, long wakeMicros) {
    Outcome<Head> outcome = null;
    for (int i = 0; i < MAX_SNAPSHOTS; i++) {
      long snapshot = bench.id();
      outcome = tryStageAll(snapshot, entries);
      if (outcome.isOk()) {
        Publication publication = publication(snapshot, entries.size(), wakeMicros);
        outcome = bench.ask(() -> bench.journals().publish(publication));
      }
      if (outcome.isOk()) {
        generation++;
        tail = entries.size();
        acknowledged.clear();
      }
      if (!(outcome instanceof Outcome.Conflict<Head>) || !bench.isFaulty()) {
        return outcome;
      }
    }
    throw new AssertionError("not published: " + outcome);
  }

  Head publish(List<byte[]> entries, long wakeMicros) {
    return tryPublish(entries, wakeMicros).orThrow();
  }

  Outcome<Head> tryRelease() {
    return bench.ask(() -> bench.journals().release(shard, epoch, tail, Workbench.NO_WORDS));
  }
}
