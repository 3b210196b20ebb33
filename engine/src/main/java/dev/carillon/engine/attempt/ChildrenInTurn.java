package dev.carillon.engine.attempt;

import dev.carillon.engine.job.JobRef;
import java.util.ArrayDeque;
import java.util.Collection;
import java.util.function.BiConsumer;

/**
 * Asks something of each child of a workflow, of so many at once: there may be thousands, in shards
 * of other nodes. Used once, on the loop.
 */
public final class ChildrenInTurn {
  private static final int MOST_AT_ONCE = 256;

  private final ArrayDeque<JobRef> open;
  private final BiConsumer<JobRef, Runnable> ask;
  private final Runnable then;
  private int underWay;
  private boolean asking;

  private ChildrenInTurn(
      Collection<JobRef> children, BiConsumer<JobRef, Runnable> ask, Runnable then) {
    this.open = new ArrayDeque<>(children);
    this.ask = ask;
    this.then = then;
  }

  /** Has {@code ask} ask each child and run what it is given; runs {@code then} after all. */
  public static void each(
      Collection<JobRef> children, BiConsumer<JobRef, Runnable> ask, Runnable then) {
    new ChildrenInTurn(children, ask, then).go();
  }

  private void go() {
    if (asking) {
      return;
    }
    asking = true;
    while (underWay < MOST_AT_ONCE && !open.isEmpty()) {
      underWay++;
      ask.accept(open.remove(), this::over);
    }
    asking = false;
    if (underWay == 0) {
      then.run();
    }
  }

  private void over() {
    underWay--;
    go();
  }
}
