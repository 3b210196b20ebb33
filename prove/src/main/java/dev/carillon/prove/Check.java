package dev.carillon.prove;

import java.util.ArrayList;
import java.util.List;

/** One promise: how many cases were looked at and which broke it. */
final class Check {
  private static final int SHOWN = 5;

  private final String promise;
  private final boolean ofTime;
  private final List<String> broken = new ArrayList<>();
  private int cases;

  Check(String promise) {
    this(promise, false);
  }

  private Check(String promise, boolean ofTime) {
    this.promise = promise;
    this.ofTime = ofTime;
  }

  /** One that a busy machine can break. */
  static Check ofTime(String promise) {
    return new Check(promise, true);
  }

  boolean isOfTime() {
    return ofTime;
  }

  /** Looks at a case. */
  void that(boolean kept, Object what) {
    cases++;
    if (!kept) {
      broken.add(what.toString());
    }
  }

  String promise() {
    return promise;
  }

  int cases() {
    return cases;
  }

  int broken() {
    return broken.size();
  }

  boolean holds() {
    return broken.isEmpty();
  }

  /** The first that broke it. */
  List<String> examples() {
    return broken.subList(0, Math.min(SHOWN, broken.size()));
  }
}
