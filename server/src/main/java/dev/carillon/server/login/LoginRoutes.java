package dev.carillon.server.login;

import dev.carillon.SharedRecords;
import dev.carillon.server.access.Grant;
import dev.carillon.server.access.Proof;
import dev.carillon.server.access.Role;
import dev.carillon.server.http.Answer;
import dev.carillon.server.http.Call;
import dev.carillon.server.http.Problem;
import dev.carillon.server.http.Problem.Kind;
import dev.carillon.server.http.Route;
import dev.carillon.server.login.Provider.SignInFailed;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.SecureRandom;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Base64;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Sign-in and sign-out. Without a provider the routes are there and answer 404. Stateless beside
 * the key of the seals, so that any server of a store takes any step. Thread-safe.
 */
public final class LoginRoutes {
  private static final Logger LOG = LoggerFactory.getLogger(LoginRoutes.class);
  private static final String PENDING_COOKIE = "carillon-login";
  private static final String PENDING = "login";
  private static final Duration PATIENCE = Duration.ofMinutes(10);
  private static final int SECRET_BYTES = 32;

  private final @Nullable Setup setup;
  private final InstantSource clock = InstantSource.system();
  private final SecureRandom random = new SecureRandom();

  private record Setup(OidcOptions options, Seal seal, Provider provider) {}

  private LoginRoutes(@Nullable Setup setup) {
    this.setup = setup;
  }

  /** Without a provider. */
  public static LoginRoutes none() {
    return new LoginRoutes(null);
  }

  /**
   * With a provider.
   *
   * @param options which one
   * @param records the records of the area that {@link #area} names
   * @return the routes
   */
  public static LoginRoutes with(OidcOptions options, SharedRecords records) {
    return new LoginRoutes(new Setup(options, new Seal(records), new Provider(options)));
  }

  /** Whether there is a provider. */
  boolean isThere() {
    return setup != null;
  }

  /** The area of the records that the servers share. */
  public static String area() {
    return Seal.AREA;
  }

  /** What lets in the people who are signed in. */
  public Proof proof() {
    Setup here = setup();
    return new Sessions(here.seal(), here.options().origin(), clock);
  }

  /** The routes. */
  public List<Route> routes() {
    return List.of(
        Route.get("beginLogin", "/v1/login", Role.ANYONE, this::begin).query("to"),
        Route.get("endLogin", OidcOptions.CALLBACK_PATH, Role.ANYONE, this::end)
            .query(
                "code", "state", "error", "error_description", "error_uri", "iss", "session_state"),
        Route.post("logout", "/v1/logout", Role.ANYONE, this::logout));
  }

  private Setup setup() {
    Setup here = setup;
    if (here == null) {
      throw Call.notFound("login: no provider (expected: one that serve --oidc names)");
    }
    return here;
  }

  /** What the provider's answer has to fit. */
  private record Pending(String state, String nonce, String verifier, String to, Instant until) {
    String text() {
      return String.join("\n", state, nonce, verifier, to, Long.toString(until.toEpochMilli()));
    }

    static Pending parse(String text) {
      String[] lines = text.split("\n", -1);
      return new Pending(
          lines[0], lines[1], lines[2], lines[3], Instant.ofEpochMilli(Long.parseLong(lines[4])));
    }
  }

  private String secret() {
    byte[] bytes = new byte[SECRET_BYTES];
    random.nextBytes(bytes);
    return Base64.getUrlEncoder().withoutPadding().encodeToString(bytes);
  }

  private Answer begin(Call call) {
    Setup here = setup();
    Pending pending =
        new Pending(
            secret(),
            secret(),
            secret(),
            local(call.parameter("to")),
            clock.instant().plus(PATIENCE));
    try {
      String provider =
          here.provider().begin(pending.state(), pending.nonce(), pending.verifier()).toString();
      return redirect(provider)
          .header(
              "Set-Cookie",
              cookie(here, PENDING_COOKIE, here.seal().close(PENDING, pending.text()), PATIENCE));
    } catch (SignInFailed e) {
      throw failed(e);
    }
  }

  /** A path of this server: nobody is sent elsewhere from here. */
  private static String local(@Nullable String to) {
    if (to == null) {
      return "/";
    }
    boolean plain = to.chars().allMatch(c -> c > ' ' && c < 0x7f && c != '\\');
    if (!to.startsWith("/") || to.startsWith("//") || !plain) {
      throw Problem.of(Kind.INVALID, "to: elsewhere (expected: a path of this server)").refusal();
    }
    return to;
  }

  private Answer end(Call call) {
    Setup here = setup();
    String cookie = Sessions.cookie(call.header("cookie"), PENDING_COOKIE);
    Pending pending =
        Optional.ofNullable(cookie)
            .flatMap(value -> here.seal().open(PENDING, value))
            .map(Pending::parse)
            .filter(each -> clock.instant().isBefore(each.until()))
            .orElseThrow(() -> refused("login: not begun here, or too long ago"));
    if (!same(pending.state(), call.required("state"))) {
      throw refused("state: another one");
    }
    String issuer = call.parameter("iss");
    if (issuer != null && !issuer.equals(here.options().issuer().toString())) {
      throw refused("iss: another provider");
    }
    if (call.parameter("error") != null || call.parameter("code") == null) {
      throw refused("the provider did not sign anybody in");
    }
    try {
      Provider.Person person =
          here.provider().person(call.required("code"), pending.nonce(), pending.verifier());
      return signedIn(here, person, pending.to());
    } catch (SignInFailed e) {
      throw failed(e);
    }
  }

  private Answer signedIn(Setup here, Provider.Person person, String to) {
    OidcOptions options = here.options();
    List<Grant> grants =
        person.groups().stream()
            .distinct()
            .map(options.groups()::get)
            .filter(Objects::nonNull)
            .distinct()
            .toList();
    if (grants.isEmpty()) {
      throw Problem.of(Kind.FORBIDDEN, "groups: none of yours has a role here").refusal();
    }
    Session session = new Session(person.name(), grants, clock.instant().plus(options.session()));
    return redirect(to)
        .header(
            "Set-Cookie",
            cookie(
                here,
                Sessions.COOKIE,
                here.seal().close(Sessions.PURPOSE, session.text()),
                options.session()));
  }

  private Answer logout(Call call) {
    Setup here = setup();
    return Answer.empty(204).header("Set-Cookie", cookie(here, Sessions.COOKIE, "", Duration.ZERO));
  }

  private static Answer redirect(String to) {
    return Answer.empty(302).header("Location", to);
  }

  private static String cookie(Setup here, String name, String value, Duration age) {
    return "%s=%s; Path=/; Max-Age=%d; HttpOnly; SameSite=Lax%s"
        .formatted(name, value, age.toSeconds(), here.options().isSecure() ? "; Secure" : "");
  }

  private static boolean same(String a, String b) {
    return MessageDigest.isEqual(
        a.getBytes(StandardCharsets.UTF_8), b.getBytes(StandardCharsets.UTF_8));
  }

  private static Problem.Refusal refused(String detail) {
    return Problem.of(Kind.FORBIDDEN, detail + " (expected: sign in at /v1/login)").refusal();
  }

  /** What the provider said is for the log. */
  private static Problem.Refusal failed(SignInFailed e) {
    LOG.warn("sign-in failed: {}", e.getMessage(), e.getCause());
    return refused(String.valueOf(e.getMessage()));
  }
}
