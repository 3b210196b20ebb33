package dev.carillon.simulator;

import static dev.carillon.simulator.Violation.check;

import dev.carillon.api.Rate;
import dev.carillon.engine.job.FlowSetting;
import dev.carillon.engine.job.FlowSubject;
import dev.carillon.store.Records.Change;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * What operators have set about queues and namespaces, as the records that took effect say it, and
 * what the node may take for set: whatever a record held since it started, or since it was last
 * heard to know it.
 */
final class FlowRecords {
  private static final String PREFIX = "f\0";

  /** How long after a limit was lowered several nodes may take to give back what they had. */
  private static final long GIVE_BACK_NANOS = 15 * VirtualClock.SECOND;

  private final VirtualClock clock;
  private final boolean several;
  private final Map<FlowSubject, Entry> entries = new LinkedHashMap<>();
  private final Map<FlowSubject, FlowSetting> standards = new LinkedHashMap<>();
  private int life;

  FlowRecords(VirtualClock clock, boolean several) {
    this.clock = clock;
    this.several = several;
  }

  /** One queue or namespace. */
  private static final class Entry {
    FlowSetting record = FlowSetting.NONE;

    /** What the node may take for set, oldest first. */
    final List<FlowSetting> possible = new ArrayList<>(List.of(FlowSetting.NONE));

    /** What no node takes for set any more, oldest first; kept where there are several. */
    final List<Past> past = new ArrayList<>();

    /** Whether the last of these is by a node that is gone. */
    boolean late;

    /** When somebody was last told what is in effect, or the node started. */
    long answeredNanos;

    /** The last life in which somebody was told that a change of it is durable. */
    int answeredIn;

    /** How often its rate was set. */
    int rates;

    /** When it was last possible that it is paused. */
    long pausedNanos = Long.MIN_VALUE;
  }

  /** A setting that somebody was told is over, and when. */
  private record Past(FlowSetting setting, long nanos) {}

  private Entry entry(FlowSubject subject) {
    return entries.computeIfAbsent(subject, s -> new Entry());
  }

  /** What counts where no record says otherwise. */
  void standard(FlowSubject subject, FlowSetting setting) {
    standards.put(subject, setting);
  }

  /** The node starts, and will read what is set. */
  void begins(int lifeIndex) {
    life = lifeIndex;
    if (several) {
      return; // the others still act on what they have read
    }
    for (Entry entry : entries.values()) {
      entry.possible.clear();
      entry.possible.add(entry.record);
      entry.late = false;
    }
  }

  /**
   * A record was put or deleted.
   *
   * @param writer the life of the node that asked for it
   */
  void changed(Change change, int writer) {
    if (!change.key().startsWith(PREFIX)) {
      return;
    }
    String[] parts = change.key().split("\0", 3);
    FlowSubject.Scope scope =
        parts[1].equals("q") ? FlowSubject.Scope.QUEUE : FlowSubject.Scope.NAMESPACE;
    Entry entry = entry(new FlowSubject(scope, parts[2]));
    check(
        several || entry.answeredIn <= writer,
        Guarantee.CONTROL,
        () -> "a late change of " + parts[2] + " overtakes one that was answered since");
    FlowSetting setting = change.value() == null ? FlowSetting.NONE : decode(change.value());
    entry.rates += Objects.equals(entry.record.rate(), setting.rate()) ? 0 : 1;
    entry.record = setting;
    entry.possible.add(entry.record);
    entry.late = writer != life;
  }

  /**
   * An older copy of the store was put back: nodes act on what its records say as soon as they have
   * read them, and until then on what was.
   */
  void wentBack(Map<String, byte[]> records) {
    for (Map.Entry<FlowSubject, Entry> each : entries.entrySet()) {
      FlowSubject subject = each.getKey();
      String scope = subject.scope() == FlowSubject.Scope.QUEUE ? "q" : "n";
      byte[] value = records.get(PREFIX + scope + "\0" + subject.name());
      Entry entry = each.getValue();
      entry.record = value == null ? FlowSetting.NONE : decode(value);
      entry.possible.add(entry.record);
      entry.rates++;
    }
  }

  private static FlowSetting decode(byte[] value) {
    ByteBuffer in = ByteBuffer.wrap(value);
    check(in.get() == 1, Guarantee.HISTORY, "a flow record of another version");
    int flags = in.get();
    return new FlowSetting(
        (flags & 1) != 0 ? JournalFormat.string(in) : null,
        (flags & 2) != 0 ? (int) JournalFormat.varint(in) : 0,
        (flags & 4) != 0 ? RulesFormat.rate(in) : null);
  }

  /** Somebody is told that this is in effect and durable. */
  void answered(FlowSubject subject, FlowSetting told) {
    Entry entry = entry(subject);
    notePause(entry);
    if (several) {
      answeredByAll(subject, entry, told);
      return;
    }
    int known = entry.possible.size() - 1;
    while (known >= 0 && !inEffect(subject, entry.possible.get(known)).equals(told)) {
      known--;
    }
    boolean last = known == entry.possible.size() - 1;
    check(
        known >= 0 && (last || !entry.late),
        Guarantee.CONTROL,
        () -> subject + " is said to be " + told + ", its record says " + entry.record);
    entry.possible.subList(0, known).clear();
    entry.answeredIn = life;
    entry.answeredNanos = clock.nanos();
  }

  /**
   * Every node that is there acts on what was told, or on something later. Others may have been
   * told of later changes before.
   */
  private void answeredByAll(FlowSubject subject, Entry entry, FlowSetting told) {
    int known = 0;
    while (known < entry.possible.size()
        && !inEffect(subject, entry.possible.get(known)).equals(told)) {
      known++;
    }
    boolean isOver =
        entry.past.stream().anyMatch(past -> inEffect(subject, past.setting()).equals(told));
    check(
        known < entry.possible.size() || isOver,
        Guarantee.CONTROL,
        () -> subject + " is said to be " + told + ", its record says " + entry.record);
    if (known == entry.possible.size() || isOver) {
      return;
    }
    List<FlowSetting> over = entry.possible.subList(0, known);
    over.forEach(setting -> entry.past.add(new Past(setting, clock.nanos())));
    over.clear();
    entry.answeredNanos = clock.nanos();
  }

  /** When somebody was last told what is in effect. */
  long answeredNanos(FlowSubject subject) {
    return entry(subject).answeredNanos;
  }

  private void notePause(Entry entry) {
    if (entry.possible.stream().anyMatch(setting -> setting.paused() != null)) {
      entry.pausedNanos = clock.nanos();
    }
  }

  private FlowSetting inEffect(FlowSubject subject, FlowSetting setting) {
    FlowSetting standard = standards.getOrDefault(subject, FlowSetting.NONE);
    return new FlowSetting(
        setting.paused() != null ? setting.paused() : standard.paused(),
        setting.limit() != 0 ? setting.limit() : standard.limit(),
        setting.rate() != null ? setting.rate() : standard.rate());
  }

  /** Whether the node must know that it is paused. */
  boolean surelyPaused(FlowSubject subject) {
    return entry(subject).possible.stream().allMatch(setting -> setting.paused() != null);
  }

  /** Whether it may have been paused since then. */
  boolean perhapsPausedSince(FlowSubject subject, long nanos) {
    Entry entry = entry(subject);
    notePause(entry);
    return entry.pausedNanos >= nanos;
  }

  /** Whether a node may act on a limit, be it one that nobody was told of. */
  boolean perhapsLimited(FlowSubject subject) {
    for (FlowSetting setting : entry(subject).possible) {
      int limit = inEffect(subject, setting).limit();
      if (limit != 0 && limit != Integer.MAX_VALUE) {
        return true;
      }
    }
    return false;
  }

  /** Whether a node may act on a rate, be it one that nobody was told of. */
  boolean perhapsRated(FlowSubject subject) {
    return entry(subject).possible.stream()
        .anyMatch(setting -> inEffect(subject, setting).rate() != null);
  }

  /** How many attempts may run at once at most. */
  int limit(FlowSubject subject) {
    int most = 0;
    for (FlowSetting setting : entry(subject).possible) { // for every start
      int limit = inEffect(subject, setting).limit();
      most = Math.max(most, limit == 0 ? Integer.MAX_VALUE : limit);
    }
    for (Past past : entry(subject).past.reversed()) {
      if (clock.nanos() - past.nanos() > GIVE_BACK_NANOS) {
        break;
      }
      int limit = inEffect(subject, past.setting()).limit();
      most = Math.max(most, limit == 0 ? Integer.MAX_VALUE : limit);
    }
    return most;
  }

  /** How often attempts may start; null where there is no rate, or it is not sure which. */
  @Nullable Rate rate(FlowSubject subject) {
    Rate rate = entry(subject).record.rate();
    return same(subject, FlowSetting::rate, rate) ? rate : null;
  }

  /** How often that was set. */
  int rates(FlowSubject subject) {
    return entry(subject).rates;
  }

  private boolean same(
      FlowSubject subject, Function<FlowSetting, @Nullable Object> part, @Nullable Object value) {
    return entry(subject).possible.stream()
        .allMatch(setting -> Objects.equals(part.apply(setting), value));
  }
}
