package dev.carillon.simulator;

import dev.carillon.store.Append;
import dev.carillon.store.ForwardingStore;
import dev.carillon.store.Outcome;
import dev.carillon.store.Store;
import java.util.Collections;
import java.util.List;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * A store that answers reads, refuses writes and remembers the first of each: it says what a piece
 * of work is.
 */
final class OperationProbe extends ForwardingStore {
  private @Nullable Operation firstRead;
  private @Nullable Operation firstWrite;

  /** Whether it appended to several journals together. */
  private boolean together;

  OperationProbe(Store store) {
    super(store);
  }

  /** The first write that was tried, or the first read; null where there was no call. */
  @Nullable Operation operation() {
    return firstWrite != null ? firstWrite : firstRead;
  }

  /** Whether it is something that happens seldom. */
  boolean isRare() {
    Operation operation = operation();
    return operation != null
        && switch (operation) {
          case STAGE, PUBLISH, DROP_GENERATIONS, LOWER_WAKE, RECORDS_RESOLVE, RESOLVE, DROP -> true;
          case APPEND -> together;
          default -> false;
        };
  }

  @Override
  protected <T> Outcome<T> around(Operation operation, Supplier<Outcome<T>> next) {
    if (!operation.isRead()) {
      return refused(operation);
    }
    if (firstRead == null) {
      firstRead = operation;
    }
    return next.get();
  }

  @Override
  protected <T> List<Outcome<T>> aroundAll(
      Operation operation, int size, Supplier<List<Outcome<T>>> next) {
    return Collections.nCopies(size, refused(operation));
  }

  private <T> Outcome<T> refused(Operation operation) {
    if (firstWrite == null) {
      firstWrite = operation;
    }
    return new Outcome.Unavailable<>("a probe");
  }

  @Override
  public List<Outcome<Long>> append(List<Append> group, boolean allOrNothing) {
    together = allOrNothing && group.size() > 1;
    return super.append(group, allOrNothing);
  }

  @Override
  public void close() {}
}
