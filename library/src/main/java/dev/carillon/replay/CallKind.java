package dev.carillon.replay;

/** What a call creates. A compensation is a step that runs at the end. */
enum CallKind {
  STEP("step"),
  TIMER("timer"),
  SIGNAL("signal"),
  VERSION("version"),
  CHILD("child");

  private final String word;

  CallKind(String word) {
    this.word = word;
  }

  /** A call as people are told of it. */
  String describe(String name) {
    return name.isEmpty() ? word : word + " \"" + name + "\"";
  }
}
