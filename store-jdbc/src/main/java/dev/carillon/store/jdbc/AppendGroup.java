package dev.carillon.store.jdbc;

import dev.carillon.store.Append;
import dev.carillon.store.Entry;
import dev.carillon.store.Head;
import dev.carillon.store.Outcome;
import dev.carillon.store.ShardId;
import dev.carillon.store.StoreInfo;
import dev.carillon.store.jdbc.Database.Urgency;
import dev.carillon.store.jdbc.HeadCache.Position;
import dev.carillon.store.sql.DamageException;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * One call of {@code append}: looks which entries fit, writes those in one transaction and has an
 * outcome for each. What it must know of the shards comes from the {@link HeadCache}, so that an
 * append reads nothing.
 *
 * <p>When the disk is full the urgent entries are tried again alone, with the reserve.
 */
final class AppendGroup {

  /** How many entries may be behind what a head's row says of the tail. */
  private static final int MAX_UNKNOWN_TAIL = 256;

  private final Database database;
  private final StoreInfo info;
  private final List<Append> group;
  private final boolean allOrNothing;
  private final long groupBytes;
  private final @Nullable Outcome<Long>[] outcomes;

  private final List<Fit> fitting = new ArrayList<>();

  /** Journals of which an entry had to stay out for want of space, and so all after it. */
  private final Set<ShardId> leftOut = new HashSet<>();

  private long bytes;

  /** An entry that follows its journal's last one. */
  private record Fit(int index, Append append, Position position) {}

  @SuppressWarnings({"unchecked", "rawtypes"}) // an array is the plain way to fill in any order
  AppendGroup(Database database, StoreInfo info, List<Append> group, boolean allOrNothing) {
    this.database = database;
    this.info = info;
    this.group = group;
    this.allOrNothing = allOrNothing;
    this.outcomes = new Outcome[group.size()];
    long sum = 0;
    for (Append append : group) {
      sum += append.data().length;
    }
    this.groupBytes = sum;
  }

  List<Outcome<Long>> run() {
    if (groupBytes > info.maxGroupBytes()) {
      Arrays.fill(outcomes, new Outcome.TooLarge<Long>(info.maxGroupBytes()));
    } else if (!group.isEmpty()) {
      Outcome<Boolean> outcome = write(false);
      if (outcome instanceof Outcome.Full && mayUseReserve()) {
        write(true);
      }
    }
    return answers();
  }

  /** With all or nothing, one entry that may not use the reserve keeps out all. */
  private boolean mayUseReserve() {
    return allOrNothing
        ? group.stream().allMatch(Append::urgent)
        : group.stream().anyMatch(Append::urgent);
  }

  private Outcome<Boolean> write(boolean urgentOnly) {
    Outcome<Boolean> outcome =
        database.write(
            urgentOnly ? Urgency.URGENT : Urgency.ORDINARY,
            groupBytes,
            tables -> {
              insert(tables, urgentOnly);
              return Outcome.ok(true);
            });
    if (outcome.isOk()) {
      database.counters().appendedBytes.add(bytes);
    } else {
      fail(outcome.map(ok -> 0L));
    }
    return outcome;
  }

  /** What was refused for a reason of its own keeps that. */
  private void fail(Outcome<Long> failure) {
    for (Fit fit : fitting) {
      outcomes[fit.index] = failure;
    }
    for (int i = 0; i < outcomes.length; i++) {
      if (outcomes[i] == null) {
        outcomes[i] = failure;
      }
    }
  }

  private List<Outcome<Long>> answers() {
    List<Outcome<Long>> answers = new ArrayList<>(outcomes.length);
    for (Outcome<Long> outcome : outcomes) {
      answers.add(Objects.requireNonNull(outcome));
    }
    return answers;
  }

  private void insert(Tables tables, boolean urgentOnly) throws SQLException {
    fitting.clear();
    leftOut.clear();
    bytes = 0;
    database.cache().trim();
    boolean refused = false;
    for (int i = 0; i < group.size(); i++) {
      Outcome<Long> refusal = urgentOnly ? notUrgent(group.get(i)) : null;
      Outcome<Long> outcome = refusal == null ? look(tables, i) : refusal;
      outcomes[i] = outcome;
      refused |= !outcome.isOk();
    }
    if (refused && allOrNothing) {
      takeBack();
    } else if (!fitting.isEmpty()) {
      writeFitting(tables);
    }
  }

  private void takeBack() {
    for (Fit fit : fitting) {
      fit.position.tail--;
      outcomes[fit.index] = new Outcome.Unavailable<>("another append of the group was refused");
    }
    fitting.clear();
  }

  private @Nullable Outcome<Long> notUrgent(Append append) {
    if (append.urgent() && !leftOut.contains(append.shard())) {
      return null;
    }
    leftOut.add(append.shard());
    return new Outcome.Full<>("no space left; only urgent entries may use the reserve");
  }

  private Outcome<Long> look(Tables tables, int index) throws SQLException {
    Append append = group.get(index);
    if (append.data().length > info.maxEntryBytes()) {
      return new Outcome.TooLarge<>(info.maxEntryBytes());
    }
    Position position;
    try {
      position = position(tables, append.shard());
    } catch (DamageException e) {
      return new Outcome.Damaged<>(e.where());
    }
    if (position == null) {
      return new Outcome.Fenced<>(Head.DROPPED);
    }
    if (position.epoch != append.epoch()) {
      return new Outcome.Fenced<>(position.epoch);
    }
    if (position.generation != append.generation()) {
      return new Outcome.Conflict<>(position.tail);
    }
    if (append.number() != position.tail + 1) {
      return holds(tables, position, append)
          ? Outcome.ok(append.number())
          : new Outcome.Conflict<>(position.tail);
    }
    position.tail++;
    fitting.add(new Fit(index, append, position));
    return Outcome.ok(append.number());
  }

  private @Nullable Position position(Tables tables, ShardId shard) throws SQLException {
    Position known = database.cache().get(shard);
    if (known != null) {
      return known;
    }
    HeadRow row = tables.head(shard);
    if (row == null) {
      return null;
    }
    Position position = new Position(row, tables.tail(row));
    database.cache().put(shard, position);
    return position;
  }

  /** Whether an entry is there already, in the database or in this group. */
  private boolean holds(Tables tables, Position position, Append append) throws SQLException {
    if (append.number() < 1 || append.number() > position.tail) {
      return false;
    }
    for (Fit fit : fitting) {
      if (fit.position == position && fit.append.number() == append.number()) {
        return fit.append.batch() == append.batch();
      }
    }
    return tables.holds(position.segment, append);
  }

  private void writeFitting(Tables tables) throws SQLException {
    for (Fit fit : fitting) {
      Append append = fit.append;
      tables.addEntry(
          fit.position.segment,
          append.shard(),
          append.generation(),
          new Entry(append.number(), append.epoch(), append.batch(), append.data()));
      bytes += append.data().length;
    }
    tables.flushEntries();
    for (Fit fit : fitting) {
      writeHead(tables, fit);
    }
  }

  /** Moves the wake time, and now and then what the head knows of the tail. */
  private static void writeHead(Tables tables, Fit fit) throws SQLException {
    Append append = fit.append;
    boolean movesWake = append.raiseWakeMicros() != Append.KEEP_WAKE;
    if (!movesWake && append.number() - fit.position.writtenTail < MAX_UNKNOWN_TAIL) {
      return;
    }
    HeadRow row = tables.head(append.shard());
    if (row == null) {
      throw new DamageException("head of shard " + append.shard() + ": missing");
    }
    Head head = movesWake ? row.head().waking(append.raiseWakeMicros()) : row.head();
    tables.update(row.with(head, append.number()));
    fit.position.writtenTail = append.number();
  }
}
