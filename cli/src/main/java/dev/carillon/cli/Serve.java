package dev.carillon.cli;

import dev.carillon.Carillon;
import dev.carillon.CarillonBuilder;
import dev.carillon.cli.client.ServerFile;
import dev.carillon.server.CarillonServer;
import dev.carillon.server.ServerOptions;
import dev.carillon.server.gateway.GatewayLimits;
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
      "The API is described at /openapi.yaml. Workers, programs in any language that run jobs,",
      "connect to a port of their own.",
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

  @Option(
      names = "--worker-port",
      paramLabel = "PORT",
      description = {
        "the port for workers; 0 for any that is free",
        "(default: the one after --port: 8471)"
      })
  private @Nullable Integer workerPort;

  @Option(
      names = "--worker-address",
      paramLabel = "HOST:PORT",
      description = "by which workers of other machines reach it (default: --address and the port)")
  private @Nullable String workerAddress;

  @Option(names = "--no-workers", description = "no port for workers")
  private boolean noWorkers;

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
    CarillonBuilder builder =
        Carillon.builder().url(url).advanced(options -> options.expectWorkers(!noWorkers));
    if (nodeId != null) {
      builder.nodeId(nodeId);
    }
    Carillon carillon = builder.open();
    CarillonServer server;
    try {
      ServerOptions options = ServerOptions.standard().webhooks(settings);
      if (!noWorkers) {
        options =
            options.workers(
                new ServerOptions.Workers(
                    portOfWorkers(), workerAddress, GatewayLimits.standard()));
      }
      options = access.applyTo(options, carillon, listens);
      server = CarillonServer.start(carillon, options);
    } catch (BindException e) {
      carillon.close();
      throw new IOException(
          "port %d or %d of %s: %s (expected: free ones; --port and --worker-port name others)"
              .formatted(port, portOfWorkers(), address, e.getMessage()),
          e);
    } catch (IOException | RuntimeException e) {
      carillon.close();
      throw e;
    }
    serve(carillon, server);
    return 0;
  }

  private int portOfWorkers() {
    if (workerPort != null) {
      return workerPort;
    }
    return port == 0 ? 0 : port + 1;
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
    InetSocketAddress workers = server.workerAddress();
    if (workers != null) {
      out.printf("workers connect to %s:%d%n", shown(server), workers.getPort());
    }
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
    server.stop();
    carillon.close(); // tells workers what is leased
    server.close();
    if (note != null) {
      note.remove();
    }
  }
}
