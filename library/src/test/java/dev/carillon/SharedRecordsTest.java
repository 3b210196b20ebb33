package dev.carillon;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.carillon.api.error.InvalidArgumentException;
import dev.carillon.api.error.StoreUnavailableException;
import dev.carillon.store.FaultyStore;
import dev.carillon.store.FaultyStore.Fault;
import dev.carillon.store.ForwardingStore.Operation;
import dev.carillon.store.MemoryStore;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Values beside the jobs: compare-and-set, and what becomes of a change that is not answered. */
class SharedRecordsTest {
  private static final byte[] ONE = {1};
  private static final byte[] TWO = {2};

  private final Deque<Fault> writes = new ArrayDeque<>();
  private final FaultyStore store =
      new FaultyStore(
          new MemoryStore(),
          operation ->
              operation == Operation.RECORDS_APPLY && !writes.isEmpty()
                  ? writes.remove()
                  : Fault.NONE);
  private final SharedRecords records = SharedRecords.of(store, "test");

  @Test
  void changesNameTheVersionThatTheyExpect() {
    assertThat(records.put("a", null, ONE)).isTrue();
    assertThat(records.put("a", null, TWO)).isFalse();
    SharedRecords.Entry first = records.get("a").orElseThrow();
    assertThat(first.value()).isEqualTo(ONE);
    assertThat(records.put("a", first.version(), TWO)).isTrue();
    assertThat(records.put("a", first.version(), ONE)).isFalse();
    assertThat(records.delete(first)).isFalse();
    assertThat(records.delete(records.get("a").orElseThrow())).isTrue();
    assertThat(records.get("a")).isEmpty();
  }

  @Test
  void areasDoNotSeeEachOther() {
    records.put("a", null, ONE);
    assertThat(SharedRecords.of(store, "tes").list()).isEmpty();
    assertThat(SharedRecords.of(store, "other").get("a")).isEmpty();
    assertThat(records.list()).extracting(SharedRecords.Entry::key).containsExactly("a");
    assertThatThrownBy(() -> SharedRecords.of(store, "A"))
        .isInstanceOf(InvalidArgumentException.class)
        .hasMessageContaining("area");
  }

  @Test
  void listHasAllPages() {
    for (int i = 0; i < 600; i++) {
      records.put("k" + i, null, ONE);
    }
    assertThat(records.list()).hasSize(600);
  }

  @Test
  void changeThatWasAppliedAndNotAnsweredIsDone() {
    writes.add(Fault.APPLY_THEN_TIMEOUT);
    assertThat(records.put("a", null, ONE)).isTrue();
    assertThat(records.get("a")).isPresent();
  }

  @Test
  void changeThatComesLateIsRefusedOnceItsCallerWasTold() {
    writes.add(Fault.TIMEOUT_THEN_APPLY);
    assertThatThrownBy(() -> records.put("a", null, ONE))
        .isInstanceOf(StoreUnavailableException.class)
        .hasMessageContaining("nothing was written");
    store.deliverLate();
    assertThat(records.get("a")).isEmpty();
    assertThat(records.put("a", null, TWO)).isTrue();
  }

  @Test
  void storeThatIsAwayIsToldAsSuch() {
    writes.addAll(List.of(Fault.FAIL_BEFORE));
    assertThatThrownBy(() -> records.put("a", null, ONE))
        .isInstanceOf(StoreUnavailableException.class);
    assertThatThrownBy(() -> records.put("a", null, new byte[SharedRecords.MAX_VALUE_BYTES + 1]))
        .isInstanceOf(InvalidArgumentException.class);
  }
}
