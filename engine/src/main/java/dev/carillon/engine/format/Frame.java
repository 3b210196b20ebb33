package dev.carillon.engine.format;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.zip.CRC32C;

/**
 * One operation as it stands in a journal. The frame is readable by every version of this code:
 *
 * <pre>
 * length   int   bytes after this field
 * checksum int   CRC-32C of everything after this field
 * kind     byte  {@link Kind}
 * version  byte  of the body
 * job      long  the job's number
 * body     …
 * </pre>
 *
 * An entry's data is a sequence of frames. The body stays in the array it was read from.
 */
public final class Frame {
  public static final VarHandle LONG =
      MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.BIG_ENDIAN);
  public static final VarHandle INT =
      MethodHandles.byteArrayViewVarHandle(int[].class, ByteOrder.BIG_ENDIAN);

  /** What stands before the body. */
  public static final int HEADER_BYTES = 18;

  /** Of all bodies in memory: those of a later format are translated on their way. */
  static final int VERSION = 1;

  private static final int COUNTED_HEADER_BYTES = HEADER_BYTES - 4;
  private static final int CHECKED_FROM = 8;

  private final Kind kind;
  private final long job;
  private final byte[] data;
  private final int from;
  private final int length;

  private Frame(Kind kind, long job, byte[] data, int from, int length) {
    this.kind = kind;
    this.job = job;
    this.data = data;
    this.from = from;
    this.length = length;
  }

  /** A new operation. */
  public static Frame of(Kind kind, long job, byte[] body) {
    return new Frame(kind, job, body, 0, body.length);
  }

  public Kind kind() {
    return kind;
  }

  public long job() {
    return job;
  }

  public int frameBytes() {
    return HEADER_BYTES + length;
  }

  public ByteReader reader() {
    return new ByteReader(data, from, length);
  }

  /** The body in an array of its own; the array itself where it holds nothing else. */
  public byte[] body() {
    return from == 0 && length == data.length
        ? data
        : Arrays.copyOfRange(data, from, from + length);
  }

  /** Writes a number into the body, which nobody has read yet. */
  public void set(int offset, long value) {
    LONG.set(data, from + offset, value);
  }

  /** The data of an entry that holds {@code frames}. */
  public static byte[] encode(List<Frame> frames) {
    int size = 0;
    for (Frame frame : frames) {
      size += frame.frameBytes();
    }
    byte[] entry = new byte[size];
    CRC32C crc = new CRC32C();
    int at = 0;
    for (Frame frame : frames) {
      INT.set(entry, at, frame.length + COUNTED_HEADER_BYTES);
      entry[at + 8] = (byte) frame.kind.code();
      entry[at + 9] = VERSION;
      LONG.set(entry, at + 10, frame.job);
      System.arraycopy(frame.data, frame.from, entry, at + HEADER_BYTES, frame.length);
      crc.reset();
      crc.update(entry, at + CHECKED_FROM, frame.frameBytes() - CHECKED_FROM);
      INT.set(entry, at + 4, (int) crc.getValue());
      at += frame.frameBytes();
    }
    return entry;
  }

  /**
   * The frames of an entry.
   *
   * @throws DamagedException where length or checksum do not fit, naming the offset
   * @throws UnknownFormatException at a kind or version of later code
   */
  public static List<Frame> decode(byte[] entry) {
    List<Frame> frames = new ArrayList<>(Math.max(4, entry.length / 128));
    CRC32C crc = new CRC32C();
    int at = 0;
    while (at < entry.length) {
      Frame frame = decodeAt(entry, at, crc);
      frames.add(frame);
      at += frame.frameBytes();
    }
    return frames;
  }

  private static Frame decodeAt(byte[] entry, int at, CRC32C crc) {
    int counted = countedAt(entry, at, crc);
    return new Frame(
        Kind.of(entry[at + 8] & 0xFF, entry[at + 9] & 0xFF),
        (long) LONG.get(entry, at + 10),
        entry,
        at + HEADER_BYTES,
        counted - COUNTED_HEADER_BYTES);
  }

  private static int countedAt(byte[] entry, int at, CRC32C crc) {
    int left = entry.length - at;
    if (left < HEADER_BYTES) {
      throw new DamagedException("frame at byte " + at + ": " + left + " bytes (expected: more)");
    }
    int counted = (int) INT.get(entry, at);
    if (counted < COUNTED_HEADER_BYTES || counted > left - 4) {
      throw new DamagedException("frame at byte " + at + ": length " + counted);
    }
    crc.reset();
    crc.update(entry, at + CHECKED_FROM, counted - 4);
    if ((int) crc.getValue() != (int) INT.get(entry, at + 4)) {
      throw new DamagedException("frame at byte " + at + ": checksum does not fit");
    }
    return counted;
  }

  /** Says how a body that stands in some version stands in another. */
  public interface Translation {
    byte[] of(int version, byte[] body);
  }

  /**
   * The same operations, of whatever kinds, with their bodies in another version.
   *
   * @param version that is written to each of them whose version {@code to} knows
   * @param known the highest version that {@code to} knows
   * @throws DamagedException where length or checksum do not fit
   */
  public static byte[] translated(byte[] entry, int version, int known, Translation to) {
    ByteWriter out = new ByteWriter(entry.length + entry.length / 8 + 64);
    CRC32C crc = new CRC32C();
    for (int at = 0; at < entry.length; ) {
      int end = at + 4 + countedAt(entry, at, crc);
      int stands = entry[at + 9] & 0xFF;
      byte[] frame = Arrays.copyOfRange(entry, at, end);
      if (stands != version && stands <= known) {
        byte[] body = Arrays.copyOfRange(frame, HEADER_BYTES, frame.length);
        frame = withBody(frame, version, to.of(stands, body), crc);
      }
      out.raw(frame);
      at = end;
    }
    return out.toBytes();
  }

  private static byte[] withBody(byte[] header, int version, byte[] body, CRC32C crc) {
    byte[] frame = Arrays.copyOf(header, HEADER_BYTES + body.length);
    INT.set(frame, 0, body.length + COUNTED_HEADER_BYTES);
    frame[9] = (byte) version;
    System.arraycopy(body, 0, frame, HEADER_BYTES, body.length);
    crc.reset();
    crc.update(frame, CHECKED_FROM, frame.length - CHECKED_FROM);
    INT.set(frame, 4, (int) crc.getValue());
    return frame;
  }
}
