package dev.carillon.simulator;

import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Semaphore;
import org.jspecify.annotations.Nullable;

/**
 * Threads of which one runs at a time, and only while the simulation's own thread stands still: the
 * code of workflows is ordinary Java on threads, and a seed still decides everything.
 */
final class Stage {
  private final Semaphore back = new Semaphore(0);
  private final Set<Actor> actors = new LinkedHashSet<>();
  private @Nullable Throwable failure;
  private @Nullable Actor current;

  /** The simulation is over: the thread must end. */
  @SuppressWarnings("serial") // never leaves its thread
  private static final class CurtainDown extends Error {
    CurtainDown() {
      super("the simulation is over", null, false, false);
    }
  }

  /** One of the threads. */
  final class Actor {
    private final Semaphore go = new Semaphore(0);
    private final Thread thread;
    private boolean over;
    private boolean killed;

    Actor(Runnable body) {
      thread = Thread.ofVirtual().unstarted(() -> act(body));
      actors.add(this);
    }

    /** Not started; whoever starts it lets it wait until it is told to go on. */
    Thread thread() {
      return thread;
    }

    boolean isOver() {
      return over;
    }

    private void act(Runnable body) {
      try {
        go.acquireUninterruptibly();
        if (!killed) {
          body.run();
        }
      } catch (CurtainDown e) {
        // as asked
      } catch (Throwable e) {
        if (!killed) {
          fail(e);
        }
      } finally {
        over = true;
        actors.remove(this);
        back.release();
      }
    }

    /** It goes on until it rests or ends; called by the simulation's thread. */
    void goOn() {
      if (over) {
        return;
      }
      current = this;
      if (thread.getState() == Thread.State.NEW) {
        thread.start();
      }
      go.release();
      back.acquireUninterruptibly();
      current = null;
      Throwable thrown = failure;
      failure = null;
      if (thrown instanceof RuntimeException e) {
        throw e;
      }
      if (thrown instanceof Error e) {
        throw e;
      }
    }

    /** It gives the stage back until it is told to go on; called by itself. */
    void rest() {
      if (killed) {
        throw new CurtainDown();
      }
      back.release();
      go.acquireUninterruptibly();
      if (killed) {
        throw new CurtainDown();
      }
    }
  }

  /** Something is wrong: the simulation's thread hears of it as soon as it goes on. */
  void fail(Throwable thrown) {
    if (failure == null) {
      failure = thrown;
    }
  }

  /** A thread that runs this, once it is told to go on. */
  Actor actor(Runnable body) {
    return new Actor(body);
  }

  /** Who runs; asked by itself. */
  Actor current() {
    Actor running = current;
    if (running == null) {
      throw new IllegalStateException("stage: nobody is on it");
    }
    return running;
  }

  /** Ends a thread: nothing of what it does counts any more. */
  void end(Actor actor) {
    actor.killed = true;
    while (!actor.over) {
      if (actor.thread.getState() == Thread.State.NEW) {
        actor.thread.start();
      }
      current = actor;
      actor.go.release();
      back.acquireUninterruptibly();
    }
    current = null;
  }

  /** Ends all that are left. */
  void close() {
    List.copyOf(actors).forEach(this::end);
    failure = null;
  }
}
