package dev.carillon.engine.history;

import dev.carillon.engine.fold.HistoryPlace;
import dev.carillon.engine.fold.OperationBody;
import dev.carillon.engine.format.DamagedException;
import dev.carillon.engine.format.Frame;
import dev.carillon.engine.format.UnknownFormatException;
import dev.carillon.engine.job.HistoryEntry;
import dev.carillon.engine.job.JobRef;
import dev.carillon.store.Entry;
import dev.carillon.store.Journals.ReadPage;
import dev.carillon.store.Outcome;
import dev.carillon.store.ShardId;
import dev.carillon.store.Store;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Set;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * Reads the event histories of workflows from the entries of the journal that they stand in.
 * Changes nothing; runs beside the loop.
 */
public final class WorkflowHistory {
  /** About how much is read at once beyond the entry that is looked for. */
  private static final int PAGE_BYTES = 64 << 10;

  private WorkflowHistory() {}

  /**
   * Where a history stands.
   *
   * @param places of its operations, each a {@link HistoryPlace}, in order
   * @param count how many entries of the history there are to read
   */
  public record Place(ShardId shard, int generation, long[] places, int count) {}

  /** The first {@code count} entries of a history; conflict where the generation is gone. */
  public static Outcome<List<HistoryEntry>> read(Store store, Place place) {
    return readAll(store, place.shard(), place.generation(), List.of(place)).getFirst();
  }

  /**
   * The same of several histories of one generation, in the order in which they are asked for: an
   * entry that several stand in is read once.
   */
  public static List<Outcome<List<HistoryEntry>>> readAll(
      Store store, ShardId shard, int generation, List<Place> places) {
    List<Reading> all = new ArrayList<>(places.size());
    NavigableMap<Long, List<Reading>> byEntry = new TreeMap<>();
    for (Place place : places) {
      Reading reading = new Reading(place);
      all.add(reading);
      reading.waitsIn(byEntry);
    }
    while (!byEntry.isEmpty()) {
      long from = byEntry.firstKey();
      Outcome<ReadPage> outcome = store.journals().read(shard, generation, from, PAGE_BYTES);
      if (!(outcome instanceof Outcome.Ok<ReadPage>(ReadPage page)) || page.entries().isEmpty()) {
        byEntry.values().forEach(some -> some.forEach(each -> each.ends(outcome)));
        break;
      }
      for (Entry entry : page.entries()) {
        List<Reading> here = byEntry.remove(entry.number());
        if (here != null) {
          read(entry, here);
          here.forEach(each -> each.waitsIn(byEntry));
        }
      }
      List<Reading> missing = byEntry.remove(from);
      if (missing != null) {
        missing.forEach(each -> each.ends(Outcome.ok(page)));
      }
    }
    return all.stream().map(Reading::outcome).toList();
  }

  private static void read(Entry entry, List<Reading> readings) {
    try {
      List<Frame> frames = Frame.decode(entry.data());
      readings.forEach(each -> each.take(entry.number(), frames));
    } catch (DamagedException | UnknownFormatException e) {
      readings.forEach(each -> each.isDamaged(entry.number(), e));
    }
  }

  /** A history that is read. */
  private static final class Reading {
    private final Place place;
    private final List<HistoryEntry> history;
    private int next;
    private @Nullable Outcome<List<HistoryEntry>> end;

    Reading(Place place) {
      this.place = place;
      this.history = new ArrayList<>(place.count());
    }

    /** Waits for the next entry that it needs, if it needs one. */
    void waitsIn(Map<Long, List<Reading>> byEntry) {
      if (end == null && next < place.places().length && history.size() < place.count()) {
        long entry = HistoryPlace.entry(place.places()[next]);
        byEntry.computeIfAbsent(entry, number -> new ArrayList<>(1)).add(this);
      }
    }

    void take(long entry, List<Frame> frames) {
      long[] places = place.places();
      try {
        for (; next < places.length && HistoryPlace.entry(places[next]) == entry; next++) {
          collect(frames.get(HistoryPlace.inEntry(places[next])), history);
        }
      } catch (DamagedException | UnknownFormatException | IndexOutOfBoundsException e) {
        isDamaged(entry, e);
      }
    }

    void isDamaged(long entry, RuntimeException why) {
      end =
          new Outcome.Damaged<>(
              "shard " + place.shard() + ", entry " + entry + ": " + why.getMessage());
    }

    /** The entry that it needs was not read. */
    void ends(Outcome<ReadPage> read) {
      end = read.map(page -> history);
    }

    Outcome<List<HistoryEntry>> outcome() {
      if (end != null) {
        return end;
      }
      if (history.size() < place.count()) {
        return new Outcome.Damaged<>(
            "shard %s: %d entries of a workflow's history (expected: %d)"
                .formatted(place.shard(), history.size(), place.count()));
      }
      return Outcome.ok(List.copyOf(history.subList(0, place.count())));
    }
  }

  private static void collect(Frame frame, List<HistoryEntry> history) {
    switch (frame.kind()) {
      case CHECKPOINT -> history.addAll(OperationBody.Checkpoint.decode(frame.reader()).entries());
      case HISTORY -> history.addAll(OperationBody.History.decode(frame.reader()).entries());
      case SIGNAL -> history.add(OperationBody.Signal.decode(frame.reader()).entry());
      case RENEW -> history.addAll(OperationBody.Renew.decode(frame.reader()).unread());
      case CHILD_ENDED -> {
        OperationBody.ChildEnded ended = OperationBody.ChildEnded.decode(frame.reader());
        history.add(ended.entry(callOf(ended.child(), history)));
      }
      case CANCEL -> {
        OperationBody.Cancel cancel = OperationBody.Cancel.decode(frame.reader());
        history.add(new HistoryEntry.CancelRequested(cancel.at(), cancel.why().reason()));
      }
      default ->
          throw new DamagedException("history of a workflow: " + frame.kind() + " (expected: one)");
    }
  }

  /** The first call that started the child, or waits for the same job, and has no end of it. */
  private static int callOf(JobRef child, List<HistoryEntry> history) {
    Set<Integer> calls = new LinkedHashSet<>();
    for (HistoryEntry entry : history) {
      if (entry instanceof HistoryEntry.ChildStarted started && started.child().equals(child)) {
        calls.add(started.call());
      } else if (entry instanceof HistoryEntry.ChildEnded ended) {
        calls.remove(ended.call());
      }
    }
    return calls.isEmpty() ? 0 : calls.iterator().next();
  }
}
