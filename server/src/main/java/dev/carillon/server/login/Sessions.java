package dev.carillon.server.login;

import dev.carillon.server.access.Arrival;
import dev.carillon.server.access.Caller;
import dev.carillon.server.access.Denied;
import dev.carillon.server.access.Proof;
import java.time.InstantSource;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Lets in people who are signed in, by their cookie. Browsers send cookies for pages of other sites
 * too: a change must therefore come from a page of this server ({@code Origin}), and be JSON as all
 * changes.
 */
final class Sessions implements Proof {
  static final String COOKIE = "carillon-session";
  static final String PURPOSE = "session";

  private final Seal seal;
  private final String origin;
  private final InstantSource clock;

  Sessions(Seal seal, String origin, InstantSource clock) {
    this.seal = seal;
    this.origin = origin;
    this.clock = clock;
  }

  @Override
  public Optional<Caller> caller(Arrival arrival) {
    String cookie = cookie(arrival.header("cookie"), COOKIE);
    if (cookie == null) {
      return Optional.empty();
    }
    Session session =
        seal.open(PURPOSE, cookie)
            .flatMap(Session::parse)
            .filter(each -> clock.instant().isBefore(each.until()))
            .orElseThrow(() -> Denied.unknown("session: over (expected: sign in at /v1/login)"));
    String from = arrival.header("origin");
    if (from != null ? !from.equals(origin) : !arrival.reads()) {
      throw Denied.forbidden("Origin: another site, or none (expected: a page of this server)");
    }
    return Optional.of(session.caller());
  }

  /** A cookie of a request, or null. */
  static @Nullable String cookie(@Nullable String header, String name) {
    if (header == null) {
      return null;
    }
    for (String part : header.split(";", -1)) {
      String each = part.strip();
      if (each.startsWith(name + "=")) {
        return each.substring(name.length() + 1);
      }
    }
    return null;
  }
}
