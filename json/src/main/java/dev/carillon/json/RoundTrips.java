package dev.carillon.json;

import dev.carillon.api.PayloadCodec;
import dev.carillon.api.error.CodecException;
import java.lang.reflect.Type;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * Sees that a codec keeps values. Two rules, on the thread that encodes:
 *
 * <ol>
 *   <li>An object with state must not become <code>{}</code>.
 *   <li>The first value of a class under a declared type is decoded and encoded again, and its
 *       bytes must be the same. The elements of a set may stand in another order.
 * </ol>
 *
 * <p>Every later value costs a look-up. Thread-safe; as large as the number of payload classes.
 */
public final class RoundTrips {
  /** Has checked no type yet. */
  public RoundTrips() {}

  private final Map<Type, Set<Class<?>>> kept = new ConcurrentHashMap<>();

  /**
   * Applies both rules.
   *
   * @param data what the codec made of the value
   * @throws CodecException if the value is not kept; names the type and the field
   */
  public void check(PayloadCodec codec, Object value, Type type, byte[] data) {
    refuseEmptied(codec, value, type, data);
    Set<Class<?>> classes = kept.get(type);
    if (classes == null || !classes.contains(value.getClass())) {
      compare(codec, value, type, data);
      kept.computeIfAbsent(type, t -> ConcurrentHashMap.newKeySet()).add(value.getClass());
    }
  }

  /** Applies the first rule. */
  public static void refuseEmptied(PayloadCodec codec, Object value, Type type, byte[] data) {
    boolean empty = data.length == 2 && data[0] == '{' && data[1] == '}';
    if (empty && HiddenState.isIn(value) && !isReadAs(codec, value, type, data)) {
      throw new CodecException(of(type) + HiddenState.refusal(value.getClass()));
    }
  }

  private static boolean isReadAs(PayloadCodec codec, Object value, Type type, byte[] data) {
    try {
      return value.equals(codec.decode(data, type));
    } catch (CodecException e) {
      return false;
    }
  }

  private static void compare(PayloadCodec codec, Object value, Type type, byte[] data) {
    Object back = decoded(codec, type, data);
    byte[] again = codec.encode(back, type);
    if (!Arrays.equals(data, again) && !value.equals(back) && !isReordered(data, again)) {
      throw new CodecException(
          of(type)
              + difference(codec, data, again)
              + ": changed when read back (expected: a type whose values are read as they were"
              + " written)");
    }
  }

  private static @Nullable Object decoded(PayloadCodec codec, Type type, byte[] data) {
    try {
      return codec.decode(data, type);
    } catch (CodecException e) {
      throw new CodecException(
          of(type) + "written, but not readable (expected: a type that is both); " + e.getMessage(),
          e);
    }
  }

  private static String of(Type type) {
    return "payload of type " + type.getTypeName() + ": ";
  }

  /** Whether the same bytes stand in another order, as those of a set do. */
  private static boolean isReordered(byte[] one, byte[] other) {
    byte[] first = one.clone();
    byte[] second = other.clone();
    Arrays.sort(first);
    Arrays.sort(second);
    return Arrays.equals(first, second);
  }

  private static String difference(PayloadCodec codec, byte[] one, byte[] other) {
    try {
      String path =
          JsonDifference.first(codec.decode(one, Object.class), codec.decode(other, Object.class));
      if (path != null && !path.isEmpty()) {
        return "field " + path;
      }
    } catch (RuntimeException e) {
      // A codec that knows no fields; the place in its bytes is all there is to say.
    }
    int place = Arrays.mismatch(one, other);
    String field = JsonDifference.fieldAt(new String(one, StandardCharsets.ISO_8859_1), place);
    return field != null ? "field " + field : "byte " + place;
  }
}
