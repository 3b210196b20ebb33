package dev.carillon;

import dev.carillon.api.error.CarillonException;
import dev.carillon.engine.format.ByteReader;
import dev.carillon.engine.request.Questions;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * Adds up what all nodes measured of late. A node is asked only for what it has not told, so that a
 * page that asks every few seconds costs a few bytes; whoever asks within a second of another is
 * told the same. What a node told stays when the node goes.
 */
final class ClusterPast {
  private static final long PATIENCE_NANOS = Duration.ofMillis(700).toNanos();
  private static final long FRESH_NANOS = Duration.ofSeconds(1).toNanos();
  private static final long KEEP_NANOS = Duration.ofMinutes(1).toNanos();

  /** So often a node is asked at once for what did not fit into one answer. */
  private static final int MOST_ANSWERS = 40;

  private final OpenNode opened;
  private final Map<PastInfo.Span, Told> told = new EnumMap<>(PastInfo.Span.class);
  private final AtomicBoolean keeping = new AtomicBoolean();

  /** What is known of a span; guarded by its lock, so that one asks for all. */
  private static final class Told {
    final ReentrantLock lock = new ReentrantLock();
    final TreeMap<Long, PastSlot> slots = new TreeMap<>();
    final Map<String, Long> known = new HashMap<>();
    @Nullable PastInfo last;
    long askedNanos;
  }

  ClusterPast(OpenNode opened) {
    this.opened = opened;
    for (PastInfo.Span span : PastInfo.Span.values()) {
      told.put(span, new Told());
    }
  }

  /** Asks every minute from now on. */
  void keep() {
    opened.past.begin();
    if (!keeping.compareAndSet(false, true)) {
      return;
    }
    Thread.ofVirtual().name("carillon-all-past").start(this::keepAsking);
  }

  private void keepAsking() {
    while (!opened.isClosing()) {
      try {
        var unused = of(PastInfo.Span.TEN_MINUTES);
      } catch (CarillonException e) {
        // the node closes, or its loop is late: it is asked again
      }
      LockSupport.parkNanos(KEEP_NANOS);
    }
  }

  PastInfo of(PastInfo.Span span) {
    Told of = Objects.requireNonNull(told.get(span));
    of.lock.lock();
    try {
      PastInfo known = of.last;
      if (known != null && System.nanoTime() - of.askedNanos < FRESH_NANOS) {
        return known;
      }
      PastInfo next = ask(span, of);
      of.last = next;
      of.askedNanos = System.nanoTime();
      return next;
    } finally {
      of.lock.unlock();
    }
  }

  private PastInfo ask(PastInfo.Span span, Told of) {
    Questions.Answers<byte[]> answers = question(span, of);
    boolean more = take(answers, of);
    for (int i = 1; more && i < MOST_ANSWERS; i++) {
      more = take(question(span, of), of);
    }
    long newest = of.slots.isEmpty() ? 0 : of.slots.lastKey();
    of.slots.headMap(newest - span.length().toSeconds(), true).clear();
    of.known
        .keySet()
        .removeIf(node -> !answers.of().containsKey(node) && !answers.silent().contains(node));
    List<PastInfo.Slot> slots = new ArrayList<>(of.slots.size());
    of.slots.values().forEach(slot -> slots.add(told(slot)));
    return new PastInfo(span, slots, List.copyOf(answers.of().keySet()), answers.silent());
  }

  private Questions.Answers<byte[]> question(PastInfo.Span span, Told of) {
    return opened
        .loop
        .post(
            new Ask<Questions.Answers<byte[]>>(
                opened.loop,
                "asking for figures",
                Ask.Effect.READS,
                (node, asked) ->
                    node.questions()
                        .past(span.code(), Map.copyOf(of.known), PATIENCE_NANOS, asked::answer)))
        .await();
  }

  /** True where some node has more to tell already. */
  private static boolean take(Questions.Answers<byte[]> answers, Told of) {
    boolean more = false;
    for (Map.Entry<String, byte[]> each : answers.of().entrySet()) {
      ByteReader in = new ByteReader(each.getValue());
      more |= in.remaining() > 0 && in.u8() == 1;
      long last = of.known.getOrDefault(each.getKey(), 0L);
      while (in.remaining() > 0) {
        PastSlot slot = PastSlot.decode(new ByteReader(in.bytes()));
        if (slot.at > last) {
          last = slot.at;
          of.slots.computeIfAbsent(slot.at, PastSlot::new).widen(slot);
        }
      }
      of.known.put(each.getKey(), last);
    }
    return more;
  }

  private static PastInfo.Slot told(PastSlot slot) {
    Map<String, List<Integer>> lateness = new TreeMap<>();
    slot.lateness.forEach(
        (queue, counts) -> lateness.put(queue, Arrays.stream(counts).boxed().toList()));
    return new PastInfo.Slot(
        Instant.ofEpochSecond(slot.at),
        Duration.ofSeconds(slot.seconds),
        slot.nodes,
        new PastInfo.Sums(slot.started, slot.ended, slot.failed, slot.dead),
        new PastInfo.Levels(slot.ready, slot.running, slot.blocked, slot.pending),
        lateness);
  }
}
