package dev.carillon.server.operate;

import dev.carillon.api.Limits;
import dev.carillon.server.access.Role;
import dev.carillon.server.access.Scope;
import dev.carillon.server.access.Token;
import dev.carillon.server.access.Tokens;
import dev.carillon.server.http.Answer;
import dev.carillon.server.http.Call;
import dev.carillon.server.http.Route;
import dev.carillon.server.jobs.ReasonBody;
import dev.carillon.server.json.InvalidBody;
import dev.carillon.server.json.Shape;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Access tokens: made, listed, rotated, revoked, by admins of all namespaces. */
public final class TokenRoutes {
  private static final String TOKENS = "/v1/tokens";
  private static final String TOKEN = TOKENS + "/{token}";
  private static final Duration STANDARD_OVERLAP = Duration.ofHours(24);
  private static final Duration LONGEST_OVERLAP = Duration.ofDays(90);

  private final Tokens tokens;
  private final InstantSource clock;

  /**
   * The tokens of a store.
   *
   * @param tokens the tokens
   */
  public TokenRoutes(Tokens tokens) {
    this.tokens = tokens;
    this.clock = InstantSource.system();
  }

  /** The routes. */
  public List<Route> routes() {
    return List.of(
        Route.get("listTokens", TOKENS, Role.ADMIN, this::list),
        Route.post("createToken", TOKENS, Role.ADMIN, this::create),
        Route.post("rotateToken", TOKEN + "/rotate", Role.ADMIN, this::rotate),
        Route.post("revokeToken", TOKEN + "/revoke", Role.ADMIN, this::revoke));
  }

  private Answer list(Call call) {
    List<Token> all = tokens.list();
    return Answer.json(out -> out.list("items", all, TokenJson::write));
  }

  private Answer create(Call call) {
    Instant now = clock.instant();
    Tokens.Wanted wanted = call.read(TokenBody.SHAPE).wanted(now);
    return issued(201, tokens.create(wanted, call.caller().name(), now));
  }

  private Answer rotate(Call call) {
    Duration overlap = call.read(OverlapBody.SHAPE).overlap();
    Instant now = clock.instant();
    return issued(
        200,
        tokens
            .rotate(call.variable("token"), now.plus(overlap), now)
            .orElseThrow(TokenRoutes::notFound));
  }

  private Answer revoke(Call call) {
    call.read(ReasonBody.NOTHING);
    Token token =
        tokens
            .revoke(call.variable("token"), call.caller().name(), clock.instant())
            .orElseThrow(TokenRoutes::notFound);
    return Answer.json(out -> TokenJson.write(out, token));
  }

  private static RuntimeException notFound() {
    return Call.notFound("there is no such token, or it has ended");
  }

  private static Answer issued(int status, Tokens.Issued issued) {
    return Answer.json(status, out -> TokenJson.write(out, issued));
  }

  // ---- bodies

  /** A token that is wanted. */
  static final class TokenBody {
    static final Shape<TokenBody> SHAPE =
        Shape.of(TokenBody::new)
            .text("name", (t, v) -> t.name = v)
            .text("role", (t, v) -> t.role = role(v))
            .texts("namespaces", (t, v) -> t.namespaces = scope("namespaces", v))
            .texts("queues", (t, v) -> t.queues = scope("queues", v))
            .time("expiresAt", (t, v) -> t.expiresAt = v)
            .duration("expiresIn", (t, v) -> t.expiresIn = v);

    private @Nullable String name;
    private @Nullable Role role;
    private @Nullable Scope namespaces;
    private Scope queues = Scope.ALL;
    private @Nullable Instant expiresAt;
    private @Nullable Duration expiresIn;

    private static Role role(String text) {
      return Role.ofWord(text)
          .orElseThrow(() -> Shape.invalid("role", Shape.quoted(text), Role.EXPECTED));
    }

    private static Scope scope(String what, List<String> names) {
      try {
        Scope scope = Scope.of(names);
        scope.names().forEach(each -> check(what, each));
        return scope;
      } catch (IllegalArgumentException e) {
        throw new InvalidBody(what + ": " + e.getMessage());
      }
    }

    private static void check(String what, String name) {
      String unused = what.equals("queues") ? Limits.checkQueue(name) : Limits.checkNamespace(name);
    }

    Tokens.Wanted wanted(Instant now) {
      if (name == null || role == null || namespaces == null) {
        throw new InvalidBody("body: incomplete (expected: name, role and namespaces)");
      }
      if (expiresAt != null && expiresIn != null) {
        throw new InvalidBody("body: expiresAt and expiresIn (expected: at most one of them)");
      }
      Instant end = expiresIn != null ? now.plus(expiresIn) : expiresAt;
      return new Tokens.Wanted(name, role, namespaces, queues, end);
    }
  }

  /** How long the former secret counts. */
  static final class OverlapBody {
    static final Shape<OverlapBody> SHAPE =
        Shape.of(OverlapBody::new).duration("overlap", (o, v) -> o.overlap = v);

    private Duration overlap = STANDARD_OVERLAP;

    Duration overlap() {
      if (overlap.isNegative() || overlap.compareTo(LONGEST_OVERLAP) > 0) {
        throw Shape.invalid("overlap", overlap.toString(), "0s to " + LONGEST_OVERLAP);
      }
      return overlap;
    }
  }
}
