package dev.carillon.server.webhook;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.UnknownHostException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import javax.net.ssl.SSLSocketFactory;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;

/**
 * Names whose addresses change: between two lookups, within one, from one attempt to the next. What
 * is dialled is written down and judged by the first bytes of the address, not by the code that is
 * under test. Nothing leaves this machine: what would be dialled outside is connected to a
 * receiver.
 */
class RebindingTest {
  private static final String GLOBAL = "93.184.216.34";
  private static final int ATTEMPTS = 6;

  /** Each script is what the lookups answer, one after the other; the last one goes on. */
  private static final String[][] SCRIPTS = {
    {GLOBAL, "127.0.0.1"},
    {"127.0.0.1", GLOBAL},
    {GLOBAL + " 127.0.0.1"},
    {"127.0.0.1 " + GLOBAL},
    {GLOBAL, GLOBAL + " 10.0.0.1"},
    {GLOBAL, "169.254.169.254"},
    {GLOBAL + " 169.254.169.254"},
    {"1.1.1.1 8.8.8.8 9.9.9.9 192.168.0.1"},
    {GLOBAL, "::1"},
    {"2606:4700::1111 ::1"},
    {"2606:4700::1111", "fe80::1"},
    {GLOBAL, "64:ff9b::7f00:1"},
    {GLOBAL, "2002:7f00:1::"},
    {GLOBAL + " fd00:ec2::254"},
    {GLOBAL, "0.0.0.0"},
    {GLOBAL, "", "127.0.0.1"},
    {"", "127.0.0.1", GLOBAL},
    {GLOBAL, "100.100.100.200"},
    {GLOBAL, "168.63.129.16"},
    {GLOBAL, "::ffff:0:7f00:1", GLOBAL, "127.0.0.1"},
    {"10.0.0.1 172.16.0.1 192.168.0.1"},
    {GLOBAL, "224.0.0.1", "255.255.255.255"},
    {"2a00::5efe:7f00:1", "2a00::5efe:808:808"},
  };

  private final List<InetAddress> dialled = new ArrayList<>();

  @Test
  void thereAreManyScripts() {
    assertThat(SCRIPTS.length).isGreaterThanOrEqualTo(20);
  }

  @TestFactory
  List<DynamicTest> nothingInsideIsDialled() {
    return Arrays.stream(SCRIPTS)
        .map(script -> DynamicTest.dynamicTest(String.join(", ", script), () -> play(script)))
        .toList();
  }

  private void play(String[] script) throws Exception {
    dialled.clear();
    AtomicInteger lookups = new AtomicInteger();
    AddressGuard guard =
        new AddressGuard(
            host -> addresses(script[Math.min(lookups.getAndIncrement(), script.length - 1)]),
            false,
            Set::of);
    int sent = 0;
    try (Receiver receiver = Receiver.answering(Receiver.status(204))) {
      HttpExchange exchange =
          new HttpExchange(
              (SSLSocketFactory) SSLSocketFactory.getDefault(),
              (socket, address, millis) -> dial(socket, address, receiver.port(), millis));
      for (int i = 0; i < ATTEMPTS; i++) {
        sent += attempt(guard, exchange) ? 1 : 0;
      }
      assertThat(lookups).hasValue(ATTEMPTS); // nobody looks twice
      assertThat(dialled).hasSize(sent).allMatch(RebindingTest::isOutside);
      assertThat(receiver.connections()).isEqualTo(sent);
    }
  }

  private static boolean attempt(AddressGuard guard, HttpExchange exchange) throws Exception {
    Deadline deadline = Deadline.in(Duration.ofSeconds(10));
    List<InetAddress> addresses;
    try {
      addresses = guard.allowed("name.example", 80, List.of(), deadline.left());
    } catch (WebhookRefused | WebhookFailed e) {
      assertThat(e.getMessage()).doesNotContainPattern("\\d+\\.\\d+|::");
      return false;
    }
    HttpMessage message =
        new HttpMessage("GET", "/", java.util.Map.of("Host", "name.example"), new byte[0]);
    HttpExchange.Target target = new HttpExchange.Target(false, "name.example", 80, addresses);
    assertThat(exchange.send(target, message, 100, deadline).status()).isEqualTo(204);
    return true;
  }

  private void dial(Socket socket, InetSocketAddress address, int port, int millis)
      throws IOException {
    dialled.add(address.getAddress());
    socket.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), port), millis);
  }

  private static InetAddress[] addresses(String answer) throws UnknownHostException {
    if (answer.isEmpty()) {
      throw new UnknownHostException("name.example");
    }
    List<InetAddress> addresses = new ArrayList<>();
    for (String each : answer.split(" ", -1)) {
      addresses.add(InetAddress.getByName(each));
    }
    return addresses.toArray(InetAddress[]::new);
  }

  /** The few that scripts have. */
  private static boolean isOutside(InetAddress address) {
    String text = address.getHostAddress().toLowerCase(Locale.ROOT);
    return Set.of(GLOBAL, "1.1.1.1", "2606:4700:0:0:0:0:0:1111", "2a00:0:0:0:0:5efe:808:808")
        .contains(text);
  }
}
