package dev.carillon.server.access;

/** Finds out who asks. Thread-safe; asked once for each request, before its body is read. */
public interface Access {

  /**
   * Who asks.
   *
   * @param arrival what is known of the request
   * @return the caller
   * @throws Denied if the request is not let in
   */
  Caller identify(Arrival arrival);

  /**
   * Whether callers prove who they are. A server whose access does not ask for that listens on the
   * loopback interface only.
   *
   * @return true if it authenticates
   */
  boolean authenticates();
}
