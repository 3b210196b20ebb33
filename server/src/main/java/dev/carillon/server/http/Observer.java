package dev.carillon.server.http;

import dev.carillon.server.access.Arrival;
import dev.carillon.server.access.Caller;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Is told of every request that a route was found for, also of those that were refused: for meters
 * and for the audit. Called before the answer is sent, on the thread of the request; may block.
 */
@FunctionalInterface
public interface Observer {

  /**
   * A request is about to be answered.
   *
   * @param served what is known of it
   */
  void served(Served served);

  /**
   * A request and its answer.
   *
   * @param route the route
   * @param caller who asked; null where that is not known
   * @param arrival how it came; null where the server refused it before it was looked at
   * @param variables the variable segments of its path
   * @param status the status of the answer
   * @param nanos how long it took
   */
  record Served(
      Route route,
      @Nullable Caller caller,
      @Nullable Arrival arrival,
      Map<String, String> variables,
      int status,
      long nanos) {}
}
