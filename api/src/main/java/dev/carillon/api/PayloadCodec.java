package dev.carillon.api;

import dev.carillon.api.error.CodecException;
import java.lang.reflect.Type;
import org.jspecify.annotations.Nullable;

/**
 * Turns inputs, results and saved states into bytes and back. Must be thread-safe, and must go on
 * reading what it once wrote: the bytes outlive the process and the version that wrote them.
 */
public interface PayloadCodec {

  /**
   * The name stored with what this codec writes, so that the same one reads it.
   *
   * @return a short, stable name such as {@code json}
   */
  String name();

  /**
   * Encodes a value.
   *
   * @param value the value, or null
   * @param type its declared type
   * @return the bytes, owned by the caller
   * @throws CodecException if the value cannot be encoded; scheduling then fails, nothing is
   *     written
   */
  byte[] encode(@Nullable Object value, Type type);

  /**
   * Decodes a value. Fields that the type does not know should be ignored, so that older code reads
   * what newer code wrote.
   *
   * @param bytes the bytes, not to be changed
   * @param type the type wanted
   * @return the value, or null if null was encoded
   * @throws CodecException if they cannot be decoded; the job is then blocked as {@link
   *     BlockReason#UNDECODABLE} and keeps its bytes
   */
  @Nullable Object decode(byte[] bytes, Type type);
}
