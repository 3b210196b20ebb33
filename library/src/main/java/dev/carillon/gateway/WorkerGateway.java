package dev.carillon.gateway;

import java.util.List;

/** The workers that are connected to a node. Made by the node; thread-safe. */
public interface WorkerGateway {

  /**
   * A worker says hello. An earlier connection of the same worker is closed. What the worker still
   * has of earlier connections it says by {@link WorkerConnection#resume}; it is given nothing
   * before it has said how much it takes, by {@link WorkerConnection#free}.
   *
   * @param hello who it is and what it takes
   * @param listener told what the node says to it
   * @return by which it speaks
   * @throws dev.carillon.api.error.ClosedException if the node is closed
   */
  WorkerConnection connect(WorkerHello hello, WorkerListener listener);

  /**
   * The workers that are connected to this node, as of this moment, and what they run here.
   *
   * @return in the order in which they came
   * @throws dev.carillon.api.error.ClosedException if the node is closed
   */
  List<ConnectedWorker> connected();
}
