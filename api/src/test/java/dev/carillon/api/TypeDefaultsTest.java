package dev.carillon.api;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import dev.carillon.api.error.InvalidJobException;
import java.time.Duration;
import org.junit.jupiter.api.Test;

/** What a type gives to the jobs that it makes. */
class TypeDefaultsTest {
  private static final FailurePolicy PATIENT = FailurePolicy.constant(Duration.ofHours(1), 3);
  private static final TaskType<String> MAIL =
      TaskType.of("mail", String.class)
          .queue("mail")
          .priority(5)
          .timeout(Duration.ofMinutes(1))
          .onFailure(PATIENT)
          .version(2);

  @Test
  void jobsHaveTheDefaultsOfTheirType() {
    Job<Void> job = MAIL.job("hello");
    assertThat(job.queue()).isEqualTo("mail");
    assertThat(job.priority()).isEqualTo(5);
    assertThat(job.timeout()).isEqualTo(Duration.ofMinutes(1));
    assertThat(job.failurePolicy()).isEqualTo(PATIENT);
    assertThat(job.typeVersion()).isEqualTo(2);
  }

  @Test
  void jobMaySayOtherwise() {
    Job<Void> job =
        MAIL.job("hello")
            .queue("bulk")
            .priority(-1)
            .timeout(Duration.ofSeconds(1))
            .onFailure(FailurePolicy.drop());
    assertThat(job.queue()).isEqualTo("bulk");
    assertThat(job.priority()).isEqualTo(-1);
    assertThat(job.timeout()).isEqualTo(Duration.ofSeconds(1));
    assertThat(job.failurePolicy()).isEqualTo(FailurePolicy.drop());
  }

  @Test
  void typesWithResultsHaveThemToo() {
    JobType<Void, Long> count =
        JobType.of("count", Long.class)
            .queue("slow")
            .priority(1)
            .timeout(Duration.ofHours(2))
            .onFailure(PATIENT);
    Job<Long> job = count.job();
    assertThat(job.queue()).isEqualTo("slow");
    assertThat(job.priority()).isEqualTo(1);
    assertThat(job.timeout()).isEqualTo(Duration.ofHours(2));
    assertThat(job.failurePolicy()).isEqualTo(PATIENT);
    assertThat(JobType.of("count", Long.class)).isNotEqualTo(count);
  }

  @Test
  void changingATypeLeavesTheOneBeforeAsItWas() {
    TaskType<Void> plain = TaskType.of("plain");
    assertThat(plain.queue("other")).isNotEqualTo(plain);
    assertThat(plain.job().queue()).isEqualTo(Job.DEFAULT_QUEUE);
    assertThat(plain.job().failurePolicy()).isNull();
  }

  @Test
  void badDefaultsAreRefusedAtOnce() {
    TaskType<Void> plain = TaskType.of("plain");
    assertThatExceptionOfType(InvalidJobException.class).isThrownBy(() -> plain.queue(" "));
    assertThatExceptionOfType(InvalidJobException.class).isThrownBy(() -> plain.priority(101));
    assertThatExceptionOfType(InvalidJobException.class)
        .isThrownBy(() -> plain.timeout(Duration.ZERO));
    assertThatExceptionOfType(InvalidJobException.class).isThrownBy(() -> plain.onFailure(null));
  }
}
