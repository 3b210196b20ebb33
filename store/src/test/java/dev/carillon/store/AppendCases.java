package dev.carillon.store;

import static dev.carillon.store.Workbench.NO_WORDS;
import static dev.carillon.store.Workbench.WAKE;
import static org.assertj.core.api.Assertions.assertThat;

import dev.carillon.store.StoreInfo.Capability;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Callable;

/** Appends: whole, in order, once (S4, S5, S13). */
interface AppendCases extends TckCases {

  @Case(id = "T11", title = "a wrong number is a conflict with the true tail")
  default void aWrongNumberIsAConflict() {
    JournalWriter writer = bench().create();
    writer.append(5);
    long tail = writer.tail();
    for (long number : new long[] {tail + 2, tail + 100, Long.MAX_VALUE, tail, 1, 0, -1}) {
      Append wrong = new Append(writer.shard(), 1, 1, number, bench().id(), new byte[3]);
      assertThat(bench().settle(wrong)).isEqualTo(new Outcome.Conflict<>(tail));
    }
    for (int generation : new int[] {0, 2}) {
      Append wrong = new Append(writer.shard(), 1, generation, tail + 1, bench().id(), new byte[3]);
      assertThat(bench().settle(wrong)).isEqualTo(new Outcome.Conflict<>(tail));
    }
    bench().assertHoldsExactly(writer);
  }

  @Case(id = "T12", title = "a 1,000-entry group, crash at each write boundary: all or none")
  default void aGroupCutShortByACrashIsThereWhollyOrNotAtAll() {
    CapabilityCases.needs(this, Capability.ATOMIC_ACROSS_JOURNALS);
    List<JournalWriter> writers = new ArrayList<>();
    for (int i = 0; i < 10; i++) {
      writers.add(bench().create());
    }
    Set<Long> batches = new HashSet<>();
    int[] cuts = {0};
    try (var folders =
        tck()
            .cuts(
                bench().bare(),
                bench().folder(),
                () -> batches.addAll(appendTogether(writers, 100)))) {
      folders.forEach(
          folder -> {
            cuts[0]++;
            try (Store cut = tck().opener().open(folder)) {
              List<Long> found = new ArrayList<>();
              for (JournalWriter writer : writers) {
                for (Entry entry : bench().read(cut.journals(), writer.shard(), 1, 1)) {
                  if (batches.contains(entry.batch())) {
                    found.add(entry.batch());
                  }
                }
              }
              assertThat(found.size()).as("entries after cut %s", cuts[0]).isIn(0, batches.size());
              Invariants.inspect(cut);
            }
          });
    }
    assertThat(cuts[0]).as("write boundaries").isPositive();
    tck().counted(cuts[0]);
  }

  /** Appends one all-or-nothing group; answers its batches. */
  private List<Long> appendTogether(List<JournalWriter> writers, int entriesEach) {
    while (true) {
      List<Append> group = new ArrayList<>();
      for (JournalWriter writer : writers) {
        for (int i = 0; i < entriesEach; i++) {
          group.add(
              new Append(
                  writer.shard(),
                  writer.epoch(),
                  writer.generation(),
                  writer.tail() + 1 + i,
                  bench().id(),
                  new byte[100]));
        }
      }
      if (bench().settleTogether(group).stream().allMatch(Outcome::isOk)) {
        return group.stream().map(Append::batch).toList();
      }
      // Resolved as absent: every place is taken.
      writers.replaceAll(writer -> bench().claim(writer.shard()));
    }
  }

  @Case(id = "T14", title = "the same batch twice: one copy, the same number")
  default void theSameBatchTwiceIsOneCopy() {
    JournalWriter writer = bench().create();
    writer.append(3);
    for (Append append : writer.acknowledged()) {
      assertThat(bench().settle(append)).isEqualTo(Outcome.ok(append.number()));
    }
    writer.append(3);
    for (Append append : writer.acknowledged()) {
      assertThat(bench().settle(append)).isEqualTo(Outcome.ok(append.number()));
    }
    bench().assertHoldsExactly(writer);
  }

  @Case(id = "T14", title = "a batch submitted again does not raise the wake time again")
  default void aRepeatedBatchLeavesTheWakeTimeAlone() {
    JournalWriter writer = bench().create();
    writer.tryAppend(new byte[1], WAKE + 100).orThrow();
    Append raising = writer.acknowledged().getLast();
    assertThat(bench().head(writer.shard()).wakeMicros()).isEqualTo(WAKE + 100);
    bench().ok(() -> bench().journals().lowerWake(writer.shard(), 1, WAKE + 50));
    assertThat(bench().settle(raising)).isEqualTo(Outcome.ok(raising.number()));
    assertThat(bench().head(writer.shard()).wakeMicros()).isEqualTo(WAKE + 50);
  }

  @Case(id = "T19", title = "two appenders of one epoch: no interleaving, one conflict")
  default void ofTwoAppendersOneWinsEachNumber() {
    int rounds = tck().times(2_000);
    JournalWriter writer = bench().create();
    for (int round = 0; round < rounds; round++) {
      Append left = writer.next();
      Append right = writer.next();
      List<Callable<Outcome<Long>>> appenders =
          List.of(() -> bench().settle(left), () -> bench().settle(right));
      List<Outcome<Long>> outcomes = bench().together(appenders);
      List<Append> winners = new ArrayList<>();
      for (int i = 0; i < 2; i++) {
        if (outcomes.get(i).isOk()) {
          winners.add(i == 0 ? left : right);
        } else {
          assertThat(outcomes.get(i)).isEqualTo(new Outcome.Conflict<>(left.number()));
        }
      }
      if (winners.isEmpty() && bench().isFaulty()) {
        writer.skip();
      } else {
        assertThat(winners).hasSize(1);
        writer.accept(winners.getFirst());
      }
    }
    bench().assertHoldsExactly(writer);
  }

  @Case(id = "T19", title = "two groups for the same numbers: all of one, none of the other")
  default void ofTwoGroupsOneWinsAllNumbers() {
    CapabilityCases.needs(this, Capability.ATOMIC_ACROSS_JOURNALS);
    int rounds = tck().times(1_000);
    JournalWriter writer = bench().create();
    for (int round = 0; round < rounds; round++) {
      List<Append> left = following(writer, 3);
      List<Append> right = following(writer, 3);
      List<Callable<List<Outcome<Long>>>> appenders =
          List.of(() -> bench().settleTogether(left), () -> bench().settleTogether(right));
      bench().together(appenders);
      List<Long> found =
          bench().read(bench().journals(), writer.shard(), 1, left.getFirst().number()).stream()
              .map(Entry::batch)
              .toList();
      List<Long> lefts = left.stream().map(Append::batch).toList();
      List<Long> rights = right.stream().map(Append::batch).toList();
      if (bench().isFaulty() && found.stream().allMatch(batch -> batch == 0)) {
        found.forEach(batch -> writer.skip());
      } else {
        assertThat(found).isIn(lefts, rights);
        (found.equals(lefts) ? left : right).forEach(writer::accept);
      }
    }
    bench().assertHoldsExactly(writer);
  }

  private List<Append> following(JournalWriter writer, int count) {
    List<Append> group = new ArrayList<>();
    for (int i = 1; i <= count; i++) {
      group.add(
          new Append(
              writer.shard(),
              writer.epoch(),
              writer.generation(),
              writer.tail() + i,
              bench().id(),
              new byte[] {(byte) i}));
    }
    return group;
  }

  @Case(id = "T20", title = "entries of no, one, the maximum and one more byte")
  default void entriesOfEverySizeUpToTheLimit() {
    int max = bench().store().info().maxEntryBytes();
    JournalWriter writer = bench().create();
    byte[] largest = new byte[max];
    bench().random().nextBytes(largest);
    writer.append(NO_WORDS);
    writer.append(new byte[] {42});
    writer.append(largest);
    Append tooLarge = writer.next(bench().id(), new byte[max + 1]);
    assertThat(bench().settle(tooLarge)).isEqualTo(new Outcome.TooLarge<>(max));
    bench().assertHoldsExactly(writer);
  }

  @Case(id = "T20", title = "groups of the maximum and one more byte")
  default void groupsUpToTheLimit() {
    StoreInfo info = bench().store().info();
    byte[] part = new byte[info.maxEntryBytes()];
    int parts = info.maxGroupBytes() / part.length;
    byte[] rest = new byte[info.maxGroupBytes() % part.length];
    List<byte[]> exact = new ArrayList<>();
    for (int i = 0; i < parts; i++) {
      exact.add(part);
    }
    exact.add(rest);
    List<byte[]> over = new ArrayList<>(exact);
    over.add(new byte[1]);

    List<Outcome<Long>> refused = appendEach(over);
    assertThat(refused).hasSize(over.size());
    assertThat(refused).allMatch(new Outcome.TooLarge<>(info.maxGroupBytes())::equals);
    assertThat(appendEach(exact)).allMatch(Outcome::isOk);
  }

  /** Appends each part to a new journal, in one group; the journals are dropped again. */
  private List<Outcome<Long>> appendEach(List<byte[]> parts) {
    List<Append> group = new ArrayList<>();
    for (byte[] part : parts) {
      JournalWriter writer = bench().create();
      group.add(writer.next(bench().id(), part));
    }
    List<Outcome<Long>> outcomes = bench().bare().journals().append(group, false);
    for (int i = 0; i < group.size(); i++) {
      Append append = group.get(i);
      List<Entry> entries = bench().read(append.shard(), 1);
      assertThat(entries).hasSize(outcomes.get(i).isOk() ? 1 : 0);
      bench().ok(() -> bench().journals().drop(append.shard(), 1));
    }
    return outcomes;
  }

  @Case(id = "T20", title = "staged entries, summaries and homes over the limit are refused")
  default void everythingElseHasALimitToo() {
    StoreInfo info = bench().store().info();
    JournalWriter writer = bench().create();
    ShardId shard = writer.shard();
    byte[] over = new byte[info.maxEntryBytes() + 1];
    Outcome<Object> tooLarge = new Outcome.TooLarge<>(info.maxEntryBytes());
    Journals journals = bench().journals();
    assertThat(bench().ask(() -> journals.stage(shard, 1, 1, 7, 1, over))).isEqualTo(tooLarge);
    assertThat(bench().ask(() -> journals.seal(shard, 1, over))).isEqualTo(tooLarge);
    assertThat(bench().ask(() -> journals.release(shard, 1, 0, over))).isEqualTo(tooLarge);
    ShardId next = bench().maker().next();
    assertThat(bench().ask(() -> journals.create(next, "home", WAKE, over))).isEqualTo(tooLarge);
    String longHome = "ü".repeat(info.maxKeyBytes() / 2 + 1);
    assertThat(bench().ask(() -> journals.create(next, longHome, WAKE, NO_WORDS)))
        .isEqualTo(new Outcome.TooLarge<>(info.maxKeyBytes()));
    assertThat(bench().ask(() -> journals.head(next)).isOk()).isFalse();
    assertThat(bench().head(shard).released()).isFalse();
  }

  @Case(id = "T20", title = "every byte, unicode and NUL come back as they went in")
  default void bytesComeBackAsTheyWentIn() {
    byte[] bytes = new byte[256];
    for (int i = 0; i < bytes.length; i++) {
      bytes[i] = (byte) i;
    }
    ShardId shard = bench().maker().next();
    String home = "Zürich\0東京 🔔 שלום";
    Head created = bench().ok(() -> bench().journals().create(shard, home, WAKE, bytes));
    assertThat(created.home()).isEqualTo(home);
    JournalWriter writer = new JournalWriter(bench(), created, 0);
    writer.append(bytes);
    writer.append(new byte[1_000]);
    bench().assertHoldsExactly(writer);
    bench().reopen();
    bench().assertHoldsExactly(writer);
    assertThat(bench().head(shard).home()).isEqualTo(home);
    assertThat(bench().head(shard).summary()).isEqualTo(bytes);
  }

  @Case(id = "T20", title = "many journals in one call: each its own outcome")
  default void eachJournalOfAGroupHasItsOwnOutcome() {
    JournalWriter good = bench().create();
    JournalWriter stale = bench().create();
    bench().claim(stale.shard());
    JournalWriter gone = bench().create();
    bench().ok(() -> bench().journals().drop(gone.shard(), 1));
    JournalWriter behind = bench().create();
    behind.append(2);
    Append second = new Append(good.shard(), 1, 1, good.tail() + 2, bench().id(), new byte[] {2});
    byte[] over = new byte[bench().store().info().maxEntryBytes() + 1];
    JournalWriter other = bench().create();
    List<Append> group =
        List.of(
            good.next(),
            stale.next(),
            gone.next(),
            second,
            new Append(behind.shard(), 1, 1, 1, bench().id(), new byte[1]),
            other.next(bench().id(), over),
            other.next());
    List<Outcome<Long>> outcomes = bench().bare().journals().append(group, false);
    List<Outcome<?>> expected =
        Arrays.asList(
            Outcome.ok(good.tail() + 1),
            new Outcome.Fenced<>(2),
            new Outcome.Fenced<>(Head.DROPPED),
            Outcome.ok(good.tail() + 2),
            new Outcome.Conflict<>(behind.tail()),
            new Outcome.TooLarge<>(bench().store().info().maxEntryBytes()),
            Outcome.ok(other.tail() + 1));
    assertThat(outcomes).isEqualTo(expected);
    good.accept(group.get(0));
    good.accept(second);
    other.accept(group.getLast());
    List.of(good, behind, other).forEach(bench()::assertHoldsExactly);
    assertThat(bench().read(stale.shard(), 1)).isEmpty();
  }
}
