package dev.carillon.server.http;

import java.time.Duration;

/**
 * What one server takes at once. Beyond it requests are answered 429, 408, 413 or 431, or their
 * connection is closed, before memory is taken for them.
 *
 * @param connections connections at once; further ones wait in the kernel's queue
 * @param requests requests at once, without probes and streams
 * @param streams streams of events at once
 * @param headerBytes the request line and headers of a request
 * @param bodyBytes the bodies of all requests that are being read or served
 * @param bodyTime how long a body may take to come
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
