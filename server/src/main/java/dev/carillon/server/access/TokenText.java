package dev.carillon.server.access;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.security.SecureRandom;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A token as its owner has it: {@code crl_ID_SECRET}, where the id says which and 256 random bits
 * prove it. Scanners for secrets know it by its beginning. Never kept, never logged.
 *
 * @param id which token
 * @param secret the proof
 */
public record TokenText(String id, String secret) {
  /** What all begin with. */
  public static final String PREFIX = "crl_";

  private static final int ID_CHARS = 12;
  private static final int SECRET_CHARS = 52;
  private static final char[] DIGITS = "abcdefghijklmnopqrstuvwxyz234567".toCharArray();
  private static final int BITS_A_DIGIT = 5;
  private static final Pattern FORM =
      Pattern.compile("crl_([a-z2-7]{" + ID_CHARS + "})_([a-z2-7]{" + SECRET_CHARS + "})");

  /** A new token with an id of its own. */
  static TokenText random(SecureRandom random) {
    return random(random, digits(random, ID_CHARS));
  }

  /** A new secret for a token. */
  static TokenText random(SecureRandom random, String id) {
    return new TokenText(id, digits(random, SECRET_CHARS));
  }

  private static String digits(SecureRandom random, int count) {
    byte[] bytes = new byte[count];
    random.nextBytes(bytes);
    StringBuilder text = new StringBuilder(count);
    for (byte each : bytes) {
      text.append(DIGITS[each & ((1 << BITS_A_DIGIT) - 1)]);
    }
    return text.toString();
  }

  /**
   * Reads a token.
   *
   * @param text what came
   * @return the token; empty if it is none by its form
   */
  public static Optional<TokenText> parse(String text) {
    Matcher matcher = FORM.matcher(text);
    return matcher.matches()
        ? Optional.of(new TokenText(matcher.group(1), matcher.group(2)))
        : Optional.empty();
  }

  /** What is kept of the secret. */
  byte[] hash() {
    try {
      return MessageDigest.getInstance("SHA-256")
          .digest(secret.getBytes(StandardCharsets.US_ASCII));
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("SHA-256: every JDK has it", e);
    }
  }

  /** The whole, as it is handed to its owner. */
  public String text() {
    return PREFIX + id + "_" + secret;
  }

  /** Without the secret. */
  @Override
  public String toString() {
    return PREFIX + id + "_…";
  }
}
