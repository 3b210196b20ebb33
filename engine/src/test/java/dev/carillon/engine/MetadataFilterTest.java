package dev.carillon.engine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.carillon.engine.format.ByteReader;
import dev.carillon.engine.format.ByteWriter;
import dev.carillon.engine.history.MetadataFilter;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class MetadataFilterTest {
  private static MetadataFilter of(int entries) {
    List<Long> hashes =
        IntStream.range(0, entries).mapToObj(i -> MetadataFilter.hash("order", "o" + i)).toList();
    ByteWriter out = new ByteWriter(16);
    MetadataFilter.of(hashes).write(out);
    byte[] bytes = out.toBytes();
    return MetadataFilter.read(new ByteReader(bytes));
  }

  @Test
  void whatIsThereIsNeverPassedOver() {
    for (int entries : List.of(1, 2, 10, 1024)) {
      MetadataFilter filter = of(entries);
      for (int i = 0; i < entries; i++) {
        assertThat(filter.mayHold(MetadataFilter.hash("order", "o" + i))).isTrue();
      }
    }
  }

  @Test
  void littleElseIsLookedAt() {
    MetadataFilter filter = of(1024);
    long perhaps =
        IntStream.range(0, 100_000)
            .filter(i -> filter.mayHold(MetadataFilter.hash("order", "other " + i)))
            .count();
    assertThat(perhaps).isLessThan(2_000);
    assertThat(filter.mayHold(MetadataFilter.hash("orde", "ro1"))).isFalse();
  }

  @Test
  void withoutEntriesNothingIsThere() {
    assertThat(of(0).mayHold(MetadataFilter.hash("order", "o1"))).isFalse();
  }

  /** Stored: another hash would pass over what is there. */
  @Test
  void theHashNeverChanges() {
    assertThat(MetadataFilter.hash("order", "42")).isEqualTo(8990852948718817215L);
  }
}
