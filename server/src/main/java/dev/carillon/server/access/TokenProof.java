package dev.carillon.server.access;

import dev.carillon.api.error.StoreUnavailableException;
import java.security.MessageDigest;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Lets in by access tokens ({@code Authorization: Bearer crl_ID_SECRET}). It holds what the records
 * said at its last look, at most a second ago. A look that is older than four seconds lets nobody
 * in: a node that cannot read the store does not know what was revoked. So a token that was revoked
 * is refused everywhere within five seconds.
 *
 * <p>Texts and work are the same for a token that is unknown, ended, revoked or wrong.
 */
public final class TokenProof implements Proof {
  private static final String SCHEME = "bearer ";
  private static final long LOOK_MILLIS = 1_000;
  private static final long PAUSE_NANOS = Duration.ofMillis(250).toNanos();
  private static final long USABLE_NANOS = Duration.ofSeconds(4).toNanos();
  private static final byte[] NO_HASH = new byte[32];

  private final Tokens tokens;
  private final TokenClock clock;
  private final LongSupplier nanos;
  private final ScheduledExecutorService looks;
  private final ReentrantLock looking = new ReentrantLock();
  private volatile @Nullable Seen seen;

  /** What a look at the records showed. */
  private record Seen(Map<String, Token> byId, long atNanos) {}

  /**
   * By the tokens of a store.
   *
   * @param tokens the tokens
   */
  public TokenProof(Tokens tokens) {
    this(tokens, InstantSource.system(), System::nanoTime);
  }

  /** By given clocks. */
  TokenProof(Tokens tokens, InstantSource wall, LongSupplier nanos) {
    this.tokens = tokens;
    this.nanos = nanos;
    this.clock = new TokenClock(wall, nanos);
    this.looks =
        Executors.newSingleThreadScheduledExecutor(
            Thread.ofPlatform().daemon().name("carillon-tokens").factory());
    var unused =
        looks.scheduleWithFixedDelay(
            this::lookAndSweep, LOOK_MILLIS, LOOK_MILLIS, TimeUnit.MILLISECONDS);
  }

  private void lookAndSweep() {
    try {
      List<Token> all = look();
      tokens.sweep(all, clock.settled());
    } catch (RuntimeException e) {
      // The store is away, or the node closes: what was seen grows old, and lets nobody in then.
    }
  }

  private List<Token> look() {
    looking.lock();
    try {
      return lookNow();
    } finally {
      looking.unlock();
    }
  }

  private List<Token> lookNow() {
    long at = nanos.getAsLong();
    List<Token> all = tokens.list();
    Map<String, Token> byId = new HashMap<>();
    all.forEach(token -> byId.put(token.id(), token));
    seen = new Seen(Map.copyOf(byId), at);
    return all;
  }

  @Override
  public Optional<Caller> caller(Arrival arrival) {
    String header = arrival.header("authorization");
    if (header == null) {
      return Optional.empty();
    }
    Optional<TokenText> text =
        header.regionMatches(true, 0, SCHEME, 0, SCHEME.length())
            ? TokenText.parse(header.substring(SCHEME.length()).strip())
            : Optional.empty();
    if (text.isEmpty()) {
      throw refused();
    }
    return Optional.of(new TokenCaller(proven(text.get())));
  }

  private static Denied refused() {
    return Denied.unknown("Authorization: no token that is valid (expected: Bearer crl_ID_SECRET)");
  }

  private Token proven(TokenText text) {
    Token token = find(text.id());
    Instant now = clock.latest();
    byte[] hash = text.hash();
    boolean proven = false;
    for (int i = 0; i < Token.MAX_SECRETS; i++) {
      Token.Secret secret =
          token != null && i < token.secrets().size() ? token.secrets().get(i) : null;
      boolean same = MessageDigest.isEqual(secret != null ? secret.hash() : NO_HASH, hash);
      proven |= same && secret != null && counts(secret, now);
    }
    if (token == null || !proven || !token.livesAt(now)) {
      throw refused();
    }
    return token;
  }

  private static boolean counts(Token.Secret secret, Instant now) {
    return secret.until() == null || now.isBefore(secret.until());
  }

  /**
   * A token as it was at a look that is young enough. One that is not known may have been made just
   * now: a look of its own decides, a few times a second for all who ask.
   */
  private @Nullable Token find(String id) {
    long asked = nanos.getAsLong();
    Seen last = seen;
    if (last == null || asked - last.atNanos() > USABLE_NANOS) {
      last = lookSince(asked);
    }
    Token token = last.byId().get(id);
    if (token != null || last.atNanos() - asked >= 0) {
      return token;
    }
    LockSupport.parkNanos(this, PAUSE_NANOS - (asked - last.atNanos()));
    return lookSince(asked).byId().get(id);
  }

  /** What a look showed that began then or later. One at a time looks, for all who wait. */
  private Seen lookSince(long since) {
    looking.lock();
    try {
      Seen last = seen;
      if (last == null || last.atNanos() - since < 0) {
        var unused = lookNow();
        last = seen;
      }
      if (last == null) {
        throw new StoreUnavailableException("tokens: not read yet; nothing was done");
      }
      return last;
    } finally {
      looking.unlock();
    }
  }

  @Override
  public void close() {
    looks.shutdownNow();
  }
}
