package dev.carillon.server.access;

import dev.carillon.SharedRecords;
import dev.carillon.api.error.InvalidArgumentException;
import dev.carillon.api.error.OverloadedException;
import java.security.SecureRandom;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.UnaryOperator;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The access tokens of all servers on a store: one record each, changed by compare-and-set. Servers
 * look again every second. Thread-safe.
 *
 * <p>Crash table: the process dies before the record is written: there is no token, or it is as it
 * was. It dies after that and before its caller has the secret: a token that nobody has; it stands
 * in the list and is revoked there. An unknown outcome of a revocation: revoking again is safe.
 */
public final class Tokens {
  /** The area of the records. */
  public static final String AREA = "access";

  /** How many tokens may live at once. */
  public static final int MAX_LIVING = 1_000;

  /** How long a token that has ended stays in the list. */
  public static final Duration KEPT = Duration.ofDays(30);

  private static final Pattern NAME = Pattern.compile("[A-Za-z0-9][A-Za-z0-9._@-]{0,63}");
  private static final int MAX_TRIES = 20;

  private final SharedRecords records;
  private final SecureRandom random = new SecureRandom();

  /**
   * The tokens of a store.
   *
   * @param records its records of {@link #AREA}
   */
  public Tokens(SharedRecords records) {
    this.records = records;
  }

  /**
   * What a new token is to be.
   *
   * @param name what people call it: letters, digits, dots, hyphens, underscores, at signs
   * @param role what it may
   * @param namespaces where
   * @param queues whose jobs it reaches
   * @param expires when it ends; null for never
   */
  public record Wanted(
      String name, Role role, Scope namespaces, Scope queues, @Nullable Instant expires) {
    /**
     * Refuses what makes no sense.
     *
     * @throws InvalidArgumentException if the name has other characters or the role is none
     */
    public Wanted {
      if (!NAME.matcher(name).matches()) {
        throw InvalidArgumentException.of(
            "name", name, "1 to 64 letters, digits and any of . _ @ -, a letter or digit first");
      }
      if (role == Role.ANYONE) {
        throw InvalidArgumentException.of("role", role, Role.EXPECTED);
      }
    }
  }

  /**
   * A token and its secret, which is shown this once.
   *
   * @param token what is kept
   * @param text what its owner gets
   */
  public record Issued(Token token, TokenText text) {}

  /**
   * Makes a token.
   *
   * @param wanted what it is to be
   * @param by who asks
   * @param now the time
   * @return it, with its secret
   * @throws InvalidArgumentException if its end is over
   * @throws OverloadedException if there are {@link #MAX_LIVING} already
   */
  public Issued create(Wanted wanted, String by, Instant now) {
    Instant expires = wanted.expires();
    if (expires != null && !expires.isAfter(now)) {
      throw InvalidArgumentException.of("expires", expires, "a time to come");
    }
    if (list().stream().filter(token -> token.end() == null).count() >= MAX_LIVING) {
      throw InvalidArgumentException.of(
          "tokens", MAX_LIVING, "fewer living ones; revoke those that nobody uses");
    }
    TokenText text = TokenText.random(random);
    Token token =
        new Token(
            text.id(),
            wanted.name(),
            wanted.role(),
            wanted.namespaces(),
            wanted.queues(),
            now,
            by,
            expires,
            List.of(new Token.Secret(text.hash(), null)),
            null);
    if (!records.put(text.id(), null, TokenFormat.write(token))) {
      throw new IllegalStateException("token " + text.id() + ": drawn twice");
    }
    return new Issued(token, text);
  }

  /**
   * All tokens, those that ended in the last {@link #KEPT} included.
   *
   * @return the tokens, by their ids
   */
  public List<Token> list() {
    List<Token> all = new ArrayList<>();
    for (SharedRecords.Entry entry : records.list()) {
      TokenFormat.read(entry.key(), entry.value()).ifPresent(all::add);
    }
    return all;
  }

  /**
   * Ends a token. It is refused by all servers within five seconds from the return of this.
   *
   * @param id its id
   * @param by who asks
   * @param now the time
   * @return it as it is then; empty if there is none
   */
  public Optional<Token> revoke(String id, String by, Instant now) {
    return change(id, token -> token.end() != null ? token : token.ended(new Token.End(now, by)));
  }

  /**
   * Gives a token another secret. The one that it had counts on until a time, one from an earlier
   * rotation no more.
   *
   * @param id its id
   * @param oldUntil how long the present secret counts
   * @param now the time
   * @return it with the new secret; empty if there is none that lives
   */
  public Optional<Issued> rotate(String id, Instant oldUntil, Instant now) {
    TokenText text = TokenText.random(random, id);
    Token.Secret fresh = new Token.Secret(text.hash(), null);
    return change(
            id,
            token -> {
              if (!token.livesAt(now)) {
                return token;
              }
              List<Token.Secret> secrets = new ArrayList<>();
              secrets.add(fresh);
              if (oldUntil.isAfter(now)) {
                secrets.add(new Token.Secret(token.secrets().getFirst().hash(), oldUntil));
              }
              return token.secrets(secrets);
            })
        .filter(token -> token.secrets().contains(fresh))
        .map(token -> new Issued(token, text));
  }

  private Optional<Token> change(String id, UnaryOperator<Token> change) {
    for (int i = 0; i < MAX_TRIES; i++) {
      Optional<SharedRecords.Entry> found = records.get(id);
      Optional<Token> token = found.flatMap(entry -> TokenFormat.read(id, entry.value()));
      if (found.isEmpty() || token.isEmpty()) {
        return Optional.empty();
      }
      Token changed = change.apply(token.get());
      if (changed.equals(token.get())
          || records.put(id, found.get().version(), TokenFormat.write(changed))) {
        return Optional.of(changed);
      }
    }
    throw new OverloadedException("token " + id + ": changed by others all the time");
  }

  /**
   * Writes down which tokens have come to their end, so that no clock revives them, and forgets
   * those that ended long ago. Any server may do so, several at once too.
   *
   * @param now the time
   */
  void sweep(List<Token> tokens, Instant now) {
    for (Token token : tokens) {
      Token.End end = token.end();
      Instant expires = token.expires();
      if (end == null && expires != null && !token.livesAt(now)) {
        var unused =
            change(
                token.id(),
                each -> each.end() != null ? each : each.ended(new Token.End(expires, "")));
      } else if (end != null && end.at().plus(KEPT).isBefore(now)) {
        records.get(token.id()).ifPresent(records::delete);
      }
    }
  }
}
