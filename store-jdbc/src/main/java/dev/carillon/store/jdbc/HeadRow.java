package dev.carillon.store.jdbc;

import dev.carillon.store.Head;
import dev.carillon.store.Head.Status;

/**
 * A row of the listing.
 *
 * @param key the shard's number inside the database
 * @param segment where the entries of its current generation are
 * @param tail entries up to this number are there: finding fewer is damage. What came later is not
 *     known from here, since an append does not write this row
 * @param head what callers see of it
 */
record HeadRow(long key, long segment, long tail, Head head) {

  HeadRow claimed(long owner, long newTail) {
    return with(head.epoch() + 1, owner, head.owner() != 0).reaching(newTail);
  }

  HeadRow released(long newTail, byte[] summary) {
    return with(head.epoch(), 0, head.suspect())
        .with(head.status(), head.wakeMicros(), summary)
        .reaching(newTail);
  }

  HeadRow sealed(byte[] summary) {
    return with(Status.SEALED, head.wakeMicros(), summary);
  }

  HeadRow waking(long wakeMicros) {
    return with(head.status(), wakeMicros, head.summary());
  }

  HeadRow reaching(long newTail) {
    return new HeadRow(key, segment, newTail, head);
  }

  HeadRow published(Segment next, long wakeMicros, byte[] summary) {
    Head raised = generations(next.generation(), head.oldestGeneration());
    return new HeadRow(key, next.key(), next.tail(), raised)
        .with(head.status(), wakeMicros, summary);
  }

  HeadRow keepingFrom(int oldest) {
    return with(generations(head.generation(), oldest));
  }

  private HeadRow with(Head newHead) {
    return new HeadRow(key, segment, tail, newHead);
  }

  private HeadRow with(long epoch, long owner, boolean suspect) {
    return with(
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
    return with(
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
