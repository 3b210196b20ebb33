package dev.carillon.store.jdbc;

import dev.carillon.store.Head;
import dev.carillon.store.Head.Status;

/**
 * A row of the listing.
 *
 * @param key the shard's number inside the database
 * @param segment where the entries of its current generation are
 * @param head what callers see of it
 */
record HeadRow(long key, long segment, Head head) {

  HeadRow claimed(long owner) {
    return with(head.epoch() + 1, owner, head.owner() != 0);
  }

  HeadRow released(byte[] summary) {
    return with(head.epoch(), 0, head.suspect()).with(head.status(), head.wakeMicros(), summary);
  }

  HeadRow sealed(byte[] summary) {
    return with(Status.SEALED, head.wakeMicros(), summary);
  }

  HeadRow waking(long wakeMicros) {
    return with(head.status(), wakeMicros, head.summary());
  }

  HeadRow published(long newSegment, long wakeMicros, byte[] summary) {
    return new HeadRow(key, newSegment, generations(head.generation() + 1, head.oldestGeneration()))
        .with(head.status(), wakeMicros, summary);
  }

  HeadRow keepingFrom(int oldest) {
    return new HeadRow(key, segment, generations(head.generation(), oldest));
  }

  private HeadRow with(long epoch, long owner, boolean suspect) {
    return new HeadRow(
        key,
        segment,
        new Head(
            head.shard(),
            epoch,
            owner,
            suspect,
            head.status(),
            head.generation(),
            head.oldestGeneration(),
            head.wakeMicros(),
            head.home(),
            head.summary()));
  }

  private HeadRow with(Status status, long wakeMicros, byte[] summary) {
    return new HeadRow(
        key,
        segment,
        new Head(
            head.shard(),
            head.epoch(),
            head.owner(),
            head.suspect(),
            status,
            head.generation(),
            head.oldestGeneration(),
            wakeMicros,
            head.home(),
            summary));
  }

  private Head generations(int generation, int oldest) {
    return new Head(
        head.shard(),
        head.epoch(),
        head.owner(),
        head.suspect(),
        head.status(),
        generation,
        oldest,
        head.wakeMicros(),
        head.home(),
        head.summary());
  }
}
