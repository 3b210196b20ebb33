package dev.carillon.api;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatNullPointerException;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import org.junit.jupiter.api.Test;

class JobErrorTest {

  @Test
  void errorNamesTypeMessageFramesAndCauses() {
    JobError error =
        JobError.of(new IllegalStateException("outer", new IOException("disk is full")));

    assertThat(error.type()).isEqualTo("java.lang.IllegalStateException");
    assertThat(error.message()).isEqualTo("outer");
    assertThat(error.stack())
        .startsWith("java.lang.IllegalStateException: outer\n\tat ")
        .contains("JobErrorTest.errorNamesTypeMessageFramesAndCauses")
        .contains("\nCaused by: java.io.IOException: disk is full\n\tat ");
  }

  @Test
  void deepStackDoesNotHideTheCause() {
    var frames = new StackTraceElement[2_000];
    Arrays.fill(frames, new StackTraceElement("com.example.Deep", "call", "Deep.java", 1));
    var outer = new IllegalStateException("outer", new IOException("disk is full"));
    outer.setStackTrace(frames);

    assertThat(JobError.of(outer).stack())
        .contains("\t... 1968 more\nCaused by: java.io.IOException: disk is full\n\tat ");
  }

  @Test
  void missingMessageIsEmpty() {
    JobError error = JobError.of(new StackOverflowError());

    assertThat(error.message()).isEmpty();
    assertThat(error.stack()).startsWith("java.lang.StackOverflowError\n\tat ");
  }

  @Test
  void longPartsAreCut() {
    var error = new JobError("t".repeat(1_000), "m".repeat(10_000), "s".repeat(100_000));

    assertThat(error.type()).hasSize(300);
    assertThat(error.message()).hasSize(2_000);
    assertThat(error.stack()).hasSize(8_000);
  }

  @Test
  void longCauseChainsAndMessagesAreCut() {
    Throwable chain = new IOException("root");
    for (int i = 0; i < 10_000; i++) {
      chain = new IOException("m".repeat(1_000), chain);
    }

    assertThat(JobError.of(chain).stack()).hasSizeBetween(4_000, 8_000);
  }

  @Test
  void cutNeverSplitsACharacter() {
    JobError error = new JobError("t", "x".repeat(1_999) + "🔔", "");

    assertThat(error.message()).isEqualTo("x".repeat(1_999));
  }

  @Test
  void unpairedSurrogatesAreReplacedSoThatErrorsSurviveUtf8() {
    JobError error = new JobError("t", "a\uD800b🔔\uDC00", "");
    byte[] stored = error.message().getBytes(StandardCharsets.UTF_8);

    assertThat(error.message()).isEqualTo("a\uFFFDb🔔\uFFFD");
    assertThat(new String(stored, StandardCharsets.UTF_8)).isEqualTo(error.message());
  }

  @Test
  void hostileThrowableStillMakesAnError() {
    JobError error = JobError.of(new Hostile());

    assertThat(error.type()).isEqualTo(Hostile.class.getName());
    assertThat(error.message()).isEmpty();
    assertThat(error.stack()).isEqualTo(Hostile.class.getName() + "\n");
  }

  @Test
  void throwableThatReturnsNullsStillMakesAnError() {
    assertThat(JobError.of(new Hollow()).stack()).isEqualTo(Hollow.class.getName() + "\n");
  }

  @Test
  void cyclesOfCausesEnd() {
    var first = new IllegalStateException("first");
    var second = new IllegalStateException("second", first);
    first.initCause(second);

    assertThat(JobError.of(first).stack()).containsOnlyOnce("Caused by: ");
  }

  @Test
  void nullPartsAreRefused() {
    assertThatNullPointerException().isThrownBy(() -> new JobError("t", null, ""));
  }

  private static final class Hostile extends RuntimeException {
    @Override
    public String getMessage() {
      throw new StackOverflowError();
    }

    @Override
    public String toString() {
      throw new IllegalStateException();
    }

    @Override
    public StackTraceElement[] getStackTrace() {
      throw new AssertionError();
    }

    @Override
    public synchronized Throwable getCause() {
      throw new OutOfMemoryError();
    }
  }

  private static final class Hollow extends RuntimeException {
    @Override
    public String getMessage() {
      return null;
    }

    @Override
    public StackTraceElement[] getStackTrace() {
      return null;
    }
  }
}
