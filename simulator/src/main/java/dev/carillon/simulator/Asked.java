package dev.carillon.simulator;

import dev.carillon.simulator.Control.Told;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Predicate;

/**
 * What users asked to change of one job, and which change of it is whose.
 *
 * <p>Requests cannot always be told apart by what is written: two may ask for the same, and the
 * ranges of backfills overlap. So a change is only taken for one of the requests that it may be,
 * and for another as soon as that is the only way in which every change is some request's, every
 * request that was said to be done has its change, and none has that was said not to be.
 */
final class Asked {
  private final List<Control> controls = new ArrayList<>();

  /** The change that is taken for each request's, with all the requests whose it may be. */
  private final Map<Control, List<Control>> changes = new LinkedHashMap<>();

  void add(Control control) {
    controls.add(control);
  }

  /** The requests until now, in their order. */
  List<Control> all() {
    return List.copyOf(controls);
  }

  /** Whether one of them may still be under way: who asked has not heard how it went. */
  boolean anyOpen() {
    return controls.stream().anyMatch(control -> control.told == Told.NOTHING);
  }

  /** A change was written: false if no request is left whose it may be. */
  boolean changed(Predicate<Control> fits) {
    List<Control> whose =
        controls.stream().filter(c -> c.told == Told.NOTHING && fits.test(c)).toList();
    return give(whose, new LinkedHashSet<>());
  }

  /** The user was told: false if it is done and no change may be its, or not and one must be. */
  boolean allows(Control control) {
    if (control.told == Told.DONE) {
      return changes.containsKey(control) || takeFor(control, new LinkedHashSet<>());
    }
    List<Control> whose = changes.remove(control);
    return whose == null || give(whose, new LinkedHashSet<>());
  }

  /** Takes a change for a request's that has none, others exchanging theirs if need be. */
  private boolean give(List<Control> whose, Set<Control> seen) {
    for (Control control : whose) {
      if (control.told != Told.NOT_DONE && seen.add(control)) {
        List<Control> before = changes.get(control);
        if (before == null || give(before, seen)) {
          changes.put(control, whose);
          return true;
        }
      }
    }
    return false;
  }

  /** Takes the change of a request that may do without, others exchanging theirs if need be. */
  private boolean takeFor(Control control, Set<Control> seen) {
    for (Control from : controls) {
      List<Control> whose = changes.get(from);
      if (whose != null && whose.contains(control) && seen.add(from)) {
        if (from.told == Told.NOTHING) {
          changes.remove(from);
        } else if (!takeFor(from, seen)) {
          continue;
        }
        changes.put(control, whose);
        return true;
      }
    }
    return false;
  }
}
