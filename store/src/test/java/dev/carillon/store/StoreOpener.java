package dev.carillon.store;

import java.nio.file.Path;

/**
 * Opens the store that is tested. A class of its own with a public constructor without parameters:
 * the suite also makes one in processes it starts to be killed.
 */
@FunctionalInterface
public interface StoreOpener {

  /** The store whose data is in {@code folder}, empty at first. */
  Store open(Path folder);
}
