package dev.carillon.engine.commit;

import dev.carillon.engine.environment.NodeEnvironment;
import dev.carillon.engine.environment.Timers;
import dev.carillon.store.Outcome;
import dev.carillon.store.Records.Change;
import dev.carillon.store.Records.Stamp;
import dev.carillon.store.Records.Stored;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * All that this node reads and changes of records. Changes go in order, many in one call, one call
 * at a time; an unknown outcome is resolved before the next is sent. What the store could not take
 * goes again with what has come meanwhile, unless the store is another copy by then: a version may
 * be the same in both and mean another thing. What nobody waits for goes a little at a time.
 */
public final class RecordChanges {
  private static final int MAX_CHANGES = 2_000;

  /** Well below what any store takes in one call. */
  private static final long MAX_BYTES = 8 << 20;

  /**
   * Of those that nobody waits for, unless more than that are asked for: while they are made others
   * wait for them and their locks. But each name that is taken is freed one day. So at least as
   * many are freed as are taken, also in a full call: names that pile up make the table of records
   * large, and each change in a large table of random keys writes a page of its own.
   */
  private static final int MAX_UNHURRIED = 500;

  private static final long RETRY_NANOS = 20_000_000;

  private final NodeEnvironment env;
  private final long incarnation;
  private final Timers timers;
  private final ArrayDeque<Queued> queue = new ArrayDeque<>();
  private final ArrayDeque<Unhurried> unhurried = new ArrayDeque<>();
  private long sequence;
  private boolean busy;
  private int reads;

  /** Of how many copies of the store this node has known. */
  private int copies;

  private record Queued(
      Change change,
      int copies,
      Consumer<Boolean> done,
      @Nullable Consumer<String> ifFull,
      @Nullable Runnable ifOther) {}

  /** One that gets its stamp when it is sent: stamps are in order. */
  private record Unhurried(
      String key,
      Stamp expected,
      byte @Nullable [] value,
      int copies,
      Consumer<Boolean> done,
      Runnable ifOther) {

    Queued as(Stamp stamp) {
      return new Queued(new Change(key, expected, value, stamp), copies, done, null, ifOther);
    }
  }

  public RecordChanges(NodeEnvironment env, long incarnation, Timers timers) {
    this.env = env;
    this.incarnation = incarnation;
    this.timers = timers;
  }

  /** Another number after each time that the store became another copy. */
  public int copies() {
    return copies;
  }

  /** The store is another copy: what was decided by the one before is not in effect in this. */
  public void exchanged() {
    copies++;
  }

  /** Whether this node made the change that gave a record its version. */
  public boolean wrote(Stamp version) {
    return version.writer() == incarnation;
  }

  /** Whether nothing is asked: who waits for an answer may hold a shard. */
  public boolean idle() {
    return queue.isEmpty() && unhurried.isEmpty() && !busy && reads == 0;
  }

  /**
   * Puts or, with a null value, deletes; {@code done} hears whether that is in effect. If not, or
   * if that cannot be said of a delete, the record is to be looked at again.
   */
  public Stamp change(String key, Stamp expected, byte @Nullable [] value, Consumer<Boolean> done) {
    return queue(key, expected, value, done, null);
  }

  /**
   * The same of something that nobody waits for, where {@code ifOther} runs in the place of {@code
   * done} if the record had another version for certain.
   */
  public void tidy(
      String key,
      Stamp expected,
      byte @Nullable [] value,
      Consumer<Boolean> done,
      Runnable ifOther) {
    unhurried.add(new Unhurried(key, expected, value, copies, done, ifOther));
  }

  /**
   * Puts or, with a null value, deletes; {@code ifFull} hears why, in the place of {@code done},
   * where there is no room.
   */
  public Stamp put(
      String key,
      Stamp expected,
      byte @Nullable [] value,
      Consumer<Boolean> done,
      Consumer<String> ifFull) {
    return queue(key, expected, value, done, ifFull);
  }

  private Stamp queue(
      String key,
      Stamp expected,
      byte @Nullable [] value,
      Consumer<Boolean> done,
      @Nullable Consumer<String> ifFull) {
    Stamp stamp = stamp();
    queue.add(new Queued(new Change(key, expected, value, stamp), copies, done, ifFull, null));
    return stamp;
  }

  /** The version of a record that another change of this node's makes. */
  public Stamp stamp() {
    return new Stamp(incarnation, ++sequence);
  }

  /** Looks a record up; {@code done} gets it once the store answers. */
  public void get(String key, Consumer<Optional<Stored>> done) {
    reads++;
    read(key, done);
  }

  private void read(String key, Consumer<Optional<Stored>> done) {
    env.submit(
        NodeEnvironment.Channel.RECORDS,
        store -> store.records().get(key),
        outcome -> {
          if (outcome instanceof Outcome.Ok<Optional<Stored>>(Optional<Stored> found)) {
            reads--;
            done.accept(found);
          } else {
            later(() -> read(key, done));
          }
        });
  }

  private void later(Runnable action) {
    timers.at(env.monotonicNanos() + RETRY_NANOS, action);
  }

  /** Sends what has gathered, if nothing is under way. */
  public void turn() {
    if (busy) {
      return;
    }
    Group group = new Group();
    int mostAsked = MAX_CHANGES - Math.min(unhurried.size(), MAX_CHANGES / 2);
    while (!queue.isEmpty() && group.hasRoom(mostAsked)) {
      group.add(queue.remove());
    }
    int asked = group.changes.size();
    int most = Math.min(MAX_CHANGES, asked + Math.max(MAX_UNHURRIED, asked));
    while (!unhurried.isEmpty() && group.hasRoom(most)) {
      group.add(unhurried.remove().as(stamp()));
    }
    if (!group.changes.isEmpty()) {
      busy = true;
      send(group.changes);
    }
  }

  /** What goes in one call. */
  private final class Group {
    final List<Queued> changes = new ArrayList<>();
    private long bytes;

    boolean hasRoom(int most) {
      return changes.size() < most && bytes < MAX_BYTES;
    }

    void add(Queued next) {
      if (next.copies() != copies) {
        tell(next.done(), false);
        return;
      }
      byte[] value = next.change().value();
      bytes += value == null ? 0 : value.length;
      changes.add(next);
    }
  }

  private void send(List<Queued> group) {
    List<Change> changes = group.stream().map(Queued::change).toList();
    env.submit(
        NodeEnvironment.Channel.RECORDS,
        store -> store.records().apply(changes),
        outcomes -> settled(group, outcomes));
  }

  private void settled(List<Queued> group, List<Outcome<Stamp>> outcomes) {
    List<Queued> again = new ArrayList<>();
    ArrayDeque<Queued> unknown = new ArrayDeque<>();
    for (int i = 0; i < group.size(); i++) {
      Queued queued = group.get(i);
      switch (outcomes.get(i)) {
        case Outcome.Ok<Stamp> ok -> tell(queued.done(), true);
        case Outcome.Unknown<Stamp> u -> unknown.add(queued);
        case Outcome.Unavailable<Stamp> u -> again.add(queued);
        case Outcome.Full<Stamp>(String detail) when queued.ifFull() != null ->
            tell(queued.ifFull(), detail);
        case Outcome.Full<Stamp> f -> again.add(queued);
        case Outcome.Conflict<Stamp> other -> isOther(queued);
        default -> tell(queued.done(), false);
      }
    }
    resolve(unknown, again);
  }

  private void isOther(Queued queued) {
    Runnable ifOther = queued.ifOther();
    tell(ifOther == null ? queued.done() : told -> ifOther.run(), false);
  }

  /** What one of them makes of it must not hold up the others. */
  private <T> void tell(Consumer<T> done, T answer) {
    try {
      done.accept(answer);
    } catch (RuntimeException e) {
      env.report("what follows a change of a record failed", e);
    }
  }

  /** Resolves in order of sequence, then queues again what is known not to be in effect. */
  private void resolve(ArrayDeque<Queued> unknown, List<Queued> again) {
    Queued next = unknown.peek();
    if (next == null) {
      if (again.isEmpty()) {
        busy = false;
      } else {
        later(
            () -> {
              again.forEach(this::again);
              busy = false;
            });
      }
      return;
    }
    env.submit(
        NodeEnvironment.Channel.RECORDS,
        store -> store.records().resolve(next.change()),
        outcome -> {
          if (outcome instanceof Outcome.Ok<Boolean>(Boolean inEffect)) {
            unknown.remove();
            resolved(next, inEffect);
            resolve(unknown, again);
          } else {
            later(() -> resolve(unknown, again));
          }
        });
  }

  private void again(Queued queued) {
    Runnable ifOther = queued.ifOther();
    if (ifOther == null) {
      queue.add(queued);
    } else {
      Change change = queued.change();
      unhurried.add(
          new Unhurried(
              change.key(),
              change.expected(),
              change.value(),
              queued.copies(),
              queued.done(),
              ifOther));
    }
  }

  /**
   * To the store a delete is in effect as soon as the record is another. That may be somebody
   * else's change of what was to be deleted: only where nothing is left it is told so.
   */
  private void resolved(Queued queued, boolean inEffect) {
    if (inEffect && queued.change().value() == null) {
      get(queued.change().key(), found -> tell(queued.done(), found.isEmpty()));
    } else {
      tell(queued.done(), inEffect);
    }
  }
}
