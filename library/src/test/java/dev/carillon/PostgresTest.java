package dev.carillon;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.carillon.api.JobHandle;
import dev.carillon.api.JobState;
import dev.carillon.api.JobType;
import dev.carillon.api.error.InvalidArgumentException;
import dev.carillon.fixture.PostgresServer;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.postgresql.ds.PGSimpleDataSource;

/** From a file to PostgreSQL by nothing but the address. */
@Timeout(value = 1, unit = TimeUnit.MINUTES)
class PostgresTest {
  private static final JobType<String, Integer> LENGTH =
      JobType.of("length", String.class, Integer.class);
  private static final Duration WAIT = Duration.ofSeconds(20);

  private final PostgresServer server = PostgresServer.shared();

  private String url(String schema) {
    return server.url() + "&carillon.schema=" + schema;
  }

  private static void use(Carillon carillon, String word) {
    carillon.handle(LENGTH, (input, job) -> input.length());
    JobHandle<Integer> job = carillon.schedule(LENGTH.job(word).named(word));
    assertThat(job.result(WAIT)).isEqualTo(word.length());
    assertThat(carillon.get(job.id()).orElseThrow().state()).isEqualTo(JobState.SUCCEEDED);
  }

  @Test
  void theAddressIsAllThatChanges() {
    JobHandle<Integer> later;
    try (Carillon carillon = Carillon.open(url("by_url"))) {
      use(carillon, "first");
      later = carillon.schedule(LENGTH.job("later").in(Duration.ofMillis(1)));
    }
    try (Carillon carillon = Carillon.open(url("by_url"))) {
      carillon.handle(LENGTH, (input, job) -> input.length());
      assertThat(carillon.result(later.id(), LENGTH.output(), WAIT)).isEqualTo(5);
      assertThat(carillon.node().health().ready()).isTrue();
    }
  }

  @Test
  void aDataSourceIsUsedAndLeftOpen() {
    PGSimpleDataSource source = new PGSimpleDataSource();
    source.setUrl(server.url());
    try (Carillon carillon =
        Carillon.builder().dataSource(source).schema("by_source").cluster("blue").open()) {
      use(carillon, "blue");
    }
    try (Carillon carillon =
        Carillon.builder().dataSource(source).schema("by_source").cluster("green").open()) {
      assertThat(carillon.list(dev.carillon.api.JobQuery.all()).items()).isEmpty();
    }
  }

  @Test
  void anOptionThatIsNotKnownIsRefused() {
    assertThatThrownBy(
            () ->
                Carillon.builder()
                    .url(server.url())
                    .advanced(a -> a.storeOption("shcema", "x"))
                    .open())
        .isInstanceOf(InvalidArgumentException.class)
        .hasMessageContaining("[shcema]");
    assertThatThrownBy(() -> Carillon.builder().inMemory().schema("x").open())
        .isInstanceOf(InvalidArgumentException.class)
        .hasMessageContaining("open already");
  }
}
