package dev.carillon.engine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.carillon.engine.commit.RecordChanges;
import dev.carillon.engine.environment.NodeOptions;
import dev.carillon.engine.environment.Timers;
import dev.carillon.store.FaultyStore;
import dev.carillon.store.ForwardingStore;
import dev.carillon.store.MemoryStore;
import dev.carillon.store.Records.Change;
import dev.carillon.store.Records.Stamp;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** In which order changes go, and what is told where the store could not say how one went. */
class RecordChangesTest {
  private static final String KEY = "l\0printer";
  private static final Stamp OTHER = new Stamp(7, 1);

  private final MemoryStore store = new MemoryStore();
  private boolean unknown;
  private boolean away;
  private final Timers timers = new Timers();
  private final StillWorld world =
      new StillWorld(NodeOptions.of("a", 1), new FaultyStore(store, this::fault));
  private final RecordChanges changes = new RecordChanges(world, 99, timers);
  private final List<Boolean> told = new ArrayList<>();

  private FaultyStore.Fault fault(ForwardingStore.Operation operation) {
    if (operation != ForwardingStore.Operation.RECORDS_APPLY) {
      return FaultyStore.Fault.NONE;
    }
    return away
        ? FaultyStore.Fault.FAIL_BEFORE
        : unknown ? FaultyStore.Fault.APPLY_THEN_TIMEOUT : FaultyStore.Fault.NONE;
  }

  private void settle() {
    changes.turn();
    world.settle();
  }

  private Stamp put() {
    Stamp version = changes.change(KEY, Stamp.ABSENT, new byte[] {1}, told::add);
    settle();
    assertThat(told).containsExactly(true);
    told.clear();
    return version;
  }

  @Test
  void deleteThatTookEffectIsToldSo() {
    Stamp version = put();
    unknown = true;
    var unused = changes.change(KEY, version, null, told::add);
    settle();
    assertThat(told).containsExactly(true);
    assertThat(store.records().get(KEY).orThrow()).isEmpty();
  }

  @Test
  void deleteIsNotInEffectWhereSomebodyElseChangedTheRecordBefore() {
    Stamp version = put();
    store.records().apply(List.of(new Change(KEY, version, new byte[] {2}, OTHER)));
    unknown = true;
    var unused = changes.change(KEY, version, null, told::add);
    settle();
    assertThat(told).containsExactly(false);
    assertThat(store.records().get(KEY).orThrow()).isPresent();
  }

  @Test
  void changeThatWasDecidedByAnotherCopyIsNotSent() {
    Stamp version = put();
    var unused = changes.change(KEY, version, null, told::add);
    changes.exchanged();
    settle();
    assertThat(told).containsExactly(false);
    assertThat(store.records().get(KEY).orThrow()).isPresent();
  }

  @Test
  void whatNobodyWaitsForIsDoneALittleAtATimeBehindWhatIsAskedFor() {
    List<String> done = new ArrayList<>();
    for (int i = 0; i < 1_150; i++) {
      tidy(i, done);
    }
    List<Integer> sizes = new ArrayList<>();
    for (int call = 0; call < 3; call++) {
      String asked = "asked " + call;
      var unused = changes.change(asked, Stamp.ABSENT, new byte[0], told -> done.add(asked));
      settle();
      assertThat(done.getFirst()).as("the first of the call").isEqualTo(asked);
      sizes.add(done.size() - 1);
      done.clear();
    }
    assertThat(sizes).containsExactly(500, 500, 150);
    assertThat(changes.idle()).isTrue();
  }

  @Test
  void namesAreFreedAsFastAsTheyAreTakenAlsoWhereCallsAreFull() {
    List<String> freed = new ArrayList<>();
    for (int i = 0; i < 5_000; i++) {
      var unused = changes.change("a\0" + i, Stamp.ABSENT, new byte[0], told::add);
      tidy(i, freed);
    }
    for (int call = 1; call <= 5; call++) {
      settle();
      assertThat(told).as("taken").hasSize(1_000 * call);
      assertThat(freed).as("freed").hasSize(1_000 * call);
    }
    assertThat(changes.idle()).isTrue();
  }

  private void tidy(int number, List<String> done) {
    String key = "n\0" + number;
    changes.tidy(key, OTHER, null, told -> {}, () -> done.add(key));
  }

  @Test
  void whatNobodyWaitsForIsInEffectAlsoWhereAnotherChangeWasResolvedMeanwhile() {
    Stamp version = put();
    changes.tidy(KEY, version, null, told::add, () -> told.add(false));
    var unused = changes.change("other", Stamp.ABSENT, new byte[0], told::add);
    unknown = true;
    settle();
    assertThat(told).containsExactly(true, true);
    assertThat(store.records().get(KEY).orThrow()).isEmpty();
  }

  @Test
  void outageDoesNotGatherWhatNobodyWaitsForIntoOneCall() {
    List<String> done = new ArrayList<>();
    for (int i = 0; i < 3_000; i++) {
      tidy(i, done);
    }
    away = true;
    for (int i = 0; i < 10; i++) {
      settle();
      world.pass(Duration.ofMillis(20));
      timers.run(world.monotonicNanos());
    }
    away = false;
    var unused = changes.change("asked", Stamp.ABSENT, new byte[0], told -> done.add("asked"));
    settle();
    assertThat(done).hasSize(501).startsWith("asked");
  }

  @Test
  void whatWasToBeTidiedInAnotherCopyIsToldAtOnce() {
    for (int i = 0; i < 1_000; i++) {
      changes.tidy("n\0" + i, OTHER, null, told::add, () -> told.add(true));
    }
    changes.exchanged();
    settle();
    assertThat(told).hasSize(1_000).containsOnly(false);
  }
}
