package dev.carillon.store;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Random;
import org.junit.jupiter.api.Test;

class ShardIdTest {

  private static final long MAX_START = (1L << 40) - 1;
  private static final int MAX_SEQUENCE = (1 << 25) - 1;

  private static List<ShardId> samples() {
    Random random = new Random(1);
    List<ShardId> ids = new ArrayList<>();
    for (long start : new long[] {0, 1, 31, 32, 1_700_000_000L, MAX_START}) {
      for (long incarnation : new long[] {1, -1, Long.MIN_VALUE, Long.MAX_VALUE, 42}) {
        for (int sequence : new int[] {1, 2, 31, 32, MAX_SEQUENCE}) {
          ids.add(new ShardId(start, incarnation, sequence));
        }
      }
    }
    for (int i = 0; i < 1_000; i++) {
      ids.add(
          new ShardId(
              random.nextLong() & MAX_START,
              random.nextLong() | 1,
              1 + random.nextInt(MAX_SEQUENCE)));
    }
    return ids;
  }

  @Test
  void itsTextIsFixedInWidthAndReadBack() {
    for (ShardId id : samples()) {
      assertThat(id.toString()).hasSize(ShardId.TEXT_LENGTH).matches("[0-9a-z]+");
      assertThat(ShardId.parse(id.toString())).isEqualTo(id);
    }
  }

  @Test
  void itsTextSortsAsItDoes() {
    List<ShardId> byId = new ArrayList<>(samples());
    List<ShardId> byText = new ArrayList<>(byId);
    byId.sort(Comparator.naturalOrder());
    byText.sort(Comparator.comparing(ShardId::toString));
    assertThat(byId).isEqualTo(byText);
  }

  @Test
  void itSortsByStartThenMakerThenSequence() {
    assertThat(new ShardId(1, -1, 9)).isLessThan(new ShardId(2, 1, 1));
    assertThat(new ShardId(1, 1, 9)).isLessThan(new ShardId(1, -1, 1));
    assertThat(new ShardId(1, 1, 1)).isLessThan(new ShardId(1, 1, 2));
    assertThat(new ShardId(1, 1, 1)).isEqualByComparingTo(new ShardId(1, 1, 1));
  }

  @Test
  void partsOutOfRangeAreRefused() {
    assertThatThrownBy(() -> new ShardId(-1, 1, 1)).hasMessageContaining("startSeconds: -1");
    assertThatThrownBy(() -> new ShardId(MAX_START + 1, 1, 1)).hasMessageContaining("startSec");
    assertThatThrownBy(() -> new ShardId(0, 0, 1)).hasMessageContaining("incarnation: 0");
    assertThatThrownBy(() -> new ShardId(0, 1, 0)).hasMessageContaining("sequence: 0");
    assertThatThrownBy(() -> new ShardId(0, 1, MAX_SEQUENCE + 1)).hasMessageContaining("sequence");
  }

  @Test
  void otherTextsAreRefused() {
    String good = new ShardId(1_700_000_000L, 5, 7).toString();
    for (String bad :
        List.of(
            "",
            good.substring(1),
            good + "0",
            good.replace('0', 'o'),
            good.toUpperCase(Locale.ROOT).replace('1', 'I'),
            "z".repeat(ShardId.TEXT_LENGTH))) {
      assertThatThrownBy(() -> ShardId.parse(bad))
          .as(bad)
          .isInstanceOf(IllegalArgumentException.class);
    }
  }
}
