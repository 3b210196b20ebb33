package dev.carillon;

import dev.carillon.api.JobListener;

/**
 * Told what happens to the jobs of all nodes. Those of the node that tells come at once, those of
 * other nodes within about a second.
 */
public interface ClusterListener extends JobListener {

  /**
   * Some of what happened on a node is not told: the node gave no answer, stopped or died, more
   * happened than it keeps for others, or, on the node that tells, listeners were too slow.
   *
   * @param nodeId the id of the node
   */
  default void missed(String nodeId) {}
}
