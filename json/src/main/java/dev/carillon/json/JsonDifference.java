package dev.carillon.json;

import dev.carillon.api.error.CodecException;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.BiPredicate;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Where two JSON values differ, as the path of a field: {@code lines[0].price}. Values are maps,
 * lists and scalars. Names fields and never says what is in them.
 */
final class JsonDifference {

  private JsonDifference() {}

  /** The first place where two values differ, or null. */
  static @Nullable String first(@Nullable Object one, @Nullable Object other) {
    String path = find("", one, other, (a, b) -> !Objects.equals(a, b));
    return path != null ? path : find("", other, one, (a, b) -> !Objects.equals(a, b));
  }

  /**
   * Refuses stored JSON that lacks a field, has null where its type cannot, or has a field more.
   *
   * @param parse reads JSON as maps, lists and scalars
   * @param stored what was stored
   * @param again what was read from it, written again: with exactly the fields that its type has
   */
  static void refuseOtherFields(Function<byte[], Object> parse, byte[] stored, byte[] again) {
    Object known = parse.apply(again);
    Object found = parse.apply(stored);
    String missing = find("", known, found, (a, b) -> a != null && b == null);
    if (missing != null) {
      throw new CodecException(
          "field " + missing + ": missing or null (expected: every field of its type)");
    }
    String unknown = find("", found, known, (a, b) -> false);
    if (unknown != null) {
      throw new CodecException("field " + unknown + ": unknown (expected: fields of its type)");
    }
  }

  /** The first field of {@code one} that {@code other} lacks or that differs there, or null. */
  private static @Nullable String find(
      String path,
      @Nullable Object one,
      @Nullable Object other,
      BiPredicate<@Nullable Object, @Nullable Object> differ) {
    if (one instanceof Map<?, ?> fields && other instanceof Map<?, ?> others) {
      for (Map.Entry<?, ?> field : fields.entrySet()) {
        String name = (path.isEmpty() ? "" : path + ".") + field.getKey();
        if (!others.containsKey(field.getKey())) {
          return name;
        }
        String inside = find(name, field.getValue(), others.get(field.getKey()), differ);
        if (inside != null) {
          return inside;
        }
      }
      return null;
    }
    if (one instanceof List<?> items && other instanceof List<?> others) {
      for (int i = 0; i < Math.min(items.size(), others.size()); i++) {
        String inside = find(path + "[" + i + "]", items.get(i), others.get(i), differ);
        if (inside != null) {
          return inside;
        }
      }
      return items.size() != others.size() && differ.test(items, others) ? path : null;
    }
    return differ.test(one, other) ? path : null;
  }

  /**
   * The field whose value stands at a place in JSON, or null. A quote before a colon always ends a
   * field's name: inside of text it has a backslash before it.
   */
  static @Nullable String fieldAt(String json, int place) {
    int end = json.lastIndexOf("\":", place);
    while (end > 0 && json.charAt(end - 1) == '\\') {
      end = json.lastIndexOf("\":", end - 1);
    }
    int start = end < 1 ? -1 : json.lastIndexOf('"', end - 1);
    return start < 0 ? null : json.substring(start + 1, end);
  }
}
