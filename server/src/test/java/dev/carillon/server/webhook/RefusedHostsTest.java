package dev.carillon.server.webhook;

import static org.assertj.core.api.Assertions.assertThat;

import dev.carillon.Carillon;
import dev.carillon.RawPayload;
import dev.carillon.api.FailurePolicy;
import dev.carillon.api.Job;
import dev.carillon.api.JobError;
import dev.carillon.api.JobHandle;
import dev.carillon.api.JobInfo;
import dev.carillon.api.JobState;
import dev.carillon.api.JobType;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import javax.net.ssl.SSLSocketFactory;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

/**
 * Every host of a corpus as a webhook job of a server with authentication: none is connected to.
 */
class RefusedHostsTest {
  private static final JobType<RawPayload, RawPayload> TYPE =
      JobType.of(WebhookRequest.TYPE, RawPayload.class, RawPayload.class);

  private final List<Object> dialled = new CopyOnWriteArrayList<>();

  private static List<String> corpus() throws IOException {
    try (InputStream in = RefusedHostsTest.class.getResourceAsStream("refused-hosts.txt")) {
      return new String(in.readAllBytes(), StandardCharsets.UTF_8)
          .lines()
          .map(line -> line.split("#", 2)[0].strip())
          .filter(line -> !line.isEmpty())
          .toList();
    }
  }

  private Webhooks webhooks(WebhookSettings settings) {
    return new Webhooks(
        () -> settings,
        new AddressGuard(InetAddress::getAllByName, false, Set::of),
        new HttpExchange(
            (SSLSocketFactory) SSLSocketFactory.getDefault(),
            (socket, address, millis) -> {
              dialled.add(address);
              throw new IOException("not from a test");
            }));
  }

  private static Job<RawPayload> job(String scheme, String host, String namespace) {
    String authority = host.indexOf(':') < 0 ? host : "[" + host + "]";
    String input = "{\"url\": \"%s://%s/\"}".formatted(scheme, authority);
    return TYPE.job(new RawPayload("json", input.getBytes(StandardCharsets.UTF_8)))
        .namespace(namespace)
        .onFailure(FailurePolicy.drop());
  }

  private List<JobInfo> run(WebhookSettings settings, List<Job<RawPayload>> jobs) {
    try (Carillon carillon = Carillon.inMemory();
        Webhooks webhooks = webhooks(settings)) {
      webhooks.register(carillon);
      List<JobHandle<?>> handles = carillon.scheduleAll(new ArrayList<>(jobs));
      Awaitility.await()
          .atMost(Duration.ofSeconds(60))
          .until(() -> handles.stream().allMatch(handle -> handle.info().state().ended()));
      return handles.stream().map(JobHandle::info).toList();
    }
  }

  private static String error(JobInfo job) {
    JobError error = job.lastError();
    return error == null ? "" : error.message();
  }

  @Test
  void noneIsConnectedTo() throws IOException {
    List<String> hosts = corpus();
    assertThat(hosts).hasSizeGreaterThanOrEqualTo(150).doesNotHaveDuplicates();
    List<Job<RawPayload>> jobs = new ArrayList<>();
    for (String host : hosts) {
      jobs.add(job("http", host, "default"));
      jobs.add(job("https", host, "default"));
    }
    List<JobInfo> ended = run(WebhookSettings.none(), jobs);
    assertThat(dialled).isEmpty();
    assertThat(ended).allMatch(each -> each.state() == JobState.FAILED);
    assertThat(ended).allMatch(each -> error(each).startsWith("url: "), "says what is wrong");
    System.out.printf("%d hosts by http and https: 0 connections%n", hosts.size());
  }

  /** Also where the namespace may reach all private ranges. */
  @Test
  void namespaceWithAllPrivateRangesReachesNeitherThisHostNorMetadata() throws IOException {
    WebhookSettings settings =
        new WebhookSettings(
            Map.of(
                "inside",
                new WebhookSettings.Namespace(
                    List.of(),
                    List.of(
                        AddressRange.ofPrivate("10.0.0.0/8"),
                        AddressRange.ofPrivate("100.64.0.0/10"),
                        AddressRange.ofPrivate("fc00::/7")))));
    List<Job<RawPayload>> jobs = new ArrayList<>();
    for (String host :
        List.of(
            "127.0.0.1",
            "::1",
            "169.254.169.254",
            "100.100.100.200",
            "fd00:ec2::254",
            "fe80::1",
            "fd20:ce::254",
            "168.63.129.16",
            "192.168.0.1",
            "0.0.0.0",
            "64:ff9b::a00:1")) {
      jobs.add(job("http", host, "inside"));
    }
    run(settings, jobs);
    assertThat(dialled).isEmpty();
    run(settings, List.of(job("http", "10.1.2.3", "inside"), job("http", "fd12::1", "inside")));
    assertThat(dialled).hasSize(2);
    run(settings, List.of(job("http", "10.1.2.3", "outside")));
    assertThat(dialled).hasSize(2);
  }
}
