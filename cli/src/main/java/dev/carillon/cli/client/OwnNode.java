package dev.carillon.cli.client;

import dev.carillon.Carillon;
import dev.carillon.CarillonBuilder;
import dev.carillon.server.CarillonServer;
import dev.carillon.server.ServerOptions;
import java.io.IOException;
import java.net.URI;
import java.security.SecureRandom;
import java.util.HexFormat;

/**
 * A server inside a command, for a store whose file no server holds. On a store that nodes share it
 * only asks them: it owns no jobs. On a SQLite file it is the file's one node for as long as the
 * command takes; it runs no handlers and sends no webhooks. Nobody else is served: other users of
 * the machine do not know its secret.
 */
final class OwnNode implements AutoCloseable {
  private static final int SECRET_BYTES = 32;

  private final Carillon carillon;
  private final CarillonServer server;
  private final String store;
  private final String secret;

  private OwnNode(Carillon carillon, CarillonServer server, String store, String secret) {
    this.carillon = carillon;
    this.server = server;
    this.store = store;
    this.secret = secret;
  }

  static OwnNode open(String url) {
    CarillonBuilder builder = Carillon.builder().url(url).daemon(true);
    ServerFile file = ServerFile.of(url);
    if (file == null) {
      builder.clientOnly(true);
    } else if (!file.hasStore()) {
      throw CommandFailure.invalid("--store", url, "an existing file; serve makes a new one");
    }
    Carillon carillon = builder.open();
    try {
      byte[] random = new byte[SECRET_BYTES];
      new SecureRandom().nextBytes(random);
      String secret = HexFormat.of().formatHex(random);
      ServerOptions options = ServerOptions.standard().port(0).access(new OwnAccess(secret));
      return new OwnNode(
          carillon, CarillonServer.startWithoutWebhooks(carillon, options), url, secret);
    } catch (IOException e) {
      carillon.close();
      throw new CommandFailure(ExitCode.FAILED, "no port of this machine can be opened", e);
    } catch (RuntimeException e) {
      carillon.close();
      throw e;
    }
  }

  Target target(String namespace) {
    URI address = URI.create("http://127.0.0.1:" + server.address().getPort());
    return new Target(address, namespace, secret, null, "for " + withoutSecrets(store));
  }

  private static String withoutSecrets(String url) {
    return url.replaceAll("[?].*", "").replaceAll("//[^/@]*@", "//");
  }

  @Override
  public void close() {
    server.close();
    carillon.close();
  }
}
