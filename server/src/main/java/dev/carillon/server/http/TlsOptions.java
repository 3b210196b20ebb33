package dev.carillon.server.http;

import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Where the server's certificate is, and whose clients' certificates count. The files are looked at
 * again and again: what replaces them is used for new connections, without a restart. Immutable.
 *
 * @param certificate PEM: the server's certificate, then those that lead to its authority; null
 *     with a key store
 * @param key PEM: the private key, PKCS#8 and not encrypted; null with a key store
 * @param keyStore PKCS#12 with one key; null with PEM
 * @param password of the key store
 * @param clientAuthorities PEM: who may certify clients; null where clients need no certificate
 * @param look how often the files are looked at
 */
public record TlsOptions(
    @Nullable Path certificate,
    @Nullable Path key,
    @Nullable Path keyStore,
    String password,
    @Nullable Path clientAuthorities,
    Duration look) {
  private static final Duration LOOK = Duration.ofSeconds(10);

  /** A certificate and its key as PEM. */
  public static TlsOptions pem(Path certificate, Path key) {
    return new TlsOptions(certificate, key, null, "", null, LOOK);
  }

  /** A key store, PKCS#12. */
  public static TlsOptions pkcs12(Path keyStore, String password) {
    return new TlsOptions(null, null, keyStore, password, null, LOOK);
  }

  /** With certificates of clients. */
  public TlsOptions clientAuthorities(Path pem) {
    return new TlsOptions(certificate, key, keyStore, password, pem, look);
  }

  /** With another time between looks at the files. */
  public TlsOptions look(Duration look) {
    return new TlsOptions(certificate, key, keyStore, password, clientAuthorities, look);
  }

  /** The files. */
  public List<Path> files() {
    List<Path> files = new ArrayList<>();
    for (Path file : new Path[] {certificate, key, keyStore, clientAuthorities}) {
      if (Objects.nonNull(file)) {
        files.add(file);
      }
    }
    return files;
  }

  /** Without the password. */
  @Override
  public String toString() {
    return "TlsOptions" + files();
  }
}
