package dev.carillon.engine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.carillon.engine.job.JobRef;
import dev.carillon.store.ShardId;
import java.util.Random;
import org.junit.jupiter.api.Test;

final class JobRefTest {
  private static final ShardId SHARD = new ShardId(1_800_000_000L, -3L, 77);

  @Test
  void idIsTheTextOfShardAndNumber() {
    Random random = new Random(5);
    for (int bit = 0; bit < 63; bit++) {
      assertIsItsText(1L << bit);
      assertIsItsText((1L << bit) - 1);
      assertIsItsText(random.nextLong() >>> (bit + 1));
    }
    assertIsItsText(Long.MAX_VALUE);
  }

  private static void assertIsItsText(long number) {
    JobRef job = new JobRef(SHARD, number);
    assertThat(job.id().value()).isEqualTo("j" + SHARD + Long.toUnsignedString(number, 32));
    assertThat(JobRef.parse(job.id())).isEqualTo(job);
  }
}
