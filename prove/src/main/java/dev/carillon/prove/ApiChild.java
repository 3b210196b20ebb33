package dev.carillon.prove;

import dev.carillon.Carillon;
import dev.carillon.server.CarillonServer;
import dev.carillon.server.ServerOptions;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** The server that is killed. Its port is always the same, so that clients find the next one. */
@Command(
    name = "api-child",
    hidden = true,
    description = "A server that a proof puts under stress.")
final class ApiChild implements Callable<Integer> {
  @Parameters(index = "0", paramLabel = "URL")
  private String url = "";

  @Option(names = "--port")
  private int port;

  @Override
  public Integer call() throws Exception {
    try (Carillon carillon = Carillon.builder().url(url).nodeId("proved").open();
        CarillonServer server =
            CarillonServer.start(carillon, ServerOptions.standard().port(port))) {
      System.out.println(server.address());
      while (System.in.read() >= 0) { // until it is killed, or its parent is gone
        Thread.onSpinWait();
      }
    }
    return 0;
  }
}
