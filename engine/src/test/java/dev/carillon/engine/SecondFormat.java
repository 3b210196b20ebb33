package dev.carillon.engine;

import dev.carillon.engine.member.Format;
import dev.carillon.engine.member.Formats;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.List;

/**
 * A format that was made for tests: everything has one more field at its end, which says how long
 * the rest is. Summaries, records and rows have a version byte of their own, with a bit that the
 * first format does not use.
 */
final class SecondFormat implements Format {
  static final int NUMBER = 2;
  private static final int MARK = 0x40;

  /** Of a version of the code that knows it. */
  static Formats formats() {
    return new Formats(List.of(new SecondFormat()));
  }

  @Override
  public byte[] write(Thing thing, byte[] bytes) {
    byte[] written =
        ByteBuffer.allocate(bytes.length + Integer.BYTES).put(bytes).putInt(bytes.length).array();
    if (thing != Thing.OPERATION) {
      written[0] |= MARK;
    }
    return written;
  }

  @Override
  public byte[] read(Thing thing, byte[] bytes) {
    if (thing != Thing.OPERATION && (bytes.length == 0 || (bytes[0] & MARK) == 0)) {
      return bytes;
    }
    int length = bytes.length - Integer.BYTES;
    if (length < 0 || ByteBuffer.wrap(bytes).getInt(length) != length) {
      throw new IllegalArgumentException(
          "length: " + length + " (expected: that of the rest, which stands behind it)");
    }
    byte[] read = Arrays.copyOf(bytes, length);
    if (thing != Thing.OPERATION) {
      read[0] &= ~MARK;
    }
    return read;
  }
}
