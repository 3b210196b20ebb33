package dev.carillon.engine.format;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/** A growing buffer for operation bodies: big-endian numbers, LEB128 varints, UTF-8 strings. */
public final class ByteWriter {
  private byte[] buffer;
  private int size;

  public ByteWriter(int capacity) {
    buffer = new byte[capacity];
  }

  private void ensure(int more) {
    if (buffer.length - size < more) {
      buffer = Arrays.copyOf(buffer, Math.max(buffer.length * 2, size + more));
    }
  }

  public ByteWriter u8(int value) {
    ensure(1);
    buffer[size++] = (byte) value;
    return this;
  }

  public ByteWriter i64(long value) {
    ensure(8);
    Frame.LONG.set(buffer, size, value);
    size += 8;
    return this;
  }

  /** A number that is usually small and never negative. */
  public ByteWriter varint(long value) {
    ensure(varintBytes(value));
    while ((value & ~0x7FL) != 0) {
      buffer[size++] = (byte) (value | 0x80);
      value >>>= 7;
    }
    buffer[size++] = (byte) value;
    return this;
  }

  /** What {@link #varint} takes. */
  public static int varintBytes(long value) {
    return Math.max(1, (70 - Long.numberOfLeadingZeros(value)) / 7);
  }

  public ByteWriter string(String text) {
    byte[] utf8 = text.getBytes(StandardCharsets.UTF_8);
    return varint(utf8.length).raw(utf8);
  }

  public ByteWriter bytes(byte[] bytes) {
    return varint(bytes.length).raw(bytes);
  }

  public ByteWriter raw(byte[] bytes) {
    ensure(bytes.length);
    System.arraycopy(bytes, 0, buffer, size, bytes.length);
    size += bytes.length;
    return this;
  }

  public byte[] toBytes() {
    return size == buffer.length ? buffer : Arrays.copyOf(buffer, size);
  }
}
