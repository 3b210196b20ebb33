package dev.carillon.server.http;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyFactory;
import java.security.KeyStore;
import java.security.PrivateKey;
import java.security.cert.Certificate;
import java.security.cert.CertificateFactory;
import java.security.spec.InvalidKeySpecException;
import java.security.spec.PKCS8EncodedKeySpec;
import java.util.Base64;
import java.util.Collection;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The certificates and keys of {@link TlsOptions}, read from their files.
 *
 * @param own the server's certificate and key
 * @param clients who may certify clients; null for nobody
 * @param password of the key in the first
 */
public record TlsKeys(KeyStore own, @Nullable KeyStore clients, String password) {
  private static final Pattern KEY =
      Pattern.compile("-----BEGIN PRIVATE KEY-----([^-]+)-----END PRIVATE KEY-----");
  private static final List<String> ALGORITHMS = List.of("RSA", "EC", "EdDSA");
  private static final String IN_MEMORY = "in-memory";

  /**
   * Reads the files.
   *
   * @throws IOException if one cannot be read, or is not what it should be; says which
   */
  public static TlsKeys read(TlsOptions options) throws IOException {
    Path clients = options.clientAuthorities();
    Path store = options.keyStore();
    return store != null
        ? new TlsKeys(pkcs12(store, options.password()), authorities(clients), options.password())
        : new TlsKeys(pem(options), authorities(clients), IN_MEMORY);
  }

  private static KeyStore pkcs12(Path file, String password) throws IOException {
    byte[] bytes = Files.readAllBytes(file);
    try {
      KeyStore store = KeyStore.getInstance("PKCS12");
      load(store, bytes, password, file);
      if (store.size() == 0) {
        throw new IOException(file + ": empty (expected: PKCS#12 with one key)");
      }
      return store;
    } catch (GeneralSecurityException e) {
      throw wrong(file, "PKCS#12 with one key", e);
    }
  }

  private static void load(KeyStore store, byte[] bytes, String password, Path file)
      throws IOException, GeneralSecurityException {
    try {
      store.load(new ByteArrayInputStream(bytes), password.toCharArray());
    } catch (IOException e) {
      throw new IOException(
          file + ": not opened (expected: PKCS#12 with one key, and its password)", e);
    }
  }

  private static KeyStore pem(TlsOptions options) throws IOException {
    Path certificate = options.certificate();
    Path key = options.key();
    if (certificate == null || key == null) {
      throw new IOException("tls: incomplete (expected: a certificate and its key)");
    }
    Certificate[] chain = certificates(certificate).toArray(new Certificate[0]);
    PrivateKey own = privateKey(key);
    try {
      KeyStore store = empty();
      store.setKeyEntry("server", own, IN_MEMORY.toCharArray(), chain);
      return store;
    } catch (GeneralSecurityException e) {
      throw wrong(key, "the key of the certificate", e);
    }
  }

  private static KeyStore empty() throws GeneralSecurityException, IOException {
    KeyStore store = KeyStore.getInstance("PKCS12");
    store.load(null, null);
    return store;
  }

  private static Collection<? extends Certificate> certificates(Path file) throws IOException {
    try (InputStream in = new ByteArrayInputStream(Files.readAllBytes(file))) {
      Collection<? extends Certificate> all =
          CertificateFactory.getInstance("X.509").generateCertificates(in);
      if (all.isEmpty()) {
        throw new IOException(file + ": no certificate (expected: PEM, BEGIN CERTIFICATE)");
      }
      return all;
    } catch (GeneralSecurityException e) {
      throw wrong(file, "certificates as PEM", e);
    }
  }

  private static PrivateKey privateKey(Path file) throws IOException {
    String text = Files.readString(file, StandardCharsets.US_ASCII);
    Matcher matcher = KEY.matcher(text);
    if (!matcher.find()) {
      throw new IOException(
          file + ": no key that is read here (expected: PKCS#8 as PEM, BEGIN PRIVATE KEY)");
    }
    PKCS8EncodedKeySpec encoded =
        new PKCS8EncodedKeySpec(Base64.getMimeDecoder().decode(matcher.group(1)));
    for (String algorithm : ALGORITHMS) {
      try {
        return KeyFactory.getInstance(algorithm).generatePrivate(encoded);
      } catch (InvalidKeySpecException e) {
        // Of another algorithm, then.
      } catch (GeneralSecurityException e) {
        throw wrong(file, "a private key", e);
      }
    }
    throw new IOException(file + ": of an unknown algorithm (expected: one of " + ALGORITHMS + ")");
  }

  private static @Nullable KeyStore authorities(@Nullable Path file) throws IOException {
    if (file == null) {
      return null;
    }
    try {
      KeyStore store = empty();
      int number = 0;
      for (Certificate each : certificates(file)) {
        store.setCertificateEntry("authority-" + number++, each);
      }
      return store;
    } catch (GeneralSecurityException e) {
      throw wrong(file, "certificates of authorities", e);
    }
  }

  private static IOException wrong(Path file, String expected, GeneralSecurityException e) {
    return new IOException(file + ": " + e.getMessage() + " (expected: " + expected + ")", e);
  }
}
