package dev.carillon.server.access;

import java.util.Optional;

/** One way to prove who asks: a token, a session, a certificate. Thread-safe. */
public interface Proof extends AutoCloseable {

  /**
   * Who asks, by this kind of proof.
   *
   * @param arrival what is known of the request
   * @return the caller; empty if the request brings no proof of this kind
   * @throws Denied if it brings one that does not hold
   */
  Optional<Caller> caller(Arrival arrival);

  /** Ends what it does beside requests. */
  @Override
  default void close() {}
}
