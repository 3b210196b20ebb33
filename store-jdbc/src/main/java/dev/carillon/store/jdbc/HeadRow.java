package dev.carillon.store.jdbc;

import dev.carillon.store.Head;
import dev.carillon.store.sql.Checksum;
import dev.carillon.store.sql.StoredHead;

/**
 * A row of the listing. An append does not write it.
 *
 * @param key the shard's number inside the database
 * @param segment where the entries of its current generation are
 */
record HeadRow(long key, long segment, long tail, Head head) implements StoredHead<HeadRow> {

  @Override
  public HeadRow with(Head newHead, long newTail) {
    return new HeadRow(key, segment, newTail, newHead);
  }

  HeadRow published(Segment next, long wakeMicros, byte[] summary) {
    return new HeadRow(key, next.key(), next.tail(), head.published(wakeMicros, summary));
  }

  long crc(Checksum checksum, byte[] home) {
    checksum.begin(head.shard()).putLong(key).putLong(segment).putLong(tail);
    return checksum.end(head, home);
  }
}
