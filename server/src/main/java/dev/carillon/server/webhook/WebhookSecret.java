package dev.carillon.server.webhook;

import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.util.Base64;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/**
 * A symmetric secret by Standard Webhooks: {@code whsec_} and base64 of 24 to 64 bytes. Immutable;
 * its text is never shown.
 */
public final class WebhookSecret {
  private static final String PREFIX = "whsec_";
  private static final int LEAST_BYTES = 24;
  private static final int MOST_BYTES = 64;
  private static final String ALGORITHM = "HmacSHA256";

  private final SecretKeySpec key;

  private WebhookSecret(byte[] bytes) {
    this.key = new SecretKeySpec(bytes, ALGORITHM);
  }

  /**
   * Reads one.
   *
   * @param text {@code whsec_} and base64
   * @return the secret
   * @throws IllegalArgumentException if it is none; the message does not show it
   */
  public static WebhookSecret of(String text) {
    if (!text.startsWith(PREFIX)) {
      throw invalid("no " + PREFIX + " before it");
    }
    byte[] bytes;
    try {
      bytes = Base64.getDecoder().decode(text.substring(PREFIX.length()));
    } catch (IllegalArgumentException e) {
      throw invalid("no base64"); // the cause may show it
    }
    if (bytes.length < LEAST_BYTES || bytes.length > MOST_BYTES) {
      throw invalid(bytes.length + " bytes");
    }
    return new WebhookSecret(bytes);
  }

  private static IllegalArgumentException invalid(String what) {
    return new IllegalArgumentException(
        "secret: %s (expected: %s and base64 of %d to %d bytes)"
            .formatted(what, PREFIX, LEAST_BYTES, MOST_BYTES));
  }

  /**
   * The signature of a message.
   *
   * @param id its id
   * @param seconds when it is sent
   * @param body its body
   * @return {@code v1,} and base64
   */
  String sign(String id, long seconds, byte[] body) {
    ByteArrayOutputStream signed = new ByteArrayOutputStream(body.length + 128);
    signed.writeBytes((id + "." + seconds + ".").getBytes(StandardCharsets.UTF_8));
    signed.writeBytes(body);
    try {
      Mac mac = Mac.getInstance(ALGORITHM);
      mac.init(key);
      return "v1," + Base64.getEncoder().encodeToString(mac.doFinal(signed.toByteArray()));
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException(ALGORITHM + " (expected: in every Java)", e);
    }
  }

  @Override
  public String toString() {
    return PREFIX + "…";
  }
}
