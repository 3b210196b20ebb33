package dev.carillon.server.access;

import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What is kept of an access token: never its secrets, only their hashes. Immutable.
 *
 * @param id names it, in the token itself and in lists; no secret
 * @param name what people call it
 * @param role what it may, in its namespaces
 * @param namespaces where
 * @param queues whose jobs it reaches there
 * @param created when it was made
 * @param createdBy who made it
 * @param expires when it ends; null for never
 * @param secrets what proves it, the newest first: one, or two while it is rotated
 * @param end how it ended; null while it lives
 */
public record Token(
    String id,
    String name,
    Role role,
    Scope namespaces,
    Scope queues,
    Instant created,
    String createdBy,
    @Nullable Instant expires,
    List<Secret> secrets,
    @Nullable End end) {
  /** How many secrets prove one token at once. */
  public static final int MAX_SECRETS = 2;

  /**
   * A secret of a token, as its hash.
   *
   * @param hash SHA-256 of the secret
   * @param until when it stops to count; null for the token's own end
   */
  @SuppressWarnings("ArrayRecordComponent") // compared in constant time, never by equals
  public record Secret(byte[] hash, @Nullable Instant until) {}

  /**
   * The end of a token.
   *
   * @param at when
   * @param by who revoked it; empty where its time was over
   */
  public record End(Instant at, String by) {}

  /** Copies the secrets. */
  public Token {
    secrets = List.copyOf(secrets);
  }

  /** What histories call whoever uses it. */
  public String caller() {
    return name + "/" + id;
  }

  /** The same, ended. */
  public Token ended(End how) {
    return new Token(
        id, name, role, namespaces, queues, created, createdBy, expires, List.of(), how);
  }

  /** The same, proven by other secrets. */
  public Token secrets(List<Secret> others) {
    return new Token(id, name, role, namespaces, queues, created, createdBy, expires, others, end);
  }

  /** Whether it counts at a time. */
  public boolean livesAt(Instant now) {
    return end == null && (expires == null || now.isBefore(expires));
  }
}
