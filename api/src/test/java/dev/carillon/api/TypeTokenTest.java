package dev.carillon.api;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import dev.carillon.api.error.InvalidArgumentException;
import java.lang.reflect.ParameterizedType;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class TypeTokenTest {

  @Test
  void anonymousSubclassCapturesTypeArguments() {
    var token = new TypeToken<Map<String, List<Integer>>>() {};

    assertThat(token.type()).isInstanceOf(ParameterizedType.class);
    assertThat(token)
        .hasToString("java.util.Map<java.lang.String, java.util.List<java.lang.Integer>>");
  }

  @Test
  void tokensOfTheSameTypeAreEqualHoweverMade() {
    assertThat(new TypeToken<String>() {})
        .isEqualTo(TypeToken.of(String.class))
        .hasSameHashCodeAs(TypeToken.of(String.class));
    assertThat(new TypeToken<List<String>>() {})
        .isEqualTo(new TypeToken<List<String>>() {})
        .isNotEqualTo(new TypeToken<List<Integer>>() {})
        .isNotEqualTo(TypeToken.of(List.class));
  }

  @Test
  void primitiveClassStandsForItsWrapper() {
    assertThat(TypeToken.of(int.class)).isEqualTo(TypeToken.of(Integer.class));
    assertThat(TypeToken.of(void.class)).isEqualTo(TypeToken.of(Void.class));
    assertThat(TypeToken.of(int[].class).type()).isEqualTo(int[].class);
  }

  @Test
  void wildcardsAndGenericArraysAreKept() {
    assertThat(new TypeToken<List<? super Integer>[]>() {})
        .hasToString("java.util.List<? super java.lang.Integer>[]");
  }

  @Test
  @SuppressWarnings("rawtypes")
  void subclassWithoutTypeArgumentIsRefused() {
    assertThatExceptionOfType(InvalidArgumentException.class)
        .isThrownBy(() -> new TypeToken() {})
        .withMessageContaining("(expected: an anonymous class");
  }

  @Test
  void typeVariablesAreRefusedWhereverTheyHide() {
    assertThatExceptionOfType(InvalidArgumentException.class)
        .isThrownBy(TypeTokenTest::<String>nestedVariable)
        .withMessage(
            "type: java.util.List<? extends T[]> (expected: a type without type variables)");
  }

  private static <T> TypeToken<List<? extends T[]>> nestedVariable() {
    return new TypeToken<>() {};
  }
}
