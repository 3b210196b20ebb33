package dev.carillon.server.gateway;

import java.time.Duration;

/**
 * How much the listener for workers takes. Immutable.
 *
 * @param streams workers that are connected at once
 * @param messageBytes how large a message of a worker may be
 * @param queued words that wait for one worker to read them
 * @param hello how long a worker may take to say hello
 * @param stalled how long a worker may read nothing while words wait for it
 */
public record GatewayLimits(
    int streams, int messageBytes, int queued, Duration hello, Duration stalled) {

  /** The defaults. */
  public static GatewayLimits standard() {
    return new GatewayLimits(
        10_000, 8 << 20, 60_000, Duration.ofSeconds(5), Duration.ofSeconds(10));
  }

  /** With another patience with workers that do not read. */
  public GatewayLimits stalled(Duration patience) {
    return new GatewayLimits(streams, messageBytes, queued, hello, patience);
  }

  /** With another number of words that may wait. */
  public GatewayLimits queued(int words) {
    return new GatewayLimits(streams, messageBytes, words, hello, stalled);
  }

  /** With another time for hello. */
  public GatewayLimits hello(Duration patience) {
    return new GatewayLimits(streams, messageBytes, queued, patience, stalled);
  }
}
