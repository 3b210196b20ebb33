package dev.carillon.engine.limit;

import dev.carillon.engine.format.ByteReader;
import dev.carillon.engine.format.ByteWriter;
import dev.carillon.engine.job.JobRef;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What one node has of a limit of all nodes, what it wants of it and what it says of its use. A
 * limit's record has them all:
 *
 * <pre>
 * version  byte    1
 * claims   varint, each: long incarnation, varint share, long wanted since,
 *          varint number of its question, then the job that it has cancelled and by whom, long
 *          and job, or 0,
 *          varint number of the last question answered, varint used, then the oldest, long due
 *          and job, or {@link #NOTHING}
 * </pre>
 *
 * @param wantedSince when the first was due that waits there; {@link #NOTHING} where none does
 */
public record LimitClaim(
    long incarnation, int share, long wantedSince, Question question, Answer answer) {
  static final long NOTHING = Long.MAX_VALUE;

  private static final int VERSION = 1;

  /**
   * How much do you use of it? Numbers grow, whoever asks.
   *
   * @param order what somebody is to do as well, or null
   */
  public record Question(long number, @Nullable Order order) {
    static final Question NONE = new Question(0, null);

    boolean isFor(long incarnation) {
      return order != null && order.to == incarnation;
    }
  }

  /**
   * That incarnation is to cancel the job, the oldest that it has told of: it may have another by
   * the time that it hears of it, that of the node which gave the order even.
   */
  record Order(long to, JobRef job) {}

  /** The oldest of those that use it or wait, and when it was due. */
  public record Oldest(long dueMicros, JobRef job) {}

  /**
   * So much, when the question of that number had been read or later.
   *
   * @param oldest null where there is none
   */
  public record Answer(long number, int used, @Nullable Oldest oldest) {
    static final Answer NONE = new Answer(0, 0, null);

    long oldestDue() {
      return oldest == null ? NOTHING : oldest.dueMicros;
    }
  }

  /** Nothing had or wanted: such a one is not in the record. */
  static LimitClaim none(long incarnation) {
    return new LimitClaim(incarnation, 0, NOTHING, Question.NONE, Answer.NONE);
  }

  boolean wants() {
    return wantedSince != NOTHING;
  }

  static byte[] encode(List<LimitClaim> claims) {
    ByteWriter out = new ByteWriter(4 + 48 * claims.size()).u8(VERSION).varint(claims.size());
    for (LimitClaim claim : claims) {
      out.i64(claim.incarnation).varint(claim.share).i64(claim.wantedSince);
      Order order = claim.question.order;
      out.varint(claim.question.number).i64(order == null ? 0 : order.to);
      if (order != null) {
        order.job.write(out);
      }
      out.varint(claim.answer.number).varint(claim.answer.used).i64(claim.answer.oldestDue());
      if (claim.answer.oldest != null) {
        claim.answer.oldest.job.write(out);
      }
    }
    return out.toBytes();
  }

  public static List<LimitClaim> decode(byte[] bytes) {
    ByteReader in = new ByteReader(bytes);
    in.requireVersion("limit record", VERSION);
    int size = (int) in.varint();
    List<LimitClaim> claims = new ArrayList<>();
    for (int i = 0; i < size; i++) {
      claims.add(new LimitClaim(in.i64(), (int) in.varint(), in.i64(), question(in), answer(in)));
    }
    return claims;
  }

  private static Question question(ByteReader in) {
    long number = in.varint();
    long to = in.i64();
    return new Question(number, to == 0 ? null : new Order(to, JobRef.read(in)));
  }

  private static Answer answer(ByteReader in) {
    long number = in.varint();
    int used = (int) in.varint();
    long due = in.i64();
    return new Answer(number, used, due == NOTHING ? null : new Oldest(due, JobRef.read(in)));
  }
}
