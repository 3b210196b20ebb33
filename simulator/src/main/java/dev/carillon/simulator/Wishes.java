package dev.carillon.simulator;

import dev.carillon.api.IfExists;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Thinks up what simulated users want. */
final class Wishes {
  /** Runs at most {@link Climate#typeLimit} at once. */
  static final String LIMITED_TYPE = "limited";

  /** Runs at most {@link Climate#queueLimit} at once. */
  static final String LIMITED_QUEUE = "narrow";

  /** Runs at most {@link Climate#namespaceLimit} at once. */
  static final String LIMITED_NAMESPACE = "tenant";

  /** Has no handler until everything has healed. */
  static final String LATE_TYPE = "late";

  static final List<String> TYPES = List.of("plain", "other", LIMITED_TYPE, LATE_TYPE);
  private static final List<String> NAMESPACES = List.of("default", "default", LIMITED_NAMESPACE);
  private static final List<String> QUEUES = List.of("default", "default", LIMITED_QUEUE);
  private static final long SECOND = 1_000_000;
  private static final long HOUR = 3_600 * SECOND;
  private static final List<Temper> BAD =
      List.of(
          Temper.LONG,
          Temper.FLAKY,
          Temper.FLAKY,
          Temper.FAILING,
          Temper.HOPELESS,
          Temper.HANGING,
          Temper.DEAF,
          Temper.SAVING,
          Temper.SAVING,
          Temper.GARBLED);

  private final World world;
  private int keys;

  Wishes(World world) {
    this.world = world;
  }

  Request.Wish plain() {
    return wish(null, null, IfExists.FAIL);
  }

  Request.Wish named() {
    IfExists ifExists = world.chance.pick(List.of(IfExists.values()));
    String key = world.chance.oneIn(6) ? someKey() : null;
    return wish(someName(), key, ifExists);
  }

  Request.Wish keyed() {
    return wish(null, someKey(), world.chance.pick(List.of(IfExists.values())));
  }

  /** For a batch, in which no name may stand twice. */
  Request.Wish ofBatch(int place) {
    return switch (world.chance.below(4)) {
      case 0 ->
          wish(
              "n" + (place + world.climate.names * world.chance.below(2)),
              null,
              world.chance.oneIn(2) ? IfExists.FAIL : IfExists.KEEP);
      case 1 -> wish(null, "batch-" + keys++, IfExists.FAIL);
      default -> plain();
    };
  }

  Request.Wish killer() {
    Request.Wish plain = plain();
    return new Request.Wish(
        "plain",
        plain.namespace(),
        "default",
        null,
        null,
        IfExists.FAIL,
        Map.of(),
        plain.dueMicros(),
        0,
        0,
        Temper.KILLER);
  }

  /** The same name again, to see that it is free. */
  Request.Wish probe(String namespace, String name) {
    return new Request.Wish(
        "plain",
        namespace,
        "default",
        name,
        null,
        IfExists.FAIL,
        Map.of(),
        world.clock.wallMicros(),
        0,
        0,
        Temper.QUICK);
  }

  private String someName() {
    return "n" + world.chance.below(world.climate.names);
  }

  /** Often one that was used before. */
  private String someKey() {
    int key = world.chance.oneIn(2) ? keys++ : world.chance.below(Math.max(1, keys));
    return "k" + key;
  }

  private Request.Wish wish(@Nullable String name, @Nullable String key, IfExists ifExists) {
    Chance chance = world.chance;
    long due = due();
    boolean bad = chance.happens(world.climate.badHandlers);
    Temper temper = bad ? chance.pick(BAD) : Temper.QUICK;
    boolean hangs = temper == Temper.HANGING || temper == Temper.DEAF;
    long timeout = (hangs && chance.oneIn(2)) || chance.oneIn(12) ? timeout() : 0;
    long deadline = chance.oneIn(12) ? due + chance.spread(1_000, HOUR) : 0;
    String type = name != null ? "plain" : chance.pick(TYPES);
    String namespace = chance.pick(NAMESPACES);
    return new Request.Wish(
        type,
        namespace,
        chance.pick(QUEUES),
        name,
        key,
        ifExists,
        chance.oneIn(4) ? Map.of("note", "m" + chance.below(100)) : Map.of(),
        due,
        timeout,
        deadline,
        temper);
  }

  private long timeout() {
    return world.chance.spread(1_000, 60 * SECOND);
  }

  /** Now, near, some minutes, or far; sometimes long ago. */
  private long due() {
    Chance chance = world.chance;
    long now = world.clock.wallMicros();
    long span = world.climate.spanNanos / VirtualClock.MICRO;
    return switch (chance.below(20)) {
      case 0 -> now - chance.spread(1, 100 * HOUR);
      case 1, 2, 3, 4, 5 -> now;
      case 6, 7, 8, 9, 10, 11 -> now + chance.spread(1_000, 60 * SECOND);
      case 12, 13, 14, 15 -> now + chance.between(0, span);
      case 16, 17 -> now + chance.spread(SECOND, HOUR);
      default -> now + chance.spread(HOUR, 40 * 24 * HOUR);
    };
  }
}
