package dev.carillon;

import dev.carillon.api.PayloadCodec;
import dev.carillon.api.error.CodecException;
import java.lang.reflect.Type;
import org.jspecify.annotations.Nullable;

/**
 * Payloads that are bytes already, kept as they are. Used for {@code byte[]} whatever codec is set.
 */
public final class BytesCodec implements PayloadCodec {

  /** The only one. */
  public static final BytesCodec INSTANCE = new BytesCodec();

  static final String NAME = "bytes";

  private BytesCodec() {}

  @Override
  public String name() {
    return NAME;
  }

  @Override
  public byte[] encode(@Nullable Object value, Type type) {
    if (value instanceof byte[] bytes) {
      return bytes;
    }
    throw new CodecException(
        "payload: "
            + (value == null ? "null" : value.getClass().getName())
            + " (expected: byte[], the only type this codec knows)");
  }

  @Override
  public Object decode(byte[] bytes, Type type) {
    if (type != byte[].class) {
      throw new CodecException(
          "type: " + type.getTypeName() + " (expected: byte[], as it was written)");
    }
    return bytes;
  }
}
