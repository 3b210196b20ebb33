package dev.carillon.json;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.annotation.JsonCreator;
import com.fasterxml.jackson.annotation.JsonProperty;
import dev.carillon.api.TypeToken;
import dev.carillon.api.error.CodecException;
import java.io.IOException;
import java.lang.reflect.Type;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.DeserializationFeature;
import tools.jackson.databind.json.JsonMapper;

/** The codec calls constructors by handles of its own: what they make is what Jackson makes. */
class JacksonCodecTest {
  private final JacksonCodec codec = new JacksonCodec();

  /** The same settings, and Jackson's own way to call constructors. */
  private final JacksonCodec plain =
      new JacksonCodec(
          JsonMapper.builder()
              .disable(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES)
              .disable(DeserializationFeature.FAIL_ON_NULL_FOR_PRIMITIVES)
              .build());

  private record Mixed(
      int number,
      long big,
      double part,
      boolean flag,
      char sign,
      @Nullable String text,
      Long box) {}

  private record Pair<T>(T first, List<T> others) {}

  private record Several(String... texts) {}

  private record Nothing() {}

  private record Even(int number) {
    Even {
      if (number % 2 != 0) {
        throw new IllegalArgumentException("odd: " + number);
      }
    }
  }

  private static final class Checked {
    @JsonCreator
    Checked(@JsonProperty("a") int a, @JsonProperty("b") int b) throws IOException {
      throw new IOException("never: " + a + b);
    }
  }

  private static final class Broken {
    @JsonCreator
    Broken(@JsonProperty("a") int a, @JsonProperty("b") int b) {
      throw new AssertionError("never: " + a + b);
    }
  }

  private static byte[] utf8(String json) {
    return json.getBytes(StandardCharsets.UTF_8);
  }

  private String read(JacksonCodec by, String json, Type type) {
    try {
      return Objects.toString(by.decode(utf8(json), type));
    } catch (CodecException e) {
      return e.getMessage() + " / " + e.getCause();
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "{\"number\":1,\"big\":2,\"part\":3.5,\"flag\":true,\"sign\":\"x\",\"text\":\"t\",\"box\":4}",
        "{\"number\":null,\"big\":null,\"part\":null,\"flag\":null,\"text\":null,\"box\":null}",
        "{\"other\":{\"number\":7},\"box\":5,\"part\":1}",
        "{}",
        "{\"number\":\"many\"}",
        "{\"number\":99999999999}",
        "[]",
        "null"
      })
  void aRecordIsReadAsJacksonReadsIt(String json) {
    assertThat(read(codec, json, Mixed.class)).isEqualTo(read(plain, json, Mixed.class));
  }

  @Test
  void recordsOfAnyShapeComeBack() {
    Type pairs = new TypeToken<Pair<Even>>() {}.type();
    for (Even even : List.of(new Even(2), new Even(4))) {
      Pair<Even> pair = new Pair<>(even, List.of(new Even(6)));
      assertThat(codec.decode(codec.encode(pair, pairs), pairs)).isEqualTo(pair);
    }
    Several several = (Several) codec.decode(utf8("{\"texts\":[\"a\",\"b\"]}"), Several.class);
    assertThat(Objects.requireNonNull(several).texts()).containsExactly("a", "b");
    assertThat(codec.decode(utf8("{}"), Nothing.class)).isEqualTo(new Nothing());
  }

  @Test
  void aConstructorThatThrowsMakesThePayloadUnreadable() {
    assertThat(read(codec, "{\"number\":3}", Even.class))
        .contains("odd: 3")
        .isEqualTo(read(plain, "{\"number\":3}", Even.class));
    assertThat(read(codec, "{\"a\":1,\"b\":2}", Checked.class))
        .contains("never: 12")
        .isEqualTo(read(plain, "{\"a\":1,\"b\":2}", Checked.class));
    assertThatThrownBy(() -> codec.decode(utf8("{\"a\":1,\"b\":2}"), Broken.class))
        .isInstanceOf(AssertionError.class)
        .hasMessage("never: 12");
  }
}
