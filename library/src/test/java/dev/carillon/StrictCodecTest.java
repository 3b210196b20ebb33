package dev.carillon;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.carillon.api.PayloadCodec;
import dev.carillon.api.error.CodecException;
import dev.carillon.json.Jackson2Codec;
import dev.carillon.json.JacksonCodec;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** A strict codec refuses fields that are missing or unknown; by default they are let pass. */
class StrictCodecTest {
  record Address(String street, Optional<String> country) {}

  record Person(String name, int age, List<Address> addresses) {}

  static final class Bean {
    public String name = "nobody";
    public int age;
  }

  static List<PayloadCodec> strict() {
    return List.of(JacksonCodec.strict(), Jackson2Codec.strict());
  }

  static List<PayloadCodec> lenient() {
    return List.of(new JacksonCodec(), new Jackson2Codec());
  }

  private static void refuses(PayloadCodec codec, Class<?> type, String json, String message) {
    assertThatThrownBy(() -> codec.decode(json.getBytes(UTF_8), type))
        .as("%s", json)
        .isInstanceOf(CodecException.class)
        .hasMessageContaining(message);
  }

  @ParameterizedTest
  @MethodSource("strict")
  void missingAndUnknownFieldsAreRefusedAtAnyDepth(PayloadCodec codec) {
    refuses(
        codec, Person.class, "{\"name\":\"ann\",\"age\":1}", "field addresses: missing or null");
    refuses(
        codec, Person.class, "{\"name\":\"ann\",\"addresses\":[]}", "field age: missing or null");
    refuses(
        codec,
        Person.class,
        "{\"name\":\"ann\",\"age\":1,\"addresses\":[{\"street\":\"s\"}]}",
        "field addresses[0].country: missing or null (expected: every field of its type)");
    refuses(
        codec,
        Person.class,
        "{\"name\":\"a\",\"age\":1,\"addresses\":[],\"shoe\":43}",
        "field shoe: unknown");
    refuses(
        codec,
        Person.class,
        "{\"name\":\"a\",\"age\":null,\"addresses\":[]}",
        "field age: missing or null");
    refuses(codec, Bean.class, "{\"name\":\"ann\"}", "field age: missing or null");
    refuses(codec, Bean.class, "{\"age\":1}", "field name: missing or null");
  }

  @ParameterizedTest
  @MethodSource("strict")
  void itsOwnPayloadsAreRead(PayloadCodec codec) {
    Person ann =
        new Person(
            "ann",
            7,
            List.of(new Address("s", Optional.empty()), new Address(null, Optional.empty())));
    byte[] bytes = codec.encode(ann, Person.class);
    assertThat(bytes).isEqualTo(new JacksonCodec().encode(ann, Person.class));
    assertThat(codec.encode(codec.decode(bytes, Person.class), Person.class)).isEqualTo(bytes);
    assertThat(GoldenPayloads.differences(codec)).isEmpty();
  }

  @ParameterizedTest
  @MethodSource("lenient")
  void byDefaultAMissingFieldIsNullOrZeroAndAnUnknownOneIsIgnored(PayloadCodec codec) {
    byte[] older = "{\"name\":\"ann\",\"shoe\":43}".getBytes(UTF_8);
    assertThat(codec.decode(older, Person.class)).isEqualTo(new Person("ann", 0, null));
  }

  @Test
  void eachSaysWhatIsMissingInTheSameWords() {
    String json = "{\"name\":\"ann\",\"age\":1,\"addresses\":[{\"street\":\"s\"}]}";
    List<String> messages =
        strict().stream()
            .map(
                codec -> {
                  try {
                    return "read: " + codec.decode(json.getBytes(UTF_8), Person.class);
                  } catch (CodecException e) {
                    return e.getMessage();
                  }
                })
            .distinct()
            .toList();
    assertThat(messages).hasSize(1);
  }
}
