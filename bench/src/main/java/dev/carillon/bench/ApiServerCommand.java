package dev.carillon.bench;

import dev.carillon.Carillon;
import dev.carillon.server.CarillonServer;
import dev.carillon.server.ServerOptions;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;

/** The server whose API is measured, in a process of its own, until its standard input ends. */
@Command(name = "api-server", hidden = true, description = "A server whose API is measured.")
final class ApiServerCommand implements Callable<Integer> {
  @Parameters(index = "0", paramLabel = "URL")
  private String url = "";

  @Override
  public Integer call() throws Exception {
    try (Carillon carillon = Carillon.builder().url(url).nodeId("measured").open();
        CarillonServer server = CarillonServer.start(carillon, ServerOptions.standard().port(0))) {
      System.out.println(server.address().getPort());
      System.out.flush();
      var unused = System.in.readAllBytes();
    }
    return 0;
  }
}
