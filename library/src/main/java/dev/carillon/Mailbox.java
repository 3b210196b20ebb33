package dev.carillon;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * Events from many threads to one, in order per sender. Posting is wait-free: one exchange, and a
 * wake-up only if the owner sleeps.
 *
 * <p>The queue is a linked list whose last link is exchanged by the senders. A sender that was
 * stopped between the exchange and the link makes the owner wait for it, never lose it. An owner
 * about to sleep says so first and looks at the last link afterwards; a sender exchanges it first
 * and looks for a sleeper afterwards: one of the two always sees the other.
 */
@SuppressWarnings("ReferenceEquality") // a link is itself, whatever it equals
final class Mailbox {
  private static final VarHandle TAIL;
  private static final VarHandle SLEEPING;

  static {
    try {
      var lookup = MethodHandles.lookup();
      TAIL = lookup.findVarHandle(Mailbox.class, "tail", Event.class);
      SLEEPING = lookup.findVarHandle(Mailbox.class, "sleeping", boolean.class);
    } catch (ReflectiveOperationException e) {
      throw new ExceptionInInitializerError(e);
    }
  }

  private static final int SPINS = 100;
  private static final long PAUSE_NANOS = 1_000;

  private final Thread owner;
  private Event head = new Nothing();
  private volatile Event tail = head;
  private volatile boolean sleeping;

  private static final class Nothing extends Event {
    @Override
    void happen() {}
  }

  /** A mailbox that {@code owner}, and nobody else, empties. */
  Mailbox(Thread owner) {
    this.owner = owner;
  }

  /** Adds an event; any thread. */
  void post(Event event) {
    ((Event) TAIL.getAndSet(this, event)).next(event);
    if (sleeping && SLEEPING.compareAndSet(this, true, false)) {
      LockSupport.unpark(owner);
    }
  }

  /** Ends the owner's sleep, or keeps it from the next one; any thread. */
  void wake() {
    post(new Nothing());
  }

  boolean isEmpty() {
    return head == tail;
  }

  /** The next event, or null. */
  @Nullable Event poll() {
    Event last = head;
    Event next = last.next();
    if (next == null) {
      if (last == tail) {
        return null;
      }
      next = awaitLink(last);
    }
    last.next(null); // or an old link would keep younger ones from being collected
    head = next;
    return next;
  }

  private static Event awaitLink(Event last) {
    int spins = 0;
    while (true) {
      Event next = last.next();
      if (next != null) {
        return next;
      }
      if (++spins < SPINS) {
        Thread.onSpinWait();
      } else {
        LockSupport.parkNanos(PAUSE_NANOS);
      }
    }
  }

  /** Sleeps until something is posted, it is woken, or the time has passed. */
  void sleep(long nanos) {
    sleeping = true;
    if (isEmpty()) {
      LockSupport.parkNanos(this, nanos);
    }
    sleeping = false;
  }
}
