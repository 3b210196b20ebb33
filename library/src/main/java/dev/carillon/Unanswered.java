package dev.carillon;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The questions that wait for an answer, oldest first. All have the same timeout, so the oldest is
 * also the first to be given up. Owned by the loop.
 */
final class Unanswered {
  private @Nullable Pending<?> oldest;
  private @Nullable Pending<?> youngest;
  private int size;

  @Nullable Pending<?> oldest() {
    return oldest;
  }

  int size() {
    return size;
  }

  /** All of them, oldest first. */
  List<Pending<?>> all() {
    List<Pending<?>> all = new ArrayList<>(size);
    for (Pending<?> pending = oldest; pending != null; pending = pending.younger) {
      all.add(pending);
    }
    return all;
  }

  void add(Pending<?> pending) {
    Pending<?> last = youngest;
    pending.older = last;
    if (last == null) {
      oldest = pending;
    } else {
      last.younger = pending;
    }
    youngest = pending;
    pending.linked = true;
    size++;
  }

  void remove(Pending<?> pending) {
    if (!pending.linked) {
      return;
    }
    Pending<?> before = pending.older;
    Pending<?> after = pending.younger;
    if (before == null) {
      oldest = after;
    } else {
      before.younger = after;
    }
    if (after == null) {
      youngest = before;
    } else {
      after.older = before;
    }
    pending.older = null;
    pending.younger = null;
    pending.linked = false;
    size--;
  }
}
