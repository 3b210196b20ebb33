package dev.carillon.store;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.carillon.store.FaultyStore.Fault;
import dev.carillon.store.ForwardingStore.Operation;
import dev.carillon.store.Records.Change;
import dev.carillon.store.Records.Stamp;
import dev.carillon.store.Records.Stored;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.Callable;

/** Records: conditional changes of small values (S9). */
interface RecordsCases extends TckCases {

  private static byte[] bytes(String text) {
    return text.getBytes(UTF_8);
  }

  private Optional<Stored> get(String key) {
    return bench().ok(() -> bench().records().get(key));
  }

  private void assertHolds(String key, String value, Stamp version) {
    Stored stored = get(key).orElseThrow();
    assertThat(stored.key()).isEqualTo(key);
    assertThat(stored.value()).isEqualTo(bytes(value));
    assertThat(stored.version()).isEqualTo(version);
  }

  @Case(id = "R01", title = "put if the version is the expected one")
  default void aPutNeedsTheRightVersion() {
    RecordWriter writer = bench().recordWriter();
    RecordWriter other = bench().recordWriter();
    assertThat(get("k")).isEmpty();
    assertThat(writer.write("k", new Stamp(5, 5), bytes("no")))
        .as("expecting a record that is not there")
        .isInstanceOf(Outcome.Conflict.class);
    assertThat(get("k")).isEmpty();
    Stamp one = writer.create("k", bytes("one"));
    assertHolds("k", "one", one);
    assertThat(other.write("k", Stamp.ABSENT, bytes("no"))).isInstanceOf(Outcome.Conflict.class);
    assertHolds("k", "one", one);
    Stamp two = other.put("k", one, bytes("two"));
    assertHolds("k", "two", two);
    assertThat(writer.write("k", one, bytes("no"))).isInstanceOf(Outcome.Conflict.class);
    assertHolds("k", "two", two);
    Stamp empty = writer.put("k", two, new byte[0]);
    assertHolds("k", "", empty);
  }

  @Case(id = "R02", title = "delete if the version is the expected one")
  default void aDeleteNeedsTheRightVersion() {
    RecordWriter writer = bench().recordWriter();
    Stamp one = writer.create("k", bytes("one"));
    Stamp two = writer.put("k", one, bytes("two"));
    Change stale = writer.change("k", one, null);
    assertThat(bench().bare().records().apply(List.of(stale)).getFirst())
        .isInstanceOf(Outcome.Conflict.class);
    assertHolds("k", "two", two);
    writer.write("k", two, null).orThrow();
    assertThat(get("k")).isEmpty();
    assertThat(bench().ok(() -> bench().records().list("", null, 10))).isEmpty();
  }

  @Case(id = "R03", title = "create races: one winner")
  default void ofManyCreatorsOneWins() {
    int rounds = tck().times(1_000);
    for (int round = 0; round < rounds; round++) {
      String key = "race " + round;
      List<Callable<Outcome<Stamp>>> creators = new ArrayList<>();
      for (int i = 0; i < 4; i++) {
        String value = "creator " + i;
        RecordWriter writer = bench().recordWriter();
        creators.add(() -> writer.write(key, Stamp.ABSENT, bytes(value)));
      }
      List<Outcome<Stamp>> outcomes = bench().together(creators);
      List<Integer> winners = new ArrayList<>();
      for (int i = 0; i < outcomes.size(); i++) {
        if (outcomes.get(i).isOk()) {
          winners.add(i);
        } else {
          assertThat(outcomes.get(i)).isInstanceOf(Outcome.Conflict.class);
        }
      }
      assertThat(winners).as("winners of %s", key).hasSize(1);
      int winner = winners.getFirst();
      assertHolds(key, "creator " + winner, outcomes.get(winner).orThrow());
    }
  }

  @Case(id = "R04", title = "update races: no update is lost")
  default void racingUpdatesLoseNothing() {
    int updates = tck().times(5_000);
    RecordWriter first = bench().recordWriter();
    first.create("counter", ByteBuffer.allocate(Integer.BYTES).array());
    List<Callable<Integer>> counters = new ArrayList<>();
    for (int i = 0; i < 4; i++) {
      RecordWriter writer = bench().recordWriter();
      counters.add(
          () -> {
            int done = 0;
            while (done < updates) {
              Stored stored = get("counter").orElseThrow();
              int value = ByteBuffer.wrap(stored.value()).getInt() + 1;
              byte[] next = ByteBuffer.allocate(Integer.BYTES).putInt(value).array();
              // Only an answer that came at once counts: a resolution cannot tell a change that
              // was overwritten since from one that never took effect.
              Change change = writer.change("counter", stored.version(), next);
              if (bench().bare().records().apply(List.of(change)).getFirst().isOk()) {
                done++;
              }
            }
            return done;
          });
    }
    bench().together(counters);
    assertThat(ByteBuffer.wrap(get("counter").orElseThrow().value()).getInt())
        .isEqualTo(4 * updates);
  }

  @Case(id = "R05", title = "versions never repeat, also after a delete")
  default void versionsNeverRepeat() {
    Set<Stamp> versions = new HashSet<>();
    RecordWriter writer = bench().recordWriter();
    int rounds = tck().times(200);
    Stamp older = new Stamp(7, 7);
    for (int round = 0; round < rounds; round++) {
      if (round % 20 == 19) {
        writer = bench().recordWriter();
        bench().reopen();
      }
      Stamp created = writer.create("k", bytes("v"));
      assertThat(versions.add(created)).isTrue();
      assertThat(get("k").orElseThrow().version()).isEqualTo(created);
      Change stale = writer.change("k", older, bytes("stale"));
      assertThat(bench().bare().records().apply(List.of(stale)).getFirst())
          .as("expecting the version of a record deleted since")
          .isInstanceOf(Outcome.Conflict.class);
      writer.write("k", created, null).orThrow();
      older = created;
    }
  }

  @Case(id = "R06", title = "the same change twice: recognised, not applied twice")
  default void theSameChangeTwiceIsOneChange() {
    RecordWriter writer = bench().recordWriter();
    Records bare = bench().bare().records();
    Change create = writer.change("k", Stamp.ABSENT, bytes("one"));
    assertThat(bare.apply(List.of(create))).containsExactly(Outcome.ok(create.stamp()));
    assertThat(bare.apply(List.of(create))).containsExactly(Outcome.ok(create.stamp()));
    assertHolds("k", "one", create.stamp());
    Change update = writer.change("k", create.stamp(), bytes("two"));
    assertThat(bare.apply(List.of(update))).containsExactly(Outcome.ok(update.stamp()));
    assertThat(bare.apply(List.of(update))).containsExactly(Outcome.ok(update.stamp()));
    assertThat(bare.apply(List.of(create)).getFirst())
        .as("a change that was followed by another")
        .isInstanceOf(Outcome.Conflict.class);
    assertHolds("k", "two", update.stamp());
    Change delete = writer.change("k", update.stamp(), null);
    assertThat(bare.apply(List.of(delete))).containsExactly(Outcome.ok(delete.stamp()));
    Stamp after = writer.create("k", bytes("three"));
    assertThat(bare.apply(List.of(delete)).getFirst())
        .as("a delete that was followed by another change")
        .isInstanceOf(Outcome.Conflict.class);
    assertHolds("k", "three", after);
  }

  @Case(id = "R07", title = "many changes in one call, an outcome each, in order")
  default void eachChangeOfACallHasItsOwnOutcome() {
    StoreInfo info = bench().store().info();
    RecordWriter writer = bench().recordWriter();
    Stamp old = writer.create("b", bytes("old"));
    Change first = writer.change("a", Stamp.ABSENT, bytes("1"));
    Change stale = writer.change("b", Stamp.ABSENT, bytes("no"));
    Change second = writer.change("a", first.stamp(), bytes("2"));
    Change delete = writer.change("b", old, null);
    Change again = writer.change("b", Stamp.ABSENT, bytes("new"));
    Change large = writer.change("c", Stamp.ABSENT, new byte[info.maxValueBytes() + 1]);
    Change last = writer.change("d", Stamp.ABSENT, bytes("d"));
    List<Outcome<Stamp>> outcomes =
        bench().bare().records().apply(List.of(first, stale, second, delete, again, large, last));
    assertThat(outcomes).hasSize(7);
    assertThat(outcomes.get(0)).isEqualTo(Outcome.ok(first.stamp()));
    assertThat(outcomes.get(1)).isInstanceOf(Outcome.Conflict.class);
    assertThat(outcomes.get(2)).isEqualTo(Outcome.ok(second.stamp()));
    assertThat(outcomes.get(3)).isEqualTo(Outcome.ok(delete.stamp()));
    assertThat(outcomes.get(4)).isEqualTo(Outcome.ok(again.stamp()));
    assertThat(outcomes.get(5)).isEqualTo(new Outcome.TooLarge<>(info.maxValueBytes()));
    assertThat(outcomes.get(6)).isEqualTo(Outcome.ok(last.stamp()));
    assertHolds("a", "2", second.stamp());
    assertHolds("b", "new", again.stamp());
    assertThat(get("c")).isEmpty();
    assertHolds("d", "d", last.stamp());
    assertThat(bench().bare().records().apply(List.of())).isEmpty();
  }

  @Case(id = "R08", title = "prefix listing with hostile keys, in the order of their bytes")
  default void prefixesListHostileKeysInOrder() {
    List<String> keys = new ArrayList<>(HostileNames.all(bench().store().info().maxKeyBytes()));
    keys.removeIf(String::isEmpty);
    for (String prefix : List.of("n/", "a%", "'")) {
      HostileNames.all(100).forEach(name -> keys.add(prefix + "/" + name));
    }
    RecordWriter writer = bench().recordWriter();
    Map<String, Stamp> versions = new HashMap<>();
    List<String> shuffled = new ArrayList<>(keys);
    Collections.shuffle(shuffled, new Random(5));
    shuffled.forEach(key -> versions.put(key, writer.create(key, bytes(key))));
    bench().reopen();
    keys.sort((left, right) -> Arrays.compareUnsigned(bytes(left), bytes(right)));
    Set<String> prefixes = new HashSet<>(keys);
    prefixes.addAll(List.of("", "n", "a", "zzz", "\ud83d\udd14"));
    for (String prefix : prefixes) {
      List<String> expected = keys.stream().filter(key -> key.startsWith(prefix)).toList();
      for (int limit : new int[] {3, 1_000}) {
        assertThat(listed(prefix, limit)).as("prefix '%s'", prefix).isEqualTo(expected);
      }
    }
    for (String key : keys) {
      assertHolds(key, key, versions.get(key));
    }
  }

  private List<String> listed(String prefix, int limit) {
    List<String> keys = new ArrayList<>();
    List<Stored> page = bench().ok(() -> bench().records().list(prefix, null, limit));
    while (!page.isEmpty()) {
      assertThat(page.size()).isLessThanOrEqualTo(limit);
      page.forEach(stored -> keys.add(stored.key()));
      String last = page.getLast().key();
      page = bench().ok(() -> bench().records().list(prefix, last, limit));
    }
    return keys;
  }

  @Case(id = "R09", title = "keys and values of no, the maximum and one more byte")
  default void recordsOfEverySizeUpToTheLimit() {
    StoreInfo info = bench().store().info();
    RecordWriter writer = bench().recordWriter();
    byte[] largest = new byte[info.maxValueBytes()];
    bench().random().nextBytes(largest);
    String longest = "ü".repeat(info.maxKeyBytes() / 2) + "x".repeat(info.maxKeyBytes() % 2);
    writer.create(longest, largest);
    assertThat(get(longest).orElseThrow().value()).isEqualTo(largest);
    writer.create("empty", new byte[0]);
    assertThat(get("empty").orElseThrow().value()).isEmpty();
    assertThat(writer.write(longest + "x", Stamp.ABSENT, bytes("v")))
        .isEqualTo(new Outcome.TooLarge<>(info.maxKeyBytes()));
    assertThat(writer.write("k", Stamp.ABSENT, new byte[largest.length + 1]))
        .isEqualTo(new Outcome.TooLarge<>(info.maxValueBytes()));
    assertThat(listed("", 10)).containsExactlyInAnyOrder(longest, "empty");
  }

  @Case(id = "R09", title = "a key that has no UTF-8 is the caller's bug")
  default void keysWithUnpairedSurrogatesAreRefused() {
    RecordWriter writer = bench().recordWriter();
    Records records = bench().bare().records();
    for (String key : List.of("\ud83d", "a\udd14b", "\udd14\ud83d")) {
      Change change = writer.change(key, Stamp.ABSENT, bytes("v"));
      assertThatThrownBy(() -> records.apply(List.of(change)))
          .isInstanceOf(IllegalArgumentException.class);
    }
    assertThat(listed("", 10)).isEmpty();
  }

  @Case(id = "R10", title = "applied, then timed out: resolves to in effect")
  default void aChangeThatTimedOutAfterItsEffectIsInEffect() {
    RecordWriter writer = bench().recordWriter();
    Change put = writer.change("k", Stamp.ABSENT, bytes("v"));
    unknown(put, Fault.APPLY_THEN_TIMEOUT);
    boolean inEffect = bench().ok(() -> bench().records().resolve(put));
    assertThat(inEffect || bench().isFaulty()).isTrue();
    assertThat(get("k").isPresent()).isEqualTo(inEffect);
    Stamp version = inEffect ? put.stamp() : writer.create("k", bytes("v"));
    assertHolds("k", "v", version);
    Change delete = writer.change("k", version, null);
    unknown(delete, Fault.APPLY_THEN_TIMEOUT);
    boolean deleted = bench().ok(() -> bench().records().resolve(delete));
    assertThat(deleted || bench().isFaulty()).isTrue();
    assertThat(get("k").isEmpty()).isEqualTo(deleted);
  }

  private FaultyStore unknown(Change change, Fault fault) {
    FaultyStore store = bench().scripted(Operation.RECORDS_APPLY, fault);
    assertThat(store.records().apply(List.of(change)).getFirst())
        .isInstanceOf(Outcome.Unknown.class);
    return store;
  }

  @Case(id = "T16", title = "record change timed out, applied late: refused after it was resolved")
  default void aResolvedChangeNeverTakesEffectLater() {
    RecordWriter writer = bench().recordWriter();
    int rounds = tck().times(100);
    for (int round = 0; round < rounds; round++) {
      String key = "k" + round;
      Change late = writer.change(key, Stamp.ABSENT, bytes("late"));
      FaultyStore slow = unknown(late, Fault.TIMEOUT_THEN_APPLY);
      assertThat(bench().ok(() -> bench().records().resolve(late))).isFalse();
      slow.deliverLate();
      assertThat(get(key)).isEmpty();
      assertThat(bench().bare().records().apply(List.of(late)).getFirst())
          .isInstanceOf(Outcome.Fenced.class);
      assertThat(get(key)).isEmpty();

      Stamp version = writer.create(key, bytes("v"));
      Change delete = writer.change(key, version, null);
      FaultyStore slower = unknown(delete, Fault.TIMEOUT_THEN_APPLY);
      assertThat(bench().ok(() -> bench().records().resolve(delete))).isFalse();
      slower.deliverLate();
      assertHolds(key, "v", version);
    }
  }

  @Case(id = "R11", title = "a resolution closes the door to that writer's earlier changes only")
  default void aResolutionRefusesEarlierChangesOfThatWriterOnly() {
    RecordWriter writer = bench().recordWriter();
    RecordWriter other = bench().recordWriter();
    Change earlier = writer.change("a", Stamp.ABSENT, bytes("v"));
    Change resolved = writer.change("b", Stamp.ABSENT, bytes("v"));
    Change later = writer.change("c", Stamp.ABSENT, bytes("v"));
    Change others = other.change("d", Stamp.ABSENT, bytes("v"));
    assertThat(bench().ok(() -> bench().records().resolve(resolved))).isFalse();
    assertThat(bench().ok(() -> bench().records().resolve(resolved))).isFalse();
    bench().reopen();
    List<Outcome<Stamp>> outcomes =
        bench().bare().records().apply(List.of(earlier, resolved, later, others));
    assertThat(outcomes.get(0)).isInstanceOf(Outcome.Fenced.class);
    assertThat(outcomes.get(1)).isInstanceOf(Outcome.Fenced.class);
    assertThat(outcomes.get(2)).isEqualTo(Outcome.ok(later.stamp()));
    assertThat(outcomes.get(3)).isEqualTo(Outcome.ok(others.stamp()));
    assertThat(listed("", 10)).containsExactly("c", "d");
    assertThat(bench().ok(() -> bench().records().resolve(later)))
        .as("resolving one that is in effect")
        .isTrue();
    assertHolds("c", "v", later.stamp());
  }

  @Case(id = "R12", title = "a resolution says what is in effect now")
  default void aResolutionTellsWhatIsInEffect() {
    RecordWriter writer = bench().recordWriter();
    RecordWriter other = bench().recordWriter();
    Records bare = bench().bare().records();
    Change put = writer.change("k", Stamp.ABSENT, bytes("v"));
    bare.apply(List.of(put)).getFirst().orThrow();
    Stamp after = other.put("k", put.stamp(), bytes("w"));
    assertThat(bench().ok(() -> bench().records().resolve(put)))
        .as("a put that was overwritten")
        .isFalse();
    Change delete = writer.change("k", put.stamp(), null);
    assertThat(bench().ok(() -> bench().records().resolve(delete)))
        .as("a delete of a version that is gone")
        .isTrue();
    assertHolds("k", "w", after);
  }
}
