package dev.carillon;

import dev.carillon.api.error.CarillonException;
import dev.carillon.api.error.OutcomeUnknownException;
import dev.carillon.engine.Node;

/** A question that is put by a few lines of code. */
final class Ask<T> extends Pending<T> {
  private final String what;
  private final Effect effect;
  private final Question<T> question;

  /** Whether asking changes anything. */
  enum Effect {
    READS,
    WRITES,
    /** Writes, and once more if it is asked again. */
    ADDS
  }

  /** Puts the question and sees to it that {@code asked} is answered. */
  @FunctionalInterface
  interface Question<T> {
    void put(Node node, Ask<T> asked);
  }

  Ask(NodeLoop loop, String what, Effect effect, Question<T> question) {
    super(loop, null);
    this.what = what;
    this.effect = effect;
    this.question = question;
  }

  @Override
  void ask(Node node) {
    question.put(node, this);
  }

  @Override
  void giveUp(Node node, String waited) {
    if (changesSomething()) {
      fail(unknown("no answer from the store after " + waited));
    } else {
      super.giveUp(node, waited);
    }
  }

  @Override
  boolean changesSomething() {
    return effect != Effect.READS;
  }

  @Override
  CarillonException unknown(String why) {
    return effect == Effect.ADDS
        ? OutcomeUnknownException.ofAdding(what + ": " + why)
        : super.unknown(why);
  }

  @Override
  String what() {
    return what;
  }
}
