package dev.carillon.store;

/** Long random mixes of everything, compared with the reference. */
interface MixCases extends TckCases {

  int STEPS = 100;

  @Case(id = "T42", title = "random mixes against the reference, by seed")
  default void randomMixesAgreeWithTheReference() {
    int seeds = tck().times(tck().mixes());
    for (int seed = 0; seed < seeds; seed++) {
      try {
        new Mix(bench(), seed).run(STEPS);
      } catch (AssertionError | RuntimeException e) {
        throw new AssertionError("seed " + seed + ": " + e.getMessage(), e);
      }
    }
  }
}
