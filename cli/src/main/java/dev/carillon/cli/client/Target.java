package dev.carillon.cli.client;

import java.net.URI;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * A server to talk to.
 *
 * @param server its address, without a path
 * @param namespace whose jobs
 * @param token who asks; empty without authentication
 * @param trusted certificates that are trusted, as PEM; null for those of Java
 * @param origin what named it, for people
 */
record Target(URI server, String namespace, String token, @Nullable Path trusted, String origin) {
  /** Without the token. */
  @Override
  public String toString() {
    return server + " (" + origin + ")";
  }
}
