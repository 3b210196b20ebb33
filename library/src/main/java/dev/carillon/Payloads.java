package dev.carillon;

import dev.carillon.api.PayloadCodec;
import dev.carillon.api.TypeToken;
import dev.carillon.api.error.CodecException;
import dev.carillon.api.error.InvalidArgumentException;
import dev.carillon.json.JacksonCodec;
import dev.carillon.json.RoundTrips;
import dev.carillon.json.StandardCodec;
import java.lang.reflect.Type;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Inputs, results and saved states as they are stored: what the codec wrote, after a mark that says
 * which codec that was, so that the same one reads it years later.
 *
 * <pre>
 * nothing               null
 * first byte 1          length of a name, the codec's name, what it wrote
 * first byte 2          what {@link BytesCodec} wrote
 * any other first byte  what a codec named json wrote; JSON begins with neither 1 nor 2
 * </pre>
 *
 * <p>Immutable and thread-safe. The marks are persisted: they never change and none is used again.
 */
final class Payloads {
  private static final byte[] NOTHING = {};
  private static final byte NAMED = 1;
  private static final byte BYTES = 2;

  private final PayloadCodec codec;
  private final byte[] mark;
  private final Map<String, PayloadCodec> known = new LinkedHashMap<>();
  private final RoundTrips roundTrips = new RoundTrips();

  /**
   * Payloads written by {@code codec}.
   *
   * @param others further codecs that payloads may have been written by
   */
  Payloads(PayloadCodec codec, List<PayloadCodec> others) {
    this.codec = codec;
    this.mark = markOf(codec);
    add(BytesCodec.INSTANCE);
    add(codec);
    others.forEach(this::add);
    if (!known.containsKey(JacksonCodec.NAME)) {
      add(new StandardCodec());
    }
  }

  private void add(PayloadCodec added) {
    known.putIfAbsent(added.name(), added);
  }

  private static byte[] markOf(PayloadCodec codec) {
    return switch (codec.name()) {
      case JacksonCodec.NAME -> NOTHING;
      case BytesCodec.NAME -> new byte[] {BYTES};
      default -> named(codec.name());
    };
  }

  private static byte[] named(String name) {
    byte[] text = name.getBytes(StandardCharsets.UTF_8);
    if (text.length == 0 || text.length > Byte.MAX_VALUE) {
      throw new InvalidArgumentException(
          "codec name: " + name + " (expected: 1 to " + Byte.MAX_VALUE + " bytes)");
    }
    byte[] mark = new byte[2 + text.length];
    mark[0] = NAMED;
    mark[1] = (byte) text.length;
    System.arraycopy(text, 0, mark, 2, text.length);
    return mark;
  }

  /**
   * An input as it is stored.
   *
   * @throws CodecException also if the codec would not give it back as it is; see {@link
   *     RoundTrips}
   */
  byte[] encodeInput(@Nullable Object value, Type type) {
    return encode(value, type, roundTrips::check);
  }

  /**
   * A result or a saved state as it is stored. It is refused only where nothing of it is kept: the
   * work is done, and who reads it says as which type.
   */
  byte[] encode(@Nullable Object value, Type type) {
    return encode(value, type, RoundTrips::refuseEmptied);
  }

  private interface Check {
    void check(PayloadCodec codec, Object value, Type type, byte[] data);
  }

  private byte[] encode(@Nullable Object value, Type type, Check check) {
    if (value == null) {
      return NOTHING;
    }
    if (value instanceof RawPayload raw) {
      return marked(raw);
    }
    if (type == byte[].class) {
      return join(new byte[] {BYTES}, BytesCodec.INSTANCE.encode(value, type));
    }
    byte[] data = codec.encode(value, type);
    check.check(codec, value, type, data);
    return mark.length > 0 ? join(mark, data) : unmarked(data);
  }

  /** What a codec wrote elsewhere, as it is stored. */
  private static byte[] marked(RawPayload raw) {
    return switch (raw.codec()) {
      case "" -> NOTHING;
      case JacksonCodec.NAME -> unmarked(raw.bytes());
      case BytesCodec.NAME -> join(new byte[] {BYTES}, raw.bytes());
      default -> join(named(raw.codec()), raw.bytes());
    };
  }

  /** What a codec named json wrote: without a mark, unless it could be taken for one. */
  private static byte[] unmarked(byte[] data) {
    boolean clear = data.length > 0 && data[0] != NAMED && data[0] != BYTES;
    return clear ? data : join(named(JacksonCodec.NAME), data);
  }

  private static byte[] join(byte[] mark, byte[] data) {
    byte[] joined = new byte[mark.length + data.length];
    System.arraycopy(mark, 0, joined, 0, mark.length);
    System.arraycopy(data, 0, joined, mark.length, data.length);
    return joined;
  }

  @Nullable Object decode(byte[] stored, Type type) {
    if (stored.length == 0) {
      return null;
    }
    if (type == RawPayload.class) {
      return raw(stored);
    }
    return switch (stored[0]) {
      case BYTES -> BytesCodec.INSTANCE.decode(from(stored, 1), type);
      case NAMED -> {
        int end = dataOffset(stored);
        String name = new String(stored, 2, end - 2, StandardCharsets.UTF_8);
        yield find(name).decode(from(stored, end), type);
      }
      default -> find(JacksonCodec.NAME).decode(stored, type);
    };
  }

  /** What is stored, apart from the mark that names its codec. */
  RawPayload raw(byte[] stored) {
    if (stored.length == 0) {
      return new RawPayload("", stored);
    }
    int data = dataOffset(stored);
    String name =
        switch (stored[0]) {
          case BYTES -> BytesCodec.NAME;
          case NAMED -> new String(stored, 2, data - 2, StandardCharsets.UTF_8);
          default -> JacksonCodec.NAME;
        };
    return new RawPayload(name, from(stored, data));
  }

  private static byte[] from(byte[] stored, int start) {
    return Arrays.copyOfRange(stored, start, stored.length);
  }

  private PayloadCodec find(String name) {
    PayloadCodec found = known.get(name);
    if (found == null) {
      throw new CodecException(
          "codec: " + name + " (expected: one of " + known.keySet() + "; add it to the builder)");
    }
    return found;
  }

  /** What a payload holds, without the mark, and rewrapped by {@code change}: for upcasters. */
  byte[] upcast(byte[] stored, java.util.function.UnaryOperator<byte[]> change) {
    int data = dataOffset(stored);
    byte[] mark = Arrays.copyOf(stored, data);
    return join(mark, change.apply(from(stored, data)));
  }

  private static int dataOffset(byte[] stored) {
    if (stored.length == 0) {
      return 0;
    }
    return switch (stored[0]) {
      case BYTES -> 1;
      case NAMED -> {
        if (stored.length < 2 || stored[1] < 1 || 2 + stored[1] > stored.length) {
          throw new CodecException("payload: damaged mark (expected: the name of its codec)");
        }
        yield 2 + stored[1];
      }
      default -> 0;
    };
  }

  @SuppressWarnings("unchecked") // the codec decodes to the token's type
  <T> @Nullable T decode(byte[] stored, TypeToken<T> type) {
    return (T) decode(stored, type.type());
  }
}
