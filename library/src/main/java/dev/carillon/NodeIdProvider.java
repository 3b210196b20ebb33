package dev.carillon;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.UUID;

/**
 * Says what a node is called among those that share its store. The id decides which shards come
 * home to a node that returns, and nothing else: no guarantee rests on it, also where two nodes
 * have the same.
 */
public interface NodeIdProvider {

  /**
   * The id of this node.
   *
   * @return not blank, the same after a restart if {@link #returns}
   */
  String nodeId();

  /**
   * Whether a node of this id may come back after it was stopped in order. Where it does not, its
   * shards belong to others at once; where it may, it is expected for ten minutes.
   *
   * @return true by default
   */
  default boolean returns() {
    return true;
  }

  /**
   * A node that keeps its id.
   *
   * @param nodeId its id
   * @return a provider of it
   */
  static NodeIdProvider of(String nodeId) {
    return () -> nodeId;
  }

  /**
   * Called as the machine is: the default where several nodes share a store.
   *
   * @return a provider of the host's name
   */
  static NodeIdProvider hostName() {
    return () -> {
      String given = System.getenv("HOSTNAME");
      if (given != null && !given.isBlank()) {
        return given;
      }
      try {
        return InetAddress.getLocalHost().getHostName();
      } catch (UnknownHostException e) {
        return "unknown-host";
      }
    };
  }

  /**
   * A new id at each start, which never returns: for fleets whose machines are made anew at each
   * deploy.
   *
   * @return a provider of a random id
   */
  static NodeIdProvider random() {
    String nodeId = UUID.randomUUID().toString();
    return new NodeIdProvider() {
      @Override
      public String nodeId() {
        return nodeId;
      }

      @Override
      public boolean returns() {
        return false;
      }
    };
  }
}
