package dev.carillon.store.sql;

import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/** Keys of records as the bytes of their UTF-8: any text is a key, and the bytes have its order. */
public final class RecordKeys {

  private RecordKeys() {}

  /** Refuses unpaired surrogates, which would all become the same question mark. */
  public static byte[] utf8(String text) {
    if (!hasSurrogate(text)) {
      return text.getBytes(StandardCharsets.UTF_8); // much faster than an encoder
    }
    try {
      ByteBuffer encoded = StandardCharsets.UTF_8.newEncoder().encode(CharBuffer.wrap(text));
      byte[] bytes = new byte[encoded.remaining()];
      encoded.get(bytes);
      return bytes;
    } catch (CharacterCodingException e) {
      throw new IllegalArgumentException("key: " + text + " (expected: no unpaired surrogates)", e);
    }
  }

  private static boolean hasSurrogate(String text) {
    for (int i = 0; i < text.length(); i++) {
      if (Character.isSurrogate(text.charAt(i))) {
        return true;
      }
    }
    return false;
  }

  /** The first bytes behind all keys with this prefix: no byte of UTF-8 is as high as 0xff. */
  public static byte[] behind(byte[] prefix) {
    byte[] end = Arrays.copyOf(prefix, prefix.length + 1);
    end[prefix.length] = (byte) 0xff;
    return end;
  }
}
