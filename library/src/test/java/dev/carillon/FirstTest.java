package dev.carillon;

import static org.assertj.core.api.Assertions.assertThat;

import dev.carillon.api.JobType;
import java.time.Duration;
import org.junit.jupiter.api.Test;

class FirstTest {
  static final JobType<String, Integer> LENGTH = JobType.of("length", String.class, Integer.class);

  @Test
  void jobRunsAndItsResultIsRead() {
    try (Carillon carillon = Carillon.inMemory()) {
      carillon.handle(LENGTH, (text, job) -> text.length());
      assertThat(carillon.schedule(LENGTH.job("four")).result(Duration.ofSeconds(5))).isEqualTo(4);
    }
  }
}
