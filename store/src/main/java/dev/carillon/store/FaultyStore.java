package dev.carillon.store;

import static java.util.Objects.requireNonNull;
import static java.util.stream.Collectors.toUnmodifiableSet;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Supplier;

/**
 * A store that misbehaves on demand, in every way the contract allows and in no other. It wraps any
 * store; the conformance suite, the simulator and tests of real stores use the same class.
 *
 * <p>{@link Faults} decides the fate of each call. The clock, doorbells and calls in users'
 * transactions pass as they are. The wrapper has no clock, no randomness and no thread of its own:
 * the same calls and the same decisions give the same answers. Calls reported as timed out before
 * they were applied wait in it until {@link #deliverLate()}.
 *
 * <p>Thread-safe if the wrapped store and the decisions are.
 */
public final class FaultyStore extends ForwardingStore {

  /** How many calls wait to be delivered late; one more is lost instead, which is legal as well. */
  public static final int MAX_LATE = 1_000;

  /** What becomes of a call. */
  public enum Fault {
    /** It passes. */
    NONE,
    /** {@link Outcome.Unavailable}; not applied. */
    FAIL_BEFORE,
    /** Applied, but answered {@link Outcome.Unknown}. */
    APPLY_THEN_TIMEOUT,
    /** Answered {@link Outcome.Unknown}, and applied by a later {@link #deliverLate()}. */
    TIMEOUT_THEN_APPLY,
    /** Passes after {@link Faults#slow}. */
    SLOW,
    /** {@link Outcome.Full}; not applied. */
    FULL
  }

  /** Decides what goes wrong. Asked once for each call, on the caller's thread. */
  @FunctionalInterface
  public interface Faults {

    /** The fate of the next call. */
    Fault next(Operation operation);

    /**
     * What {@link Fault#SLOW} means: returns when the call may go on. Virtual time passes in a
     * simulator, a latch opens in a test. Nothing by default.
     */
    default void slow(Operation operation) {}
  }

  private static final String BEFORE = "fault: failed before it was applied";
  private static final String TIMEOUT = "fault: timed out";
  private static final String NO_ROOM = "fault: no room";

  private static final Set<Fault> OF_READS = Set.of(Fault.NONE, Fault.FAIL_BEFORE, Fault.SLOW);
  private static final Set<Fault> ALL = Set.of(Fault.values());
  private static final Set<Fault> OF_FREEING =
      ALL.stream().filter(fault -> fault != Fault.FULL).collect(toUnmodifiableSet());

  private final Faults faults;
  private final Queue<Supplier<?>> late = new ArrayDeque<>();
  private final Map<Operation, Map<Fault, LongAdder>> counts = new EnumMap<>(Operation.class);

  /** Wraps {@code store}. */
  public FaultyStore(Store store, Faults faults) {
    super(store);
    this.faults = faults;
    for (Operation operation : Operation.values()) {
      Map<Fault, LongAdder> ofOperation = new EnumMap<>(Fault.class);
      for (Fault fault : Fault.values()) {
        ofOperation.put(fault, new LongAdder());
      }
      counts.put(operation, ofOperation);
    }
  }

  /** The same store for reads alone: each write is answered {@link Outcome.Unavailable}. */
  public static FaultyStore readOnly(Store store) {
    return new FaultyStore(store, operation -> operation.isRead() ? Fault.NONE : Fault.FAIL_BEFORE);
  }

  /** Applies the calls that were reported as timed out, in their order; returns how many. */
  public int deliverLate() {
    int delivered = 0;
    while (deliverNextLate()) {
      delivered++;
    }
    return delivered;
  }

  /** Applies the oldest of those calls, if any is left. */
  public boolean deliverNextLate() {
    Supplier<?> next;
    synchronized (late) {
      next = late.poll();
    }
    if (next == null) {
      return false;
    }
    var unused = next.get();
    return true;
  }

  /** How many calls wait to be delivered late. */
  public int lateCount() {
    synchronized (late) {
      return late.size();
    }
  }

  /** How often {@code fault} befell {@code operation}; with {@link Fault#NONE}, nothing did. */
  public long count(Operation operation, Fault fault) {
    return counter(operation, fault).sum();
  }

  private LongAdder counter(Operation operation, Fault fault) {
    return requireNonNull(requireNonNull(counts.get(operation)).get(fault));
  }

  /** The faults that may befall {@code operation}; any other decision is {@link Fault#NONE}. */
  public static Set<Fault> possible(Operation operation) {
    if (operation.isRead()) {
      return OF_READS;
    }
    return operation.needsRoom() ? ALL : OF_FREEING;
  }

  /** Closes the wrapped store; calls still waiting are lost. */
  @Override
  public void close() {
    synchronized (late) {
      late.clear();
    }
    super.close();
  }

  private Fault decide(Operation operation, boolean mayBeFull) {
    Fault decided = faults.next(operation);
    boolean possible =
        decided == Fault.NONE
            || (possible(operation).contains(decided) && (mayBeFull || decided != Fault.FULL));
    Fault fault = possible ? decided : Fault.NONE;
    counter(operation, fault).increment();
    return fault;
  }

  @Override
  protected <T> Outcome<T> around(Operation operation, Supplier<Outcome<T>> next) {
    return perform(operation, decide(operation, true), next);
  }

  private <T> Outcome<T> perform(Operation operation, Fault fault, Supplier<Outcome<T>> call) {
    return switch (fault) {
      case NONE -> call.get();
      case SLOW -> {
        faults.slow(operation);
        yield call.get();
      }
      case FAIL_BEFORE -> new Outcome.Unavailable<>(BEFORE);
      case FULL -> new Outcome.Full<>(NO_ROOM);
      case APPLY_THEN_TIMEOUT -> {
        var unused = call.get();
        yield new Outcome.Unknown<>(TIMEOUT);
      }
      case TIMEOUT_THEN_APPLY -> {
        keep(call);
        yield new Outcome.Unknown<>(TIMEOUT);
      }
    };
  }

  private void keep(Supplier<?> call) {
    synchronized (late) {
      if (late.size() < MAX_LATE) {
        late.add(call);
      }
    }
  }

  /** A call with an outcome for each of {@code size} parts, which a fault hits together. */
  private <T> List<Outcome<T>> performAll(
      Operation operation, Fault fault, int size, Supplier<List<Outcome<T>>> call) {
    Outcome<List<Outcome<T>>> whole = perform(operation, fault, () -> Outcome.ok(call.get()));
    if (whole instanceof Outcome.Ok<List<Outcome<T>>> ok) {
      return ok.value();
    }
    // Not ok, so that nothing is mapped but its type.
    Outcome<T> part = whole.map(parts -> parts.getFirst().orThrow());
    return Collections.nCopies(size, part);
  }

  /** Each release meets a fault of its own. */
  @Override
  public List<Outcome<Head>> releaseAll(List<Release> releases) {
    return releaseEach(releases);
  }

  @Override
  public List<Outcome<Long>> append(List<Append> group, boolean allOrNothing) {
    List<Append> kept = List.copyOf(group);
    Fault fault = decide(Operation.APPEND, kept.stream().anyMatch(append -> !append.urgent()));
    if (fault == Fault.FULL) {
      return appendToFull(kept, allOrNothing);
    }
    return performAll(
        Operation.APPEND, fault, kept.size(), () -> store().journals().append(kept, allOrNothing));
  }

  /** Urgent appends go in from the reserve, unless the group stands or falls together. */
  private List<Outcome<Long>> appendToFull(List<Append> group, boolean allOrNothing) {
    List<Append> urgent = allOrNothing ? List.of() : group.stream().filter(Append::urgent).toList();
    var answers =
        (urgent.isEmpty() ? List.<Outcome<Long>>of() : store().journals().append(urgent, false))
            .iterator();
    List<Outcome<Long>> outcomes = new ArrayList<>(group.size());
    for (Append append : group) {
      if (!append.urgent()) {
        outcomes.add(new Outcome.Full<>(NO_ROOM));
      } else {
        outcomes.add(allOrNothing ? new Outcome.Unavailable<>(NO_ROOM) : answers.next());
      }
    }
    return outcomes;
  }

  @Override
  public List<Outcome<Stamp>> apply(List<Change> changes) {
    List<Change> kept = List.copyOf(changes);
    Fault fault =
        decide(Operation.RECORDS_APPLY, kept.stream().anyMatch(change -> change.value() != null));
    if (fault == Fault.FULL) {
      return applyToFull(kept);
    }
    return performAll(
        Operation.RECORDS_APPLY, fault, kept.size(), () -> store().records().apply(kept));
  }

  /** Deletes need no room. */
  private List<Outcome<Stamp>> applyToFull(List<Change> changes) {
    List<Change> deletes = changes.stream().filter(change -> change.value() == null).toList();
    var answers =
        (deletes.isEmpty() ? List.<Outcome<Stamp>>of() : store().records().apply(deletes))
            .iterator();
    List<Outcome<Stamp>> outcomes = new ArrayList<>(changes.size());
    for (Change change : changes) {
      outcomes.add(change.value() == null ? answers.next() : new Outcome.Full<>(NO_ROOM));
    }
    return outcomes;
  }

  @Override
  public List<Outcome<Long>> append(List<Append> group, List<Rider> riders, boolean allOrNothing) {
    List<Append> kept = List.copyOf(group);
    List<Rider> along = List.copyOf(riders);
    Fault fault = decide(Operation.APPEND, kept.stream().noneMatch(Append::urgent));
    return performAll(
        Operation.APPEND,
        fault,
        kept.size(),
        () -> store().transactions().append(kept, along, allOrNothing));
  }
}
