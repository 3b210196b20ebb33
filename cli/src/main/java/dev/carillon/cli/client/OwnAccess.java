package dev.carillon.cli.client;

import dev.carillon.server.access.Access;
import dev.carillon.server.access.Arrival;
import dev.carillon.server.access.Caller;
import dev.carillon.server.access.Denied;
import dev.carillon.server.access.LoopbackAccess;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;

/** Lets in the command alone that the server is for: whoever knows its secret, on this machine. */
final class OwnAccess implements Access {
  private final LoopbackAccess loopback = new LoopbackAccess();
  private final byte[] expected;

  OwnAccess(String secret) {
    this.expected = bytes("Bearer " + secret);
  }

  private static byte[] bytes(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }

  @Override
  public Caller identify(Arrival arrival) {
    String shown = arrival.header("authorization");
    if (shown == null || !MessageDigest.isEqual(expected, bytes(shown))) {
      throw Denied.forbidden("this server is for one command alone");
    }
    return loopback.identify(arrival);
  }

  @Override
  public boolean authenticates() {
    return false;
  }
}
