package dev.carillon.server.access;

/** Finds out who asks. Thread-safe; asked once for each request, before its body is read. */
public interface Access extends AutoCloseable {

  /**
   * Who asks.
   *
   * @param arrival what is known of the request
   * @return the caller
   * @throws Denied if the request is not let in
   */
  Caller identify(Arrival arrival);

  /**
   * Who asks for what is there for anyone: no proof is needed.
   *
   * @param arrival what is known of the request
   * @return the caller
   * @throws Denied if the request is not let in
   */
  default Caller anyone(Arrival arrival) {
    return identify(arrival);
  }

  /**
   * Whether callers prove who they are. A server whose access does not ask for that listens on the
   * loopback interface only.
   *
   * @return true if it authenticates
   */
  boolean authenticates();

  /** Ends what it does beside requests. Closed with its server. */
  @Override
  default void close() {}
}
