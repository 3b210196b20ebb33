package dev.carillon.simulator;

import dev.carillon.engine.environment.NodeEnvironment.Channel;
import dev.carillon.simulator.FaultTable.Column;
import dev.carillon.store.ForwardingStore.Operation;
import dev.carillon.store.Store;
import java.util.ArrayDeque;
import java.util.EnumMap;
import java.util.Map;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * The store as one life of the node sees it: a call takes effect some time after it was made and is
 * answered some time after that; each channel keeps its order, and none waits for another. When the
 * node dies, a call under way is forgotten, or takes effect without anybody to hear of it, perhaps
 * much later.
 */
final class StoreChannels {
  private static final long LONGEST_HANG_NANOS = 40 * VirtualClock.SECOND;
  private static final int CRASH_AT_CALL = 100;
  private static final long LONGEST_GHOST_NANOS = 300 * VirtualClock.SECOND;
  private static final long LONGEST_REFUSAL_NANOS = VirtualClock.SECOND;

  private final Life life;
  private final World world;
  private final StoreLine storeLine;
  private final WatchedStore watched;
  private final Consumer<String> crash;
  private final StoreFaults faults;
  private final Map<Channel, Line> lines = new EnumMap<>(Channel.class);
  private int unanswered;
  private boolean dead;

  /** The calls of one channel. */
  private static final class Line {
    final ArrayDeque<Call<?>> waiting = new ArrayDeque<>();
    final ArrayDeque<Call<?>> unheard = new ArrayDeque<>();
    @Nullable Call<?> current;
    long lastAnswerNanos;
  }

  /** A call from being made to being answered. */
  private static final class Call<T> {
    final Function<Store, T> work;
    final Consumer<T> done;
    final long madeNanos;
    boolean hangs;
    boolean effected;
    @Nullable Operation operation;

    Call(Function<Store, T> work, Consumer<T> done, long madeNanos) {
      this.madeNanos = madeNanos;
      this.work = work;
      this.done = done;
    }
  }

  /**
   * Channels of a node.
   *
   * @param crash kills the node, for the reason given
   */
  StoreChannels(Life life, Life.Parts parts, StoreLine storeLine, Consumer<String> crash) {
    this.life = life;
    this.storeLine = storeLine;
    this.world = parts.world();
    this.watched = parts.watched();
    this.faults = parts.faults();
    this.crash = crash;
    for (Channel channel : Channel.values()) {
      lines.put(channel, new Line());
    }
  }

  /** Whether no call is under way or unanswered. */
  boolean idle() {
    return unanswered == 0;
  }

  <T> void submit(Channel channel, Function<Store, T> work, Consumer<T> done) {
    unanswered++;
    Line line = line(channel);
    line.waiting.add(new Call<>(work, done, world.clock.nanos()));
    beginNext(line);
  }

  private Line line(Channel channel) {
    Line line = lines.get(channel);
    if (line == null) {
      throw new IllegalArgumentException("channel: " + channel);
    }
    return line;
  }

  private void beginNext(Line line) {
    if (line.current != null) {
      return;
    }
    Call<?> call = line.waiting.poll();
    if (call == null) {
      return;
    }
    line.current = call;
    long delay = latency();
    if (world.faulty && world.chance.happens(world.climate.hangs)) {
      call.hangs = true;
      delay += world.chance.spread(VirtualClock.MILLI, LONGEST_HANG_NANOS);
      world.goesWrongUntil(world.clock.nanos() + delay);
    }
    world.in(delay, () -> effect(line, call));
  }

  private long latency() {
    return world.chance.between(5 * VirtualClock.MICRO, world.climate.slowestCallNanos);
  }

  private <T> void effect(Line line, Call<T> call) {
    if (dead || call.effected || waitsForLine(line, call) || diesHere(call)) {
      return;
    }
    call.effected = true;
    boolean refused = storeLine.isCut();
    faults.begin(life.nodeIndex, call.hangs, refused, () -> interleave(line));
    T result = work(call);
    call.operation = faults.lastOperation();
    long delay = latency() + faults.slowness() + (refused ? refusal() : 0);
    long at = Math.max(line.lastAnswerNanos, world.clock.nanos() + delay);
    line.lastAnswerNanos = at;
    if (faults.slowness() > 0) {
      world.goesWrongUntil(at);
    }
    line.current = null;
    line.unheard.add(call);
    world.queue.at(at, () -> answer(line, call, result, refused));
    beginNext(line);
  }

  private <T> T work(Call<T> call) {
    Life writer = world.writer;
    long written = world.writtenNanos;
    world.writer = life;
    world.writtenNanos = call.madeNanos;
    T result = call.work.apply(life.opening);
    world.writer = writer;
    world.writtenNanos = written;
    return result;
  }

  /** Whether the line is cut and the call hangs until it is mended; others are refused. */
  private boolean waitsForLine(Line line, Call<?> call) {
    if (!storeLine.isCut() || !world.chance.oneIn(2)) {
      return false;
    }
    call.hangs = true;
    world.queue.at(storeLine.cutUntilNanos() + latency(), () -> effect(line, call));
    return true;
  }

  private long refusal() {
    return world.chance.spread(10 * VirtualClock.MILLI, LONGEST_REFUSAL_NANOS);
  }

  /** An answer of the store gets through; that there is no way to it is said by nobody. */
  private <T> void answer(Line line, Call<T> call, T result, boolean refused) {
    boolean first = line.unheard.peek() == call;
    if (storeLine.isCut() && (!refused || !first)) {
      long later = storeLine.cutUntilNanos();
      line.lastAnswerNanos = Math.max(line.lastAnswerNanos, later);
      world.queue.at(later, () -> answer(line, call, result, refused));
      return;
    }
    life.deliver(
        () -> {
          unanswered--;
          line.unheard.remove(call);
          call.done.accept(result);
        });
  }

  /** Now and then the node dies just before a call, or just after, more often at rare ones. */
  private boolean diesHere(Call<?> call) {
    if (!world.faulty || world.crashesLeft == 0 || !world.chance.happens(CRASH_AT_CALL)) {
      return false;
    }
    OperationProbe probe = probe(call);
    Operation operation = probe.operation();
    if (operation == null || (!probe.isRare() && !world.chance.oneIn(8))) {
      return false;
    }
    world.crashesLeft--;
    if (world.chance.oneIn(3)) {
      world.in(0, () -> crash.accept("after " + operation));
      return false;
    }
    crash.accept("before " + operation);
    return true;
  }

  private OperationProbe probe(Call<?> call) {
    OperationProbe probe = new OperationProbe(watched.now());
    var unused = call.work.apply(probe);
    return probe;
  }

  /** Between two store calls of one piece of work, those of other channels may take effect. */
  private void interleave(Line busy) {
    for (Line other : lines.values()) {
      Call<?> call = other.current;
      if (other != busy && call != null && !call.hangs && world.chance.oneIn(2)) {
        StoreFaults.Moment moment = faults.suspend();
        effect(other, call);
        faults.resume(moment);
      }
    }
  }

  /** The node is dead: nobody hears an answer any more. */
  void crash() {
    dead = true;
    for (Line line : lines.values()) {
      for (Call<?> unheard : line.unheard) {
        if (unheard.operation != null) {
          world.table.count(unheard.operation, Column.CRASH_UNHEARD);
        }
      }
      Call<?> current = line.current;
      if (current != null) {
        orphan(current);
      }
    }
  }

  private void orphan(Call<?> call) {
    Operation operation = probe(call).operation();
    if (operation == null) {
      return;
    }
    if (operation.isRead() || world.chance.oneIn(2)) {
      world.table.count(operation, Column.CRASH_NEVER);
      return;
    }
    world.table.count(operation, Column.CRASH_LATE);
    int copy = world.copy;
    world.in(
        world.chance.spread(VirtualClock.MICRO, LONGEST_GHOST_NANOS),
        () -> {
          if (world.calm || life.opening.copy() != copy || world.copy != copy) {
            return; // it goes by another copy, which refuses it, or got lost
          }
          world.trace.note("late, from a dead node", -1, operation.toString());
          world.writer = life;
          world.writtenNanos = call.madeNanos;
          var ignored = call.work.apply(watched);
          world.writer = null;
        });
  }
}
