package dev.carillon.store.sql;

import dev.carillon.store.Head;
import dev.carillon.store.ShardId;
import java.nio.ByteBuffer;
import java.util.zip.CRC32C;

/**
 * CRC32C of rows: of what a row says, not of how the database keeps it, so that a row that turns up
 * in another's place is found too. Used by one thread at a time.
 *
 * <p>A caller puts the fields of fixed size of a row into {@link #begin()} and hands the others to
 * {@link #end}.
 */
public final class Checksum {

  private static final int FIELD_BYTES = 128;

  private final CRC32C crc = new CRC32C();
  private final ByteBuffer fields = ByteBuffer.allocate(FIELD_BYTES);

  /** Begins a row. */
  public ByteBuffer begin() {
    return fields.clear();
  }

  /** Begins a row of a shard. */
  public ByteBuffer begin(ShardId shard) {
    return begin()
        .putLong(shard.startSeconds())
        .putLong(shard.incarnation())
        .putInt(shard.sequence());
  }

  /** The checksum of the row that was begun, with the parts of it whose size varies. */
  public long end(byte[]... parts) {
    crc.reset();
    crc.update(fields.array(), 0, fields.position());
    for (byte[] part : parts) {
      crc.update(part, 0, part.length);
    }
    return crc.getValue();
  }

  /** The checksum of a row of a head; {@link #begin(ShardId)} came before and the own fields. */
  public long end(Head head, byte[] home) {
    fields
        .putLong(head.epoch())
        .putLong(head.owner())
        .put((byte) (head.suspect() ? 1 : 0))
        .putInt(head.status().code())
        .putInt(head.generation())
        .putInt(head.oldestGeneration())
        .putLong(head.wakeMicros())
        .putInt(home.length);
    return end(home, head.summary());
  }

  /** Of an entry. */
  public long entry(
      ShardId shard, int generation, long number, long epoch, long batch, byte[] data) {
    begin(shard).putInt(generation).putLong(number).putLong(epoch).putLong(batch);
    return end(data);
  }

  /** Of a record. */
  public long record(byte[] key, long writer, long sequence, byte[] value) {
    begin().putInt(key.length).putLong(writer).putLong(sequence);
    return end(key, value);
  }
}
