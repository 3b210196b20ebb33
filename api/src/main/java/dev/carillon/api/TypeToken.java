package dev.carillon.api;

import dev.carillon.api.error.InvalidArgumentException;
import dev.carillon.api.internal.Check;
import java.lang.invoke.MethodType;
import java.lang.reflect.GenericArrayType;
import java.lang.reflect.ParameterizedType;
import java.lang.reflect.Type;
import java.lang.reflect.TypeVariable;
import java.lang.reflect.WildcardType;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * A Java type with its type arguments, kept at run time: {@code new TypeToken<List<Order>>() {}}.
 *
 * <p>Payloads are decoded to it. For a type without arguments {@link #of(Class)} is enough. Tokens
 * are immutable, and equal when their types are equal, however they were made.
 *
 * @param <T> the type
 */
public abstract class TypeToken<T> {

  private final Type type;

  /**
   * Captures the type argument of an anonymous subclass.
   *
   * @throws InvalidArgumentException if the subclass gives no type argument, or one that contains a
   *     type variable, which has no meaning at run time
   */
  protected TypeToken() {
    this.type = captured(getClass());
  }

  private TypeToken(Type type) {
    this.type = type;
  }

  /**
   * The token of a class. A primitive class stands for its wrapper, {@code void} for {@link Void}.
   *
   * @param type the class
   * @param <T> the type
   * @return its token
   */
  public static <T> TypeToken<T> of(Class<T> type) {
    Check.argument("type", type);
    return new Known<>(MethodType.methodType(type).wrap().returnType());
  }

  /**
   * The type, ready for a {@link PayloadCodec}.
   *
   * @return a class, parameterized type or generic array, free of type variables
   */
  public final Type type() {
    return type;
  }

  @Override
  public final boolean equals(@Nullable Object other) {
    return other instanceof TypeToken<?> that && type.equals(that.type);
  }

  @Override
  public final int hashCode() {
    return type.hashCode();
  }

  @Override
  public final String toString() {
    return type.getTypeName();
  }

  private static Type captured(Class<?> subclass) {
    if (subclass.getSuperclass() == TypeToken.class
        && subclass.getGenericSuperclass() instanceof ParameterizedType parent) {
      Type argument = parent.getActualTypeArguments()[0];
      if (isConcrete(argument)) {
        return argument;
      }
      throw new InvalidArgumentException(
          "type: " + argument.getTypeName() + " (expected: a type without type variables)");
    }
    throw new InvalidArgumentException(
        "type: "
            + subclass.getName()
            + " (expected: an anonymous class, as in new TypeToken<List<Order>>() {})");
  }

  private static boolean isConcrete(Type type) {
    return switch (type) {
      case ParameterizedType t ->
          Stream.of(t.getActualTypeArguments()).allMatch(TypeToken::isConcrete);
      case GenericArrayType t -> isConcrete(t.getGenericComponentType());
      case WildcardType t ->
          Stream.of(t.getUpperBounds(), t.getLowerBounds())
              .flatMap(Stream::of)
              .allMatch(TypeToken::isConcrete);
      default -> !(type instanceof TypeVariable<?>);
    };
  }

  private static final class Known<T> extends TypeToken<T> {
    Known(Type type) {
      super(type);
    }
  }
}
