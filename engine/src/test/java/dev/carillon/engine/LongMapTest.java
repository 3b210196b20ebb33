package dev.carillon.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.carillon.engine.format.LongMap;
import dev.carillon.engine.job.JobRef;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

class LongMapTest {

  @Test
  void behavesAsAHashMapDoes() {
    for (long seed = 0; seed < 50; seed++) {
      SplittableRandom random = new SplittableRandom(seed);
      LongMap<String> map = new LongMap<>();
      Map<Long, String> model = new HashMap<>();
      for (int i = 0; i < 3000; i++) {
        long key = JobRef.number(1 + random.nextInt(2), 1 + random.nextInt(200));
        if (random.nextInt(5) < 2) {
          assertThat(map.remove(key)).isEqualTo(model.remove(key));
        } else {
          map.put(key, "v" + i);
          model.put(key, "v" + i);
        }
        assertThat(map.get(key)).isEqualTo(model.get(key));
        assertThat(map.size()).isEqualTo(model.size());
      }
      List<String> values = new ArrayList<>();
      map.forEach(values::add);
      assertThat(values).containsExactlyInAnyOrderElementsOf(model.values());
    }
  }

  @Test
  void anyLooksNoFurtherThanItMust() {
    LongMap<String> map = new LongMap<>();
    assertThat(map.any(value -> true)).isFalse();
    map.put(1, "a");
    map.put(2, "b");
    int[] looks = {0};
    assertThat(map.any(value -> ++looks[0] > 0)).isTrue();
    assertThat(looks[0]).isEqualTo(1);
    assertThat(map.any("b"::equals)).isTrue();
    assertThat(map.any("c"::equals)).isFalse();
  }

  @Test
  void zeroIsNoKey() {
    assertThatThrownBy(() -> new LongMap<String>().put(0, "x"))
        .isInstanceOf(IllegalArgumentException.class);
  }
}
