package dev.carillon.server.login;

import dev.carillon.SharedRecords;
import dev.carillon.server.access.Access;
import dev.carillon.server.access.Arrival;
import dev.carillon.server.access.Caller;
import dev.carillon.server.access.Denied;
import dev.carillon.server.access.Role;
import dev.carillon.server.http.Answer;
import dev.carillon.server.http.Call;
import dev.carillon.server.http.Route;
import dev.carillon.server.json.InvalidBody;
import dev.carillon.server.json.Shape;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Sessions of people who type a token into the pages. The token goes into a sealed cookie that no
 * script reads and no page of another site sends ({@code HttpOnly}, {@code SameSite=Strict}); each
 * request is judged by the token in it, so a token that is revoked ends its sessions too. A change
 * must bring a header that only a page of this server can send.
 *
 * <p>Nothing is kept on the server beside the key of the seals. Thread-safe.
 */
public final class TokenSessions implements Access {
  /** What a page of this server sends with a change: a page of another site cannot. */
  public static final String HEADER = "carillon-page";

  static final String COOKIE = "carillon-token";

  private static final String PATH = "/v1/session";
  private static final String PURPOSE = "token";
  private static final Duration LONGEST = Duration.ofHours(12);
  private static final int MAX_TOKEN_CHARS = 200;

  private final Access access;
  private final Seal seal;
  private final boolean provider;
  private final InstantSource clock;

  /**
   * Over an access that knows tokens.
   *
   * @param access who may ask; closed with this
   * @param records the records of the area that {@link LoginRoutes#area} names
   * @param login the sign-in of people, if there is one
   */
  public TokenSessions(Access access, SharedRecords records, LoginRoutes login) {
    this(access, records, login, InstantSource.system());
  }

  TokenSessions(Access access, SharedRecords records, LoginRoutes login, InstantSource clock) {
    this.access = access;
    this.seal = new Seal(records);
    this.provider = login.isThere();
    this.clock = clock;
  }

  // ---- who asks

  @Override
  public Caller identify(Arrival arrival) {
    String cookie = Sessions.cookie(arrival.header("cookie"), COOKIE);
    if (cookie == null || arrival.header("authorization") != null) {
      return access.identify(arrival);
    }
    Optional<String> token = seal.open(PURPOSE, cookie).flatMap(this::living);
    if (token.isEmpty()) {
      return access.identify(arrival); // it may bring another proof
    }
    if (!arrival.reads()) {
      requirePage(arrival);
    }
    return access.identify(bearing(arrival, token.get()));
  }

  private static void requirePage(Arrival arrival) {
    if (arrival.header(HEADER) == null) {
      throw Denied.forbidden(
          "Carillon-Page: missing (expected: 1, which the server's pages send with changes)");
    }
  }

  private static Arrival bearing(Arrival arrival, String token) {
    Map<String, String> headers = new HashMap<>(arrival.headers());
    headers.put("authorization", "Bearer " + token);
    return new Arrival(
        arrival.address(),
        arrival.encrypted(),
        arrival.reads(),
        arrival.host(),
        arrival.subject(),
        Map.copyOf(headers));
  }

  /** The token of a session that is not over. */
  private Optional<String> living(String text) {
    String[] lines = text.split("\n", -1);
    boolean lives =
        lines.length == 2 && clock.millis() < Long.parseLong(lines[0]); // sealed: it is a number
    return lives ? Optional.of(lines[1]) : Optional.empty();
  }

  @Override
  public Caller anyone(Arrival arrival) {
    return access.anyone(arrival);
  }

  @Override
  public boolean authenticates() {
    return access.authenticates();
  }

  @Override
  public void close() {
    access.close();
  }

  // ---- sessions

  /** The routes. */
  public List<Route> routes() {
    return List.of(
        Route.get("getSession", PATH, Role.ANYONE, this::get),
        Route.post("beginSession", PATH, Role.ANYONE, this::begin),
        Route.delete("endSession", PATH, Role.ANYONE, this::end));
  }

  private Answer get(Call call) {
    return Answer.json(out -> out.put("tokens", access.authenticates()).put("provider", provider));
  }

  private Answer begin(Call call) {
    if (!access.authenticates()) {
      throw Call.notFound("session: no tokens are asked for here");
    }
    String token = call.read(TokenBody.SHAPE).token();
    requirePage(call.arrival());
    Caller caller = access.identify(bearing(call.arrival(), token));
    Instant until = clock.instant().plus(LONGEST);
    String sealed = seal.close(PURPOSE, until.toEpochMilli() + "\n" + token);
    return Answer.json(out -> out.put("caller", caller.name()).put("until", until))
        .header("Set-Cookie", cookie(call.arrival(), sealed, LONGEST));
  }

  private Answer end(Call call) {
    return Answer.empty(204).header("Set-Cookie", cookie(call.arrival(), "", Duration.ZERO));
  }

  private static String cookie(Arrival arrival, String value, Duration age) {
    boolean secure = arrival.encrypted() || "https".equals(arrival.header("x-forwarded-proto"));
    return "%s=%s; Path=/; Max-Age=%d; HttpOnly; SameSite=Strict%s"
        .formatted(COOKIE, value, age.toSeconds(), secure ? "; Secure" : "");
  }

  /** A token that was typed. */
  static final class TokenBody {
    static final Shape<TokenBody> SHAPE =
        Shape.of(TokenBody::new).text("token", (t, v) -> t.token = v);

    private @Nullable String token;

    String token() {
      if (token == null || token.isEmpty() || token.length() > MAX_TOKEN_CHARS) {
        throw new InvalidBody("token: missing or too long (expected: crl_ID_SECRET)");
      }
      return token;
    }
  }
}
