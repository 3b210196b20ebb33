package dev.carillon;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.carillon.api.error.StoreVersionException;
import dev.carillon.store.MemoryStore;
import dev.carillon.store.Records.Change;
import dev.carillon.store.Records.Stamp;
import dev.carillon.store.Records.Stored;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What becomes of a program on a store that newer ones write. */
class FormatTest {
  private static final String KEY = "m\0~format";

  @Test
  @Timeout(30)
  void storeSaysInWhichFormatItIsWritten() {
    MemoryStore store = new MemoryStore();
    Carillon carillon = Carillon.builder().store(store).daemon(true).open();
    // The node writes it soon after it is open.
    while (store.records().get(KEY).orThrow().isEmpty()) {
      Thread.onSpinWait();
    }
    carillon.close();
    Stored format = store.records().get(KEY).orThrow().orElseThrow();
    assertThat(format.value()).containsExactly(1);
  }

  @Test
  void storeOfALaterFormatIsRefusedAndNothingIsWrittenToIt() {
    MemoryStore store = new MemoryStore();
    Change later = new Change(KEY, Stamp.ABSENT, new byte[] {2}, new Stamp(1, 1));
    assertThat(store.records().apply(List.of(later)).getFirst().isOk()).isTrue();
    assertThatThrownBy(() -> Carillon.builder().store(store).daemon(true).open())
        .isInstanceOf(StoreVersionException.class)
        .hasMessageContaining("2 (expected: at most 1");
    assertThat(store.records().list("", null, 10).orThrow()).hasSize(1);
    assertThat(store.journals().listById(null, 10).orThrow()).isEmpty();
  }
}
