package dev.carillon.store;

import dev.carillon.store.StoreInfo.Capability;
import dev.carillon.store.StoreInfo.Durability;
import java.util.EnumSet;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;

/**
 * The store in memory, and the reference the other stores are compared with: for tests, simulations
 * and throw-away work. Nothing outlives the process.
 *
 * <p>Several nodes of one process may share one object. Its state belongs to two monitors, one for
 * the journals and one for the records, held for the length of a call and never across one. Byte
 * arrays are kept and handed out as they are, never copied: whoever passes one in, or reads one,
 * must not change it.
 */
public final class MemoryStore implements Store {

  private static final StoreInfo INFO =
      new StoreInfo(
          "memory",
          Durability.LOSSY,
          EnumSet.of(Capability.ATOMIC_ACROSS_JOURNALS, Capability.PUSH),
          8 << 20,
          64 << 20,
          64 << 10,
          3 << 10);

  private static final AtomicLong STORES = new AtomicLong();

  private final String incarnation = "memory-" + STORES.incrementAndGet();
  private final MemoryJournals journals;
  private final MemoryRecords records;
  private final MemoryDoorbells doorbells = new MemoryDoorbells();

  private final LongSupplier clockMicros;

  /** An empty store with the clock of this machine. */
  public MemoryStore() {
    this(() -> TimeUnit.MILLISECONDS.toMicros(System.currentTimeMillis()));
  }

  /**
   * An empty store with a clock of its own, for tests whose nodes live by other clocks too.
   *
   * @param clockMicros microseconds since 1970; thread-safe if the store is to be
   */
  public MemoryStore(LongSupplier clockMicros) {
    this(new MemoryJournals(INFO), new MemoryRecords(INFO), clockMicros);
  }

  private MemoryStore(MemoryJournals journals, MemoryRecords records, LongSupplier clockMicros) {
    this.journals = journals;
    this.records = records;
    this.clockMicros = clockMicros;
  }

  /**
   * Another store, which holds what this one does now: a backup. To be called while nobody writes,
   * since journals and records are copied one after the other.
   */
  public MemoryStore copy() {
    return new MemoryStore(journals.copy(), records.copy(), clockMicros);
  }

  @Override
  public StoreInfo info() {
    return INFO;
  }

  /** Unique in this process, whose end is also the end of the data. */
  @Override
  public String incarnation() {
    return incarnation;
  }

  @Override
  public Outcome<Long> clockMicros() {
    return Outcome.ok(clockMicros.getAsLong());
  }

  @Override
  public Journals journals() {
    return journals;
  }

  @Override
  public Records records() {
    return records;
  }

  @Override
  public Doorbells doorbells() {
    return doorbells;
  }

  /**
   * The bytes it keeps: data of entries (staged ones too), summaries, keys and values. What Java
   * objects cost on top of them is not counted.
   */
  public long heldBytes() {
    return journals.heldBytes() + records.heldBytes();
  }

  /** Does nothing: other nodes may go on with this object, and so may its owner. */
  @Override
  public void close() {}
}
