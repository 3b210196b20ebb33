package dev.carillon.server;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.Key;
import java.security.KeyStore;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManagerFactory;

/** An authority, and what it certifies: made by the JDK's keytool in a folder of the test. */
final class TestCertificates {
  static final String PASSWORD = "secret-of-the-test";

  private final Path folder;

  TestCertificates(Path folder) throws Exception {
    this.folder = folder;
    pair("authority", "CN=Authority", "-ext", "bc:c");
    Path pem = pem("authority");
    keytool("-exportcert", "-rfc", "-alias", "authority", "-file", pem.toString());
  }

  private void pair(String alias, String name, String... more) throws Exception {
    List<String> arguments =
        new ArrayList<>(
            List.of(
                "-genkeypair",
                "-alias",
                alias,
                "-keyalg",
                "EC",
                "-groupname",
                "secp256r1",
                "-validity",
                "30",
                "-dname",
                name));
    arguments.addAll(Arrays.asList(more));
    keytool(arguments.toArray(new String[0]));
  }

  private void keytool(String... arguments) throws Exception {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "keytool").toString());
    command.addAll(Arrays.asList(arguments));
    command.addAll(
        List.of(
            "-keystore",
            folder.resolve("all.p12").toString(),
            "-storetype",
            "PKCS12",
            "-storepass",
            PASSWORD));
    Process process =
        new ProcessBuilder(command)
            .redirectErrorStream(true)
            .redirectOutput(folder.resolve("keytool.log").toFile())
            .start();
    if (process.waitFor() != 0) {
      throw new IOException(Files.readString(folder.resolve("keytool.log")));
    }
  }

  Path pem(String alias) {
    return folder.resolve(alias + ".pem");
  }

  Path key(String alias) {
    return folder.resolve(alias + ".key");
  }

  /** A certificate of the authority, as PEM with its key beside it. */
  void certify(String alias, String name) throws Exception {
    pair(alias, name);
    Path request = folder.resolve(alias + ".csr");
    keytool("-certreq", "-alias", alias, "-file", request.toString());
    keytool(
        "-gencert",
        "-alias",
        "authority",
        "-rfc",
        "-infile",
        request.toString(),
        "-outfile",
        pem(alias).toString(),
        "-validity",
        "20",
        "-ext",
        "san=dns:localhost,ip:127.0.0.1");
    keytool("-importcert", "-noprompt", "-alias", alias, "-file", pem(alias).toString());
    Key key = store().getKey(alias, PASSWORD.toCharArray());
    Files.writeString(
        key(alias),
        "-----BEGIN PRIVATE KEY-----\n"
            + Base64.getMimeEncoder(64, new byte[] {'\n'}).encodeToString(key.getEncoded())
            + "\n-----END PRIVATE KEY-----\n");
  }

  private KeyStore store() throws IOException, GeneralSecurityException {
    KeyStore store = KeyStore.getInstance("PKCS12");
    try (InputStream in = Files.newInputStream(folder.resolve("all.p12"))) {
      store.load(in, PASSWORD.toCharArray());
    }
    return store;
  }

  /** A store with one of them alone. */
  Path keyStore(String alias) throws Exception {
    KeyStore alone = one(alias);
    Path file = folder.resolve(alias + ".p12");
    try (var out = Files.newOutputStream(file)) {
      alone.store(out, PASSWORD.toCharArray());
    }
    return file;
  }

  private KeyStore one(String alias) throws Exception {
    KeyStore all = store();
    KeyStore alone = KeyStore.getInstance("PKCS12");
    alone.load(null, null);
    char[] password = PASSWORD.toCharArray();
    alone.setKeyEntry(alias, all.getKey(alias, password), password, all.getCertificateChain(alias));
    return alone;
  }

  /** A client that trusts the authority, and shows a certificate unless the alias is null. */
  SSLContext client(String alias) throws Exception {
    return clientWith(this, alias);
  }

  /** A client that trusts another authority, and shows a certificate of this one. */
  SSLContext clientWith(TestCertificates trusted, String alias) throws Exception {
    KeyStore authority = KeyStore.getInstance("PKCS12");
    authority.load(null, null);
    authority.setCertificateEntry("authority", trusted.store().getCertificate("authority"));
    TrustManagerFactory trust =
        TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
    trust.init(authority);
    KeyManagerFactory keys = null;
    if (alias != null) {
      keys = KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
      keys.init(one(alias), PASSWORD.toCharArray());
    }
    SSLContext context = SSLContext.getInstance("TLS");
    context.init(keys == null ? null : keys.getKeyManagers(), trust.getTrustManagers(), null);
    return context;
  }
}
