package dev.carillon.server.gateway;

import java.util.function.IntSupplier;

/** What the listener for workers counts. Methods return at once. */
public interface GatewayFigures {

  /** How many streams there are, to be asked whenever somebody wants to know. */
  void streams(IntSupplier streams);

  /** A worker has connected. */
  void connected();

  /** A worker was not let in. */
  void refused();

  /** A worker's stream has ended. */
  void ended();
}
