package dev.carillon.store;

import java.nio.file.Path;

/** The memory store passes the conformance suite. */
class MemoryStoreTckTest extends StoreTck {

  @Override
  protected StoreOpener opener() {
    return folder -> new MemoryStore();
  }

  /** Its data is in the object, which every node of the process shares. */
  @Override
  protected Store reopen(Store store, Path folder) {
    return store;
  }
}
