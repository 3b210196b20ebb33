package dev.carillon.worker;

import java.util.List;

/**
 * What a worker does, as of a moment.
 *
 * @param name its name, as servers and histories have it
 * @param slots how many attempts it runs at once
 * @param running how many run now
 * @param unsettled how many have ended whose outcome is not settled
 * @param given how many it has been given
 * @param refused how many of them went back, because there was no room
 * @param settled how many outcomes are durable
 * @param stale how many attempts were not the current ones of their jobs any more
 * @param abandoned how many were stopped, because no server vouched for them in time
 * @param servers the servers that it knows
 */
public record WorkerInfo(
    String name,
    int slots,
    int running,
    int unsettled,
    long given,
    long refused,
    long settled,
    long stale,
    long abandoned,
    List<Server> servers) {

  /** Copies the list. */
  public WorkerInfo {
    servers = List.copyOf(servers);
  }

  /** Whether it is connected to a server. */
  public boolean isConnected() {
    return servers.stream().anyMatch(Server::connected);
  }

  /**
   * A server.
   *
   * @param address host and port
   * @param connected whether the worker hears it
   * @param node the id of its node; empty where it was never connected
   * @param problem why it is not connected; empty where nothing is known
   */
  public record Server(String address, boolean connected, String node, String problem) {}
}
