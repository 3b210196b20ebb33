package dev.carillon.simulator;

import static dev.carillon.simulator.Violation.check;

import dev.carillon.store.Doorbells;
import dev.carillon.store.FaultyStore;
import dev.carillon.store.ForwardingStore;
import dev.carillon.store.Store;
import org.jspecify.annotations.Nullable;

/**
 * The store as one start of a node has it open. When an older copy of the data is put back it
 * refuses every write until the node has adopted that copy, as the contract says; and it sees that
 * nobody does so without a word.
 */
final class Opening extends ForwardingStore {
  private static final String NAME = "copy ";

  private final World world;
  private @Nullable Store readable;

  /** The copy that the node goes by. */
  private int copy;

  /** The node has said, since it last adopted one, that the store went back in time. */
  private boolean said;

  Opening(World world, Store store) {
    super(store);
    this.world = world;
    this.copy = world.copy;
  }

  /** The copy that the node goes by; an earlier one than there is until it has noticed. */
  int copy() {
    return copy;
  }

  /** The node says that the store went back in time. */
  void saysThatItWentBack() {
    check(
        copy != world.copy,
        Guarantee.WENT_BACK,
        "a node says that the store went back in time, which it has not since it last did");
    check(!said, Guarantee.WENT_BACK, "a node says twice that the store went back in time");
    said = true;
  }

  /** Not that of the store below: that is another in each run. */
  @Override
  public String incarnation() {
    return NAME + world.copy;
  }

  @Override
  public void adopt(String incarnation) {
    int adopted = Integer.parseInt(incarnation.substring(NAME.length()));
    check(
        adopted == copy || said,
        Guarantee.WENT_BACK,
        "a node goes on with an older copy of the store and has not said so");
    world.trace.note("adopt", adopted);
    copy = adopted;
    said = false;
  }

  /** The copy there is, as far as the node may use it. */
  @Override
  protected Store store() {
    Store store = super.store();
    if (copy == world.copy) {
      return store;
    }
    if (readable == null) {
      readable = FaultyStore.readOnly(store);
    }
    return readable;
  }

  @Override
  public Doorbells doorbells() {
    return world.rings;
  }

  @Override
  public void close() {}
}
