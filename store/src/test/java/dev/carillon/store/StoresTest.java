package dev.carillon.store;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.carillon.api.error.InvalidArgumentException;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** How an address leads to a store. */
class StoresTest {

  @Test
  void aStoreInMemoryIsFoundByItsUrl() {
    try (Store store = Stores.open(StoreAddress.of("memory:"))) {
      assertThat(store.info().kind()).isEqualTo("memory");
    }
  }

  @Test
  void aMissingArtifactIsNamedAndThePasswordInTheUrlIsNot() {
    assertThatThrownBy(
            () ->
                Stores.choose(
                    "jdbc:PostgreSQL://host/db?password=secret", List.of(new MemoryProvider())))
        .isInstanceOf(InvalidArgumentException.class)
        .hasMessageContaining("expected: the artifact dev.carillon:carillon-postgres)")
        .hasMessageNotContaining("secret");
    assertThatThrownBy(() -> Stores.open(StoreAddress.of("jdbc:sqlite:jobs.db")))
        .isInstanceOf(InvalidArgumentException.class)
        .hasMessage(
            "url: jdbc:sqlite:…: its store is not on the class path"
                + " (expected: the artifact dev.carillon:carillon-sqlite)");
  }

  @Test
  void anUnknownUrlIsRefusedWithThoseThatAreKnown() {
    assertThatThrownBy(() -> Stores.open(StoreAddress.of("jdbc:oracle:thin:@host")))
        .isInstanceOf(InvalidArgumentException.class)
        .hasMessage("url: jdbc:oracle:thin:@host (expected: memory: for throw-away work)");
  }

  @Test
  void anOptionThatAKindDoesNotHaveIsRefused() {
    assertThatThrownBy(
            () -> Stores.open(new StoreAddress("memory:", null, Map.of("schema", "jobs"))))
        .isInstanceOf(InvalidArgumentException.class)
        .hasMessageContaining("[schema] (expected: none");
  }
}
