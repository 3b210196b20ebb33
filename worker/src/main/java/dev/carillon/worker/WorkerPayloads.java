package dev.carillon.worker;

import com.google.protobuf.ByteString;
import dev.carillon.api.Limits;
import dev.carillon.api.PayloadCodec;
import dev.carillon.api.error.CodecException;
import dev.carillon.json.RoundTrips;
import dev.carillon.protocol.Payload;
import java.lang.reflect.Type;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Inputs, results and positions as they travel: what a codec wrote, and its name. Immutable and
 * thread-safe.
 */
final class WorkerPayloads {
  private static final String BYTES = "bytes";

  private final PayloadCodec codec;
  private final Map<String, PayloadCodec> known = new LinkedHashMap<>();

  /**
   * Payloads written by the first codec.
   *
   * @param codecs those that payloads may have been written by
   */
  WorkerPayloads(List<PayloadCodec> codecs) {
    this.codec = codecs.getFirst();
    codecs.forEach(each -> known.putIfAbsent(each.name(), each));
  }

  /** A result or a position. */
  Payload encode(@Nullable Object value, Type type) {
    if (value == null) {
      return Payload.getDefaultInstance();
    }
    if (type == byte[].class && value instanceof byte[] bytes) {
      return payload(BYTES, bytes);
    }
    byte[] data = codec.encode(value, type);
    RoundTrips.refuseEmptied(codec, value, type, data);
    return payload(codec.name(), data);
  }

  private static Payload payload(String codec, byte[] data) {
    int unused = Limits.checkPayload(data.length);
    return Payload.newBuilder().setCodec(codec).setData(ByteString.copyFrom(data)).build();
  }

  @Nullable Object decode(Payload payload, Type type) {
    return decode(payload.getCodec(), payload.getData().toByteArray(), type);
  }

  @Nullable Object decode(String name, byte[] data, Type type) {
    if (name.isEmpty()) {
      return null;
    }
    if (name.equals(BYTES)) {
      if (type != byte[].class) {
        throw new CodecException(
            "type: " + type.getTypeName() + " (expected: byte[], as it was written)");
      }
      return data;
    }
    PayloadCodec by = known.get(name);
    if (by == null) {
      throw new CodecException(
          "codec: " + name + " (expected: one of " + known.keySet() + "; add it to the builder)");
    }
    return by.decode(data, type);
  }
}
