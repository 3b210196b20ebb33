package dev.carillon.engine.attempt;

import java.util.ArrayList;
import java.util.List;

/** The attempts under way, each knowing its place, so that taking one out costs nothing. */
final class AttemptSet {
  private final List<Attempt> attempts = new ArrayList<>();

  /** How many of them other nodes run. */
  int lent;

  int size() {
    return attempts.size();
  }

  void add(Attempt attempt) {
    attempt.place = attempts.size();
    attempts.add(attempt);
  }

  /** Takes the attempt out; false where it was not in. */
  boolean remove(Attempt attempt) {
    int place = attempt.place;
    if (place < 0) {
      return false;
    }
    attempt.place = -1;
    Attempt last = attempts.removeLast();
    if (last != attempt) {
      attempts.set(place, last);
      last.place = place;
    }
    return true;
  }

  List<Attempt> all() {
    return List.copyOf(attempts);
  }
}
