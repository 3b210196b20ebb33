package dev.carillon.store;

import java.util.Objects;

/**
 * A store in memory that can be put back to an earlier copy under those who have it open, as a
 * restored backup does. Each of them has an opening of its own, which refuses writes after that
 * until its owner has {@linkplain Store#adopt adopted} the copy.
 *
 * <p>For tests and simulations. Thread-safe, but for {@link #backup}: see {@link MemoryStore#copy}.
 */
public final class RestorableStore {
  private volatile MemoryStore now = new MemoryStore();

  /** An empty store. */
  public RestorableStore() {}

  /** Opens it. */
  public Store open() {
    return new Opening();
  }

  /** The data as it is. */
  public MemoryStore now() {
    return now;
  }

  /** The data as it is, to go back to. */
  public MemoryStore backup() {
    return now.copy();
  }

  /** The data is again as it was; the backup stays what it is. */
  public void restore(MemoryStore backup) {
    now = backup.copy();
  }

  private final class Opening extends ForwardingStore {
    private volatile String adopted = now.incarnation();

    Opening() {
      super(now);
    }

    /** The copy there is, as far as its reader may use it. */
    @Override
    protected Store store() {
      MemoryStore copy = now;
      return copy.incarnation().equals(adopted) ? copy : FaultyStore.readOnly(copy);
    }

    @Override
    public void adopt(String incarnation) {
      adopted = Objects.requireNonNull(incarnation, "incarnation");
    }

    @Override
    public void close() {}
  }
}
