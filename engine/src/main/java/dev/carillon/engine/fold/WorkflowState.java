package dev.carillon.engine.fold;

import dev.carillon.api.Limits;
import dev.carillon.engine.format.ByteReader;
import dev.carillon.engine.format.ByteWriter;
import dev.carillon.engine.job.HistoryEntry;
import dev.carillon.engine.job.JobRef;
import dev.carillon.engine.job.WorkflowWait;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * What the fold knows of a job that is a workflow: what it waits for, its children, how many
 * signals it got, and where its event history stands in the journal. Results are not kept here: a
 * replay reads them from the journal.
 *
 * <p>Owned by the fold of its shard, as the job is.
 */
public final class WorkflowState {
  /** So many keys of signals are remembered; an older one counts as new. */
  private static final int KEYS_REMEMBERED = 1_000;

  private static final long[] NOWHERE = {};

  private boolean begun;
  private int checkpointed;
  private int entries;
  private long bytes;
  private long[] places = NOWHERE;
  private int placeCount;
  private int signalCount;
  private int signalsRead;

  /** After how many entries it was asked to stop; -1 where it was not. */
  private int cancelledAfter = -1;

  private HistoryEntry.@Nullable GivenUp givenUp;
  private @Nullable WorkflowWait wait;
  private final Map<String, Integer> signals = new LinkedHashMap<>(2);
  private final Set<String> keys = new LinkedHashSet<>(2);
  private final Map<Integer, JobRef> children = new LinkedHashMap<>(2);

  /** The calls among those of children that another job answers, and whether it knows of that. */
  private final Map<Integer, Boolean> joined = new LinkedHashMap<>(0);

  /** Whether its code has made an entry: only then has a cancel something to undo. */
  public boolean begun() {
    return begun;
  }

  /** How many entries its code has made; the next checkpoint names this number. */
  public int checkpointed() {
    return checkpointed;
  }

  /** How many entries its history has. */
  public int entries() {
    return entries;
  }

  /** About how many bytes its history takes. */
  public long bytes() {
    return bytes;
  }

  /** How it will end once its compensations have run; null where it goes on. */
  public HistoryEntry.@Nullable GivenUp givenUp() {
    return givenUp;
  }

  /** What it waits for; null where it has to run. */
  public @Nullable WorkflowWait waits() {
    return wait;
  }

  /** The children that have not ended, by the number of the call that started them. */
  public Map<Integer, JobRef> children() {
    return children;
  }

  /** Those children that end with it. */
  public List<JobRef> ownChildren() {
    List<JobRef> own = new ArrayList<>(children.size());
    children.forEach(
        (call, child) -> {
          if (!joined.containsKey(call)) {
            own.add(child);
          }
        });
    return own;
  }

  /** Jobs that take the place of children, and whose shards may not know that it waits for them. */
  public List<JobRef> notArranged() {
    List<JobRef> jobs = new ArrayList<>(0);
    joined.forEach(
        (call, arranged) -> {
          if (!arranged) {
            jobs.add(children.get(call));
          }
        });
    return jobs;
  }

  /** That job's shard knows, for all that this node can tell. */
  public void arranged(JobRef job) {
    joined.replaceAll((call, arranged) -> arranged || job.equals(children.get(call)));
  }

  /** The operations that its history stands in, each a {@link HistoryPlace}, in order. */
  public long[] places() {
    return Arrays.copyOf(places, placeCount);
  }

  /** A compaction has written its history anew. */
  public void moved(long[] toPlaces) {
    places = toPlaces.clone();
    placeCount = places.length;
  }

  /**
   * The number of the call that started this child, the first where several wait for the same; 0
   * where it has none such.
   */
  public int callOf(JobRef child) {
    for (Map.Entry<Integer, JobRef> each : children.entrySet()) {
      if (each.getValue().equals(child)) {
        return each.getKey();
      }
    }
    return 0;
  }

  /** The keys of the signals that it remembers, oldest first. */
  public List<String> keys() {
    return List.copyOf(keys);
  }

  /** What is known of it when it begins anew: a signal that was taken is not taken again. */
  @Nullable WorkflowState begunAnew() {
    if (keys.isEmpty()) {
      return null;
    }
    WorkflowState anew = new WorkflowState();
    anew.keys.addAll(keys);
    return anew;
  }

  boolean isFull() {
    return signalCount - signalsRead >= Limits.UNREAD_SIGNALS_MAX;
  }

  /** Whether a signal with this key was taken before. */
  boolean hasTaken(String key) {
    return !key.isEmpty() && keys.contains(key);
  }

  /** An operation holds more of its history. */
  void at(long place, int moreBytes) {
    bytes += moreBytes;
    if (placeCount == places.length) {
      places = Arrays.copyOf(places, Math.max(4, 2 * placeCount));
    }
    places[placeCount++] = place;
  }

  /**
   * Its history has one more entry.
   *
   * @return whether that ends its wait
   */
  boolean add(HistoryEntry entry) {
    entries++;
    switch (entry) {
      case HistoryEntry.Begun e -> begun = true;
      case HistoryEntry.ChildStarted e -> {
        children.put(e.call(), e.child());
        if (!e.own()) {
          joined.put(e.call(), false);
        }
      }
      case HistoryEntry.ChildEnded e -> {
        children.remove(e.call());
        joined.remove(e.call());
      }
      case HistoryEntry.GivenUp e -> givenUp = e;
      case HistoryEntry.CancelRequested e -> cancelledAfter = entries;
      case HistoryEntry.Signalled e -> {
        signalCount++;
        signals.merge(e.type(), 1, Integer::sum);
        if (!e.key().isEmpty()) {
          keys.add(e.key());
          if (keys.size() > KEYS_REMEMBERED) {
            keys.remove(keys.iterator().next());
          }
        }
      }
      case HistoryEntry.StepDone e -> {}
      case HistoryEntry.StepFailed e -> {}
      case HistoryEntry.StepBegun e -> {}
      case HistoryEntry.TimerSet e -> {}
      case HistoryEntry.TimerFired e -> {}
      case HistoryEntry.SignalAwaited e -> {}
      case HistoryEntry.VersionChosen e -> {}
    }
    WorkflowWait waits = wait;
    return waits != null && isOver(waits);
  }

  /** The code made so many of the entries that were added last; it runs. */
  void checkpointed(int count) {
    checkpointed += count;
    wait = null;
  }

  /** It runs, or waits for its next attempt, and not for anything that its code named. */
  void runs() {
    wait = null;
  }

  /** It waits from now on; false where that is over already. */
  boolean begins(WorkflowWait next) {
    signalsRead = next.signalsRead();
    wait = next;
    return !isOver(next);
  }

  private boolean isOver(WorkflowWait waits) {
    if (cancelledAfter > waits.seen() || (givenUp != null && entries > waits.seen())) {
      return true;
    }
    int awaited = waits.signals().size() + waits.children().size();
    int there = 0;
    for (WorkflowWait.AwaitedSignal signal : waits.signals()) {
      there += signals.getOrDefault(signal.type(), 0) >= signal.count() ? 1 : 0;
    }
    for (int child : waits.children()) {
      there += children.containsKey(child) ? 0 : 1;
    }
    return awaited > 0 && (waits.all() ? there == awaited : there > 0);
  }

  // ---- of a workflow that is replayed

  /**
   * The body of the operation that gives a dead letter, which lives again, the memory of its
   * workflow: varint revision, and the state, which is absent where it begins anew.
   *
   * @param keys of the signals that it had taken when it died, also before it last began anew
   */
  public static byte[] restored(int revision, List<String> keys, List<HistoryEntry> entries) {
    ByteWriter out = new ByteWriter(64).varint(revision);
    if (!entries.isEmpty() || !keys.isEmpty()) {
      WorkflowState state = new WorkflowState();
      state.keys.addAll(keys);
      for (HistoryEntry entry : entries) {
        var unusedEnd = state.add(entry);
        state.checkpointed += isOfCode(entry) ? 1 : 0;
      }
      state.write(out);
    }
    return out.toBytes();
  }

  /** Whether the code made it, by a checkpoint. */
  private static boolean isOfCode(HistoryEntry entry) {
    return switch (entry) {
      case HistoryEntry.Signalled e -> false;
      case HistoryEntry.ChildEnded e -> false;
      case HistoryEntry.CancelRequested e -> false;
      default -> true;
    };
  }

  // ---- in a compacted generation

  /** All of it but where its history stands. */
  void write(ByteWriter out) {
    out.u8((begun ? 1 : 0) | (givenUp != null ? 2 : 0) | (wait != null ? 4 : 0))
        .varint(checkpointed)
        .varint(entries)
        .varint(signalCount)
        .varint(signalsRead)
        .varint(cancelledAfter + 1);
    if (givenUp != null) {
      givenUp.write(out);
    }
    if (wait != null) {
      wait.write(out);
    }
    out.varint(signals.size());
    signals.forEach((type, count) -> out.string(type).varint(count));
    out.varint(keys.size());
    keys.forEach(out::string);
    out.varint(children.size());
    children.forEach(
        (call, child) -> {
          out.varint(call).u8(joined.containsKey(call) ? 0 : 1);
          child.write(out);
        });
  }

  static WorkflowState read(ByteReader in) {
    WorkflowState state = new WorkflowState();
    int flags = in.u8();
    state.begun = (flags & 1) != 0;
    state.checkpointed = (int) in.varint();
    state.entries = (int) in.varint();
    state.signalCount = (int) in.varint();
    state.signalsRead = (int) in.varint();
    state.cancelledAfter = (int) in.varint() - 1;
    if ((flags & 2) != 0) {
      state.givenUp = (HistoryEntry.GivenUp) HistoryEntry.read(in);
    }
    state.wait = (flags & 4) != 0 ? WorkflowWait.read(in) : null;
    for (int i = in.length(); i > 0; i--) {
      state.signals.put(in.string(), (int) in.varint());
    }
    for (int i = in.length(); i > 0; i--) {
      state.keys.add(in.string());
    }
    for (int i = in.length(); i > 0; i--) {
      int call = (int) in.varint();
      if (in.u8() == 0) {
        state.joined.put(call, false);
      }
      state.children.put(call, JobRef.read(in));
    }
    return state;
  }
}
