package dev.carillon.bench;

import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.zip.CRC32C;

/**
 * Writes journal entries as their format is documented (docs/internals/data-model.md), so that a
 * store can be filled as an engine would in far less time. Not thread-safe.
 */
final class JournalBytes {
  private static final int ADD = 1;
  private static final int END = 7;
  private static final int VERSION = 1;
  private static final int HEADER_BYTES = 18;
  private static final int FIRST_ATTEMPT = 1;

  /** How an operation names the node that is the home of its shard. */
  private static final String HOME = "";

  private final CRC32C crc = new CRC32C();
  private ByteBuffer out = ByteBuffer.allocate(1 << 16);

  /** A job of the default namespace and queue with nothing but a payload. */
  void add(long job, String type, long dueMicros, byte[] payload) {
    int frame = begin(ADD, job, payload.length + type.length() + 64);
    out.put((byte) 0).putLong(dueMicros).putLong(dueMicros).put((byte) 0);
    string(type);
    varint(1);
    out.put(payload);
    finish(frame);
  }

  /** The job's first attempt has ended it, without a result, on the home of its shard. */
  void end(long job, int state, long startedMicros, long endMicros) {
    int frame = begin(END, job, 64);
    out.put((byte) state);
    varint(FIRST_ATTEMPT);
    varint(0);
    out.putLong(endMicros);
    long before = endMicros - startedMicros;
    varint(before << 1 ^ before >> 63);
    string(HOME);
    out.put((byte) 0);
    finish(frame);
  }

  private int begin(int kind, long job, int room) {
    if (out.remaining() < room + HEADER_BYTES) {
      out = ByteBuffer.allocate(2 * out.capacity() + room).put(out.flip());
    }
    int frame = out.position();
    out.putInt(0).putInt(0).put((byte) kind).put((byte) VERSION).putLong(job);
    return frame;
  }

  private void finish(int frame) {
    int length = out.position() - frame - 4;
    crc.reset();
    crc.update(out.array(), frame + 8, length - 4);
    out.putInt(frame, length).putInt(frame + 4, (int) crc.getValue());
  }

  private void string(String text) {
    byte[] utf8 = text.getBytes(StandardCharsets.UTF_8);
    varint(utf8.length);
    out.put(utf8);
  }

  private void varint(long value) {
    long left = value;
    while (left >>> 7 != 0) {
      out.put((byte) (left | 0x80));
      left >>>= 7;
    }
    out.put((byte) left);
  }

  /** What was written since the last entry, as the data of one. */
  byte[] entry() {
    byte[] data = new byte[out.position()];
    out.flip().get(data);
    out.clear();
    return data;
  }

  /** What the owner of a drained shard leaves in its head. */
  static byte[] summary(int widthSeconds, long jobs, long bytes, long dead, long lastEndMicros) {
    ByteArrayOutputStream summary = new ByteArrayOutputStream();
    summary.write(1); // its version
    summary.write(jobs > 0 ? 1 : 0);
    for (long number : new long[] {widthSeconds, jobs, bytes, dead, 0, 0}) {
      varint(summary, number);
    }
    summary.writeBytes(ByteBuffer.allocate(Long.BYTES).putLong(lastEndMicros).array());
    varint(summary, bytes);
    varint(summary, 0);
    return summary.toByteArray();
  }

  private static void varint(ByteArrayOutputStream out, long value) {
    long left = value;
    while (left > 0x7F) {
      out.write((int) (left | 0x80));
      left >>>= 7;
    }
    out.write((int) left);
  }
}
