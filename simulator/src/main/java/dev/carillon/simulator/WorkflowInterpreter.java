package dev.carillon.simulator;

import dev.carillon.api.JobState;
import dev.carillon.engine.job.HistoryEntry;
import dev.carillon.simulator.WorkflowProgram.Op;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/**
 * What the code of a workflow must see, from its program and its history alone: no thread, no
 * replay, and none of the code that does these. It goes through the program once and stops where
 * the history has no answer.
 */
final class WorkflowInterpreter {
  private static final int NONE = Integer.MAX_VALUE;

  /** What the code sees before anything of it is durable. */
  private static final String UNKNOWN = "something";

  final List<String> seen = new ArrayList<>();

  /** The compensations that the code registers, in order: their names by their numbers. */
  final Map<Integer, String> undos = new LinkedHashMap<>();

  /** The positions of the signals that the code takes. */
  final Set<Integer> taken = new LinkedHashSet<>();

  private final WorkflowProgram program;
  private final List<HistoryEntry> entries;
  private final Map<Integer, Integer> ends = new LinkedHashMap<>();
  private final Map<Integer, Long> timers = new LinkedHashMap<>();
  private final Map<Integer, Integer> versions = new LinkedHashMap<>();
  private final Map<String, List<Integer>> signals = new LinkedHashMap<>();
  private final Map<String, Integer> awaited = new LinkedHashMap<>();
  private int stop = NONE;
  private HistoryEntry.@Nullable Begun begun;
  private @Nullable RandomGenerator random;
  private long now;
  private int made;
  private boolean told;
  private End end = End.WAITS;

  /** How far the history brings the code. */
  enum End {
    /** It has no answer to a call. */
    WAITS,
    RETURNED,
    RENEWS,
    /** A recorded failure leaves the code. */
    FAILED,
    CANCELLED
  }

  private record Promise(WorkflowProgram.Kind kind, int call, String signal, int count) {}

  @SuppressWarnings("serial")
  private static final class Halted extends Exception {}

  @SuppressWarnings("serial")
  private static final class Cancelled extends Exception {}

  @SuppressWarnings("serial")
  private static final class Failed extends Exception {
    Failed(String what) {
      super(what);
    }
  }

  WorkflowInterpreter(WorkflowProgram program, List<HistoryEntry> entries) {
    this.program = program;
    this.entries = entries;
    for (int i = 0; i < entries.size(); i++) {
      read(entries.get(i), i);
    }
    try {
      end = play();
    } catch (Halted e) {
      end = End.WAITS;
    } catch (Cancelled e) {
      end = End.CANCELLED;
    } catch (Failed e) {
      end = End.FAILED;
    }
  }

  /** Whether the code has seen what it must see. */
  static boolean agree(List<String> must, List<String> seen) {
    for (int i = 0; i < must.size(); i++) {
      if (!must.get(i).equals(UNKNOWN) && !must.get(i).equals(seen.get(i))) {
        return false;
      }
    }
    return true;
  }

  End end() {
    return end;
  }

  boolean isStopped() {
    return stop != NONE;
  }

  private void read(HistoryEntry entry, int position) {
    switch (entry) {
      case HistoryEntry.Begun e -> {
        begun = e;
        now = e.at();
        random = new SplitMix(e.seed());
      }
      case HistoryEntry.StepDone e -> ends.putIfAbsent(e.call(), position);
      case HistoryEntry.StepFailed e -> {
        if (e.nextAt() == 0) {
          ends.putIfAbsent(e.call(), position);
        }
      }
      case HistoryEntry.TimerSet e -> timers.put(e.call(), e.dueAt());
      case HistoryEntry.TimerFired e -> ends.putIfAbsent(e.call(), position);
      case HistoryEntry.ChildEnded e -> ends.putIfAbsent(e.call(), position);
      case HistoryEntry.VersionChosen e -> versions.put(e.call(), e.version());
      case HistoryEntry.Signalled e ->
          signals.computeIfAbsent(e.type(), type -> new ArrayList<>()).add(position);
      case HistoryEntry.CancelRequested e -> stop = Math.min(stop, position);
      case HistoryEntry.GivenUp e -> stop = Math.min(stop, position);
      default -> {}
    }
  }

  private End play() throws Halted, Cancelled, Failed {
    List<Promise> open = new ArrayList<>();
    for (int i = 0; i < program.ops.size(); i++) {
      Op op = program.ops.get(i);
      try {
        play(op, i, open);
      } catch (Failed e) {
        seen.add(String.valueOf(e.getMessage()));
        if (op.letsFailuresOut()) {
          throw e;
        }
      } catch (Cancelled e) {
        seen.add("cancelled");
        if (!op.swallowsCancels()) {
          throw e;
        }
      }
    }
    if (program.renews()) {
      notTold();
      return End.RENEWS;
    }
    return End.RETURNED;
  }

  private void play(Op op, int i, List<Promise> open) throws Halted, Cancelled, Failed {
    switch (op.kind()) {
      case STEP, STEP_ONCE -> {
        notTold();
        Promise step = new Promise(op.kind(), ++made, "", 0);
        if (position(step) == NONE) {
          throw stopped();
        }
        given(position(step));
        seen.add(take(step));
      }
      case STEP_BESIDE, TIMER, START -> {
        notTold();
        open.add(new Promise(op.kind(), ++made, "", 0));
      }
      case SIGNAL -> {
        notTold();
        open.add(signal(op));
      }
      case SLEEP -> {
        notTold();
        awaitFirst(List.of(new Promise(op.kind(), ++made, "", 0)), null);
        seen.add("slept");
      }
      case AWAIT -> {
        notTold();
        Promise signal = signal(op);
        awaitFirst(List.of(signal), null);
        seen.add(take(signal));
      }
      case AWAIT_WITHIN -> {
        notTold();
        Promise signal = signal(op);
        Promise timer = new Promise(op.kind(), ++made, "", 0);
        if (awaitFirst(List.of(signal), timer)) {
          awaited.merge(op.signal(), -1, Integer::sum);
          seen.add("no signal");
        } else {
          seen.add(take(signal));
        }
      }
      case CALL -> {
        notTold();
        Promise child = new Promise(op.kind(), ++made, "", 0);
        awaitFirst(List.of(child), null);
        seen.add(take(child));
      }
      case UNDO -> {
        notTold();
        undos.put(++made, "u" + i);
      }
      case VERSION -> {
        notTold();
        seen.add("version " + versions.getOrDefault(++made, 1 + op.b()));
      }
      case NOW -> seen.add(begun == null ? UNKNOWN : "now " + now / 1_000);
      case RANDOM -> seen.add(random == null ? UNKNOWN : "random " + random.nextLong());
      case UUID -> seen.add(random == null ? UNKNOWN : "uuid " + uuid(random));
      case FIRST -> {
        if (!open.isEmpty()) {
          awaitFirst(open, null);
          int place = earliest(open);
          Promise first = open.remove(place);
          seen.add(place + " first");
          seen.add(take(first));
        }
      }
      case ALL -> {
        List<Promise> all = List.copyOf(open);
        open.clear();
        if (!all.isEmpty()) {
          awaitAll(all);
        }
        List<String> values = new ArrayList<>();
        for (Promise promise : all) {
          values.add(take(promise));
        }
        seen.add("all " + values);
      }
      case WITHIN -> {
        if (!open.isEmpty()) {
          Promise one = open.get(op.a() % open.size());
          notTold();
          Promise timer = new Promise(op.kind(), ++made, "", 0);
          seen.add("within " + (awaitFirst(List.of(one), timer) ? "nothing" : take(one)));
        }
      }
      case BUG, SHOW -> {}
    }
  }

  private Promise signal(Op op) {
    made++;
    return new Promise(op.kind(), made, op.signal(), awaited.merge(op.signal(), 1, Integer::sum));
  }

  private int position(Promise promise) {
    if (promise.count == 0) {
      return ends.getOrDefault(promise.call, NONE);
    }
    List<Integer> arrived = signals.getOrDefault(promise.signal, List.of());
    return arrived.size() < promise.count ? NONE : arrived.get(promise.count - 1);
  }

  private int earliest(List<Promise> promises) {
    int best = 0;
    for (int i = 1; i < promises.size(); i++) {
      best = position(promises.get(i)) < position(promises.get(best)) ? i : best;
    }
    return best;
  }

  /** Waits for the first; true where the timer is before them all. */
  private boolean awaitFirst(List<Promise> promises, @Nullable Promise timer)
      throws Halted, Cancelled {
    notTold();
    int position = position(promises.get(earliest(promises)));
    int late = timer == null ? NONE : position(timer);
    given(come(Math.min(position, late)));
    return late < position;
  }

  private void awaitAll(List<Promise> promises) throws Halted, Cancelled {
    notTold();
    int last = 0;
    for (Promise promise : promises) {
      last = Math.max(last, position(promise));
    }
    given(come(last));
  }

  /** A position that is there before the workflow is stopped. */
  private int come(int position) throws Halted, Cancelled {
    if (stop < position || position == NONE) {
      throw stopped();
    }
    return position;
  }

  private void given(int position) {
    now = Math.max(now, entries.get(position).at());
  }

  private String take(Promise promise) throws Failed {
    int position = position(promise);
    return switch (entries.get(position)) {
      case HistoryEntry.StepDone e -> text(e.result());
      case HistoryEntry.StepFailed e -> throw new Failed("failed " + e.error().message());
      case HistoryEntry.ChildEnded e -> {
        if (e.state() != JobState.SUCCEEDED) {
          throw new Failed("child " + e.state());
        }
        yield text(e.result());
      }
      case HistoryEntry.Signalled e -> {
        taken.add(position);
        yield text(e.payload());
      }
      default -> "nothing";
    };
  }

  private static String text(byte[] bytes) {
    return new String(bytes, StandardCharsets.UTF_8);
  }

  /** The code is told that it is stopped; or it waits, where it is not. */
  private Cancelled stopped() throws Halted {
    if (stop == NONE) {
      throw new Halted();
    }
    if (!told) {
      told = true;
      given(stop);
    }
    return new Cancelled();
  }

  /** Every call but those that leave nothing throws once the code was told. */
  private void notTold() throws Halted, Cancelled {
    if (told) {
      throw stopped();
    }
  }

  private static UUID uuid(RandomGenerator random) {
    long high = random.nextLong();
    long low = random.nextLong();
    return new UUID((high & ~0xF000L) | 0x4000L, (low >>> 2) | 0x8000_0000_0000_0000L);
  }

  private static final class SplitMix implements RandomGenerator {
    private long state;

    SplitMix(long seed) {
      state = seed;
    }

    @Override
    public long nextLong() {
      state += 0x9E3779B97F4A7C15L;
      return Chance.mix(state);
    }
  }
}
