package dev.carillon.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.carillon.engine.format.DamagedException;
import dev.carillon.engine.job.JobSpec;
import dev.carillon.store.Records.Stamp;
import java.util.Arrays;
import org.junit.jupiter.api.Test;

class JobSpecTest {

  @Test
  void everyPartSurvives() {
    for (long seed = 0; seed < 500; seed++) {
      JobSpec spec = new RandomOperations(seed).spec();
      JobSpec read = JobSpec.decode(spec.encode());
      assertThat(read).usingRecursiveComparison().as("seed %d", seed).isEqualTo(spec);
    }
  }

  @Test
  void theStampOfANameIsSetInPlace() {
    for (long seed = 0; seed < 100; seed++) {
      JobSpec spec = new RandomOperations(seed).spec();
      if (spec.name() == null) {
        continue;
      }
      byte[] body = spec.encode();
      JobSpec.setStamp(body, new Stamp(11, 12));
      assertThat(JobSpec.decode(body).stamp()).isEqualTo(new Stamp(11, 12));
      assertThat(JobSpec.decode(body).name()).isEqualTo(spec.name());
    }
  }

  @Test
  void aBodyCutOffInItsHeadIsDamaged() {
    byte[] body = new RandomOperations(9).spec().encode();
    for (int length = 0; length < 20; length++) {
      byte[] cut = Arrays.copyOf(body, length);
      assertThatThrownBy(() -> JobSpec.decode(cut)).isInstanceOf(DamagedException.class);
    }
  }
}
