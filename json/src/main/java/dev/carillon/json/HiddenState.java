package dev.carillon.json;

import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/** Whether an object has state, all of which is lost where a codec writes an empty object. */
final class HiddenState {

  private HiddenState() {}

  /** Whether objects of a class have fields that are meant to be kept. */
  static boolean has(Class<?> type) {
    return anyField(type, field -> true);
  }

  /** Whether an object has such a field with something in it, or one that nobody may look at. */
  static boolean isIn(Object value) {
    return value instanceof Map<?, ?> map
        ? !map.isEmpty()
        : anyField(value.getClass(), field -> isSet(field, value));
  }

  private static boolean anyField(Class<?> type, Predicate<Field> wanted) {
    for (Class<?> link = type; link != null; link = link.getSuperclass()) {
      if (link.isHidden()) {
        return true; // of a lambda
      }
      for (Field field : link.getDeclaredFields()) {
        boolean kept = (field.getModifiers() & (Modifier.STATIC | Modifier.TRANSIENT)) == 0;
        if (kept && wanted.test(field)) {
          return true;
        }
      }
    }
    return false;
  }

  private static boolean isSet(Field field, Object value) {
    try {
      return !field.trySetAccessible() || !isNothing(field.get(value));
    } catch (IllegalAccessException e) {
      return true;
    }
  }

  private static boolean isNothing(@Nullable Object value) {
    return value == null
        || (value instanceof Number number && number.doubleValue() == 0)
        || Objects.equals(value, false)
        || Objects.equals(value, '\0')
        || Objects.equals(value, Optional.empty());
  }

  static String refusal(Class<?> type) {
    return "class "
        + type.getName()
        + ": none of its fields is written (expected: a record, a class with getters, public fields"
        + " or annotations, or one without fields)";
  }
}
