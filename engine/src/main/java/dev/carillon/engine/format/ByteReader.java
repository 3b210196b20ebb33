package dev.carillon.engine.format;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/** Reads what {@link ByteWriter} wrote; anything that cannot be is a {@link DamagedException}. */
public final class ByteReader {
  private final byte[] data;
  private final int end;
  private int at;

  public ByteReader(byte[] data, int from, int length) {
    this.data = data;
    this.at = from;
    this.end = from + length;
  }

  public ByteReader(byte[] data) {
    this(data, 0, data.length);
  }

  private int take(int bytes) {
    if (bytes < 0 || bytes > end - at) {
      throw new DamagedException("body: cut off (expected: " + bytes + " more bytes)");
    }
    int from = at;
    at += bytes;
    return from;
  }

  public int u8() {
    return data[take(1)] & 0xFF;
  }

  /**
   * The version byte that bytes of the engine's own begin with.
   *
   * @throws UnknownFormatException where it is not {@code expected}
   */
  public void requireVersion(String what, int expected) {
    int version = u8();
    if (version != expected) {
      throw new UnknownFormatException(
          what + ": version " + version + " (expected: " + expected + ")");
    }
  }

  public int i8() {
    return data[take(1)];
  }

  public long i64() {
    return (long) Frame.LONG.get(data, take(8));
  }

  public long varint() {
    long value = 0;
    for (int shift = 0; shift < 64; shift += 7) {
      byte next = data[take(1)];
      value |= (long) (next & 0x7F) << shift;
      if (next >= 0) {
        return value;
      }
    }
    throw new DamagedException("body: varint over ten bytes (expected: at most ten)");
  }

  public int length() {
    long length = varint();
    if (length < 0 || length > end - at) {
      throw new DamagedException(
          "body: length " + length + " (expected: at most " + (end - at) + ")");
    }
    return (int) length;
  }

  public String string() {
    int length = length();
    return new String(data, take(length), length, StandardCharsets.UTF_8);
  }

  /** The next string; {@code known}, if given, is what it must be and saves decoding it. */
  public String string(@Nullable String known) {
    if (known == null) {
      return string();
    }
    skip(length());
    return known;
  }

  public byte[] bytes() {
    int length = length();
    int from = take(length);
    return Arrays.copyOfRange(data, from, from + length);
  }

  public byte[] rest() {
    return Arrays.copyOfRange(data, take(end - at), end);
  }

  public int remaining() {
    return end - at;
  }

  public void requireEnd() {
    if (remaining() != 0) {
      throw new DamagedException("body: " + remaining() + " bytes left (expected: none)");
    }
  }

  void skip(int bytes) {
    take(bytes);
  }
}
