package dev.carillon.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.carillon.Carillon;
import dev.carillon.protocol.FromServer;
import dev.carillon.protocol.FromWorker;
import dev.carillon.protocol.Hello;
import dev.carillon.protocol.Take;
import dev.carillon.protocol.WorkersGrpc;
import dev.carillon.server.access.CertificateProof;
import dev.carillon.server.access.Grant;
import dev.carillon.server.access.ProvenAccess;
import dev.carillon.server.http.TlsOptions;
import io.grpc.CallOptions;
import io.grpc.ClientCall;
import io.grpc.Grpc;
import io.grpc.ManagedChannel;
import io.grpc.Metadata;
import io.grpc.Status;
import io.grpc.netty.shaded.io.grpc.netty.GrpcSslContexts;
import io.grpc.netty.shaded.io.grpc.netty.NettyChannelBuilder;
import io.grpc.netty.shaded.io.netty.handler.ssl.SslContextBuilder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import javax.net.ssl.SSLSession;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The listener for workers over TLS: who connects by a certificate, and one that is replaced. */
class GatewayTlsTest {
  private static final long SECONDS = 60;

  @TempDir private Path folder;

  @Test
  void workersConnectByTheirCertificatesAndThatOfTheServerMayBeReplaced() throws Exception {
    TestCertificates certificates = new TestCertificates(folder);
    certificates.certify("server", "CN=localhost");
    certificates.certify("next", "CN=next");
    certificates.certify("worker", "CN=worker, O=Shop");
    certificates.certify("other", "CN=other, O=Shop");
    Path chain = folder.resolve("chain.pem");
    Path key = folder.resolve("chain.key");
    copy(certificates, "server", chain, key);
    TlsOptions tls =
        TlsOptions.pem(chain, key)
            .clientAuthorities(certificates.pem("authority"))
            .look(Duration.ofMillis(100));
    try (ServerFixture fixture =
        ServerFixture.on(
            Carillon.builder().inMemory(),
            carillon ->
                ServerFixture.OPTIONS
                    .workers(0)
                    .tls(tls)
                    .access(
                        new ProvenAccess(
                            List.of(
                                new CertificateProof(
                                    Map.of("CN=worker, O=Shop", Grant.parse("worker@shop")))))))) {
      int port = Objects.requireNonNull(fixture.server.workerAddress()).getPort();
      assertThat(answer(certificates, "worker", port)).isEqualTo("welcome by CN=localhost");
      copy(certificates, "next", chain, key);
      Awaitility.await()
          .atMost(Duration.ofSeconds(SECONDS))
          .until(() -> answer(certificates, "worker", port).equals("welcome by CN=next"));
      assertThat(answer(certificates, "other", port)).startsWith("UNAUTHENTICATED");
    }
  }

  private static void copy(TestCertificates certificates, String alias, Path chain, Path key)
      throws Exception {
    Files.copy(certificates.key(alias), key, StandardCopyOption.REPLACE_EXISTING);
    Files.copy(certificates.pem(alias), chain, StandardCopyOption.REPLACE_EXISTING);
  }

  /** What a worker that shows a certificate hears first: a welcome and by whom, or the end. */
  private static String answer(TestCertificates certificates, String alias, int port)
      throws Exception {
    ManagedChannel channel =
        NettyChannelBuilder.forTarget("dns:///localhost:" + port)
            .sslContext(
                GrpcSslContexts.configure(
                        SslContextBuilder.forClient()
                            .trustManager(certificates.pem("authority").toFile())
                            .keyManager(
                                certificates.pem(alias).toFile(), certificates.key(alias).toFile()))
                    .build())
            .build();
    CompletableFuture<String> answer = new CompletableFuture<>();
    ClientCall<FromWorker, FromServer> call =
        channel.newCall(WorkersGrpc.getWorkMethod(), CallOptions.DEFAULT);
    call.start(
        new ClientCall.Listener<>() {
          @Override
          public void onMessage(FromServer message) {
            answer.complete(message.hasWelcome() ? "welcome by " : message.toString());
          }

          @Override
          public void onClose(Status status, Metadata trailers) {
            answer.complete(status.getCode() + ": " + status.getDescription());
          }
        },
        new Metadata());
    try {
      call.request(1);
      call.sendMessage(
          FromWorker.newBuilder()
              .setHello(
                  Hello.newBuilder()
                      .setWorker("w")
                      .addTakes(Take.newBuilder().setType("t").setNamespace("shop")))
              .build());
      String heard = answer.get(SECONDS, TimeUnit.SECONDS);
      SSLSession session = call.getAttributes().get(Grpc.TRANSPORT_ATTR_SSL_SESSION);
      return heard.equals("welcome by ") && session != null
          ? heard + session.getPeerPrincipal().getName()
          : heard;
    } finally {
      call.cancel("the test has heard enough", null);
      channel.shutdownNow();
    }
  }
}
