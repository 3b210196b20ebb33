package dev.carillon.prove;

import dev.carillon.Carillon;
import dev.carillon.server.CarillonServer;
import dev.carillon.server.ServerOptions;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** A server with workers that is killed, or stopped in order as {@code ./carillon serve} is. */
@Command(
    name = "workers-server-child",
    hidden = true,
    description = "A server with workers that a proof puts under stress.")
final class WorkersServerChild implements Callable<Integer> {
  @Parameters(index = "0", paramLabel = "URL")
  private String url = "";

  @Option(names = "--port")
  private int port;

  @Option(names = "--worker-port")
  private int workerPort;

  @Option(names = "--node-id")
  private String nodeId = "";

  @Override
  public Integer call() throws Exception {
    Carillon carillon =
        Carillon.builder()
            .url(url)
            .nodeId(nodeId)
            .advanced(options -> options.expectWorkers(true))
            .open();
    CarillonServer server =
        CarillonServer.start(carillon, ServerOptions.standard().port(port).workers(workerPort));
    while (System.in.available() == 0) { // until it is killed, or told to end
      Thread.sleep(10);
    }
    server.stop();
    carillon.close();
    server.close();
    return 0;
  }
}
