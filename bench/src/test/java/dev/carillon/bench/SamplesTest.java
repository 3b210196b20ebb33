package dev.carillon.bench;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.Random;
import org.junit.jupiter.api.Test;

class SamplesTest {

  @Test
  void percentilesAreSamplesThatWereTaken() {
    Samples samples = new Samples();
    new Random(1).ints(0, Integer.MAX_VALUE).distinct().limit(999).forEach(samples::add);
    samples.add(-1);
    assertThat(samples.size()).isEqualTo(1000);
    assertThat(samples.min()).isEqualTo(-1);
    long p50 = samples.percentile(50);
    long p99 = samples.percentile(99);
    assertThat(p99).isBetween(p50, samples.max());
  }

  @Test
  void percentilesAreExact() {
    Samples samples = new Samples();
    for (int i = 2000; i >= 1; i--) {
      samples.add(i);
    }
    assertThat(samples.percentile(50)).isEqualTo(1000);
    assertThat(samples.percentile(99)).isEqualTo(1980);
    assertThat(samples.percentile(99.9)).isEqualTo(1998);
    assertThat(samples.max()).isEqualTo(2000);
    samples.add(0);
    assertThat(samples.min()).isZero();
  }

  @Test
  void noSamplesHaveNoPercentile() {
    assertThatThrownBy(() -> new Samples().percentile(50))
        .isInstanceOf(IllegalStateException.class);
  }
}
