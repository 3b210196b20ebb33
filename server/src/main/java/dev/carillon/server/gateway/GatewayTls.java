package dev.carillon.server.gateway;

import dev.carillon.server.http.TlsKeys;
import dev.carillon.server.http.TlsOptions;
import io.grpc.netty.shaded.io.grpc.netty.GrpcSslContexts;
import io.grpc.netty.shaded.io.netty.handler.ssl.ClientAuth;
import io.grpc.netty.shaded.io.netty.handler.ssl.SslContext;
import io.grpc.netty.shaded.io.netty.handler.ssl.SslContextBuilder;
import io.grpc.netty.shaded.io.netty.handler.ssl.SslProvider;
import java.io.IOException;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.Principal;
import java.security.PrivateKey;
import java.security.cert.X509Certificate;
import java.util.ArrayList;
import java.util.List;
import javax.net.ssl.KeyManager;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.TrustManagerFactory;
import javax.net.ssl.X509ExtendedKeyManager;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * TLS for the listener for workers, by the files of the API's: what replaces the certificate is
 * used for new connections. Who certifies clients is read once.
 */
final class GatewayTls {
  private static final Logger LOG = LoggerFactory.getLogger(GatewayTls.class);

  private final TlsOptions options;
  private final Current current;
  private final SslContext context;
  private List<Object> seen;
  private long lookedNanos = System.nanoTime();

  GatewayTls(TlsOptions options) throws IOException {
    this.options = options;
    this.seen = stamps();
    TlsKeys keys = TlsKeys.read(options);
    try {
      this.current = new Current(keyManager(keys));
      SslContextBuilder builder =
          GrpcSslContexts.configure(SslContextBuilder.forServer(current), SslProvider.JDK);
      if (keys.clients() != null) {
        TrustManagerFactory trust =
            TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
        trust.init(keys.clients());
        builder.trustManager(trust).clientAuth(ClientAuth.OPTIONAL);
      }
      this.context = builder.build();
    } catch (GeneralSecurityException e) {
      throw new IOException("tls: " + e.getMessage() + " (expected: usable keys)", e);
    }
  }

  SslContext context() {
    return context;
  }

  private static X509ExtendedKeyManager keyManager(TlsKeys keys) throws GeneralSecurityException {
    KeyManagerFactory factory =
        KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
    factory.init(keys.own(), keys.password().toCharArray());
    for (KeyManager each : factory.getKeyManagers()) {
      if (each instanceof X509ExtendedKeyManager found) {
        return found;
      }
    }
    throw new GeneralSecurityException("no key");
  }

  /** Reads the files if they have changed; a file half written is tried again. */
  void look() {
    long now = System.nanoTime();
    if (now - lookedNanos < options.look().toNanos()) {
      return;
    }
    lookedNanos = now;
    try {
      List<Object> stamps = stamps();
      if (!stamps.equals(seen)) {
        current.use(keyManager(TlsKeys.read(options)));
        seen = stamps;
        LOG.info("the certificate of the listener for workers was read again");
      }
    } catch (IOException | GeneralSecurityException e) {
      LOG.warn("the new certificate is not used for workers: {}", e.getMessage());
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

  /** The key of the moment. */
  private static final class Current extends X509ExtendedKeyManager {
    private volatile X509ExtendedKeyManager keys;

    Current(X509ExtendedKeyManager keys) {
      this.keys = keys;
    }

    void use(X509ExtendedKeyManager others) {
      keys = others;
    }

    @Override
    public String @Nullable [] getClientAliases(String type, Principal @Nullable [] issuers) {
      return keys.getClientAliases(type, issuers);
    }

    @Override
    public @Nullable String chooseClientAlias(
        String[] types, Principal @Nullable [] issuers, @Nullable Socket socket) {
      return keys.chooseClientAlias(types, issuers, socket);
    }

    @Override
    public String @Nullable [] getServerAliases(String type, Principal @Nullable [] issuers) {
      return keys.getServerAliases(type, issuers);
    }

    @Override
    public @Nullable String chooseServerAlias(
        String type, Principal @Nullable [] issuers, @Nullable Socket socket) {
      return keys.chooseServerAlias(type, issuers, socket);
    }

    @Override
    public @Nullable String chooseEngineServerAlias(
        String type, Principal @Nullable [] issuers, SSLEngine engine) {
      return keys.chooseEngineServerAlias(type, issuers, engine);
    }

    @Override
    public X509Certificate @Nullable [] getCertificateChain(String alias) {
      return keys.getCertificateChain(alias);
    }

    @Override
    public @Nullable PrivateKey getPrivateKey(String alias) {
      return keys.getPrivateKey(alias);
    }
  }
}
