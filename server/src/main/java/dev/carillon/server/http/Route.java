package dev.carillon.server.http;

import dev.carillon.server.access.Role;
import java.util.Set;

/**
 * One operation of the API, as data. The operation is its name in {@code openapi.yaml}, in the
 * audit and in the meters.
 *
 * @param operation its name, a verb and a noun
 * @param method the method
 * @param path the path, with the names of its variable segments in braces; one named {@code ns} is
 *     the namespace that the request is about
 * @param role the least role that it needs, in that namespace or over all of them
 * @param query the query parameters that it knows; one that ends in a dot is a prefix
 * @param body what body it reads
 * @param looksAtQueues whether its handler looks at the queue of each job: callers who reach some
 *     queues only are refused at other routes
 * @param waits whether it may wait for long: then it counts among the streams, not the requests
 * @param handler what it does
 */
public record Route(
    String operation,
    Method method,
    String path,
    Role role,
    Set<String> query,
    Body body,
    boolean looksAtQueues,
    boolean waits,
    Handler handler) {

  /** Serves a request. May block; what it throws is answered as a problem. */
  @FunctionalInterface
  public interface Handler {
    /**
     * Serves it.
     *
     * @param call the request
     * @return the answer
     * @throws Exception what is told as a problem
     */
    Answer handle(Call call) throws Exception;
  }

  /** What a route reads. */
  public enum Body {
    /** Nothing: the body, if there is one, is thrown away. */
    NONE(0),
    /** An object; a missing body is an empty one. */
    OBJECT(2 << 20),
    /** A batch. */
    BATCH(8 << 20);

    private final int maxBytes;

    Body(int maxBytes) {
      this.maxBytes = maxBytes;
    }

    /** The most bytes. */
    public int maxBytes() {
      return maxBytes;
    }
  }

  /** Copies the parameters. */
  public Route {
    query = Set.copyOf(query);
  }

  /** A route that looks. */
  public static Route get(String operation, String path, Role role, Handler handler) {
    return new Route(operation, Method.GET, path, role, Set.of(), Body.NONE, false, false, handler);
  }

  /** A route that does something. */
  public static Route post(String operation, String path, Role role, Handler handler) {
    return new Route(
        operation, Method.POST, path, role, Set.of(), Body.OBJECT, false, false, handler);
  }

  /** A route that sets something. */
  public static Route put(String operation, String path, Role role, Handler handler) {
    return new Route(
        operation, Method.PUT, path, role, Set.of(), Body.OBJECT, false, false, handler);
  }

  /** A route that takes something away. */
  public static Route delete(String operation, String path, Role role, Handler handler) {
    return new Route(
        operation, Method.DELETE, path, role, Set.of(), Body.NONE, false, false, handler);
  }

  /** With query parameters. */
  public Route query(String... names) {
    return new Route(
        operation, method, path, role, Set.of(names), body, looksAtQueues, waits, handler);
  }

  /** With a large body. */
  public Route batch() {
    return new Route(
        operation, method, path, role, query, Body.BATCH, looksAtQueues, waits, handler);
  }

  /** One whose handler looks at the queue of each job that it shows or changes. */
  public Route byQueue() {
    return new Route(operation, method, path, role, query, body, true, waits, handler);
  }

  /** One that may wait for long. */
  public Route waiting() {
    return new Route(operation, method, path, role, query, body, looksAtQueues, true, handler);
  }

  /** Whether it is about one namespace. */
  public boolean isOfNamespace() {
    return path.contains("/{" + Call.NAMESPACE + "}");
  }
}
