package dev.carillon.engine.message;

import dev.carillon.engine.commit.Basics;
import dev.carillon.engine.commit.RecordChanges;
import dev.carillon.engine.commit.RecordSweep;
import dev.carillon.engine.commit.StoreCalls;
import dev.carillon.engine.environment.NodeEnvironment;
import dev.carillon.engine.environment.Timers;
import dev.carillon.engine.format.ByteReader;
import dev.carillon.engine.format.ByteWriter;
import dev.carillon.engine.member.MemberStatus;
import dev.carillon.store.Outcome;
import dev.carillon.store.Records.Stamp;
import dev.carillon.store.Records.Stored;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * What nodes say to each other at once and in bulk: messages of any size from one incarnation to
 * another, in order, each at most once. They are gathered into records that their addressee reads
 * and deletes; where the store carries notifications it gets one, and it polls as well.
 *
 * <pre>
 * key    "w\0" to "\0" from "." stream "." number, each 16 hex digits
 * value  byte 1, string copy of the store, then pieces: byte 1 where the message goes on in the
 *        next piece, else 0; bytes
 * </pre>
 *
 * <p>Crash table: the sender dies: what it had written is heard, then nothing more comes. The
 * addressee dies: what lies there for it is deleted by whoever looks. A write is lost or unknown:
 * it is written again under the same number. A record that was written is gone, with an older copy
 * of the store say: after ten seconds the addressee goes on with those behind it, and whoever
 * misses an answer asks again. A record is read twice before its deletion is in effect: its number
 * says so. An older copy of the store is put back, with records that were heard before: they are of
 * another copy than their addressee goes by, and are deleted unheard. Nothing that must survive one
 * of the two is said here.
 */
public final class Wire {
  private static final String PREFIX = "w\0";
  private static final int VERSION = 1;

  /** What a record may have. */
  private static final int MOST_BYTES = 60 << 10;

  /** A message takes so much beside its bytes, at most. */
  private static final int PIECE_BYTES = 6;

  private static final int PAGE = 64;
  private static final int MOST_READ = 256;

  /** What is missing in a stream for so long does not come any more. */
  private static final long GAP_NANOS = 10_000_000_000L;

  private static final long BUSY_POLL_NANOS = 50_000_000;
  private static final long IDLE_POLL_NANOS = 500_000_000;
  private static final long ALONE_POLL_NANOS = 5_000_000_000L;

  private final NodeEnvironment env;
  private final Timers timers;
  private final RecordChanges records;
  private final Notifications notifications;
  private final long incarnation;
  private final MemberStatus status;
  private final Host host;
  private final Map<Long, Outgoing> outgoing = new LinkedHashMap<>();
  private final Map<Source, Incoming> incoming = new LinkedHashMap<>();
  private final List<Runnable> afterPoll = new ArrayList<>();
  private final Set<String> deleting = new LinkedHashSet<>();
  private final RecordSweep sweep;
  private Timers.@Nullable Timer next;
  private boolean polling;
  private boolean pollAgain;
  private boolean over;
  private int underWay;

  /** The node, as far as its wire needs it. */
  public interface Host {
    /** Whether something is expected soon. */
    boolean expectsMessages();

    /** Another node says something. */
    void heard(long from, byte[] message);
  }

  private static final class Outgoing {
    final ArrayDeque<byte[]> messages = new ArrayDeque<>();

    /** Tells what is said to one that was forgotten and came back from what was said before. */
    final long stream;

    /** How much of the first message has been written. */
    int written;

    long numbers;

    Outgoing(long stream) {
      this.stream = stream;
    }
  }

  /** Whose words, and which. */
  private record Source(long from, long stream) {}

  private static final class Incoming {
    long expected = 1;
    @Nullable ByteWriter begun;

    /** Since when one is missing that is before others; 0 where none is. */
    long gapSinceNanos;
  }

  public Wire(Basics basics, Notifications notifications, MemberStatus status, Host host) {
    this.env = basics.env();
    this.timers = basics.timers();
    this.records = basics.records();
    this.notifications = notifications;
    this.incarnation = status.incarnation();
    this.status = status;
    this.host = host;
    this.sweep =
        new RecordSweep(
            env,
            records,
            PREFIX,
            record -> status.isForgotten(digits(record.key(), PREFIX.length())));
  }

  /** The channel of notifications for a node. */
  public static String channel(long incarnation) {
    return "node " + hex(incarnation);
  }

  private static String hex(long number) {
    String digits = Long.toHexString(number);
    return "0".repeat(16 - digits.length()) + digits;
  }

  private static String prefix(long to) {
    return PREFIX + hex(to) + '\0';
  }

  public void start() {
    pollIn(IDLE_POLL_NANOS);
  }

  public void stop() {
    over = true;
  }

  /** Whether everything that was said is written. */
  public boolean idle() {
    return outgoing.values().stream().allMatch(to -> to.messages.isEmpty()) && underWay == 0;
  }

  // ---- saying

  public void send(long to, byte[] message) {
    outgoing.computeIfAbsent(to, t -> new Outgoing(env.random())).messages.add(message);
    pollIn(BUSY_POLL_NANOS); // for the answer
  }

  /** Nothing more is said to it. */
  void forget(long peer) {
    outgoing.remove(peer);
    incoming.keySet().removeIf(source -> source.from() == peer);
  }

  /** Writes what has been said in this turn. */
  public void turn() {
    String copy = status.copy();
    if (copy == null) {
      return;
    }
    for (Map.Entry<Long, Outgoing> each : outgoing.entrySet()) {
      Outgoing to = each.getValue();
      List<byte[]> values = new ArrayList<>();
      while (!to.messages.isEmpty()) {
        values.add(gather(to, copy));
      }
      for (int i = 0; i < values.size(); i++) {
        boolean last = i == values.size() - 1;
        write(each.getKey(), to, ++to.numbers, values.get(i), last);
      }
    }
  }

  /** As much as one record has room for. */
  private static byte[] gather(Outgoing to, String copy) {
    ByteWriter out = new ByteWriter(1024).u8(VERSION).string(copy);
    int room = MOST_BYTES;
    while (!to.messages.isEmpty() && room > PIECE_BYTES) {
      byte[] message = to.messages.element();
      int length = Math.min(message.length - to.written, room - PIECE_BYTES);
      boolean goesOn = to.written + length < message.length;
      byte[] piece =
          length == message.length
              ? message
              : Arrays.copyOfRange(message, to.written, to.written + length);
      out.u8(goesOn ? 1 : 0).bytes(piece);
      room -= length + PIECE_BYTES;
      to.written = goesOn ? to.written + length : 0;
      if (!goesOn) {
        to.messages.remove();
      }
    }
    return out.toBytes();
  }

  private void write(long to, Outgoing of, long number, byte[] value, boolean notifies) {
    String key = prefix(to) + hex(incarnation) + '.' + hex(of.stream) + '.' + hex(number);
    underWay++;
    var unused =
        records.change(
            key,
            Stamp.ABSENT,
            value,
            inEffect -> {
              underWay--;
              if (!inEffect && outgoing.get(to) == of) {
                write(to, of, number, value, notifies);
              } else if (notifies) {
                notifications.send(channel(to));
              }
            });
  }

  // ---- hearing

  /** It was looked who is there: one that was alone is not to wait until it looks again. */
  public void looked() {
    if (status.hasCorrespondents()) {
      pollIn(IDLE_POLL_NANOS);
    }
  }

  /** A notification came. */
  public void notified() {
    pollIn(0);
  }

  /** Runs {@code then} when everything has been heard that was said before. */
  public void afterHearing(Runnable then) {
    if (polling) {
      afterPoll.add(() -> afterHearing(then)); // that look may have been before
    } else {
      afterPoll.add(then);
      poll();
    }
  }

  private void pollIn(long nanos) {
    long at = env.monotonicNanos() + nanos;
    if (next != null && !next.isAfter(at)) {
      return;
    }
    timers.cancel(next);
    next = timers.at(at, this::poll);
  }

  private void poll() {
    if (over) {
      return;
    }
    if (polling) {
      pollAgain = true;
      return;
    }
    polling = true;
    env.submit(
        NodeEnvironment.Channel.RECORDS,
        store -> StoreCalls.list(store, prefix(incarnation), PAGE, MOST_READ),
        outcome -> {
          polling = false;
          boolean all = false;
          if (outcome instanceof Outcome.Ok<List<Stored>>(List<Stored> found)) {
            hear(found);
            all = found.size() < MOST_READ && status.copy() != null;
            pollAgain |= found.size() >= MOST_READ;
          }
          if (all) {
            List<Runnable> after = List.copyOf(afterPoll);
            afterPoll.clear();
            after.forEach(Runnable::run);
          }
          pollIn(pollAgain ? 0 : nanosToNext());
          pollAgain = false;
        });
  }

  private long nanosToNext() {
    if (host.expectsMessages() || !afterPoll.isEmpty()) {
      return BUSY_POLL_NANOS;
    }
    return status.hasCorrespondents() ? IDLE_POLL_NANOS : ALONE_POLL_NANOS;
  }

  private void hear(List<Stored> found) {
    String copy = status.copy();
    for (Stored record : found) {
      try {
        if (copy != null && !deleting.contains(record.key())) {
          hear(record, copy);
        }
      } catch (RuntimeException e) {
        env.report("what another node says could not be read: " + e.getMessage(), e);
        delete(record);
      }
    }
  }

  private void hear(Stored record, String copy) {
    ByteReader in = new ByteReader(record.value());
    in.requireVersion("wire", VERSION);
    if (!in.string().equals(copy)) {
      // Of the copy before; or of the next, which this node does not know yet: until it does, the
      // store refuses to delete it, and afterwards that is not asked for any more.
      delete(record);
      return;
    }
    int at = prefix(incarnation).length();
    Source source = new Source(digits(record.key(), at), digits(record.key(), at + 17));
    long number = digits(record.key(), at + 34);
    Incoming of = incoming.computeIfAbsent(source, s -> new Incoming());
    if (number > of.expected && !isGivenUp(of)) {
      return; // one before it is on its way
    }
    if (number > of.expected) {
      of.expected = number; // what was before it was deleted, or written to another copy
      of.begun = null;
    }
    of.gapSinceNanos = 0;
    delete(record);
    if (number == of.expected) {
      of.expected++;
      hear(source.from(), of, in);
    }
  }

  private boolean isGivenUp(Incoming of) {
    long now = env.monotonicNanos();
    if (of.gapSinceNanos == 0) {
      of.gapSinceNanos = now == 0 ? 1 : now;
    }
    return now - of.gapSinceNanos >= GAP_NANOS;
  }

  private static long digits(String key, int from) {
    return Long.parseUnsignedLong(key, from, from + 16, 16);
  }

  private void hear(long from, Incoming of, ByteReader in) {
    while (in.remaining() > 0) {
      boolean goesOn = in.u8() == 1;
      byte[] piece = in.bytes();
      ByteWriter begun = of.begun;
      if (begun == null && !goesOn) {
        tell(from, piece);
      } else {
        begun = begun != null ? begun : new ByteWriter(2 * piece.length);
        begun.raw(piece);
        of.begun = goesOn ? begun : null;
        if (!goesOn) {
          tell(from, begun.toBytes());
        }
      }
    }
  }

  /** One that cannot be made sense of does not cost those behind it. */
  private void tell(long from, byte[] message) {
    try {
      host.heard(from, message);
    } catch (RuntimeException e) {
      env.report("what another node says could not be acted on: " + e.getMessage(), e);
    }
  }

  private void delete(Stored record) {
    if (deleting.add(record.key())) {
      var unused =
          records.change(
              record.key(), record.version(), null, inEffect -> deleting.remove(record.key()));
    }
  }

  /** The store is another copy: what was said may not be there, and is not said again. */
  public void exchanged() {
    outgoing.clear();
    incoming.clear();
  }

  /** Deletes what lies there for those who do not come back. */
  public void sweep() {
    List.copyOf(outgoing.keySet()).stream().filter(status::isForgotten).forEach(this::forget);
    incoming.keySet().removeIf(source -> status.isForgotten(source.from()));
    sweep.begin();
  }
}
