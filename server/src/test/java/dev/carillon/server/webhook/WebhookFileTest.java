package dev.carillon.server.webhook;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Duration;
import java.time.Instant;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Secrets and ranges in a file that changes, and the header {@code Retry-After}. */
class WebhookFileTest {
  private static final String SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";

  @TempDir private Path folder;

  private Path write(String text) throws Exception {
    return Files.writeString(folder.resolve("webhooks.json"), text);
  }

  @Test
  void changedFileCountsAndABrokenOneDoesNot() throws Exception {
    Path path =
        write(
            "{\"namespaces\": [{\"namespace\": \"a\", \"secrets\": [\""
                + SECRET
                + "\"],"
                + " \"privateRanges\": [\"10.0.0.0/8\"]}]}");
    WebhookFile file = new WebhookFile(path);
    assertThat(file.get().of("a").secrets()).hasSize(1);
    assertThat(file.get().of("a").ranges()).containsExactly(AddressRange.of("10.0.0.0/8"));
    assertThat(file.get().of("b").secrets()).isEmpty();
    assertThat(file.get().toString()).doesNotContain(SECRET);

    write("{\"namespaces\": [{\"namespace\": \"b\", \"secrets\": [\"" + SECRET + "\"]}]}");
    Files.setLastModifiedTime(path, FileTime.from(Instant.now().plusSeconds(10)));
    Awaitility.await()
        .atMost(Duration.ofSeconds(20))
        .until(() -> file.get().of("b").secrets().size() == 1);
    assertThat(file.get().of("a").secrets()).isEmpty();

    write("{\"names");
    Files.setLastModifiedTime(path, FileTime.from(Instant.now().plusSeconds(20)));
    long begun = System.nanoTime();
    Awaitility.await()
        .pollDelay(Duration.ofMillis(1_200))
        .until(() -> System.nanoTime() - begun > 1_200_000_000L);
    assertThat(file.get().of("b").secrets()).hasSize(1);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "{",
        "{\"names\": []}",
        "{\"namespaces\": [{\"secrets\": []}]}",
        "{\"namespaces\": [{\"namespace\": \"a\"}, {\"namespace\": \"a\"}]}",
        "{\"namespaces\": [{\"namespace\": \"a\", \"secrets\": [\"s3cr3t\"]}]}",
        "{\"namespaces\": [{\"namespace\": \"a\", \"secrets\": [\"whsec_s3cr3t\"]}]}",
        "{\"namespaces\": [{\"namespace\": \"a\", \"secrets\": [\"whsec_?\"]}]}",
        "{\"namespaces\": [{\"namespace\": \"a\", \"privateRanges\": [\"127.0.0.0/8\"]}]}"
      })
  void wrongFilesAreRefusedWithoutShowingASecret(String text) throws Exception {
    Path path = write(text);
    assertThatThrownBy(() -> new WebhookFile(path))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("expected")
        .hasMessageNotContaining("s3cr3t");
  }

  @Test
  void moreThanTwoSecretsAreRefused() throws Exception {
    String secret = '"' + SECRET + '"';
    Path path =
        write(
            "{\"namespaces\": [{\"namespace\": \"a\", \"secrets\": [%s, %s, %s]}]}"
                .formatted(secret, secret, secret));
    assertThatThrownBy(() -> new WebhookFile(path)).hasMessageContaining("at most 2");
  }

  @ParameterizedTest
  @CsvSource({
    "0, PT0S",
    "120, PT2M",
    "86401, PT24H",
    "99999999999999999999, PT24H",
    "'Fri, 20 Nov 2026 10:00:30 GMT', PT30S",
    "'Fri, 20 Nov 2026 09:00:00 GMT', PT0S",
    "'Fri, 20 Nov 2099 09:00:00 GMT', PT24H",
    "-1,",
    "1.5,",
    "soon,",
    "'',",
    "'Fri, 20 Nov 99999 09:00:00 GMT',"
  })
  void retryAfterIsSecondsOrADateAndADayAtMost(String value, Duration expected) {
    Instant now = Instant.parse("2026-11-20T10:00:00Z");
    assertThat(RetryAfter.of(value, now)).isEqualTo(expected);
    assertThat(RetryAfter.of(null, now)).isNull();
  }
}
