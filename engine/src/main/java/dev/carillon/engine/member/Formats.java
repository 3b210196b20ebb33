package dev.carillon.engine.member;

import dev.carillon.api.error.StoreVersionException;
import dev.carillon.engine.format.DamagedException;
import dev.carillon.engine.format.Frame;
import dev.carillon.engine.member.Format.Thing;
import dev.carillon.store.Outcome;
import dev.carillon.store.Records.Stored;
import dev.carillon.store.Store;
import dev.carillon.store.TranslatedStore;
import dev.carillon.store.TranslatedStore.Part;
import java.util.List;
import java.util.Optional;

/**
 * The formats that a node reads, from the first on, and the one in which it writes: the cluster's,
 * as soon as it knows that, and the first until then, which everybody reads. One for each node; any
 * thread may use it.
 */
public final class Formats {

  /** What everybody reads. */
  public static final int OLDEST = 1;

  private static final List<Format> LATER = List.of();

  private final List<Format> later;
  private volatile int writes = OLDEST;

  /**
   * Of a version of the code that reads these formats besides the first.
   *
   * @param later the second format first
   */
  public Formats(List<Format> later) {
    this.later = List.copyOf(later);
  }

  /** Of this version of the code. */
  public static Formats shipped() {
    return new Formats(LATER);
  }

  /** The highest that it reads. */
  public int newest() {
    return OLDEST + later.size();
  }

  public void writes(int format) {
    if (format < OLDEST || format > newest()) {
      throw new IllegalArgumentException(
          "format: " + format + " (expected: " + OLDEST + " to " + newest() + ")");
    }
    writes = format;
  }

  /** The store as this version of the code sees it; the store itself while there is one format. */
  public Store over(Store store) {
    return later.isEmpty() ? store : new TranslatedStore(store, new ToAndFro());
  }

  /** Heartbeats, and what lies among them, are the same in every format. */
  private final class ToAndFro implements TranslatedStore.Translation {
    @Override
    public byte[] written(Part part, byte[] bytes) {
      return part == Part.ENTRY ? entryWritten(bytes) : Formats.this.written(thing(part), bytes);
    }

    @Override
    public byte[] read(Part part, byte[] bytes) {
      return part == Part.ENTRY ? entryRead(bytes) : Formats.this.read(thing(part), bytes);
    }

    @Override
    public boolean concerns(String key) {
      return !key.startsWith(Heartbeat.PREFIX);
    }

    private static Thing thing(Part part) {
      return switch (part) {
        case ENTRY -> Thing.OPERATION;
        case SUMMARY -> Thing.SUMMARY;
        case RECORD -> Thing.RECORD;
        case ROW -> Thing.ROW;
      };
    }
  }

  /**
   * Makes sure that this version of the code reads what is in the store. Where the store does not
   * say so now its node asks again before it begins.
   *
   * @throws StoreVersionException if others write there what it does not read
   */
  public void requireReadable(Store store) {
    Outcome<Optional<Stored>> found = store.records().get(ClusterFormat.KEY);
    if (found instanceof Outcome.Ok<Optional<Stored>>(Optional<Stored> record)) {
      int format = record.map(ClusterFormat::read).orElse(OLDEST);
      if (format > newest()) {
        throw new StoreVersionException(store.info().kind(), format, newest());
      }
    }
  }

  byte[] written(Thing thing, byte[] bytes) {
    int format = writes;
    return format == OLDEST ? bytes : format(format).write(thing, bytes);
  }

  /** What no format knows is left as it is: whoever reads it says so. */
  byte[] read(Thing thing, byte[] bytes) {
    byte[] read = bytes;
    for (Format format : later.reversed()) {
      read = format.read(thing, read);
    }
    return read;
  }

  private Format format(int number) {
    return later.get(number - OLDEST - 1);
  }

  /** An entry of operations as the code writes them, in the format in which the node writes. */
  public byte[] entryWritten(byte[] entry) {
    int format = writes;
    return format == OLDEST
        ? entry
        : Frame.translated(
            entry, format, OLDEST, (from, body) -> format(format).write(Thing.OPERATION, body));
  }

  /**
   * An entry as it stands in a journal, as the code reads it. Damage, and what is of a later
   * format, is left as it is: whoever decodes it says so.
   */
  public byte[] entryRead(byte[] entry) {
    try {
      return Frame.translated(
          entry, OLDEST, newest(), (from, body) -> format(from).read(Thing.OPERATION, body));
    } catch (DamagedException | IllegalArgumentException e) {
      return entry;
    }
  }
}
