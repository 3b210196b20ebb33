package dev.carillon.server.login;

import dev.carillon.SharedRecords;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.SecureRandom;
import java.util.Arrays;
import java.util.Base64;
import java.util.Optional;
import javax.crypto.Cipher;
import javax.crypto.spec.GCMParameterSpec;
import javax.crypto.spec.SecretKeySpec;
import org.jspecify.annotations.Nullable;

/**
 * Seals what browsers keep for the servers: AES-256-GCM under a key that the servers of a store
 * share. Nobody else reads or makes it; a seal of one purpose does not open for another.
 * Thread-safe.
 */
final class Seal {
  /** The area of the record with the key. Deleting the record ends all sessions. */
  static final String AREA = "sessions";

  private static final String KEY = "key";
  private static final int KEY_BYTES = 32;
  private static final int NONCE_BYTES = 12;
  private static final int TAG_BITS = 128;
  private static final int MAX_CHARS = 4_096;

  private final SharedRecords records;
  private final SecureRandom random = new SecureRandom();
  private volatile @Nullable SecretKeySpec key;

  Seal(SharedRecords records) {
    this.records = records;
  }

  String close(String purpose, String text) {
    byte[] nonce = new byte[NONCE_BYTES];
    random.nextBytes(nonce);
    try {
      Cipher cipher = cipher(Cipher.ENCRYPT_MODE, purpose, nonce);
      byte[] closed = cipher.doFinal(text.getBytes(StandardCharsets.UTF_8));
      byte[] all = Arrays.copyOf(nonce, nonce.length + closed.length);
      System.arraycopy(closed, 0, all, nonce.length, closed.length);
      return Base64.getUrlEncoder().withoutPadding().encodeToString(all);
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException("AES-GCM: every JDK has it", e);
    }
  }

  /** What was sealed; empty if it was not sealed here for this purpose. */
  Optional<String> open(String purpose, String text) {
    if (text.length() > MAX_CHARS) {
      return Optional.empty();
    }
    try {
      byte[] all = Base64.getUrlDecoder().decode(text);
      if (all.length <= NONCE_BYTES) {
        return Optional.empty();
      }
      Cipher cipher = cipher(Cipher.DECRYPT_MODE, purpose, Arrays.copyOf(all, NONCE_BYTES));
      byte[] open = cipher.doFinal(all, NONCE_BYTES, all.length - NONCE_BYTES);
      return Optional.of(new String(open, StandardCharsets.UTF_8));
    } catch (IllegalArgumentException | GeneralSecurityException e) {
      return Optional.empty();
    }
  }

  private Cipher cipher(int mode, String purpose, byte[] nonce) throws GeneralSecurityException {
    Cipher cipher = Cipher.getInstance("AES/GCM/NoPadding");
    cipher.init(mode, key(), new GCMParameterSpec(TAG_BITS, nonce));
    cipher.updateAAD(purpose.getBytes(StandardCharsets.UTF_8));
    return cipher;
  }

  private SecretKeySpec key() {
    SecretKeySpec known = key;
    if (known != null) {
      return known;
    }
    byte[] fresh = new byte[KEY_BYTES];
    random.nextBytes(fresh);
    while (true) {
      Optional<SharedRecords.Entry> found = records.get(KEY);
      if (found.isPresent() || records.put(KEY, null, fresh)) {
        byte[] bytes = found.map(SharedRecords.Entry::value).orElse(fresh);
        SecretKeySpec read = new SecretKeySpec(bytes, "AES");
        key = read;
        return read;
      }
    }
  }
}
