package dev.carillon.store.postgres;

import dev.carillon.store.Head;
import dev.carillon.store.sql.Checksum;
import dev.carillon.store.sql.StoredHead;

/**
 * A row of the listing. An append locks it and does not change it.
 *
 * @param segment the segment that takes appends
 * @param period the table of that segment
 * @param base the last number before that segment
 */
record HeadRow(Head head, long segment, int period, long base, long tail)
    implements StoredHead<HeadRow> {

  @Override
  public HeadRow with(Head newHead, long newTail) {
    return new HeadRow(newHead, segment, period, base, newTail);
  }

  /** Appends go to {@code next} from now on, which continues the same generation. */
  HeadRow rolled(Segment next) {
    return new HeadRow(head, next.key(), next.period(), next.first() - 1, next.first() - 1);
  }

  HeadRow published(Segment next, long count, long wakeMicros, byte[] summary) {
    return new HeadRow(head.published(wakeMicros, summary), next.key(), next.period(), 0, count);
  }

  long crc(Checksum checksum, byte[] home) {
    checksum.begin(head.shard()).putLong(segment).putInt(period).putLong(base).putLong(tail);
    return checksum.end(head, home);
  }
}
