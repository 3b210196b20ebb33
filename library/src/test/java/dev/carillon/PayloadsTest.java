package dev.carillon;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.carillon.api.PayloadCodec;
import dev.carillon.api.error.CodecException;
import dev.carillon.json.JacksonCodec;
import java.lang.reflect.Type;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.junit.jupiter.api.Test;

class PayloadsTest {

  /** Text as it is, under any name, which stands before what was read. */
  private record TextCodec(String name) implements PayloadCodec {
    @Override
    public byte[] encode(Object value, Type type) {
      String text = String.valueOf(value);
      boolean read = text.startsWith(name + ":");
      return (read ? text.substring(name.length() + 1) : text).getBytes(StandardCharsets.UTF_8);
    }

    @Override
    public Object decode(byte[] bytes, Type type) {
      return name + ":" + new String(bytes, StandardCharsets.UTF_8);
    }
  }

  private static final Payloads JSON = new Payloads(new JacksonCodec(), List.of());

  @Test
  void jsonIsStoredAsItIs() {
    byte[] stored = JSON.encode("text", String.class);
    assertThat(new String(stored, StandardCharsets.UTF_8)).isEqualTo("\"text\"");
    assertThat(JSON.decode(stored, String.class)).isEqualTo("text");
  }

  @Test
  void nothingIsNothing() {
    assertThat(JSON.encode(null, Void.class)).isEmpty();
    assertThat(JSON.decode(new byte[0], Void.class)).isNull();
  }

  @Test
  void bytesAreMarkedAndReadByWhoeverAsksForBytes() {
    byte[] stored = JSON.encode(new byte[] {'{', 1, 2}, byte[].class);
    assertThat(stored).containsExactly(2, '{', 1, 2);
    assertThat((byte[]) JSON.decode(stored, byte[].class)).containsExactly('{', 1, 2);
    assertThat((byte[]) JSON.decode(JSON.encode(new byte[0], byte[].class), byte[].class))
        .isEmpty();
    assertThatThrownBy(() -> JSON.decode(stored, String.class)).isInstanceOf(CodecException.class);
  }

  @Test
  void everyPayloadIsReadByTheCodecThatWroteIt() {
    Payloads text = new Payloads(new TextCodec("text"), List.of());
    byte[] stored = text.encode("x", String.class);
    assertThat(text.decode(stored, String.class)).isEqualTo("text:x");
    assertThat(text.decode(JSON.encode("y", String.class), String.class)).isEqualTo("y");

    Payloads both = new Payloads(new JacksonCodec(), List.of(new TextCodec("text")));
    assertThat(both.decode(stored, String.class)).isEqualTo("text:x");
    assertThatThrownBy(() -> JSON.decode(stored, String.class))
        .isInstanceOf(CodecException.class)
        .hasMessageContaining("codec: text");
  }

  @Test
  void codecCalledJsonMayWriteAnything() {
    Payloads odd = new Payloads(new TextCodec("json"), List.of());
    byte[] stored = odd.encode("\u0001x", String.class);
    assertThat(odd.decode(stored, String.class)).isEqualTo("json:\u0001x");
    assertThat(odd.decode(odd.encode("", String.class), String.class)).isEqualTo("json:");
  }

  @Test
  void rawPayloadsAreStoredAsTheirCodecsWriteThem() {
    byte[] json = "{\"n\": 1.50}".getBytes(StandardCharsets.UTF_8);
    for (RawPayload raw :
        List.of(
            new RawPayload("json", json),
            new RawPayload("json", new byte[0]),
            new RawPayload("json", new byte[] {1, 2}),
            new RawPayload("bytes", new byte[] {1}),
            new RawPayload("avro", new byte[0]))) {
      byte[] stored = JSON.encodeInput(raw, RawPayload.class);
      RawPayload back = (RawPayload) JSON.decode(stored, RawPayload.class);
      assertThat(back.codec()).isEqualTo(raw.codec());
      assertThat(back.bytes()).isEqualTo(raw.bytes());
    }
    assertThat(JSON.encode(new RawPayload("json", json), RawPayload.class)).isEqualTo(json);
    assertThat(JSON.encode(new RawPayload("", new byte[0]), RawPayload.class)).isEmpty();
    byte[] bytes = JSON.encode(new RawPayload("bytes", json), RawPayload.class);
    assertThat((byte[]) JSON.decode(bytes, byte[].class)).isEqualTo(json);
    assertThatThrownBy(() -> JSON.encode(new RawPayload("x".repeat(128), json), RawPayload.class))
        .hasMessageContaining("codec name");
  }

  @Test
  void upcasterSeesWhatTheCodecWrote() {
    Payloads text = new Payloads(new TextCodec("text"), List.of());
    byte[] stored =
        text.upcast(
            text.encode("old", String.class),
            bytes -> {
              assertThat(new String(bytes, StandardCharsets.UTF_8)).isEqualTo("old");
              return "new".getBytes(StandardCharsets.UTF_8);
            });
    assertThat(text.decode(stored, String.class)).isEqualTo("text:new");
  }

  @Test
  void damagedPayloadIsUndecodableAndNothingElse() {
    for (byte[] damaged :
        List.of(new byte[] {1}, new byte[] {1, 100, 'x'}, new byte[] {1, -1}, new byte[] {'{'})) {
      assertThatThrownBy(() -> JSON.decode(damaged, String.class))
          .isInstanceOf(CodecException.class);
    }
  }
}
