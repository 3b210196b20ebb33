package dev.carillon;

import dev.carillon.json.StandardCodec;

import static org.assertj.core.api.Assertions.assertThat;

import dev.carillon.api.JobHandle;
import dev.carillon.api.JobId;
import dev.carillon.api.JobState;
import dev.carillon.api.JobType;
import java.math.BigDecimal;
import java.nio.file.Path;
import java.time.Duration;
import java.time.OffsetDateTime;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.SpringBootConfiguration;
import org.springframework.boot.SpringBootVersion;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;

/** Carillon as a bean of a Spring Boot program, on the versions that Spring Boot manages. */
@Timeout(60)
class SpringBootSmokeTest {
  record Line(String article, BigDecimal price) {}

  record Order(OffsetDateTime at, List<Line> lines, Optional<String> note) {}

  record Receipt(BigDecimal total, Duration took) {}

  static final JobType<Order, Receipt> PLACE =
      JobType.of("place-order", Order.class, Receipt.class);

  /** As users write it. */
  @SpringBootConfiguration
  @EnableAutoConfiguration
  static class App {
    @Bean
    Carillon carillon(@Value("${jobs.file}") String file) {
      Carillon carillon = Carillon.open("jdbc:sqlite:" + file);
      carillon.handle(
          PLACE,
          (order, job) ->
              new Receipt(
                  order.lines().stream().map(Line::price).reduce(BigDecimal.ZERO, BigDecimal::add),
                  Duration.ofMillis(5)));
      return carillon;
    }
  }

  @TempDir Path folder;

  private ConfigurableApplicationContext start() {
    SpringApplication application = new SpringApplication(App.class);
    return application.run(
        "--jobs.file=" + folder.resolve("jobs.db"), "--spring.main.banner-mode=off");
  }

  @Test
  void jobRunsInsideSpringBootAndIsThereAfterARestart() {
    JobId id;
    try (ConfigurableApplicationContext context = start()) {
      Carillon carillon = context.getBean(Carillon.class);
      Order order =
          new Order(
              OffsetDateTime.parse("2026-03-29T02:30:00+01:00"),
              List.of(new Line("bell", new BigDecimal("19.90")), new Line("rope", BigDecimal.TEN)),
              Optional.of("gift"));
      JobHandle<Receipt> handle = carillon.schedule(PLACE.job(order));
      id = handle.id();
      assertThat(handle.result(Duration.ofSeconds(20)))
          .isEqualTo(new Receipt(new BigDecimal("29.90"), Duration.ofMillis(5)));
    }
    try (ConfigurableApplicationContext context = start()) {
      Carillon carillon = context.getBean(Carillon.class);
      assertThat(carillon.get(id).orElseThrow().state()).isEqualTo(JobState.SUCCEEDED);
    }
  }

  @Test
  void payloadsHaveTheGoldenBytesOnTheManagedJackson() {
    assertThat(GoldenPayloads.differences(new StandardCodec()))
        .as("on Spring Boot %s", SpringBootVersion.getVersion())
        .isEmpty();
  }
}
