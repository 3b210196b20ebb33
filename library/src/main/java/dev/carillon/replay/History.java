package dev.carillon.replay;

import dev.carillon.engine.job.HistoryEntry;
import dev.carillon.engine.job.HistoryEntry.Begun;
import dev.carillon.engine.job.HistoryEntry.CancelRequested;
import dev.carillon.engine.job.HistoryEntry.ChildEnded;
import dev.carillon.engine.job.HistoryEntry.ChildStarted;
import dev.carillon.engine.job.HistoryEntry.GivenUp;
import dev.carillon.engine.job.HistoryEntry.SignalAwaited;
import dev.carillon.engine.job.HistoryEntry.Signalled;
import dev.carillon.engine.job.HistoryEntry.StepBegun;
import dev.carillon.engine.job.HistoryEntry.StepDone;
import dev.carillon.engine.job.HistoryEntry.StepFailed;
import dev.carillon.engine.job.HistoryEntry.TimerFired;
import dev.carillon.engine.job.HistoryEntry.TimerSet;
import dev.carillon.engine.job.HistoryEntry.VersionChosen;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** The entries of a workflow that its thread has seen, by call. Belongs to that thread. */
final class History {
  /** No position. */
  static final int NONE = -1;

  private final List<@Nullable RecordedCall> calls = new ArrayList<>();
  private final Map<String, List<Arrival>> signals = new HashMap<>();
  private int size;
  private int signalCount;
  private final Map<Integer, Signalled> unread = new TreeMap<>();
  private int lastOwn = NONE;
  private int stopPosition = NONE;
  private @Nullable HistoryEntry stop;
  private boolean givenUp;
  private @Nullable Begun begun;

  /**
   * A signal that has come.
   *
   * @param ordinal among all signals, from 1
   */
  record Arrival(int position, int ordinal, Signalled signal) {}

  void add(HistoryEntry entry) {
    int position = size++;
    switch (entry) {
      case Begun e -> begun = e;
      case StepBegun e -> own(e.call(), CallKind.STEP, e.name(), e, position).begun(e);
      case StepDone e -> own(e.call(), CallKind.STEP, e.name(), e, position).done(e, position);
      case StepFailed e -> own(e.call(), CallKind.STEP, e.name(), e, position).failed(e, position);
      case TimerSet e -> {
        RecordedCall timer = own(e.call(), CallKind.TIMER, "", e, position);
        timer.nextAt = e.dueAt();
      }
      case TimerFired e -> {
        lastOwn = position;
        known(e.call(), e).ended(e, position);
      }
      case SignalAwaited e -> {
        var unused = own(e.call(), CallKind.SIGNAL, e.type(), e, position);
      }
      case VersionChosen e -> {
        RecordedCall version = own(e.call(), CallKind.VERSION, e.change(), e, position);
        version.version = e.version();
      }
      case ChildStarted e -> {
        RecordedCall child = own(e.call(), CallKind.CHILD, e.type(), e, position);
        child.child = e.child();
      }
      case ChildEnded e -> known(e.call(), e).ended(e, position);
      case Signalled e -> {
        unread.put(++signalCount, e);
        signals
            .computeIfAbsent(e.type(), type -> new ArrayList<>())
            .add(new Arrival(position, signalCount, e));
      }
      case CancelRequested e -> stopped(e, position);
      case GivenUp e -> {
        givenUp = true;
        stopped(e, position);
      }
    }
  }

  private RecordedCall own(
      int number, CallKind kind, String name, HistoryEntry entry, int position) {
    lastOwn = position;
    while (calls.size() < number) {
      calls.add(null);
    }
    RecordedCall call = calls.get(number - 1);
    if (call == null) {
      call = new RecordedCall(kind, name, position, entry.at());
      calls.set(number - 1, call);
    }
    return call;
  }

  private RecordedCall known(int number, HistoryEntry entry) {
    RecordedCall call = call(number);
    if (call == null) {
      throw new IllegalStateException(
          "history: " + entry + " (expected: after the entry of its call)");
    }
    return call;
  }

  private void stopped(HistoryEntry entry, int position) {
    if (stopPosition == NONE) {
      stopPosition = position;
      stop = entry;
    }
  }

  /** What is recorded of a call; null for nothing. */
  @Nullable RecordedCall call(int number) {
    return number <= calls.size() ? calls.get(number - 1) : null;
  }

  /** What is recorded of a call that has an entry. */
  RecordedCall recorded(int number) {
    RecordedCall call = call(number);
    if (call == null) {
      throw new IllegalStateException("call " + number + ": has no entry");
    }
    return call;
  }

  /** The highest number of a call that has an entry. */
  int lastCall() {
    return calls.size();
  }

  /** Whether calls of higher numbers have entries. */
  boolean goesOnAfter(int number) {
    return calls.size() > number;
  }

  /** The signal that makes so many of its type; null while there are fewer. */
  @Nullable Arrival signal(String type, int count) {
    List<Arrival> arrived = signals.get(type);
    return arrived == null || arrived.size() < count ? null : arrived.get(count - 1);
  }

  /** The code has taken a signal. */
  void taken(Arrival arrival) {
    unread.remove(arrival.ordinal());
  }

  /** How many signals the code has taken. */
  int signalsRead() {
    return signalCount - unread.size();
  }

  /** The signals that the code has not taken, in order. */
  List<Signalled> unread() {
    return List.copyOf(unread.values());
  }

  /** How many entries it has. */
  int size() {
    return size;
  }

  /** Where the first cancel, or the end of the job, stands. */
  int stopPosition() {
    return stopPosition;
  }

  boolean isStopped() {
    return stopPosition != NONE;
  }

  boolean isGivenUp() {
    return givenUp;
  }

  /** What stopped it first. */
  HistoryEntry stop() {
    HistoryEntry entry = stop;
    if (entry == null) {
      throw new IllegalStateException("history: nothing stopped the workflow");
    }
    return entry;
  }

  /** Why it was stopped, in words; may be empty. */
  String stopReason() {
    return switch (stop()) {
      case CancelRequested e -> e.reason();
      case GivenUp e -> e.state() + (e.reason() == null ? "" : ", " + e.reason());
      default -> "";
    };
  }

  @Nullable Begun begun() {
    return begun;
  }

  /** Where the last entry stands that a call of the code caused; {@link #NONE} for none. */
  int lastOwn() {
    return lastOwn;
  }
}
