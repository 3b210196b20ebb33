package dev.carillon.store;

/** Cases on one subject; {@link StoreTck} gathers them. */
interface TckCases {

  /** The suite they run in. */
  StoreTck tck();

  /** The store, and what is done with it. */
  default Workbench bench() {
    return tck().bench();
  }
}
