package dev.carillon.store.postgres;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.carillon.api.error.InvalidArgumentException;
import dev.carillon.store.StoreAddress;
import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What the URL of a store, and what is said beside it, come to. */
class AddressOptionsTest {

  private static PostgresOptions of(String url, Map<String, String> options) {
    return AddressOptions.of(new StoreAddress(url, null, options));
  }

  @Test
  void parametersOfTheUrlAreOursOrTheDrivers() {
    PostgresOptions options =
        of(
            "jdbc:postgresql://host:1/db?user=me&carillon.schema=a%26b&ssl=true"
                + "&carillon.cluster=blue&carillon.push=false&carillon.statementTimeout=0.5s",
            Map.of());
    assertThat(options.url()).isEqualTo("jdbc:postgresql://host:1/db?user=me&ssl=true");
    assertThat(options.schema()).isEqualTo("a&b");
    assertThat(options.cluster()).isEqualTo("blue");
    assertThat(options.push()).isFalse();
    assertThat(options.statementTimeout()).isEqualTo(Duration.ofMillis(500));
  }

  @Test
  void settingsBesideTheUrlCountAsWell() {
    PostgresOptions options =
        of(
            "JDBC:postgresql:db",
            Map.of(
                "user",
                "me",
                "password",
                "?",
                "schema",
                "jobs",
                "poolSize",
                "3",
                "pooler",
                "true",
                "keepTables",
                "P9D",
                "rotateBytes",
                "2000000",
                "rotateEvery",
                "2h"));
    assertThat(options)
        .isEqualTo(
            PostgresOptions.at("jdbc:postgresql:db")
                .user("me", "?")
                .schema("jobs")
                .poolSize(3)
                .pooler(true)
                .keepTables(Duration.ofDays(9))
                .rotate(Duration.ofHours(2), 2_000_000)
                .build());
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "carillon.schemas=x",
        "carillon.=x",
        "carillon.poolSize=many",
        "carillon.push=yes",
        "carillon.keepTables=long",
        "carillon.schema=a&carillon.schema=b",
        "carillon.cluster",
        "cluster=blue",
        "user=me&poolsize=3",
      })
  void whatIsNotKnownIsRefused(String parameters) {
    assertThatThrownBy(() -> of("jdbc:postgresql://host/db?" + parameters, Map.of()))
        .isInstanceOf(InvalidArgumentException.class)
        .hasMessageContaining("(expected: ");
  }

  @Test
  void whatIsSaidInTheUrlCannotBeSaidBesideItToo() {
    assertThatThrownBy(
            () -> of("jdbc:postgresql://host/db?carillon.schema=a", Map.of("schema", "a")))
        .isInstanceOf(InvalidArgumentException.class)
        .hasMessageContaining("schema twice");
  }
}
