package dev.carillon.engine;

import java.util.ArrayList;
import java.util.List;

/**
 * What one node has of a limit of all nodes, what it wants of it and what it says of its use. A
 * limit's record has them all:
 *
 * <pre>
 * version  byte    1
 * stakes   varint, each: long incarnation, varint share, long wanted since,
 *          varint number of its question, long whose oldest it has cancelled or 0,
 *          varint number of the last question answered, varint used, long oldest due
 * </pre>
 *
 * @param wantedSince when the first was due that waits there; {@link #NOTHING} where none does
 */
record Stake(long incarnation, int share, long wantedSince, Question question, Answer answer) {
  static final long NOTHING = Long.MAX_VALUE;

  private static final int VERSION = 1;

  /**
   * How much do you use of it? Numbers grow, whoever asks.
   *
   * @param cancels the incarnation that is also to cancel the oldest of those that use it; 0 for
   *     none
   */
  record Question(long number, long cancels) {
    static final Question NONE = new Question(0, 0);

    boolean isOrder() {
      return cancels != 0;
    }
  }

  /**
   * So much, when the question of that number had been read or later.
   *
   * @param oldest when the oldest was due of those that use it or wait there
   */
  record Answer(long number, int used, long oldest) {
    static final Answer NONE = new Answer(0, 0, NOTHING);
  }

  /** Nothing had or wanted: such a one is not in the record. */
  static Stake none(long incarnation) {
    return new Stake(incarnation, 0, NOTHING, Question.NONE, Answer.NONE);
  }

  boolean wants() {
    return wantedSince != NOTHING;
  }

  static byte[] encode(List<Stake> stakes) {
    ByteWriter out = new ByteWriter(4 + 48 * stakes.size()).u8(VERSION).varint(stakes.size());
    for (Stake stake : stakes) {
      out.i64(stake.incarnation).varint(stake.share).i64(stake.wantedSince);
      out.varint(stake.question.number).i64(stake.question.cancels);
      out.varint(stake.answer.number).varint(stake.answer.used).i64(stake.answer.oldest);
    }
    return out.toBytes();
  }

  static List<Stake> decode(byte[] bytes) {
    ByteReader in = new ByteReader(bytes, 0, bytes.length);
    int version = in.u8();
    if (version != VERSION) {
      throw new UnknownFormatException("limit record: version " + version + " (expected: 1)");
    }
    int size = (int) in.varint();
    List<Stake> stakes = new ArrayList<>();
    for (int i = 0; i < size; i++) {
      stakes.add(
          new Stake(
              in.i64(),
              (int) in.varint(),
              in.i64(),
              new Question(in.varint(), in.i64()),
              new Answer(in.varint(), (int) in.varint(), in.i64())));
    }
    return stakes;
  }
}
