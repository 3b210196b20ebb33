package dev.carillon.server.http;

import java.time.Duration;

/**
 * What one server takes at once. Beyond it requests are answered 429, 408, 413 or 431, or their
 * connection is closed, before memory is taken for them.
 *
 * <p>One caller has at most half of the requests, streams and bytes, and one address at most half
 * of the connections: nobody alone keeps the others out.
 *
 * @param connections connections at once; further ones wait in the kernel's queue
 * @param requests requests at once, without probes and streams
 * @param streams streams of events at once
 * @param headerBytes the request line and headers of a request
 * @param bodyBytes the bodies of all requests that are being read or served
 * @param bodyTime how long a head may take to come, and then a body
 * @param idle how long a connection may say nothing, and a client may not read
 */
public record HttpLimits(
    int connections,
    int requests,
    int streams,
    int headerBytes,
    long bodyBytes,
    Duration bodyTime,
    Duration idle) {

  /** What one of several may have. */
  static int half(int all) {
    return Math.max(1, all / 2);
  }

  /** The defaults: bodies may take an eighth of the heap. */
  public static HttpLimits standard() {
    return new HttpLimits(
        4_096,
        512,
        256,
        16 << 10,
        Math.max(64L << 20, Runtime.getRuntime().maxMemory() / 8),
        Duration.ofSeconds(20),
        Duration.ofSeconds(30));
  }
}
