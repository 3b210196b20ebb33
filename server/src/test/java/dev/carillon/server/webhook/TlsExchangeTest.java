package dev.carillon.server.webhook;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.InputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyStore;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import javax.net.ssl.ExtendedSSLSession;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SNIHostName;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLServerSocket;
import javax.net.ssl.SSLSocket;
import javax.net.ssl.SSLSocketFactory;
import javax.net.ssl.TrustManagerFactory;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * TLS to a checked address under the original name: its certificate, and what the receiver hears.
 */
class TlsExchangeTest {
  private static final String NAME = "hook.example";
  private static final char[] PASSWORD = "changeit".toCharArray();

  @TempDir static Path folder;
  private static SSLContext context;

  private final LinkedBlockingQueue<String> asked = new LinkedBlockingQueue<>();

  @BeforeAll
  static void makeCertificate() throws Exception {
    Path store = folder.resolve("store.p12");
    Process keytool =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "keytool").toString(),
                "-genkeypair",
                "-keyalg",
                "EC",
                "-alias",
                "hook",
                "-dname",
                "CN=hook",
                "-ext",
                "SAN=dns:" + NAME,
                "-storetype",
                "PKCS12",
                "-keystore",
                store.toString(),
                "-storepass",
                "changeit")
            .redirectErrorStream(true)
            .redirectOutput(folder.resolve("printed").toFile())
            .start();
    assertThat(keytool.waitFor(60, TimeUnit.SECONDS)).isTrue();
    KeyStore keys = KeyStore.getInstance("PKCS12");
    try (InputStream in = Files.newInputStream(store)) {
      keys.load(in, PASSWORD);
    }
    KeyManagerFactory own = KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
    own.init(keys, PASSWORD);
    TrustManagerFactory trust =
        TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
    trust.init(keys);
    context = SSLContext.getInstance("TLS");
    context.init(own.getKeyManagers(), trust.getTrustManagers(), null);
  }

  private Receiver receiver() throws Exception {
    SSLServerSocket listener =
        (SSLServerSocket)
            context
                .getServerSocketFactory()
                .createServerSocket(0, 5, InetAddress.getLoopbackAddress());
    return new Receiver(
        listener,
        (all, in, out) -> {
          all.add(Receiver.read(in));
          out.write(Receiver.status(204).getBytes(java.nio.charset.StandardCharsets.UTF_8));
          out.flush();
        },
        socket -> {
          ExtendedSSLSession session = (ExtendedSSLSession) ((SSLSocket) socket).getSession();
          session.getRequestedServerNames().stream()
              .filter(name -> name instanceof SNIHostName)
              .forEach(name -> asked.add(((SNIHostName) name).getAsciiName()));
        });
  }

  private HttpReply send(Receiver receiver, SSLSocketFactory factory, String host)
      throws Exception {
    HttpExchange exchange =
        new HttpExchange(
            factory,
            (socket, address, millis) -> {
              InetAddress here = InetAddress.getLoopbackAddress();
              socket.connect(new InetSocketAddress(here, receiver.port()), millis);
            });
    InetAddress checked = InetAddress.getByAddress(host, new byte[] {93, (byte) 184, 1, 1});
    return exchange.send(
        new HttpExchange.Target(true, host, 443, List.of(checked)),
        new HttpMessage("GET", "/", Map.of("Host", host), new byte[0]),
        100,
        Deadline.in(Duration.ofSeconds(20)));
  }

  @Test
  void receiverHearsTheNameAndShowsACertificateOfIt() throws Exception {
    try (Receiver receiver = receiver()) {
      assertThat(send(receiver, context.getSocketFactory(), NAME).status()).isEqualTo(204);
      assertThat(receiver.next().header("host")).isEqualTo(NAME);
      assertThat(asked).containsExactly(NAME);
    }
  }

  @Test
  void certificateOfAnotherNameIsRefusedBeforeAnythingIsSent() throws Exception {
    try (Receiver receiver = receiver()) {
      assertThatThrownBy(() -> send(receiver, context.getSocketFactory(), "other.example"))
          .isInstanceOf(WebhookFailed.class)
          .hasMessageStartingWith("TLS: ");
      assertThat(receiver.all()).isEmpty();
    }
  }

  @Test
  void certificateThatNobodyTrustsIsRefused() throws Exception {
    SSLSocketFactory strict = (SSLSocketFactory) SSLSocketFactory.getDefault();
    try (Receiver receiver = receiver()) {
      assertThatThrownBy(() -> send(receiver, strict, NAME))
          .isInstanceOf(WebhookFailed.class)
          .hasMessageStartingWith("TLS: ");
      assertThat(receiver.all()).isEmpty();
    }
  }
}
