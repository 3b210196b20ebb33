package dev.carillon.store;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.stream.Collectors.joining;

import dev.carillon.store.Journals.Claim;
import dev.carillon.store.Journals.Publication;
import dev.carillon.store.Records.Change;
import dev.carillon.store.Records.Stamp;
import dev.carillon.store.Records.Stored;
import java.io.PrintStream;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.stream.Stream;

/**
 * The process that {@link KillLoop} kills: owns all shards of a store, writes to them as fast as it
 * can and says on its standard output what was acknowledged, and what drop it is about to make.
 */
final class KillChild {

  static final String APPENDED = "appended";
  static final String OWNED = "owned";
  static final String LOWERED = "lowered";
  static final String DROPPING = "dropping";
  static final String DROPPED = "dropped";
  static final String PUT = "put";
  static final String END = ";";

  private static final int MAX_SHARDS = 6;
  private static final int MAX_STEPS = 1_000_000;

  private final Store store;
  private final Random random;
  private final PrintStream out;
  private final long incarnation;
  private final List<Owned> shards = new ArrayList<>();
  private int created;
  private long changes;

  private KillChild(Store store, Random random, PrintStream out) {
    this.store = store;
    this.random = random;
    this.out = out;
    this.incarnation = random.nextLong() | 1;
  }

  /** The shard as its owner knows it. */
  private static final class Owned {
    final ShardId shard;
    final long epoch;
    int generation;
    long tail;

    Owned(Head head, long tail) {
      this.shard = head.shard();
      this.epoch = head.epoch();
      this.generation = head.generation();
      this.tail = tail;
    }
  }

  public static void main(String[] arguments) throws ReflectiveOperationException {
    StoreOpener opener =
        Class.forName(arguments[0])
            .asSubclass(StoreOpener.class)
            .getDeclaredConstructor()
            .newInstance();
    Store store = opener.open(Path.of(arguments[1]));
    PrintStream out = new PrintStream(System.out, false, UTF_8);
    new KillChild(store, new Random(Long.parseLong(arguments[2])), out).run();
  }

  private void run() {
    for (Head head : store.journals().listById(null, 1_000).orThrow()) {
      Claim claim = store.journals().claim(head.shard(), head.epoch(), incarnation).orThrow();
      own(new Owned(claim.head(), claim.tail()));
    }
    for (int step = 0; step < MAX_STEPS && !out.checkError(); step++) {
      step();
      out.flush();
    }
  }

  private void step() {
    int lot = random.nextInt(100);
    if (shards.size() < 2 || (lot < 3 && shards.size() < MAX_SHARDS)) {
      create();
    } else if (lot < 70) {
      append();
    } else if (lot < 80) {
      lowerWake(shards.get(random.nextInt(shards.size())));
    } else if (lot < 95) {
      put("key" + random.nextInt(5));
    } else if (lot < 98) {
      publish(shards.get(random.nextInt(shards.size())));
    } else {
      drop(shards.remove(random.nextInt(shards.size())));
    }
  }

  private void own(Owned owned) {
    shards.add(owned);
    say(OWNED, owned.shard, owned.epoch);
  }

  private void create() {
    ShardId shard = new ShardId(1_700_000_000L, incarnation, ++created);
    Head head = store.journals().create(shard, "home", Workbench.WAKE, new byte[0]).orThrow();
    own(new Owned(head, 0));
  }

  private void append() {
    List<Append> group = new ArrayList<>();
    for (Owned owned : shards) {
      int entries = random.nextInt(4);
      for (int i = 1; i <= entries; i++) {
        long batch = random.nextLong() | 1;
        group.add(
            new Append(
                owned.shard,
                owned.epoch,
                owned.generation,
                owned.tail + i,
                batch,
                JournalWriter.data(batch)));
      }
      owned.tail += entries;
    }
    store.journals().append(group, false).forEach(Outcome::orThrow);
    for (Append append : group) {
      say(APPENDED, append.shard(), append.generation(), append.number(), append.batch());
    }
  }

  private void lowerWake(Owned owned) {
    Head head = store.journals().head(owned.shard).orThrow();
    long wakeMicros = head.wakeMicros() - 1 - random.nextInt(100);
    store.journals().lowerWake(owned.shard, owned.epoch, wakeMicros).orThrow();
    say(LOWERED, owned.shard, wakeMicros);
  }

  private void put(String key) {
    Optional<Stored> before = store.records().get(key).orThrow();
    int value = before.map(stored -> decode(stored.value())).orElse(0) + 1;
    Change change =
        new Change(
            key,
            before.map(Stored::version).orElse(Stamp.ABSENT),
            encode(value),
            new Stamp(incarnation, ++changes));
    store.records().apply(List.of(change)).getFirst().orThrow();
    say(PUT, key, value);
  }

  private void publish(Owned owned) {
    int count = 1 + random.nextInt(3);
    long snapshot = random.nextLong() | 1;
    for (int number = 1; number <= count; number++) {
      byte[] data = JournalWriter.data(snapshot + number);
      store
          .journals()
          .stage(owned.shard, owned.epoch, owned.generation, snapshot, number, data)
          .orThrow();
    }
    Head head = store.journals().head(owned.shard).orThrow();
    store
        .journals()
        .publish(
            new Publication(
                owned.shard,
                owned.epoch,
                owned.generation,
                owned.tail,
                snapshot,
                count,
                head.wakeMicros(),
                new byte[0]))
        .orThrow();
    owned.generation++;
    owned.tail = count;
    for (int number = 1; number <= count; number++) {
      say(APPENDED, owned.shard, owned.generation, number, snapshot + number);
    }
  }

  private void drop(Owned owned) {
    say(DROPPING, owned.shard);
    out.flush();
    store.journals().drop(owned.shard, owned.epoch).orThrow();
    say(DROPPED, owned.shard);
  }

  private void say(Object... words) {
    out.print(Stream.of(words).map(Object::toString).collect(joining(" ")) + END + "\n");
  }

  private static byte[] encode(int value) {
    return ByteBuffer.allocate(Integer.BYTES).putInt(value).array();
  }

  static int decode(byte[] value) {
    return ByteBuffer.wrap(value).getInt();
  }
}
