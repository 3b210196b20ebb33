package dev.carillon.micrometer;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpServer;
import dev.carillon.Carillon;
import dev.carillon.api.TaskType;
import dev.carillon.api.error.NotRetryableException;
import io.micrometer.core.instrument.Clock;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.micrometer.jmx.JmxConfig;
import io.micrometer.jmx.JmxMeterRegistry;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import io.micrometer.registry.otlp.OtlpMeterRegistry;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import javax.management.ObjectName;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class CarillonMetersTest {
  private static final TaskType<Boolean> FAIL = TaskType.of("fail", Boolean.class);
  private static final Path GUIDE = Path.of("..", "docs", "guides", "metrics.md");

  private final Carillon carillon = Carillon.inMemory();

  @BeforeEach
  void runSomeJobs() {
    carillon.handle(
        FAIL,
        (fails, job) -> {
          if (fails) {
            throw new NotRetryableException("as it was told");
          }
        });
    carillon.schedule(FAIL.job(false));
    carillon.schedule(FAIL.job(true));
    carillon.schedule(FAIL.job(false).in(Duration.ofHours(1)));
    carillon.schedule(TaskType.of("fax", String.class).job("nobody handles it").queue("out"));
    Awaitility.await().until(() -> carillon.node().stats().endedTotal() == 2);
  }

  @AfterEach
  void close() {
    carillon.close();
  }

  @Test
  void metersSayWhatHappened() {
    SimpleMeterRegistry registry = new SimpleMeterRegistry();
    new CarillonMeters(carillon, "node", "one").bindTo(registry);
    assertThat(registry.get("carillon.jobs.scheduled").tag("node", "one").functionCounter().count())
        .isEqualTo(4);
    assertThat(ended(registry, "succeeded")).isEqualTo(1);
    assertThat(ended(registry, "dead")).isEqualTo(1);
    assertThat(ended(registry, "cancelled")).isZero();
    assertThat(registry.get("carillon.commits").functionTimer().count()).isPositive();
    assertThat(registry.get("carillon.attempts").functionTimer().count()).isEqualTo(2);
    assertThat(registry.get("carillon.attempts.running").gauge().value()).isZero();
    assertThat(registry.get("carillon.slots").gauge().value())
        .isEqualTo(carillon.node().stats().slots())
        .isPositive();
    assertThat(registry.get("carillon.clock.offset").gauge().value()).as("nobody's clock").isNaN();
    assertThat(registry.get("carillon.attempts.lent").functionCounter().count()).isZero();
    assertThat(registry.get("carillon.shards.owned").gauge().value()).isPositive();
    assertThat(registry.get("carillon.members").tag("state", "there").gauge().value()).isOne();
    carillon.close();
    assertThat(ended(registry, "succeeded")).isEqualTo(1);
  }

  @Test
  void metersOfJobsHaveTypeQueueAndNamespace() {
    SimpleMeterRegistry registry = new SimpleMeterRegistry();
    new CarillonMeters(carillon).bindTo(registry);
    Tags fail = Tags.of("type", "fail", "queue", "default", "namespace", "default");
    assertThat(registry.get("carillon.jobs.lateness").tags(fail).functionTimer().count())
        .isEqualTo(2);
    assertThat(registry.get("carillon.jobs.duration").tags(fail).functionTimer().count())
        .isEqualTo(2);
    assertThat(within(registry, fail, "+Inf")).isEqualTo(2);
    assertThat(within(registry, fail, "10.0")).as("no attempt was so late").isEqualTo(2);
    assertThat(registry.get("carillon.jobs.dead").tags(fail).functionCounter().count()).isOne();
    assertThat(registry.get("carillon.jobs.attempts.failed").tags(fail).functionCounter().count())
        .isOne();

    assertThat(registry.get("carillon.jobs.blocked").gauge().value()).isOne();
    Tags fax = Tags.of("type", "fax", "queue", "out", "reason", "no_handler");
    assertThat(registry.get("carillon.jobs.waiting").tags(fax).gauge().value()).isOne();
    assertThat(registry.get("carillon.jobs.waiting.oldest").tags(fax).gauge().value())
        .isPositive()
        .isLessThan(60);
  }

  private static double within(SimpleMeterRegistry registry, Tags tags, String bound) {
    return registry
        .get("carillon.jobs.lateness.within")
        .tags(tags.and("le", bound))
        .functionCounter()
        .count();
  }

  private static double ended(SimpleMeterRegistry registry, String outcome) {
    return registry.get("carillon.jobs.ended").tag("outcome", outcome).functionCounter().count();
  }

  @Test
  void gaugesOfAClosedNodeAreNotANumber() {
    SimpleMeterRegistry registry = new SimpleMeterRegistry();
    new CarillonMeters(carillon).bindTo(registry);
    carillon.close();
    assertThat(registry.get("carillon.shards.owned").gauge().value()).isNaN();
  }

  @Test
  void guideNamesEveryMeterAndNoOther() throws IOException {
    SimpleMeterRegistry registry = new SimpleMeterRegistry();
    new CarillonMeters(carillon).bindTo(registry);
    assertThat(registry.get("carillon.jobs.blocked").gauge().value()).isOne(); // it looks
    Set<String> told =
        Pattern.compile("^\\| `(carillon\\.[a-z.]+)` \\|", Pattern.MULTILINE)
            .matcher(Files.readString(GUIDE))
            .results()
            .map(found -> found.group(1))
            .collect(Collectors.toSet());
    Set<String> registered =
        registry.getMeters().stream()
            .map(meter -> meter.getId().getName())
            .collect(Collectors.toSet());
    assertThat(registered).isEqualTo(told);
  }

  @Test
  void prometheusIsShownThem() {
    PrometheusMeterRegistry registry = new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
    new CarillonMeters(carillon).bindTo(registry);
    assertThat(registry.scrape())
        .contains("carillon_jobs_scheduled_total 4.0")
        .contains("carillon_jobs_ended_total{outcome=\"dead\"} 1.0")
        .contains("carillon_attempts_seconds_count 2")
        .contains(
            "carillon_jobs_lateness_within_total{le=\"10.0\",namespace=\"default\","
                + "queue=\"default\",type=\"fail\"} 2.0")
        .contains("carillon_members{state=\"there\"} 1.0");
  }

  @Test
  void jmxIsShownThem() throws Exception {
    JmxMeterRegistry registry = new JmxMeterRegistry(JmxConfig.DEFAULT, Clock.SYSTEM);
    try {
      new CarillonMeters(carillon).bindTo(registry);
      assertThat(
              ManagementFactory.getPlatformMBeanServer()
                  .queryNames(new ObjectName("metrics:name=carillonShardsOwned*,*"), null))
          .hasSize(1);
    } finally {
      registry.close();
    }
  }

  @Test
  void otlpIsPushedThem() throws Exception {
    CompletableFuture<byte[]> pushed = new CompletableFuture<>();
    HttpServer server =
        HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    server.createContext(
        "/v1/metrics",
        exchange -> {
          pushed.complete(exchange.getRequestBody().readAllBytes());
          exchange.sendResponseHeaders(200, -1);
          exchange.close();
        });
    server.start();
    try {
      Map<String, String> settings =
          Map.of(
              "otlp.url",
              "http://127.0.0.1:" + server.getAddress().getPort() + "/v1/metrics",
              "otlp.step",
              "1h");
      OtlpMeterRegistry registry = new OtlpMeterRegistry(settings::get, Clock.SYSTEM);
      new CarillonMeters(carillon).bindTo(registry);
      registry.close(); // which pushes what there is
      assertThat(new String(pushed.get(20, TimeUnit.SECONDS), StandardCharsets.ISO_8859_1))
          .contains("carillon.jobs.ended", "outcome", "carillon.shards.owned");
    } finally {
      server.stop(0);
    }
  }
}
