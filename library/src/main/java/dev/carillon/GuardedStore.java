package dev.carillon;

import dev.carillon.store.ForwardingStore;
import dev.carillon.store.Outcome;
import dev.carillon.store.Records.Change;
import dev.carillon.store.Records.Stamp;
import dev.carillon.store.Store;
import java.util.Collections;
import java.util.List;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * A store that throws nothing at a node. An exception against the store's contract is reported and
 * becomes an outcome: unknown for a write, unavailable for a read. Users' transactions see their
 * exceptions.
 *
 * <p>It remembers how the last write and the last read went, for {@link NodeControl#health()}, and
 * whether the store is away. Thread-safe.
 */
final class GuardedStore extends ForwardingStore {
  /** No record has this key. */
  private static final String PROBE = "probe";

  private final Reports reports;
  private final StoreWatch watch;
  private final StorePresence presence = new StorePresence();
  private volatile @Nullable String writeProblem;
  private volatile @Nullable String readProblem;

  GuardedStore(Store store, Reports reports, StoreWatch watch) {
    super(store);
    this.reports = reports;
    this.watch = watch;
    watch.readWhileAway(
        () -> {
          var unused = reading(() -> store.journals().listById(null, 1));
          if (writeProblem != null) {
            writeNothing();
          }
        });
  }

  /**
   * Expects a record that is not there, so nothing is written. A store that is full or read-only
   * says so all the same, and one that takes writes again says that.
   */
  private void writeNothing() {
    Change change = new Change(PROBE, new Stamp(1, 1), new byte[] {1}, new Stamp(1, 2));
    var unused =
        aroundAll(Operation.RECORDS_APPLY, 1, () -> store().records().apply(List.of(change)));
  }

  /** What was wrong with the last write or read, or null if both went well. */
  @Nullable String problem() {
    String write = writeProblem;
    return write != null ? write : readProblem;
  }

  /** Whether the store is known to be away. */
  StorePresence presence() {
    return presence;
  }

  @Override
  public Outcome<Long> clockMicros() {
    return reading(store()::clockMicros);
  }

  @Override
  protected <T> Outcome<T> around(Operation operation, Supplier<Outcome<T>> next) {
    return operation.isRead() ? reading(next) : writing(next);
  }

  private <T> Outcome<T> writing(Supplier<Outcome<T>> call) {
    Outcome<T> outcome;
    try {
      outcome = call.get();
    } catch (Throwable e) {
      outcome = new Outcome.Unknown<>(thrown(e));
    }
    String problem = problemOf(outcome);
    writeProblem = problem;
    note(problem, outcome instanceof Outcome.Full);
    watch.look(this::problem);
    return outcome;
  }

  private void note(@Nullable String problem, boolean isThere) {
    if (problem == null || isThere) {
      presence.isThere();
    } else {
      presence.failed(problem);
    }
  }

  @Override
  protected <T> List<Outcome<T>> aroundAll(
      Operation operation, int size, Supplier<List<Outcome<T>>> next) {
    List<Outcome<T>> outcomes;
    try {
      outcomes = next.get();
    } catch (Throwable e) {
      outcomes = Collections.nCopies(size, new Outcome.Unknown<>(thrown(e)));
    }
    String problem = null;
    boolean isThere = false;
    for (Outcome<T> outcome : outcomes) {
      String found = outcome.isOk() ? null : problemOf(outcome);
      problem = found != null ? found : problem;
      isThere |= found == null || outcome instanceof Outcome.Full;
    }
    writeProblem = problem;
    note(problem, isThere);
    watch.look(this::problem);
    return outcomes;
  }

  private <T> Outcome<T> reading(Supplier<Outcome<T>> call) {
    Outcome<T> outcome;
    try {
      outcome = call.get();
    } catch (Throwable e) {
      outcome = new Outcome.Unavailable<>(thrown(e));
    }
    readProblem = problemOf(outcome);
    watch.look(this::problem);
    return outcome;
  }

  private String thrown(Throwable e) {
    reports.report("the store threw against its contract", e);
    return "thrown by the store: " + e;
  }

  private static @Nullable String problemOf(Outcome<?> outcome) {
    return switch (outcome) {
      case Outcome.Full<?>(String detail) -> "full: " + detail;
      case Outcome.Unavailable<?>(String detail) -> "unavailable: " + detail;
      case Outcome.Unknown<?>(String detail) -> "no answer: " + detail;
      default -> null;
    };
  }
}
