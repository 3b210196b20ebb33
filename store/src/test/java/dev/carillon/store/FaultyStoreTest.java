package dev.carillon.store;

import static org.assertj.core.api.Assertions.assertThat;

import dev.carillon.store.FaultyStore.Fault;
import dev.carillon.store.FaultyStore.Faults;
import dev.carillon.store.ForwardingStore.Operation;
import dev.carillon.store.Journals.Publication;
import dev.carillon.store.Records.Change;
import dev.carillon.store.Records.Stamp;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class FaultyStoreTest {

  private static final byte[] NONE = new byte[0];
  private static final long MAKER = 5;
  private static final ShardId SHARD = new ShardId(1, MAKER, 1);

  private final MemoryStore memory = new MemoryStore();
  private final ScriptedFaults script = new ScriptedFaults();
  private final FaultyStore store = new FaultyStore(memory, script);

  private void given(Operation operation, Fault fault) {
    script.expect(operation, fault);
  }

  private static Append entry(long number) {
    return new Append(SHARD, 1, 1, number, 100 + number, new byte[] {1});
  }

  private static Change put(String key, long sequence) {
    return new Change(key, Stamp.ABSENT, new byte[] {1}, new Stamp(9, sequence));
  }

  /** One call of each operation, on a store that holds {@link #SHARD} with one entry. */
  private static final Map<Operation, Function<Store, Outcome<?>>> CALLS = calls();

  private static Map<Operation, Function<Store, Outcome<?>>> calls() {
    Map<Operation, Function<Store, Outcome<?>>> calls = new EnumMap<>(Operation.class);
    ShardId next = new ShardId(1, MAKER, 2);
    calls.put(Operation.CREATE, s -> s.journals().create(next, "home", 0, NONE));
    calls.put(Operation.CLAIM, s -> s.journals().claim(SHARD, 1, 77));
    calls.put(Operation.APPEND, s -> s.journals().append(List.of(entry(2)), false).getFirst());
    calls.put(Operation.RESOLVE, s -> s.journals().resolve(entry(2)));
    calls.put(Operation.LOWER_WAKE, s -> s.journals().lowerWake(SHARD, 1, -5));
    calls.put(Operation.SEAL, s -> s.journals().seal(SHARD, 1, NONE));
    calls.put(Operation.RELEASE, s -> s.journals().release(SHARD, 1, 1, NONE));
    calls.put(Operation.READ, s -> s.journals().read(SHARD, 1, 1, 100));
    calls.put(Operation.STAGE, s -> s.journals().stage(SHARD, 1, 1, 8, 1, new byte[3]));
    calls.put(
        Operation.PUBLISH,
        s -> s.journals().publish(new Publication(SHARD, 1, 1, 1, 8, 0, 0, NONE)));
    calls.put(Operation.DROP_GENERATIONS, s -> s.journals().dropGenerations(SHARD, 1, 1));
    calls.put(Operation.DROP, s -> s.journals().drop(SHARD, 1));
    calls.put(Operation.HEAD, s -> s.journals().head(SHARD));
    calls.put(Operation.LIST_BY_WAKE, s -> s.journals().listByWake(100, null, 10));
    calls.put(Operation.LIST_BY_ID, s -> s.journals().listById(null, 10));
    calls.put(Operation.RECORDS_GET, s -> s.records().get("k"));
    calls.put(Operation.RECORDS_APPLY, s -> s.records().apply(List.of(put("k", 1))).getFirst());
    calls.put(Operation.RECORDS_RESOLVE, s -> s.records().resolve(put("k", 1)));
    calls.put(Operation.RECORDS_LIST, s -> s.records().list("", null, 10));
    return calls;
  }

  private Outcome<?> call(Operation operation) {
    memory.journals().create(SHARD, "home", 0, NONE).orThrow();
    memory.journals().append(List.of(entry(1)), false).getFirst().orThrow();
    return CALLS.get(operation).apply(store);
  }

  private String held() {
    return Invariants.inspect(memory) + " " + memory.heldBytes();
  }

  private static String afterwards(Operation operation) {
    FaultyStoreTest alone = new FaultyStoreTest();
    alone.call(operation);
    return alone.held();
  }

  private static String before() {
    FaultyStoreTest alone = new FaultyStoreTest();
    alone.call(Operation.HEAD);
    return alone.held();
  }

  @ParameterizedTest
  @EnumSource
  void withoutFaultsEveryCallPasses(Operation operation) {
    assertThat(call(operation).isOk()).isTrue();
    assertThat(store.count(operation, Fault.NONE)).isEqualTo(1);
  }

  @ParameterizedTest
  @EnumSource
  void aCallThatFailsBeforeIsUnavailableAndHasNoEffect(Operation operation) {
    given(operation, Fault.FAIL_BEFORE);
    assertThat(call(operation)).isInstanceOf(Outcome.Unavailable.class);
    assertThat(held()).isEqualTo(before());
    assertThat(store.count(operation, Fault.FAIL_BEFORE)).isEqualTo(1);
  }

  @ParameterizedTest
  @EnumSource
  void aWriteThatTimesOutAfterItsEffectIsUnknownAndHasIt(Operation operation) {
    given(operation, Fault.APPLY_THEN_TIMEOUT);
    Outcome<?> outcome = call(operation);
    assertThat(held()).isEqualTo(afterwards(operation));
    assertThat(outcome instanceof Outcome.Unknown).isEqualTo(!operation.isRead());
    assertThat(store.lateCount()).isZero();
  }

  @ParameterizedTest
  @EnumSource
  void aWriteThatTimesOutBeforeItsEffectHasItWhenDelivered(Operation operation) {
    given(operation, Fault.TIMEOUT_THEN_APPLY);
    Outcome<?> outcome = call(operation);
    assertThat(held()).isEqualTo(before());
    assertThat(outcome instanceof Outcome.Unknown).isEqualTo(!operation.isRead());
    assertThat(store.lateCount()).isEqualTo(operation.isRead() ? 0 : 1);
    assertThat(store.deliverLate()).isEqualTo(operation.isRead() ? 0 : 1);
    assertThat(held()).isEqualTo(afterwards(operation));
    assertThat(store.lateCount()).isZero();
    assertThat(store.deliverLate()).isZero();
  }

  @ParameterizedTest
  @EnumSource
  void aFullStoreRefusesWhatNeedsRoomAndNothingElse(Operation operation) {
    given(operation, Fault.FULL);
    Outcome<?> outcome = call(operation);
    boolean refused = FaultyStore.possible(operation).contains(Fault.FULL);
    assertThat(outcome instanceof Outcome.Full).isEqualTo(refused);
    assertThat(held()).isEqualTo(refused ? before() : afterwards(operation));
    assertThat(store.count(operation, Fault.FULL)).isEqualTo(refused ? 1 : 0);
  }

  @Test
  void endingThingsIsNeverRefusedForWantOfRoom() {
    for (Operation operation :
        List.of(Operation.DROP, Operation.RELEASE, Operation.RESOLVE, Operation.RECORDS_RESOLVE)) {
      assertThat(FaultyStore.possible(operation)).doesNotContain(Fault.FULL);
    }
  }

  @Test
  void aFullStoreTakesUrgentAppendsFromItsReserve() {
    call(Operation.HEAD);
    given(Operation.APPEND, Fault.FULL);
    assertThat(store.journals().append(List.of(entry(2).asUrgent()), false))
        .containsExactly(Outcome.ok(2L));
    given(Operation.APPEND, Fault.FULL);
    List<Outcome<Long>> outcomes =
        store.journals().append(List.of(entry(3).asUrgent(), entry(4)), false);
    assertThat(outcomes.get(0)).isEqualTo(Outcome.ok(3L));
    assertThat(outcomes.get(1)).isInstanceOf(Outcome.Full.class);
    given(Operation.APPEND, Fault.FULL);
    outcomes = store.journals().append(List.of(entry(4).asUrgent(), entry(5)), true);
    assertThat(outcomes.get(0)).isInstanceOf(Outcome.Unavailable.class);
    assertThat(outcomes.get(1)).isInstanceOf(Outcome.Full.class);
    assertThat(memory.journals().read(SHARD, 1, 1, 100).orThrow().entries()).hasSize(3);
  }

  @Test
  void aFullStoreTakesDeletes() {
    memory.records().apply(List.of(put("old", 1))).getFirst().orThrow();
    Change delete = new Change("old", new Stamp(9, 1), null, new Stamp(9, 3));
    given(Operation.RECORDS_APPLY, Fault.FULL);
    List<Outcome<Stamp>> outcomes = store.records().apply(List.of(put("new", 2), delete));
    assertThat(outcomes.get(0)).isInstanceOf(Outcome.Full.class);
    assertThat(outcomes.get(1)).isEqualTo(Outcome.ok(delete.stamp()));
    assertThat(memory.records().list("", null, 10).orThrow()).isEmpty();
  }

  @Test
  void aFaultHitsAllPartsOfAGroup() {
    call(Operation.HEAD);
    List<Append> group = List.of(entry(2), entry(3));
    given(Operation.APPEND, Fault.FAIL_BEFORE);
    assertThat(store.journals().append(group, false))
        .hasSize(2)
        .allMatch(Outcome.Unavailable.class::isInstance);
    given(Operation.APPEND, Fault.APPLY_THEN_TIMEOUT);
    assertThat(store.journals().append(group, false))
        .hasSize(2)
        .allMatch(Outcome.Unknown.class::isInstance);
    assertThat(memory.journals().read(SHARD, 1, 1, 100).orThrow().entries()).hasSize(3);
  }

  @Test
  void aKeptGroupIsNotChangedByItsCaller() {
    call(Operation.HEAD);
    List<Append> group = new ArrayList<>(List.of(entry(2)));
    given(Operation.APPEND, Fault.TIMEOUT_THEN_APPLY);
    store.journals().append(group, false);
    group.clear();
    store.deliverLate();
    assertThat(memory.journals().read(SHARD, 1, 1, 100).orThrow().entries()).hasSize(2);
  }

  @Test
  void lateCallsAreDeliveredInTheirOrder() {
    call(Operation.HEAD);
    for (int number = 2; number <= 6; number++) {
      given(Operation.APPEND, Fault.TIMEOUT_THEN_APPLY);
      store.journals().append(List.of(entry(number)), false);
    }
    assertThat(store.lateCount()).isEqualTo(5);
    assertThat(store.deliverNextLate()).isTrue();
    assertThat(memory.journals().read(SHARD, 1, 1, 100).orThrow().entries()).hasSize(2);
    assertThat(store.deliverLate()).isEqualTo(4);
    assertThat(memory.journals().read(SHARD, 1, 1, 100).orThrow().entries()).hasSize(6);
    assertThat(store.deliverNextLate()).isFalse();
  }

  @Test
  void noMoreThanItsLimitWaits() {
    FaultyStore late = new FaultyStore(memory, operation -> Fault.TIMEOUT_THEN_APPLY);
    for (int i = 0; i < FaultyStore.MAX_LATE + 10; i++) {
      assertThat(late.journals().drop(SHARD, 1)).isInstanceOf(Outcome.Unknown.class);
    }
    assertThat(late.lateCount()).isEqualTo(FaultyStore.MAX_LATE);
    late.close();
    assertThat(late.lateCount()).isZero();
  }

  @Test
  void aSlowCallGoesOnWhenItsUserSaysSo() throws Exception {
    CountDownLatch reached = new CountDownLatch(1);
    CountDownLatch open = new CountDownLatch(1);
    FaultyStore slow =
        new FaultyStore(
            memory,
            new Faults() {
              @Override
              public Fault next(Operation operation) {
                return Fault.SLOW;
              }

              @Override
              public void slow(Operation operation) {
                reached.countDown();
                try {
                  assertThat(open.await(1, TimeUnit.MINUTES)).isTrue();
                } catch (InterruptedException e) {
                  throw new AssertionError(e);
                }
              }
            });
    CompletableFuture<Outcome<Head>> answer =
        CompletableFuture.supplyAsync(() -> slow.journals().create(SHARD, "home", 0, NONE));
    assertThat(reached.await(1, TimeUnit.MINUTES)).isTrue();
    assertThat(memory.journals().head(SHARD).isOk()).as("before the latch opens").isFalse();
    open.countDown();
    assertThat(answer.get(1, TimeUnit.MINUTES).isOk()).isTrue();
    assertThat(slow.count(Operation.CREATE, Fault.SLOW)).isEqualTo(1);
  }

  @Test
  void itTellsWhatTheWrappedStoreIs() {
    assertThat(store.info()).isEqualTo(memory.info());
    assertThat(store.incarnation()).isEqualTo(memory.incarnation());
  }

  @Test
  void theSameDecisionsGiveTheSameAnswers() {
    assertThat(trace(7)).isEqualTo(trace(7)).isNotEqualTo(trace(8));
  }

  private static List<String> trace(long seed) {
    FaultyStore faulty = SeededFaults.wrap(new MemoryStore(), seed);
    List<String> answers = new ArrayList<>();
    for (int round = 0; round < 50; round++) {
      CALLS.forEach(
          (operation, call) ->
              answers.add(operation + " " + call.apply(faulty).getClass().getSimpleName()));
      answers.add("late " + faulty.lateCount());
    }
    return answers;
  }
}
