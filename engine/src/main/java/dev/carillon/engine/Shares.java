package dev.carillon.engine;

import dev.carillon.store.Outcome;
import dev.carillon.store.Records.Stamp;
import dev.carillon.store.Records.Stored;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Limits of all nodes together. A limit has a record that says how much of it which incarnation
 * has; a node takes what it needs and is free, by the record's version, and gives back what it has
 * not used for a second. So the parts never add up to more than the limit.
 *
 * <pre>
 * version  byte    1
 * entries  varint, each: long incarnation, varint share, long wanted since
 * </pre>
 *
 * <p>Where others wait who have less than their even part, a node that has more uses as many fewer;
 * where there is not one for each, the one that was due first has it. Who waits for two limits and
 * has one of them keeps that for a few looks by the same rule: where all nodes have the same order,
 * the first of them gets both.
 *
 * <p>Crash table: the node dies: what it had is free once it has been dead for as long as its
 * handlers had to stop. It is paused: before that time it stops itself, and afterwards it reads
 * what it still has. The answer to a change is lost: {@link RecordChanges} resolves it.
 */
final class Shares {
  static final String RECORDS = "l\0";

  private static final int VERSION = 1;
  private static final long POLL_NANOS = 250_000_000;
  private static final long LINGER_NANOS = 1_000_000_000;
  private static final int MOST_DOUBLINGS = 3;
  private static final int MOST_KEPT_LOOKS = 4;
  private static final int PAGE = 1000;

  private final NodeEnvironment env;
  private final RecordChanges records;
  private final Timers timers;
  private final long incarnation;
  private final Host host;
  private final Set<Share> held = new LinkedHashSet<>();

  /** The node, as far as limits need it. */
  interface Host {
    /** Whether there are other nodes on the store, perhaps. */
    boolean isShared();

    /** Whether nothing of that incarnation can run any more. */
    boolean isOver(long incarnation);
  }

  Shares(NodeEnvironment env, RecordChanges records, Timers timers, long incarnation, Host host) {
    this.env = env;
    this.records = records;
    this.timers = timers;
    this.incarnation = incarnation;
    this.host = host;
  }

  /** Whether limits are of several nodes together. */
  boolean isShared() {
    return host.isShared();
  }

  long nowMicros() {
    return env.wallMicros();
  }

  /** More of it is needed here: {@link Share#changed} runs when there is, or nothing is left. */
  void ask(Share share, int limit, int wanted, long sinceMicros) {
    share.asked = true;
    share.limit = limit;
    share.wanted = wanted;
    share.wantedSince = Math.min(share.wantedSince, Math.max(sinceMicros, share.lastInVain));
    if (!share.full) { // else it is looked at again and again
      step(share);
    }
  }

  /** The limit is another. */
  void limit(Share share, int limit) {
    if (share.limit != limit) {
      share.limit = limit;
      share.full = false;
      if (share.granted > 0 || share.wanted > 0) {
        step(share);
      }
    }
  }

  /** One that was in use is not any more. */
  void freed(Share share) {
    share.keptSince = Share.Entry.NOTHING;
    share.owed = owed(share);
    if (share.owed > 0 || share.granted > share.limit) {
      step(share);
    } else {
      lookIn(share, LINGER_NANOS);
    }
  }

  /** What this node has may have been taken from it: it is read before it is used again. */
  void fenced() {
    for (Share share : held) {
      share.stale = true;
      share.granted = 0;
      share.owed = 0;
      lookIn(share, POLL_NANOS);
    }
  }

  private void lookIn(Share share, long nanos) {
    if (share.next == null || share.next.isOver()) {
      share.next = timers.at(env.monotonicNanos() + nanos, () -> lookAt(share));
    }
  }

  private void lookAt(Share share) {
    if (!share.asked) {
      share.wanted = 0;
      share.wantedSince = Share.Entry.NOTHING;
    }
    share.asked = false;
    boolean idle = share.wanted == 0 && share.inUse.getAsInt() == 0;
    keep(share, idle);
    share.stale |= !idle || share.kept; // what is given back needs no look
    step(share);
  }

  /**
   * Given back, a share that waits for another limit would go round while another node has what is
   * missing beside it. So who was due first keeps it, but not for long: others may need only this.
   */
  private void keep(Share share, boolean idle) {
    boolean expected = share.expectedSince != Share.Entry.NOTHING && share.usable() > 0;
    share.kept = idle && expected;
    share.keptLooks = share.kept ? share.keptLooks + 1 : 0;
    if (!idle) {
      share.lastInVain = Long.MIN_VALUE;
    } else if (share.keptLooks > MOST_KEPT_LOOKS) {
      share.keptLooks = 0;
      share.lastInVain = env.wallMicros();
    }
    share.keptSince =
        expected ? Math.max(share.expectedSince, share.lastInVain) : Share.Entry.NOTHING;
    share.expectedSince = Share.Entry.NOTHING;
  }

  /** Takes or gives what is to be. */
  private void step(Share share) {
    if (share.busy) {
      return;
    }
    timers.cancel(share.next);
    held.add(share);
    if (share.stale) {
      read(share);
    } else {
      decide(share);
    }
  }

  private void read(Share share) {
    share.busy = true;
    share.stale = false;
    records.get(
        share.record,
        found -> {
          share.busy = false;
          if (share.stale) {
            read(share); // others may have taken it since it was read
          } else {
            remember(share, found);
            decide(share);
          }
        });
  }

  private void remember(Share share, Optional<Stored> found) {
    share.version = found.map(Stored::version).orElse(Stamp.ABSENT);
    share.granted = 0;
    share.said = Share.Entry.NOTHING;
    List<Share.Entry> others = new ArrayList<>();
    for (Share.Entry entry : found.map(Shares::decode).orElse(List.of())) {
      if (entry.incarnation() == incarnation) {
        share.granted = entry.share();
        share.said = entry.wantedSince();
      } else if (!host.isOver(entry.incarnation())) {
        others.add(entry);
      }
    }
    share.others = others;
  }

  private void decide(Share share) {
    int inUse = share.inUse.getAsInt();
    share.owed = owed(share);
    int most = Math.min(share.granted - share.owed, share.limit);
    int kept = Math.min(share.granted, Math.max(inUse, most));
    int target = kept;
    if (share.wanted == 0) {
      target = inUse == 0 && !share.kept ? 0 : kept;
      if (share.kept) {
        share.kept = false;
        share.quietLooks = 0; // others may come to wait for it
      }
    } else if (share.owed == 0) {
      target = share.granted + Math.min(share.wanted, free(share));
    }
    share.full = share.wanted > 0 && target <= inUse;
    long since = share.full ? share.wantedSince : Share.Entry.NOTHING;
    change(share, new Share.Entry(incarnation, target, since));
  }

  /** What is left of the limit for this node: those who wait longer come first. */
  private static int free(Share share) {
    int even = even(share);
    boolean scarce = share.limit < contenders(share);
    int left = share.limit - share.granted;
    for (Share.Entry other : share.others) {
      left -= other.share();
      boolean first = !scarce || other.wantedSince() < share.wantedSince;
      if (other.wants() && first) {
        left -= Math.max(0, even - other.share());
      }
    }
    return Math.max(0, left);
  }

  /** Those who have some of it or want some, this node with them. */
  private static int contenders(Share share) {
    return 1 + share.others.size();
  }

  /**
   * What each of them can have, rounded down: were it more, each of several who have nothing would
   * leave all there is to the others.
   */
  private static int even(Share share) {
    return Math.max(1, share.limit / contenders(share));
  }

  /** When the first was due here that waits for it, or that has it and waits for another. */
  private static long since(Share share) {
    return Math.min(share.wantedSince, share.keptSince);
  }

  /** What others are to have of this node's. */
  private static int owed(Share share) {
    List<Share.Entry> wanting = share.others.stream().filter(Share.Entry::wants).toList();
    if (wanting.isEmpty() || share.granted == 0) {
      return 0;
    }
    int even = even(share);
    if (share.granted > even) {
      int missing = wanting.stream().mapToInt(each -> Math.max(0, even - each.share())).sum();
      return Math.min(share.granted - even, missing);
    }
    boolean scarce = share.limit < contenders(share);
    boolean older =
        wanting.stream().anyMatch(each -> each.share() == 0 && each.wantedSince() < since(share));
    return scarce && older ? share.granted : 0;
  }

  private void change(Share share, Share.Entry mine) {
    if (mine.share() == share.granted && mine.wantedSince() == share.said) {
      share.quietLooks++;
      settled(share);
      return;
    }
    List<Share.Entry> all = new ArrayList<>(share.others);
    if (mine.share() > 0 || mine.wants()) {
      all.add(mine);
    }
    share.quietLooks = 0;
    share.busy = true;
    share.granted = Math.min(share.granted, mine.share()); // others may have it before the answer
    Stamp[] version = new Stamp[1];
    version[0] =
        records.change(
            share.record,
            share.version,
            all.isEmpty() ? null : encode(all),
            inEffect -> {
              share.busy = false;
              if (!inEffect) {
                read(share); // somebody else took or gave
                return;
              }
              share.version = all.isEmpty() ? Stamp.ABSENT : version[0];
              if (!share.stale) { // else it is not this node's to use before it was read
                share.granted = mine.share();
                share.said = mine.wantedSince();
              }
              settled(share);
            });
  }

  private void settled(Share share) {
    if (share.usable() > share.inUse.getAsInt()) {
      share.full = false;
      share.wanted = 0;
      share.wantedSince = Share.Entry.NOTHING;
    }
    boolean saysSo = share.said != Share.Entry.NOTHING; // others leave it to this node
    if (share.stale || share.wanted > 0 || saysSo) {
      lookIn(share, POLL_NANOS);
    } else if (share.granted > 0) {
      lookIn(share, LINGER_NANOS << Math.min(share.quietLooks, MOST_DOUBLINGS));
    } else {
      held.remove(share);
    }
    share.changed.run();
  }

  /** Deletes what nodes left behind that are over; called now and then. */
  void sweep() {
    sweep(null);
  }

  private void sweep(@Nullable String after) {
    env.submit(
        NodeEnvironment.Channel.RECORDS,
        store -> store.records().list(RECORDS, after, PAGE),
        outcome -> {
          if (outcome instanceof Outcome.Ok<List<Stored>>(List<Stored> page)) {
            page.forEach(this::deleteIfOver);
            if (page.size() == PAGE) {
              sweep(page.getLast().key());
            }
          }
        });
  }

  private void deleteIfOver(Stored record) {
    boolean over = true;
    for (Share.Entry entry : decode(record)) {
      over &= host.isOver(entry.incarnation()); // each of them is wondered about
    }
    if (over) {
      records.change(record.key(), record.version(), null, inEffect -> {});
    }
  }

  private static byte[] encode(List<Share.Entry> entries) {
    ByteWriter out = new ByteWriter(4 + 18 * entries.size()).u8(VERSION).varint(entries.size());
    for (Share.Entry entry : entries) {
      out.i64(entry.incarnation()).varint(entry.share()).i64(entry.wantedSince());
    }
    return out.toBytes();
  }

  private static List<Share.Entry> decode(Stored record) {
    ByteReader in = new ByteReader(record.value(), 0, record.value().length);
    int version = in.u8();
    if (version != VERSION) {
      throw new UnknownFormatException("limit record: version " + version + " (expected: 1)");
    }
    int size = (int) in.varint();
    List<Share.Entry> entries = new ArrayList<>();
    for (int i = 0; i < size; i++) {
      entries.add(new Share.Entry(in.i64(), (int) in.varint(), in.i64()));
    }
    return entries;
  }
}
