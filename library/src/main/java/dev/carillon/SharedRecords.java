package dev.carillon;

import dev.carillon.api.error.CarillonException;
import dev.carillon.api.error.InvalidArgumentException;
import dev.carillon.api.error.OutcomeUnknownException;
import dev.carillon.api.error.StoreUnavailableException;
import dev.carillon.store.Outcome;
import dev.carillon.store.Records.Change;
import dev.carillon.store.Records.Stamp;
import dev.carillon.store.Records.Stored;
import dev.carillon.store.Store;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Small versioned values that the programs on one store share, beside the jobs: the access tokens
 * of its servers, for example. An area holds at most {@value #MAX_RECORDS} of them. A change names
 * the version that it expects (compare-and-set) and is durable when it returns. Nobody is told of a
 * change: who wants to know looks again.
 *
 * <p>Thread-safe. Calls block while the store is asked; changes of one instance follow each other.
 *
 * <p>Crash table: the process dies before the store has the change: nothing was changed. The store
 * does not answer: the change is settled by asking what became of it, which also refuses it from
 * then on; if that is not answered either, the caller is told that the outcome is unknown.
 */
public final class SharedRecords {
  /** How many records an area may hold. */
  public static final int MAX_RECORDS = 10_000;

  /** How many bytes a value may have. */
  public static final int MAX_VALUE_BYTES = 16 << 10;

  private static final String PREFIX = "s\0";
  private static final int PAGE = 256;
  private static final int MAX_ASKED = 40;
  private static final long PAUSE_NANOS = Duration.ofMillis(50).toNanos();

  private final Store store;
  private final String prefix;
  private final Reading reading;
  private final long writer = new SecureRandom().nextLong() | 1;
  private final ReentrantLock writing = new ReentrantLock();
  private long sequence;

  /**
   * A value as it is.
   *
   * @param key its key in the area
   * @param value its bytes, not to be changed
   */
  @SuppressWarnings("ArrayRecordComponent") // bytes are handed over, never compared or copied
  public record Entry(String key, byte[] value, Version version) {}

  /** The version of a value: another one after each change. */
  public static final class Version {
    private final Stamp stamp;

    Version(Stamp stamp) {
      this.stamp = stamp;
    }

    @Override
    public boolean equals(@Nullable Object other) {
      return other instanceof Version version && version.stamp.equals(stamp);
    }

    @Override
    public int hashCode() {
      return stamp.hashCode();
    }
  }

  /** How reads are made, with their limit of time. */
  interface Reading {
    <T> T read(String what, Supplier<T> call);
  }

  SharedRecords(Store store, String area, Reading reading) {
    if (!area.matches("[a-z][a-z-]{0,30}")) {
      throw InvalidArgumentException.of("area", area, "up to 31 small letters and hyphens");
    }
    this.store = store;
    this.prefix = PREFIX + area + "\0";
    this.reading = reading;
  }

  /**
   * The records of a store that no node of this process has open.
   *
   * @param store the store; it stays open
   * @param area which records: a word of small letters and hyphens
   * @return the records
   */
  public static SharedRecords of(Store store, String area) {
    return new SharedRecords(
        store,
        area,
        new Reading() {
          @Override
          public <T> T read(String what, Supplier<T> call) {
            return call.get();
          }
        });
  }

  /**
   * All values of the area, by key.
   *
   * @return the values as they are now
   * @throws StoreUnavailableException if the store could not be read
   */
  public List<Entry> list() {
    return reading.read("listing shared records", this::listNow);
  }

  private List<Entry> listNow() {
    List<Entry> all = new ArrayList<>();
    String after = null;
    while (true) {
      List<Stored> page = StoreAnswers.get(store.records().list(prefix, after, PAGE));
      page.forEach(stored -> all.add(entry(stored)));
      if (page.size() < PAGE || all.size() >= MAX_RECORDS) {
        return all;
      }
      after = page.getLast().key();
    }
  }

  private Entry entry(Stored stored) {
    return new Entry(
        stored.key().substring(prefix.length()), stored.value(), new Version(stored.version()));
  }

  /**
   * A value.
   *
   * @param key its key
   * @return the value as it is now; empty if there is none
   * @throws StoreUnavailableException if the store could not be read
   */
  public Optional<Entry> get(String key) {
    return reading.read(
        "reading a shared record",
        () -> StoreAnswers.get(store.records().get(prefix + key)).map(this::entry));
  }

  /**
   * Writes a value, if nobody else has changed it.
   *
   * @param key its key
   * @param expected the version that it has; null if it is to be a new one
   * @param value the bytes
   * @return false if it has another version; nothing was changed then
   * @throws StoreUnavailableException if nothing was written
   * @throws OutcomeUnknownException if the store did not say what became of it; asking again is
   *     safe
   */
  public boolean put(String key, @Nullable Version expected, byte[] value) {
    if (value.length > MAX_VALUE_BYTES) {
      throw InvalidArgumentException.of(
          "value", value.length + " bytes", "at most " + MAX_VALUE_BYTES);
    }
    return change(key, expected, value);
  }

  /**
   * Deletes a value, if nobody else has changed it.
   *
   * @param entry the value as it was read
   * @return false if it has another version; nothing was changed then
   * @throws StoreUnavailableException if nothing was deleted
   * @throws OutcomeUnknownException if the store did not say what became of it; asking again is
   *     safe
   */
  public boolean delete(Entry entry) {
    return change(entry.key(), entry.version(), null);
  }

  private boolean change(String key, @Nullable Version expected, byte @Nullable [] value) {
    writing.lock();
    try {
      Change change =
          new Change(
              prefix + key,
              expected != null ? expected.stamp : Stamp.ABSENT,
              value,
              new Stamp(writer, ++sequence));
      return switch (store.records().apply(List.of(change)).getFirst()) {
        case Outcome.Ok<Stamp> done -> true;
        case Outcome.Conflict<Stamp> other -> false;
        case Outcome.Unknown<Stamp> unknown -> settled(change, unknown);
        case Outcome<Stamp> refused ->
            throw StoreAnswers.notWritten("changing a shared record", refused);
      };
    } finally {
      writing.unlock();
    }
  }

  private boolean settled(Change change, Outcome<Stamp> unknown) {
    CarillonException last = StoreAnswers.notWritten("changing a shared record", unknown);
    for (int i = 0; i < MAX_ASKED && !Thread.currentThread().isInterrupted(); i++) {
      if (store.records().resolve(change) instanceof Outcome.Ok<Boolean>(Boolean inEffect)) {
        if (inEffect) {
          return true;
        }
        throw new StoreUnavailableException(
            "changing a shared record: the store did not answer; nothing was written");
      }
      LockSupport.parkNanos(PAUSE_NANOS);
    }
    throw last;
  }
}
