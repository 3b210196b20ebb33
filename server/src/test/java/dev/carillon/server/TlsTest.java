package dev.carillon.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.carillon.Carillon;
import dev.carillon.server.access.CertificateProof;
import dev.carillon.server.access.Grant;
import dev.carillon.server.access.ProvenAccess;
import dev.carillon.server.access.TokenProof;
import dev.carillon.server.access.Tokens;
import dev.carillon.server.http.TlsOptions;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.security.cert.X509Certificate;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** TLS: HTTP/2 and HTTP/1.1, both kinds of files, certificates that are replaced, clients'. */
class TlsTest {
  private static final String JOBS = "/v1/namespaces/shop/jobs";

  @TempDir private static Path folder;
  private static TestCertificates certificates;

  @BeforeAll
  static void make() throws Exception {
    certificates = new TestCertificates(folder);
    certificates.certify("server", "CN=localhost");
    certificates.certify("next", "CN=next");
    certificates.certify("ci", "CN=ci, O=Shop");
    certificates.certify("other", "CN=other, O=Shop");
  }

  private ServerFixture serve(TlsOptions tls) {
    return ServerFixture.on(
        Carillon.builder().inMemory(),
        carillon ->
            ServerFixture.OPTIONS
                .tls(tls)
                .access(
                    new ProvenAccess(
                        List.of(
                            new TokenProof(new Tokens(carillon.node().sharedRecords(Tokens.AREA))),
                            new CertificateProof(
                                Map.of("CN=ci, O=Shop", Grant.parse("submitter@shop")))))));
  }

  private static HttpResponse<String> send(
      HttpClient client, ServerFixture fixture, String path, String body) throws Exception {
    HttpRequest.Builder request =
        HttpRequest.newBuilder(
                URI.create("https://localhost:" + fixture.server.address().getPort() + path))
            .timeout(Duration.ofSeconds(20));
    if (body != null) {
      request.header("Content-Type", "application/json").POST(BodyPublishers.ofString(body));
    }
    return client.send(request.build(), BodyHandlers.ofString());
  }

  @Test
  void speaksHttp2AndHttp1() throws Exception {
    try (ServerFixture fixture =
            serve(TlsOptions.pem(certificates.pem("server"), certificates.key("server")));
        HttpClient two = HttpClient.newBuilder().sslContext(certificates.client(null)).build();
        HttpClient one =
            HttpClient.newBuilder()
                .version(HttpClient.Version.HTTP_1_1)
                .sslContext(certificates.client(null))
                .build()) {
      HttpResponse<String> answer = send(two, fixture, "/health/live", null);
      assertThat(answer.statusCode()).isEqualTo(200);
      assertThat(answer.version()).isEqualTo(HttpClient.Version.HTTP_2);
      assertThat(send(one, fixture, "/health/live", null).version())
          .isEqualTo(HttpClient.Version.HTTP_1_1);
      assertThat(send(two, fixture, JOBS, "{\"type\": \"t\"}").statusCode()).isEqualTo(401);
    }
  }

  @Test
  void certificateThatIsReplacedIsUsedWithoutARestart() throws Exception {
    Path chain = folder.resolve("chain.pem");
    Path key = folder.resolve("chain.key");
    copy("server", chain, key);
    try (ServerFixture fixture = serve(TlsOptions.pem(chain, key).look(Duration.ofMillis(100)))) {
      assertThat(subject(fixture)).isEqualTo("CN=localhost");
      Files.writeString(chain, "half a file");
      assertThat(subject(fixture)).isEqualTo("CN=localhost");
      copy("next", chain, key);
      Awaitility.await()
          .atMost(Duration.ofSeconds(10))
          .until(() -> subject(fixture).equals("CN=next"));
    }
  }

  private void copy(String alias, Path chain, Path key) throws IOException {
    Files.copy(certificates.key(alias), key, StandardCopyOption.REPLACE_EXISTING);
    Files.copy(certificates.pem(alias), chain, StandardCopyOption.REPLACE_EXISTING);
  }

  private String subject(ServerFixture fixture) throws Exception {
    try (HttpClient client =
        HttpClient.newBuilder().sslContext(certificates.client(null)).build()) {
      HttpResponse<String> answer = send(client, fixture, "/health/live", null);
      X509Certificate shown =
          (X509Certificate) answer.sslSession().orElseThrow().getPeerCertificates()[0];
      return shown.getSubjectX500Principal().getName();
    }
  }

  @Test
  void clientsMayShowCertificatesAndHaveTheRoleOfTheirSubject() throws Exception {
    Path elsewhere = Files.createDirectory(folder.resolve("elsewhere"));
    TestCertificates foreign = new TestCertificates(elsewhere);
    foreign.certify("ci", "CN=ci, O=Shop");
    TlsOptions tls =
        TlsOptions.pkcs12(certificates.keyStore("server"), TestCertificates.PASSWORD)
            .clientAuthorities(certificates.pem("authority"));
    try (ServerFixture fixture = serve(tls)) {
      assertThat(status(fixture, "ci", JOBS, "{\"type\": \"t\"}")).isEqualTo(201);
      assertThat(status(fixture, "ci", "/v1/namespaces/billing/jobs", null)).isEqualTo(403);
      assertThat(status(fixture, "ci", "/v1/tokens", null)).isEqualTo(403);
      assertThat(status(fixture, "other", JOBS, null)).isEqualTo(401);
      assertThat(status(fixture, null, JOBS, null)).isEqualTo(401);
      assertThat(status(fixture, null, "/health/live", null)).isEqualTo(200);
      // Trusts the right server, and shows a certificate of another authority.
      var keys = foreign.clientWith(certificates, "ci");
      try (HttpClient client = HttpClient.newBuilder().sslContext(keys).build()) {
        assertThatThrownBy(() -> send(client, fixture, JOBS, null)).isInstanceOf(IOException.class);
      }
    }
  }

  private int status(ServerFixture fixture, String alias, String path, String body)
      throws Exception {
    try (HttpClient client =
        HttpClient.newBuilder().sslContext(certificates.client(alias)).build()) {
      return send(client, fixture, path, body).statusCode();
    }
  }

  @Test
  void filesThatAreWrongAreNamed() throws Exception {
    Path nothing = Files.writeString(folder.resolve("nothing.pem"), "nothing");
    assertThatThrownBy(() -> serve(TlsOptions.pem(certificates.pem("server"), nothing)))
        .hasMessageContaining("nothing.pem")
        .hasMessageContaining("BEGIN PRIVATE KEY");
    assertThatThrownBy(() -> serve(TlsOptions.pem(nothing, certificates.key("server"))))
        .hasMessageContaining("nothing.pem");
    assertThatThrownBy(() -> serve(TlsOptions.pkcs12(certificates.keyStore("server"), "wrong")))
        .hasMessageContaining("server.p12")
        .hasMessageNotContaining("wrong");
  }

  @Test
  void otherAddressesNeedTlsOrAProxyThatHasIt() throws Exception {
    InetSocketAddress any = new InetSocketAddress("0.0.0.0", 0);
    ServerOptions proven = ServerOptions.standard().access(new ProvenAccess(List.of()));
    assertThatThrownBy(() -> proven.address(any)).hasMessageContaining("TLS");
    assertThat(proven.behindProxy().address(any).address()).isEqualTo(any);
    TlsOptions tls = TlsOptions.pem(certificates.pem("server"), certificates.key("server"));
    assertThat(proven.tls(tls).address(any).address()).isEqualTo(any);
  }
}
