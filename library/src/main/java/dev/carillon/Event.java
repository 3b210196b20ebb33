package dev.carillon;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import org.jspecify.annotations.Nullable;

/**
 * Something that happens on the thread that owns a {@link Mailbox}. It is its own link in the
 * mailbox, so posting allocates nothing; one event is therefore posted at most once.
 */
abstract class Event {
  private static final VarHandle NEXT;

  static {
    try {
      NEXT = MethodHandles.lookup().findVarHandle(Event.class, "next", Event.class);
    } catch (ReflectiveOperationException e) {
      throw new ExceptionInInitializerError(e);
    }
  }

  @SuppressWarnings("unused") // through NEXT
  private @Nullable Event next;

  /** What happens, on the owner's thread. */
  abstract void happen();

  final @Nullable Event next() {
    return (Event) NEXT.getAcquire(this);
  }

  final void next(@Nullable Event event) {
    NEXT.setRelease(this, event);
  }
}
