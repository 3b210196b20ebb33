package dev.carillon.store;

import static dev.carillon.store.Workbench.NO_WORDS;
import static dev.carillon.store.Workbench.WAKE;
import static org.assertj.core.api.Assertions.assertThat;

import dev.carillon.store.FaultyStore.Fault;
import dev.carillon.store.ForwardingStore.Operation;
import dev.carillon.store.Journals.ReadPage;
import dev.carillon.store.StoreInfo.Capability;
import dev.carillon.store.Workbench.ShardMaker;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Function;

/** Reading and listing: everything acknowledged, nothing half done (S10, S11). */
interface ReadAndListCases extends TckCases {

  @Case(id = "T29", title = "an owner reads its writes, a new owner all that was acknowledged")
  default void whatIsAcknowledgedIsRead() {
    JournalWriter writer = bench().create();
    List<Append> all = new ArrayList<>();
    int rounds = tck().times(200);
    for (int round = 0; round < rounds; round++) {
      all.add(writer.append());
      bench().assertHoldsExactly(writer, all);
      if (round % 5 == 4) {
        writer = bench().claim(writer.shard());
        assertThat(writer.tail()).isEqualTo(bench().read(writer.shard(), 1).size());
        bench().assertHoldsExactly(writer, all);
      }
    }
  }

  @Case(id = "T29", title = "reading from any number, by pages of any size")
  default void pagesOfAnySizeShowTheSameEntries() {
    JournalWriter writer = bench().create();
    for (int size : new int[] {0, 10, 1_000, 0, 10, 10, 5_000, 1}) {
      writer.append(new byte[size]);
    }
    List<Entry> all = bench().read(writer.shard(), 1);
    for (long from = 1; from <= all.size() + 2; from++) {
      for (int maxBytes : new int[] {0, 1, 10, 20, 1_010, 1 << 20}) {
        long first = from;
        ReadPage page =
            bench().ok(() -> bench().journals().read(writer.shard(), 1, first, maxBytes));
        List<Entry> rest = from > all.size() ? List.of() : all.subList((int) from - 1, all.size());
        int expected = 0;
        int bytes = 0;
        while (expected < rest.size()
            && (expected == 0 || bytes + rest.get(expected).data().length <= maxBytes)) {
          bytes += rest.get(expected++).data().length;
        }
        assertThat(page.entries().stream().map(Invariants::text))
            .as("from %s, %s bytes", from, maxBytes)
            .containsExactlyElementsOf(
                rest.subList(0, expected).stream().map(Invariants::text).toList());
        assertThat(page.complete()).isEqualTo(expected == rest.size());
      }
    }
  }

  @Case(id = "T30", title = "no half entry is visible")
  default void aReaderSeesWholeEntriesOnly() {
    JournalWriter writer = bench().create();
    int entries = tck().times(2_000);
    long[] seen = {0};
    whileAnother(
        () -> {
          for (Entry entry : bench().read(bench().journals(), writer.shard(), 1, seen[0] + 1)) {
            assertThat(entry.number()).isEqualTo(++seen[0]);
            assertWhole(entry);
          }
        },
        () -> {
          for (int i = 0; i < entries; i++) {
            writer.append(repeated(i));
          }
        });
    bench().assertHoldsExactly(writer);
  }

  /** Does one thing again and again on another thread, from before the main one until after it. */
  private void whileAnother(Runnable again, Runnable main) {
    AtomicBoolean done = new AtomicBoolean();
    CountDownLatch started = new CountDownLatch(1);
    Future<Boolean> other =
        bench()
            .beside(
                () -> {
                  while (!done.get()) {
                    again.run();
                    started.countDown();
                  }
                  return true;
                });
    try {
      assertThat(started.await(1, TimeUnit.MINUTES)).as("started").isTrue();
      main.run();
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    } finally {
      done.set(true);
    }
    Workbench.await(other);
    again.run();
  }

  private static byte[] repeated(int value) {
    ByteBuffer data = ByteBuffer.allocate(Integer.BYTES * (1 + value % 500));
    while (data.hasRemaining()) {
      data.putInt(value);
    }
    return data.array();
  }

  private static void assertWhole(Entry entry) {
    ByteBuffer data = ByteBuffer.wrap(entry.data());
    if (entry.batch() != 0) {
      assertThat(entry.data()).isEqualTo(repeated(data.getInt()));
    }
  }

  @Case(id = "T30", title = "no half group is visible")
  default void aReaderSeesWholeGroupsOnly() {
    CapabilityCases.needs(this, Capability.ATOMIC_ACROSS_JOURNALS);
    JournalWriter left = bench().create();
    JournalWriter right = bench().create();
    int groups = tck().times(2_000);
    whileAnother(
        () -> {
          Set<Integer> before = groupsIn(left);
          Set<Integer> between = groupsIn(right);
          Set<Integer> after = groupsIn(left);
          assertThat(between).as("right, read after left").containsAll(before);
          assertThat(after).as("left, read after right").containsAll(between);
        },
        () -> {
          for (int group = 0; group < groups; group++) {
            appendToBoth(left, right, group);
          }
        });
    assertThat(groupsIn(left)).isEqualTo(groupsIn(right)).hasSize(groups);
  }

  private void appendToBoth(JournalWriter left, JournalWriter right, int group) {
    byte[] data = ByteBuffer.allocate(Integer.BYTES).putInt(group).array();
    while (true) {
      Append one = left.next(bench().id(), data);
      Append two = right.next(bench().id(), data);
      List<Outcome<Long>> outcomes = bench().settleTogether(List.of(one, two));
      if (outcomes.stream().allMatch(Outcome::isOk)) {
        left.accept(one);
        right.accept(two);
        return;
      }
      assertThat(bench().isFaulty()).isTrue();
      left.skip();
      right.skip();
    }
  }

  private Set<Integer> groupsIn(JournalWriter writer) {
    Set<Integer> groups = new HashSet<>();
    for (Entry entry : bench().read(writer.shard(), 1)) {
      if (entry.batch() != 0) {
        groups.add(ByteBuffer.wrap(entry.data()).getInt());
      }
    }
    return groups;
  }

  @Case(id = "T31", title = "create, then list from another connection at once")
  default void aNewShardIsListedAtOnce() {
    Store other = tck().another(bench().bare());
    try {
      int rounds = tck().times(500);
      for (int round = 0; round < rounds; round++) {
        createAndList(other.journals(), round % 2 == 0);
      }
    } finally {
      if (!other.equals(bench().bare())) {
        other.close();
      }
    }
  }

  private void createAndList(Journals other, boolean dropAgain) {
    ShardId shard = bench().create().shard();
    assertThat(listById(other, 50)).contains(shard);
    assertThat(listByWake(other, WAKE + 1, 50)).contains(shard);
    assertThat(other.head(shard).isOk()).isTrue();
    if (dropAgain) {
      bench().ok(() -> bench().journals().drop(shard, 1));
      assertThat(listById(other, 50)).doesNotContain(shard);
      assertThat(listByWake(other, WAKE + 1, 50)).doesNotContain(shard);
    }
  }

  private List<ShardId> listById(Journals journals, int limit) {
    return pages(
        last -> bench().ok(() -> journals.listById(last == null ? null : last.shard(), limit)));
  }

  private List<ShardId> listByWake(Journals journals, long beforeMicros, int limit) {
    return pages(last -> bench().ok(() -> journals.listByWake(beforeMicros, last, limit)));
  }

  private static List<ShardId> pages(Function<Head, List<Head>> next) {
    List<ShardId> shards = new ArrayList<>();
    List<Head> page = next.apply(null);
    while (!page.isEmpty()) {
      page.forEach(head -> shards.add(head.shard()));
      assertThat(shards.size()).as("a listing that ends").isLessThan(Invariants.MAX_LISTED);
      page = next.apply(page.getLast());
    }
    return shards;
  }

  @Case(id = "T32", title = "100k shards listed while others come and go: none missed, none twice")
  default void listingsUnderChangeMissNothing() {
    int count = tck().times(100_000);
    Set<ShardId> stable = new HashSet<>();
    ShardMaker maker = bench().maker();
    Random random = bench().random();
    for (int i = 0; i < count; i++) {
      ShardId shard = maker.nextAt(random.nextInt(1_000_000));
      long wakeMicros = random.nextInt(1_000_000);
      bench().ok(() -> bench().journals().create(shard, "home", wakeMicros, NO_WORDS));
      stable.add(shard);
    }
    ShardMaker others = bench().maker();
    List<ShardId> living = new ArrayList<>();
    whileAnother(
        () -> comeAndGo(others, living),
        () -> {
          for (int round = 0; round < 3; round++) {
            assertListsOnce(listById(bench().journals(), 1_000), stable);
            assertListsOnce(listByWake(bench().journals(), Long.MAX_VALUE, 1_000), stable);
          }
        });
  }

  private void comeAndGo(ShardMaker maker, List<ShardId> living) {
    Random random = bench().random();
    ShardId shard = maker.nextAt(random.nextInt(1_000_000));
    long wakeMicros = random.nextInt(1_000_000);
    bench().ok(() -> bench().journals().create(shard, "home", wakeMicros, NO_WORDS));
    living.add(shard);
    if (living.size() > 50) {
      ShardId ending = living.remove(random.nextInt(living.size()));
      bench().ok(() -> bench().journals().drop(ending, 1));
    }
  }

  private static void assertListsOnce(List<ShardId> listed, Set<ShardId> stable) {
    Map<ShardId, Integer> seen = new HashMap<>();
    listed.forEach(shard -> seen.merge(shard, 1, Integer::sum));
    assertThat(seen.values()).as("how often a shard is listed").containsOnly(1);
    assertThat(stable.stream().filter(shard -> !seen.containsKey(shard))).as("missed").isEmpty();
  }

  @Case(id = "T33", title = "by wake time, oldest first, in bounded pages")
  default void shardsAreListedByWakeTime() {
    ShardMaker maker = bench().maker();
    Random random = bench().random();
    Map<ShardId, Long> wakes = new HashMap<>();
    for (int i = 0; i < 60; i++) {
      ShardId shard = maker.nextAt(random.nextInt(100));
      long wakeMicros = random.nextInt(20) - 5L;
      bench().ok(() -> bench().journals().create(shard, "home", wakeMicros, NO_WORDS));
      wakes.put(shard, wakeMicros);
    }
    List<ShardId> ordered =
        wakes.keySet().stream()
            .sorted(Comparator.<ShardId>comparingLong(wakes::get).thenComparing(s -> s))
            .toList();
    for (int limit : new int[] {1, 7, 60, 1_000}) {
      for (long before : new long[] {-5, 0, 7, 14, 15, Long.MAX_VALUE}) {
        assertThat(listByWake(bench().journals(), before, limit))
            .isEqualTo(ordered.stream().filter(shard -> wakes.get(shard) < before).toList());
      }
      int bound = limit;
      assertThat(bench().ok(() -> bench().journals().listByWake(100, null, bound)).size())
          .isEqualTo(Math.min(limit, 60));
      assertThat(listById(bench().journals(), limit))
          .isEqualTo(wakes.keySet().stream().sorted().toList());
    }
  }

  @Case(id = "T33", title = "a wake time moves as told: lowered, raised with an entry, published")
  default void wakeTimesMoveAsTold() {
    JournalWriter writer = bench().create();
    ShardId shard = writer.shard();
    bench().ok(() -> bench().journals().lowerWake(shard, 1, WAKE + 5));
    assertThat(bench().head(shard).wakeMicros()).as("never raised by lowering").isEqualTo(WAKE);
    bench().ok(() -> bench().journals().lowerWake(shard, 1, WAKE - 5));
    assertThat(bench().head(shard).wakeMicros()).isEqualTo(WAKE - 5);
    writer.append();
    assertThat(bench().head(shard).wakeMicros()).as("kept by an append").isEqualTo(WAKE - 5);
    writer.tryAppend(new byte[1], WAKE + 7).orThrow();
    if (!bench().isFaulty()) {
      // Behind faults a late lowering may have come: too early costs a load, never a job.
      assertThat(bench().head(shard).wakeMicros()).as("raised with an entry").isEqualTo(WAKE + 7);
    }
    assertThat(listByWake(bench().journals(), WAKE + 8, 10)).containsExactly(shard);
    writer.publish(List.of(new byte[1]), WAKE + 9);
    assertThat(bench().head(shard).wakeMicros()).isLessThanOrEqualTo(WAKE + 9);
    if (!bench().isFaulty()) {
      assertThat(listByWake(bench().journals(), WAKE + 9, 10)).isEmpty();
    }
    assertThat(listByWake(bench().journals(), WAKE + 10, 10)).containsExactly(shard);
  }

  @Case(id = "T33", title = "a wake time is never later than the earliest job after any crash")
  default void afterACrashTheWakeTimeIsEarlyEnough() {
    int rounds = tck().times(200);
    Random random = bench().random();
    JournalWriter writer = bench().create();
    for (int round = 0; round < rounds; round++) {
      writer = addThenCrash(writer, random);
      Head head = bench().head(writer.shard());
      long earliest = earliest(writer);
      assertThat(head.wakeMicros()).isLessThanOrEqualTo(earliest);
      if (earliest != Long.MAX_VALUE && random.nextInt(4) == 0) {
        writer.tryAppend(NO_WORDS, earliest).orThrow();
      }
    }
  }

  /** Adds a job by the rule (lower first, then append) and dies at one of the steps. */
  private JournalWriter addThenCrash(JournalWriter writer, Random random) {
    long due = WAKE - 1_000 + random.nextInt(2_000);
    byte[] add = ByteBuffer.allocate(Long.BYTES).putLong(due).array();
    Fault fault = random.nextBoolean() ? Fault.APPLY_THEN_TIMEOUT : Fault.TIMEOUT_THEN_APPLY;
    int dieAt = random.nextInt(3);
    ShardId shard = writer.shard();
    if (dieAt == 0) {
      bench()
          .scripted(Operation.LOWER_WAKE, fault)
          .journals()
          .lowerWake(shard, writer.epoch(), due);
    } else {
      long epoch = writer.epoch();
      bench().ok(() -> bench().journals().lowerWake(shard, epoch, due));
      if (dieAt == 1) {
        bench()
            .scripted(Operation.APPEND, fault)
            .journals()
            .append(List.of(writer.next(bench().id(), add)), false);
      } else {
        writer.append(add);
      }
    }
    bench().reopen();
    return bench().claim(shard);
  }

  private long earliest(JournalWriter writer) {
    return bench().read(writer.shard(), 1).stream()
        .filter(entry -> entry.data().length == Long.BYTES)
        .mapToLong(entry -> ByteBuffer.wrap(entry.data()).getLong())
        .min()
        .orElse(Long.MAX_VALUE);
  }
}
