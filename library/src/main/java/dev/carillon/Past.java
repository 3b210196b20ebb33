package dev.carillon;

import dev.carillon.api.error.CarillonException;
import dev.carillon.engine.format.ByteWriter;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * What this node measured of late, in three rings of {@link PastInfo.Span}: each second one look at
 * its sums, on a thread that begins when somebody asks for the first time. What was closed is kept
 * as bytes, some 50 an interval. Nothing is measured anew and nothing is done where attempts run.
 *
 * <p>Any thread asks. Rings go with the process.
 */
final class Past {
  /** An answer ends behind this; whoever asks goes on from there. */
  private static final int MOST_BYTES = 128 << 10;

  private static final long SECOND_NANOS = Duration.ofSeconds(1).toNanos();
  private static final long MICROS_A_SECOND = 1_000_000;
  private static final long BEHIND_MICROS = 50_000;

  /** A clock that goes back by more has the rings begin anew. */
  private static final long BACK_SECONDS = 5;

  private final Tally tally;
  private final TimeSource time;
  private final Supplier<CarillonStats> look;
  private final BooleanSupplier closing;
  private final Map<PastInfo.Span, Ring> rings = new EnumMap<>(PastInfo.Span.class);
  private @Nullable Sums before;
  private boolean begun;

  /** What has been counted since the node started. */
  private record Sums(
      long nanos, long started, long ended, long failed, long dead, Map<String, long[]> lateness) {}

  private static final class Ring {
    final ArrayDeque<Kept> kept = new ArrayDeque<>();
    @Nullable PastSlot open;
  }

  @SuppressWarnings("ArrayRecordComponent") // bytes are handed over, never compared or copied
  private record Kept(long at, byte[] bytes) {}

  Past(Tally tally, TimeSource time, Supplier<CarillonStats> look, BooleanSupplier closing) {
    this.tally = tally;
    this.time = time;
    this.look = look;
    this.closing = closing;
  }

  /** Begins, if it has not. */
  synchronized void begin() {
    if (!begun) {
      begun = true;
      clear();
      Thread.ofVirtual().name("carillon-past").start(this::run);
    }
  }

  private void clear() {
    before = null;
    for (PastInfo.Span span : PastInfo.Span.values()) {
      rings.put(span, new Ring());
    }
  }

  /**
   * The intervals of a ring that are over and begin later than one, oldest first: a byte whether
   * there are more, then each with its length before it.
   */
  synchronized byte[] told(int ring, long afterSeconds) {
    PastInfo.Span span = PastInfo.Span.ofCode(ring);
    if (span == null) {
      return new byte[0];
    }
    begin();
    Ring found = rings.get(span);
    ByteWriter slots = new ByteWriter(1 << 10);
    int bytes = 0;
    boolean more = false;
    for (Kept each : found == null ? new ArrayDeque<Kept>() : found.kept) {
      if (each.at() > afterSeconds) {
        more = bytes > MOST_BYTES;
        if (more) {
          break;
        }
        slots.bytes(each.bytes());
        bytes += each.bytes().length;
      }
    }
    return new ByteWriter(bytes + 64).u8(more ? 1 : 0).raw(slots.toBytes()).toBytes();
  }

  private void run() {
    while (!closing.getAsBoolean()) {
      try {
        sample(look.get());
      } catch (CarillonException e) {
        // closed, or its loop is late: the next interval is longer
      }
      LockSupport.parkNanos(untilNextSecondNanos());
    }
  }

  /** A little behind each second of the clock: then each second has one look. */
  private long untilNextSecondNanos() {
    long left = MICROS_A_SECOND - Math.floorMod(time.wallMicros(), MICROS_A_SECOND);
    return TimeUnit.MICROSECONDS.toNanos(left + BEHIND_MICROS);
  }

  /** Notes what happened since the last time. */
  synchronized void sample(CarillonStats stats) {
    Sums now = sums();
    Sums last = before;
    before = now;
    if (last == null) {
      return;
    }
    PastSlot slot = new PastSlot(time.wallMicros() / MICROS_A_SECOND - 1);
    slot.nodes = 1;
    slot.seconds = (int) Math.max(1, Math.round((now.nanos - last.nanos) / (double) SECOND_NANOS));
    slot.started = now.started - last.started;
    slot.ended = now.ended - last.ended;
    slot.failed = now.failed - last.failed;
    slot.dead = now.dead - last.dead;
    slot.ready = stats.ready();
    slot.running = stats.running();
    slot.blocked = stats.blocked();
    slot.pending = stats.loadedJobs();
    now.lateness.forEach((queue, counts) -> note(slot, queue, counts, last.lateness.get(queue)));
    add(slot);
  }

  private static void note(PastSlot slot, String queue, long[] now, long @Nullable [] last) {
    int[] counts = new int[PastSlot.BUCKETS];
    boolean some = false;
    for (int i = 0; i < counts.length; i++) {
      counts[i] = (int) Math.max(0, now[i] - (last == null ? 0 : last[i]));
      some |= counts[i] > 0;
    }
    if (some) {
      slot.addLateness(queue, counts);
    }
  }

  private void add(PastSlot slot) {
    Ring first = rings.get(PastInfo.Span.TEN_MINUTES);
    PastSlot open = first == null ? null : first.open;
    if (open != null && slot.at < open.at - BACK_SECONDS) {
      clear();
    }
    for (PastInfo.Span span : PastInfo.Span.values()) {
      Ring ring = rings.get(span);
      if (ring != null) {
        add(ring, span, slot);
      }
    }
  }

  private static void add(Ring ring, PastInfo.Span span, PastSlot slot) {
    long at = slot.at - Math.floorMod(slot.at, span.step().toSeconds());
    PastSlot open = ring.open;
    if (open != null && at > open.at) {
      open.keepFew();
      ring.kept.add(new Kept(open.at, open.encode()));
      open = null;
    }
    if (open == null) {
      open = new PastSlot(at);
      ring.open = open;
    }
    open.lengthen(slot);
    long oldest = open.at - span.length().toSeconds();
    while (!ring.kept.isEmpty() && ring.kept.getFirst().at() < oldest) {
      ring.kept.removeFirst();
    }
  }

  private Sums sums() {
    CarillonFigures figures = tally.figures();
    long ended = 0;
    for (String outcome : new String[] {"succeeded", "failed", "cancelled", "expired", "dead"}) {
      ended += figures.count("jobs." + outcome);
    }
    Map<String, long[]> lateness = new HashMap<>();
    long started = 0;
    long dead = 0;
    for (JobFigures each : tally.jobFigures()) {
      Spread spread = each.lateness();
      started += spread.count();
      dead += each.dead();
      long[] sums = lateness.computeIfAbsent(each.queue(), queue -> new long[PastSlot.BUCKETS]);
      long below = 0;
      for (int i = 0; i < PastSlot.BUCKETS - 1; i++) {
        sums[i] += spread.within().get(i) - below;
        below = spread.within().get(i);
      }
      sums[PastSlot.BUCKETS - 1] += spread.count() - below;
    }
    return new Sums(
        System.nanoTime(), started, ended, figures.count("attempts.failed"), dead, lateness);
  }
}
