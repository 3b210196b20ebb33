package dev.carillon.bench;

import java.io.IOException;
import java.net.InetSocketAddress;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** Workers that speak HTTP and whose work is nothing, until their standard input ends. */
final class HttpWorkerLoad {
  private static final String WORK = "/v1/namespaces/default/work";
  private static final JsonMapper JSON = new JsonMapper();

  private HttpWorkerLoad() {}

  static void run(String server, int connections) throws IOException {
    String[] parts = server.split(":", -1);
    InetSocketAddress address = new InetSocketAddress(parts[0], Integer.parseInt(parts[1]));
    for (int i = 0; i < connections; i++) {
      Thread.ofPlatform().daemon().name("worker-" + i).start(() -> work(address));
    }
    var unused = System.in.readAllBytes();
  }

  private static void work(InetSocketAddress address) {
    byte[] take =
        ApiConnection.post(WORK, "{\"types\": [\"order\"], \"most\": 16, \"wait\": \"10s\"}");
    try (ApiConnection connection = new ApiConnection(address)) {
      while (true) {
        for (JsonNode attempt : JSON.readTree(connection.send(take, 200)).path("attempts")) {
          String done = WORK + "/" + attempt.path("token").asString() + "/done";
          var unused = connection.send(ApiConnection.post(done, "{}"), 204);
        }
      }
    } catch (IOException e) {
      System.err.println("a worker ends: " + e);
    }
  }
}
