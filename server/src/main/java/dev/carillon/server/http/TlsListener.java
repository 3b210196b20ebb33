package dev.carillon.server.http;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import org.eclipse.jetty.alpn.server.ALPNServerConnectionFactory;
import org.eclipse.jetty.http2.server.HTTP2ServerConnectionFactory;
import org.eclipse.jetty.server.ConnectionFactory;
import org.eclipse.jetty.server.HttpConfiguration;
import org.eclipse.jetty.server.HttpConnectionFactory;
import org.eclipse.jetty.server.SecureRequestCustomizer;
import org.eclipse.jetty.server.SslConnectionFactory;
import org.eclipse.jetty.util.ssl.SslContextFactory;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * TLS for the listener: HTTP/2 and HTTP/1.1, as client and server agree (ALPN). It looks at the
 * files of the certificates and takes what replaces them; what cannot be read, a file half written
 * for example, changes nothing and is tried again at the next look.
 */
final class TlsListener implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(TlsListener.class);

  /** Streams at once on one connection of HTTP/2. */
  private static final int MAX_STREAMS = 128;

  private final TlsOptions options;
  private final SslContextFactory.Server ssl = new SslContextFactory.Server();
  private final ScheduledExecutorService looks =
      Executors.newSingleThreadScheduledExecutor(
          Thread.ofPlatform().daemon().name("carillon-certificates").factory());
  private List<Object> seen;

  TlsListener(TlsOptions options) throws IOException {
    this.options = options;
    this.seen = stamps();
    use(TlsKeys.read(options), ssl);
  }

  private static void use(TlsKeys keys, SslContextFactory factory) {
    factory.setKeyStore(keys.own());
    factory.setKeyStorePassword(keys.password());
    factory.setKeyManagerPassword(keys.password());
    if (keys.clients() != null) {
      factory.setTrustStore(keys.clients());
      ((SslContextFactory.Server) factory).setWantClientAuth(true);
    }
  }

  /** What the connector speaks. */
  ConnectionFactory[] protocols(HttpConfiguration http) {
    HttpConfiguration secure = new HttpConfiguration(http);
    // Who asks proves that by more than a name: certificates may be for another one.
    secure.addCustomizer(new SecureRequestCustomizer(false));
    HTTP2ServerConnectionFactory two = new HTTP2ServerConnectionFactory(secure);
    two.setMaxConcurrentStreams(MAX_STREAMS);
    HttpConnectionFactory one = new HttpConnectionFactory(secure);
    ALPNServerConnectionFactory agreement = new ALPNServerConnectionFactory();
    agreement.setDefaultProtocol(one.getProtocol());
    return new ConnectionFactory[] {
      new SslConnectionFactory(ssl, agreement.getProtocol()), agreement, two, one
    };
  }

  void start() {
    long millis = options.look().toMillis();
    var unused = looks.scheduleWithFixedDelay(this::look, millis, millis, TimeUnit.MILLISECONDS);
  }

  private void look() {
    try {
      List<Object> now = stamps();
      if (now.equals(seen)) {
        return;
      }
      TlsKeys keys = TlsKeys.read(options);
      ssl.reload(factory -> use(keys, factory));
      seen = now;
      LOG.info("the server's certificate was read again");
    } catch (Exception e) { // Jetty declares no less
      LOG.warn("the new certificate is not used: {}", e.getMessage());
    }
  }

  private List<Object> stamps() throws IOException {
    List<Object> stamps = new ArrayList<>();
    for (Path file : options.files()) {
      stamps.add(Files.getLastModifiedTime(file));
      stamps.add(Files.size(file));
    }
    return stamps;
  }

  @Override
  public void close() {
    looks.shutdownNow();
  }
}
