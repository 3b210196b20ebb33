package dev.carillon.store.postgres;

import dev.carillon.store.Head;
import dev.carillon.store.ShardId;
import java.nio.ByteBuffer;
import java.util.zip.CRC32C;

/**
 * CRC32C of rows: of what a row says, not of how the database keeps it, so that a row that turns up
 * in another's place is found too. Used by one thread at a time.
 */
final class Checksum {

  private static final int FIELD_BYTES = 128;

  private final CRC32C crc = new CRC32C();
  private final ByteBuffer fields = ByteBuffer.allocate(FIELD_BYTES);

  long entry(ShardId shard, int generation, long number, long epoch, long batch, byte[] data) {
    shard(shard).putInt(generation).putLong(number).putLong(epoch).putLong(batch);
    return of(data);
  }

  long head(HeadRow row, byte[] home) {
    Head head = row.head();
    shard(head.shard())
        .putLong(row.segment())
        .putInt(row.period())
        .putLong(row.base())
        .putLong(row.tail())
        .putLong(head.epoch())
        .putLong(head.owner())
        .put((byte) (head.suspect() ? 1 : 0))
        .putInt(head.status().code())
        .putInt(head.generation())
        .putInt(head.oldestGeneration())
        .putLong(head.wakeMicros())
        .putInt(home.length);
    return of(home, head.summary());
  }

  long segment(ShardId shard, Segment segment) {
    shard(shard)
        .putLong(segment.key())
        .putInt(segment.generation())
        .putLong(segment.snapshot())
        .putInt(segment.state().code())
        .putInt(segment.period())
        .putLong(segment.first())
        .putLong(segment.last());
    return of();
  }

  long record(byte[] key, long writer, long sequence, byte[] value) {
    fields.clear().putInt(key.length).putLong(writer).putLong(sequence);
    return of(key, value);
  }

  long inbox(byte[] ticket, byte[] body) {
    fields.clear().putInt(ticket.length);
    return of(ticket, body);
  }

  long completion(ShardId shard, long job, long epoch, long nonce, byte[] outcome) {
    shard(shard).putLong(job).putLong(epoch).putLong(nonce);
    return of(outcome);
  }

  /** Of a mark that only rises: who, and how far. */
  long mark(long who, long highest) {
    fields.clear().putLong(who).putLong(highest);
    return of();
  }

  private ByteBuffer shard(ShardId shard) {
    return fields
        .clear()
        .putLong(shard.startSeconds())
        .putLong(shard.incarnation())
        .putInt(shard.sequence());
  }

  private long of(byte[]... parts) {
    crc.reset();
    crc.update(fields.array(), 0, fields.position());
    for (byte[] part : parts) {
      crc.update(part, 0, part.length);
    }
    return crc.getValue();
  }
}
