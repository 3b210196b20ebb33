package dev.carillon.store.postgres;

import dev.carillon.store.Head;
import dev.carillon.store.Head.Status;

/**
 * A row of the listing. An append locks it and does not change it.
 *
 * @param head what callers see of it
 * @param segment the segment that takes appends
 * @param period the table of that segment
 * @param base the last number before that segment
 * @param tail entries up to this number are there: finding fewer is damage. What came later is not
 *     known from here
 */
record HeadRow(Head head, long segment, int period, long base, long tail) {

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
    return new HeadRow(head, segment, period, base, newTail);
  }

  /** Appends go to {@code next} from now on, which continues the same generation. */
  HeadRow rolled(Segment next) {
    return new HeadRow(head, next.key(), next.period(), next.first() - 1, next.first() - 1);
  }

  HeadRow published(Segment next, long count, long wakeMicros, byte[] summary) {
    Head raised = generations(next.generation(), head.oldestGeneration());
    return new HeadRow(raised, next.key(), next.period(), 0, count)
        .with(head.status(), wakeMicros, summary);
  }

  HeadRow keepingFrom(int oldest) {
    return with(generations(head.generation(), oldest));
  }

  private HeadRow with(Head newHead) {
    return new HeadRow(newHead, segment, period, base, tail);
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
