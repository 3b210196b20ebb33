package dev.carillon.cli;

import dev.carillon.Carillon;
import dev.carillon.CarillonBuilder;
import dev.carillon.cli.client.ServerFile;
import dev.carillon.server.CarillonServer;
import dev.carillon.server.ServerOptions;
import dev.carillon.server.webhook.WebhookFile;
import dev.carillon.server.webhook.WebhookSettings;
import java.io.IOException;
import java.io.PrintWriter;
import java.net.BindException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.function.Supplier;
import java.util.logging.Level;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** A node with an HTTP API, until it is told to stop. */
@Command(
    name = "serve",
    mixinStandardHelpOptions = true,
    description = {
      "Runs a node with an HTTP API until it is interrupted (Ctrl-C, SIGTERM).",
      "",
      "With PostgreSQL the node is a member of the cluster on that database, beside other",
      "servers and programs with the library. A SQLite file belongs to one process; the",
      "address of its server stands in a file beside it (FILE.server).",
      "",
      "Clients need a token as soon as there is one (./carillon token create). Before that",
      "only clients of this machine are served, and no other address is opened.",
      "The API is described at /openapi.yaml.",
      ""
    },
    footer = {
      "",
      "Examples:",
      "  ./carillon serve",
      "  ./carillon serve jdbc:postgresql://db/app --port 8480",
      "  ./carillon serve jdbc:postgresql://db/app --address 0.0.0.0 \\",
      "      --tls-cert server.pem --tls-key server.key"
    })
final class Serve implements Callable<Integer> {
  @Parameters(
      index = "0",
      arity = "0..1",
      paramLabel = "URL",
      defaultValue = "jdbc:sqlite:carillon.db",
      description =
          "the store: jdbc:sqlite:FILE or jdbc:postgresql://HOST/DATABASE"
              + " (default: ${DEFAULT-VALUE})")
  private String url = "";

  @Option(
      names = "--port",
      defaultValue = "" + ServerOptions.DEFAULT_PORT,
      description = "the port; 0 for any that is free (default: ${DEFAULT-VALUE})")
  private int port;

  @Option(
      names = "--address",
      paramLabel = "ADDRESS",
      defaultValue = "127.0.0.1",
      description = {
        "the address to listen on; another than a loopback one needs tokens and TLS",
        "(default: ${DEFAULT-VALUE})"
      })
  private String address = "";

  @Mixin private ServeAccess access = new ServeAccess();

  @Option(
      names = "--node-id",
      paramLabel = "ID",
      description = "what this node is called; the same after a restart (default: the host's name)")
  private @Nullable String nodeId;

  @Option(
      names = "--webhooks",
      paramLabel = "FILE",
      description = "secrets and private ranges of webhooks, read again when it changes")
  private @Nullable Path webhooks;

  @Spec private CommandSpec spec;

  Serve() {
    spec = CommandSpec.create(); // replaced by the parser
  }

  @Override
  public Integer call() throws Exception {
    Main.NODE_LOG.setLevel(Level.INFO);
    InetSocketAddress listens = listensOn();
    Supplier<WebhookSettings> settings =
        webhooks != null ? new WebhookFile(webhooks) : WebhookSettings::none;
    CarillonBuilder builder = Carillon.builder().url(url);
    if (nodeId != null) {
      builder.nodeId(nodeId);
    }
    Carillon carillon = builder.open();
    CarillonServer server;
    try {
      ServerOptions options =
          access.applyTo(ServerOptions.standard().webhooks(settings), carillon, listens);
      server = CarillonServer.start(carillon, options);
    } catch (BindException e) {
      carillon.close();
      throw new IOException(
          "port %d of %s: %s (expected: a free one; --port names another)"
              .formatted(port, address, e.getMessage()),
          e);
    } catch (IOException | RuntimeException e) {
      carillon.close();
      throw e;
    }
    serve(carillon, server);
    return 0;
  }

  private InetSocketAddress listensOn() {
    try {
      return new InetSocketAddress(InetAddress.getByName(address), port);
    } catch (UnknownHostException e) {
      throw new IllegalArgumentException("address: " + address + " (expected: one of this host)");
    }
  }

  private void serve(Carillon carillon, CarillonServer server) throws Exception {
    String base =
        "%s://%s:%d"
            .formatted(
                access.isEncrypted() ? "https" : "http", shown(server), server.address().getPort());
    @Nullable ServerFile note = ServerFile.of(url);
    if (note != null) {
      note.write(base);
    }
    CountDownLatch stopped = new CountDownLatch(1);
    Runtime.getRuntime()
        .addShutdownHook(
            new Thread(
                () -> {
                  stop(carillon, server, note);
                  stopped.countDown();
                },
                "carillon-stop"));
    PrintWriter out = spec.commandLine().getOut();
    out.printf("serving %s at %s%n", shownUrl(), base);
    out.println(access.words());
    out.flush();
    stopped.await();
  }

  /** Without user, password and parameters. */
  private String shownUrl() {
    return url.replaceAll("[?].*", "").replaceAll("//[^/@]*@", "//");
  }

  private static String shown(CarillonServer server) {
    String host = server.address().getAddress().getHostAddress();
    return host.indexOf(':') < 0 ? host : "[" + host + "]";
  }

  private static void stop(Carillon carillon, CarillonServer server, @Nullable ServerFile note) {
    server.close();
    carillon.close();
    if (note != null) {
      note.remove();
    }
  }
}
