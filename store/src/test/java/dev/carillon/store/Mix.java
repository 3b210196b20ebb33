package dev.carillon.store;

import static dev.carillon.store.Workbench.WAKE;
import static org.assertj.core.api.Assertions.assertThat;

import dev.carillon.store.Journals.Claim;
import dev.carillon.store.Journals.Publication;
import dev.carillon.store.Journals.ReadPage;
import dev.carillon.store.Journals.Resolution;
import dev.carillon.store.Records.Change;
import dev.carillon.store.Records.Stamp;
import dev.carillon.store.Records.Stored;
import dev.carillon.store.StoreInfo.Capability;
import dev.carillon.store.Workbench.ShardMaker;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.function.Function;

/**
 * One seed's mix of calls, made to the store under test and, as they were settled, to a {@link
 * MemoryStore}. Every answer must be the same, and so must all that both hold in the end. What was
 * acknowledged is kept here as well, so that the reference is not its own witness.
 *
 * <p>Behind faults only calls are made that a correct caller could make: a call that is wrong now
 * and right later may legally take effect then.
 */
final class Mix {

  private static final int MAX_SHARDS = 4;
  private static final int KEYS = 4;
  private static final int LARGE_PAGE = 1 << 24;
  private static final int MAX_REPEATS = 1_000;

  private final Workbench bench;
  private final Random random;
  private final MemoryStore reference = new MemoryStore();
  private final String prefix;
  private final ShardMaker maker;
  private final long[] owners;
  private final List<ShardId> shards = new ArrayList<>();
  private final List<Append> sent = new ArrayList<>();
  private final Map<String, Append> acknowledged = new HashMap<>();
  private final long writer;
  private long sequence;
  private final List<Change> changes = new ArrayList<>();

  Mix(Workbench bench, long seed) {
    this.bench = bench;
    this.random = new Random(seed);
    this.prefix = "mix " + seed + "/";
    this.maker = new ShardMaker(id());
    this.writer = id();
    this.owners = new long[] {maker.incarnation, id(), id()};
  }

  private long id() {
    return random.nextLong() | 1;
  }

  void run(int steps) {
    for (int step = 0; step < steps; step++) {
      step();
    }
    compareAll();
    for (ShardId shard : shards) {
      if (reference.journals().head(shard) instanceof Outcome.Ok<Head> ok) {
        bench.ok(() -> bench.journals().drop(shard, ok.value().epoch()));
      }
    }
  }

  private void step() {
    int lot = random.nextInt(100);
    if (shards.isEmpty() || (lot < 5 && shards.size() < MAX_SHARDS)) {
      shards.add(maker.nextAt(random.nextInt(3)));
      create(shards.getLast());
    } else if (lot < 8) {
      create(shard());
    } else if (lot < 45) {
      append();
    } else if (lot < 50) {
      resolve();
    } else if (lot < 58) {
      claim(shard());
    } else if (lot < 62) {
      release(shard());
    } else if (lot < 64) {
      byte[] words = bytes();
      byEpoch((journals, shard, epoch) -> journals.seal(shard, epoch, words));
    } else if (lot < 68) {
      long wakeMicros = WAKE + random.nextInt(100);
      byEpoch((journals, shard, epoch) -> journals.lowerWake(shard, epoch, wakeMicros));
    } else if (lot < 72) {
      publish(shard());
    } else if (lot < 75) {
      dropGenerations(shard());
    } else if (lot < 76) {
      byEpoch((journals, shard, epoch) -> journals.drop(shard, epoch));
    } else if (lot < 82) {
      read(shard());
    } else if (lot < 84) {
      list();
    } else if (lot < 97) {
      change();
    } else {
      listRecords();
    }
  }

  private ShardId shard() {
    return shards.get(random.nextInt(shards.size()));
  }

  private byte[] bytes() {
    byte[] bytes = new byte[random.nextInt(40)];
    random.nextBytes(bytes);
    return bytes;
  }

  /** Makes a call that is settled by repeating it, on both sides. */
  private <T> void both(Function<Journals, Outcome<T>> call) {
    Outcome<T> real = bench.ask(() -> call.apply(bench.journals()));
    assertThat(text(real)).isEqualTo(text(call.apply(reference.journals())));
  }

  /** A call that needs a shard's epoch. */
  private interface ByEpoch {
    Outcome<?> call(Journals journals, ShardId shard, long epoch);
  }

  @SuppressWarnings("unchecked") // what it answers is only compared
  private void byEpoch(ByEpoch call) {
    ShardId shard = shard();
    long epoch = epoch(shard);
    both(journals -> (Outcome<Object>) call.call(journals, shard, epoch));
  }

  /** The shard's epoch, and sometimes one that is no longer. */
  private long epoch(ShardId shard) {
    long epoch = reference.journals().head(shard).map(Head::epoch).isOk() ? head(shard).epoch() : 1;
    return random.nextInt(10) == 0 ? Math.max(1, epoch - 1) : epoch;
  }

  private Head head(ShardId shard) {
    return reference.journals().head(shard).orThrow();
  }

  private boolean exists(ShardId shard) {
    return reference.journals().head(shard).isOk();
  }

  private long tail(ShardId shard) {
    return entries(reference.journals(), shard, head(shard).generation()).size();
  }

  private List<Entry> entries(Journals journals, ShardId shard, int generation) {
    return bench.read(journals, shard, generation, 1);
  }

  private void create(ShardId shard) {
    long wakeMicros = WAKE + random.nextInt(100);
    byte[] words = bytes();
    // The contract leaves open what the creator is answered once it has claimed again.
    if (!exists(shard) || head(shard).epoch() == 1 || head(shard).owner() != shard.incarnation()) {
      both(journals -> journals.create(shard, "home", wakeMicros, words));
    }
  }

  private void claim(ShardId shard) {
    long epoch = epoch(shard);
    long owner = owners[random.nextInt(owners.length)];
    both(journals -> journals.claim(shard, epoch, owner));
  }

  private void release(ShardId shard) {
    long epoch = epoch(shard);
    long tail = exists(shard) ? tail(shard) : 0;
    long expected = bench.isFaulty() || random.nextInt(5) > 0 ? tail : tail + 1;
    byte[] words = bytes();
    both(journals -> journals.release(shard, epoch, expected, words));
  }

  private void dropGenerations(ShardId shard) {
    long epoch = epoch(shard);
    int current = exists(shard) ? head(shard).generation() : 1;
    int oldest = 1 + random.nextInt(current);
    both(journals -> journals.dropGenerations(shard, epoch, oldest));
  }

  private void publish(ShardId shard) {
    long epoch = epoch(shard);
    int generation = exists(shard) ? head(shard).generation() : 1;
    long tail = exists(shard) ? tail(shard) : 0;
    int count = 1 + random.nextInt(3);
    int staged = bench.isFaulty() || random.nextInt(4) > 0 ? count : count - 1;
    long wakeMicros = WAKE + random.nextInt(100);
    byte[] words = bytes();
    List<byte[]> blocks = List.of(bytes(), bytes(), bytes());
    long name = id();
    Publication publication =
        new Publication(shard, epoch, generation, tail, name, count, wakeMicros, words);
    for (int i = 0; i < MAX_REPEATS; i++) {
      for (int block = 1; block <= staged; block++) {
        int number = block;
        bench.ask(
            () ->
                bench
                    .journals()
                    .stage(shard, epoch, generation, name, number, blocks.get(number - 1)));
      }
      Outcome<Head> real = bench.ask(() -> bench.journals().publish(publication));
      if (bench.isFaulty() && real instanceof Outcome.Conflict<Head>) {
        // A late call of an earlier snapshot discarded what was staged; from the start.
        continue;
      }
      for (int number = 1; number <= staged; number++) {
        reference.journals().stage(shard, epoch, generation, name, number, blocks.get(number - 1));
      }
      assertThat(text(real)).isEqualTo(text(reference.journals().publish(publication)));
      return;
    }
    throw new AssertionError("not published: " + publication);
  }

  private void append() {
    boolean together =
        random.nextInt(3) == 0 && bench.store().info().can(Capability.ATOMIC_ACROSS_JOURNALS);
    List<Append> group = new ArrayList<>();
    Map<ShardId, Long> tails = new HashMap<>();
    int size = 1 + random.nextInt(3);
    for (int i = 0; i < size; i++) {
      Append before = together || random.nextInt(15) > 0 ? null : sentBefore();
      if (before != null) {
        group.add(before);
      } else {
        Append append = nextAppend(shard(), tails);
        group.add(append);
        sent.add(append);
      }
    }
    append(group, together);
  }

  private Append nextAppend(ShardId shard, Map<ShardId, Long> tails) {
    long tail = tails.computeIfAbsent(shard, key -> exists(key) ? tail(key) : 0);
    long epoch = epoch(shard);
    int generation = exists(shard) ? head(shard).generation() : 1;
    long number = tail + 1;
    int lot = random.nextInt(20);
    if (lot == 0) {
      number = Math.max(1, tail - random.nextInt(2));
    } else if (lot == 1 && !bench.isFaulty()) {
      number = tail + 2;
    } else if (lot == 2) {
      generation = Math.max(1, generation - 1);
    } else if (exists(shard) && epoch == head(shard).epoch()) {
      // Only behind one that can go in: a number beyond the tail could take effect later.
      tails.put(shard, number);
    }
    long raise = random.nextInt(5) == 0 ? WAKE + random.nextInt(200) : Append.KEEP_WAKE;
    return new Append(shard, epoch, generation, number, id(), bytes(), raise, random.nextBoolean());
  }

  private void append(List<Append> group, boolean together) {
    for (int i = 0; i < MAX_REPEATS; i++) {
      List<Outcome<Long>> real = bench.journals().append(group, together);
      if (real.stream().anyMatch(Outcome.Unknown.class::isInstance)) {
        group.forEach(this::settle);
        return;
      }
      if (real.stream().anyMatch(Outcome.Full.class::isInstance)) {
        settleFull(group, real, together);
        return;
      }
      if (real.stream().anyMatch(Workbench::isDefinite)) {
        List<Outcome<Long>> expected = reference.journals().append(group, together);
        for (int j = 0; j < group.size(); j++) {
          assertThat(text(real.get(j))).as("%s of %s", j, group).isEqualTo(text(expected.get(j)));
          note(group.get(j), real.get(j));
        }
        return;
      }
    }
    throw new AssertionError("no definite answer in " + MAX_REPEATS + " calls");
  }

  /** In a full store the urgent ones may have gone in, as if they had been sent alone. */
  private void settleFull(List<Append> group, List<Outcome<Long>> real, boolean together) {
    List<Append> urgent = new ArrayList<>();
    List<Outcome<Long>> answers = new ArrayList<>();
    for (int i = 0; i < group.size(); i++) {
      if (!(real.get(i) instanceof Outcome.Full<Long>)) {
        urgent.add(group.get(i));
        answers.add(real.get(i));
      }
    }
    if (together) {
      assertThat(answers).allMatch(Outcome.Unavailable.class::isInstance);
      return;
    }
    List<Outcome<Long>> expected = reference.journals().append(urgent, false);
    for (int i = 0; i < urgent.size(); i++) {
      assertThat(text(answers.get(i))).isEqualTo(text(expected.get(i)));
      note(urgent.get(i), answers.get(i));
    }
  }

  private void resolve() {
    Append before = sentBefore();
    if (before != null) {
      settle(before);
    }
  }

  /** An append of before, if it could be right now. */
  private Append sentBefore() {
    Append before = sent.isEmpty() ? null : sent.get(random.nextInt(sent.size()));
    return before == null || (bench.isFaulty() && isAhead(before)) ? null : before;
  }

  /** Sent behind one that came to nothing: its turn may still come. */
  private boolean isAhead(Append append) {
    return exists(append.shard())
        && append.generation() == head(append.shard()).generation()
        && append.number() > tail(append.shard()) + 1;
  }

  /** Resolves on both sides; what is committed is then in the reference as well. */
  private void settle(Append append) {
    Outcome<Resolution> real = bench.ask(() -> bench.journals().resolve(append));
    if (real.isOk() && real.orThrow() == Resolution.COMMITTED) {
      Outcome<Long> expected = reference.journals().append(List.of(append), false).getFirst();
      assertThat(expected).as("%s, committed", append).isEqualTo(Outcome.ok(append.number()));
      note(append, expected);
    } else {
      // A later append of its group may be in already, and in the reference not yet: no tails.
      assertThat(textWithoutTail(real))
          .as("resolution of %s", append)
          .isEqualTo(textWithoutTail(reference.journals().resolve(append)));
    }
  }

  private void note(Append append, Outcome<Long> outcome) {
    if (outcome.isOk()) {
      Append before = acknowledged.put(place(append), append);
      assertThat(before == null || before.batch() == append.batch())
          .as("one batch at %s", place(append))
          .isTrue();
    }
  }

  private static String place(Append append) {
    return append.shard() + "/" + append.generation() + "/" + append.number();
  }

  private void read(ShardId shard) {
    int current = exists(shard) ? head(shard).generation() : 1;
    int generation = 1 + random.nextInt(current);
    long from = 1L + random.nextInt(10);
    int maxBytes = random.nextInt(100);
    both(journals -> journals.read(shard, generation, from, maxBytes));
    both(journals -> journals.head(shard));
  }

  private void list() {
    long before = WAKE + random.nextInt(200);
    List<ShardId> real = mine(bench.ok(() -> bench.journals().listByWake(before, null, 10_000)));
    List<ShardId> expected = mine(reference.journals().listByWake(before, null, 10_000).orThrow());
    if (bench.isFaulty()) {
      assertThat(real).containsAll(expected);
    } else {
      assertThat(real).isEqualTo(expected);
    }
    assertThat(mine(bench.ok(() -> bench.journals().listById(null, 10_000))))
        .isEqualTo(mine(reference.journals().listById(null, 10_000).orThrow()));
  }

  private List<ShardId> mine(List<Head> heads) {
    return heads.stream().map(Head::shard).filter(shards::contains).toList();
  }

  private void change() {
    if (!changes.isEmpty() && random.nextInt(6) == 0) {
      again(changes.get(random.nextInt(changes.size())));
      return;
    }
    String key = prefix + random.nextInt(KEYS);
    Stamp version =
        reference.records().get(key).orThrow().map(Stored::version).orElse(Stamp.ABSENT);
    Stamp expected = random.nextInt(5) == 0 ? new Stamp(writer, 1) : version;
    byte[] value = random.nextInt(3) == 0 ? null : bytes();
    Change change = new Change(key, expected, value, new Stamp(writer, ++sequence));
    changes.add(change);
    apply(change);
  }

  /** A late copy of an earlier change: only what was resolved may be sent again. */
  private void again(Change change) {
    settle(change);
    apply(change);
  }

  private void apply(Change change) {
    for (int i = 0; i < MAX_REPEATS; i++) {
      Outcome<Stamp> real = bench.records().apply(List.of(change)).getFirst();
      if (real instanceof Outcome.Unknown<Stamp>) {
        settle(change);
        return;
      }
      if (Workbench.isDefinite(real)) {
        Outcome<Stamp> expected = reference.records().apply(List.of(change)).getFirst();
        assertThat(real.getClass()).as("%s", change).isEqualTo(expected.getClass());
        return;
      }
    }
    throw new AssertionError("no definite answer in " + MAX_REPEATS + " calls");
  }

  private void settle(Change change) {
    if (bench.ok(() -> bench.records().resolve(change))) {
      Outcome<Stamp> expected = reference.records().apply(List.of(change)).getFirst();
      assertThat(change.value() == null || expected.isOk() || isInEffect(change))
          .as("%s is in effect", change)
          .isTrue();
      assertThat(reference.records().resolve(change).orThrow()).isTrue();
    } else {
      assertThat(reference.records().resolve(change).orThrow()).as("%s", change).isFalse();
    }
  }

  private boolean isInEffect(Change change) {
    return reference
        .records()
        .get(change.key())
        .orThrow()
        .filter(stored -> stored.version().equals(change.stamp()))
        .isPresent();
  }

  private void listRecords() {
    assertThat(records(bench.ok(() -> bench.records().list(prefix, null, 100))))
        .isEqualTo(records(reference.records().list(prefix, null, 100).orThrow()));
  }

  private static List<String> records(List<Stored> page) {
    return page.stream().map(Invariants::text).toList();
  }

  private void compareAll() {
    listRecords();
    list();
    for (ShardId shard : shards) {
      both(journals -> journals.head(shard));
      if (exists(shard)) {
        compare(head(shard));
      }
    }
  }

  private void compare(Head expected) {
    ShardId shard = expected.shard();
    long wakeMicros = bench.head(shard).wakeMicros();
    if (bench.isFaulty()) {
      assertThat(wakeMicros).isLessThanOrEqualTo(expected.wakeMicros());
    } else {
      assertThat(wakeMicros).isEqualTo(expected.wakeMicros());
    }
    for (int i = expected.oldestGeneration(); i <= expected.generation(); i++) {
      int generation = i;
      both(journals -> journals.read(shard, generation, 1, LARGE_PAGE));
      for (Entry entry : entries(bench.journals(), shard, generation)) {
        Append append = acknowledged.remove(shard + "/" + generation + "/" + entry.number());
        if (append != null) {
          assertThat(entry.batch()).isEqualTo(append.batch());
          assertThat(entry.data()).isEqualTo(append.data());
        } else {
          assertThat(entry.epoch() == 0 || entry.batch() == 0)
              .as("nothing unacknowledged: %s", entry)
              .isTrue();
        }
      }
      String place = shard + "/" + generation + "/";
      assertThat(acknowledged.keySet()).noneMatch(key -> key.startsWith(place));
    }
  }

  /** An answer without what the contract leaves to the store. */
  private static String text(Outcome<?> outcome) {
    return switch (outcome) {
      case Outcome.Ok<?> ok -> "ok " + value(ok.value());
      case Outcome.Unavailable<?> unused -> "unavailable";
      default -> outcome.toString();
    };
  }

  private static String textWithoutTail(Outcome<?> outcome) {
    return outcome instanceof Outcome.Conflict<?> ? "conflict" : text(outcome);
  }

  private static String value(Object value) {
    return switch (value) {
      case Head head -> Invariants.text(head);
      case Claim claim -> Invariants.text(claim.head()) + " tail " + claim.tail();
      case ReadPage page ->
          page.entries().stream().map(Invariants::text).toList() + " " + page.complete();
      default -> value.toString();
    };
  }
}
