package dev.carillon.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.carillon.api.Concurrency;
import dev.carillon.api.Rate;
import dev.carillon.api.WhenFull;
import dev.carillon.engine.format.ByteReader;
import dev.carillon.engine.format.ByteWriter;
import dev.carillon.engine.format.DamagedException;
import dev.carillon.engine.job.ConcurrencyFormat;
import java.time.Duration;
import org.junit.jupiter.api.Test;

class ConcurrencyFormatTest {

  private static Concurrency read(ByteWriter out) {
    byte[] bytes = out.toBytes();
    return ConcurrencyFormat.read(new ByteReader(bytes));
  }

  @Test
  void whatIsWrittenIsRead() {
    Concurrency concurrency =
        Concurrency.of("k").limit(3).whenFull(WhenFull.REJECT).rate(Rate.perMinute(7).burst(9));
    ByteWriter out = new ByteWriter(64);
    ConcurrencyFormat.write(concurrency, out);
    assertThat(read(out)).isEqualTo(concurrency);
  }

  @Test
  void aBurstBeyondTheLimitIsDamage() {
    Duration day = Duration.ofDays(1);
    ByteWriter out = new ByteWriter(64).string("k").varint(1).u8(WhenFull.WAIT.code());
    out.varint(1).varint(day.toNanos()).varint(1_000_000);
    assertThatThrownBy(() -> read(out))
        .isInstanceOf(DamagedException.class)
        .hasMessageContaining("burst");
  }
}
