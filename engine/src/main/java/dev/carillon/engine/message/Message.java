package dev.carillon.engine.message;

import dev.carillon.engine.environment.AttemptOutcome;
import dev.carillon.engine.format.ByteReader;
import dev.carillon.engine.format.ByteWriter;
import dev.carillon.engine.format.UnknownFormatException;
import dev.carillon.engine.job.HistoryEntry;
import dev.carillon.engine.job.Report;
import dev.carillon.engine.job.WorkflowTurn;
import dev.carillon.store.Outcome;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What lenders and borrowers of attempts say to each other, clients and members, those who have a
 * limit together, and those who ask what others have in memory.
 *
 * <pre>
 * version  byte  1
 * kind     byte
 * …        by kind
 * </pre>
 */
public sealed interface Message {
  int VERSION = 1;

  /**
   * The lender's: run this.
   *
   * @param era of the lender, by its heartbeat
   * @param borrowerEra of the borrower, by the heartbeat of it that the lender has seen
   */
  record Lend(long era, long borrowerEra, Loan loan) implements Message {}

  /** The lender's: this is not to go on. */
  record Recall(long nonce, Why why) implements Message {

    /** What is to become of it. */
    public enum Why {
      /** It is asked to save and return. */
      PAUSE(0),
      /** Its job is cancelled. */
      CANCEL(1),
      /** Its owner cannot keep it: it is interrupted, and its failure is none. */
      BACK(2);

      private final int code;

      Why(int code) {
        this.code = code;
      }

      private static Why of(int code) {
        return switch (code) {
          case 0 -> PAUSE;
          case 1 -> CANCEL;
          case 2 -> BACK;
          default -> throw new UnknownFormatException("recall: " + code + " (expected: 0 to 2)");
        };
      }
    }
  }

  /** The lender's: of these it has not heard for long, and would like to if they are not there. */
  record Check(List<Long> nonces) implements Message {}

  /** The borrower's: so many of yours I would have at once. */
  record Window(int most) implements Message {}

  /**
   * The borrower's: so it went. Its handler has returned, or will not be called.
   *
   * @param startedMicros when the handler was called; 0 where it was not
   * @param endedMicros when it returned; 0 where that is not known
   * @param completes whether a transaction may complete it
   * @param policy by which the handler's node judges a failure
   */
  @SuppressWarnings("ArrayRecordComponent") // bytes are handed over, never compared or copied
  record Done(
      long nonce,
      long startedMicros,
      long endedMicros,
      boolean completes,
      byte[] policy,
      AttemptOutcome outcome)
      implements Message {}

  /**
   * The borrower's: its time is over, though its handler has not returned.
   *
   * @param verdict what follows a timeout; null where it was the job's deadline
   */
  @SuppressWarnings("ArrayRecordComponent") // bytes are handed over, never compared or copied
  record OutOfTime(
      long nonce,
      long startedMicros,
      boolean completes,
      byte[] policy,
      AttemptOutcome.@Nullable Verdict verdict)
      implements Message {}

  /** The borrower's: its handler's resume position. The handler waits. */
  @SuppressWarnings("ArrayRecordComponent") // bytes are handed over, never compared or copied
  record Save(long nonce, byte[] state) implements Message {}

  /** The lender's: what became of that. */
  record Saved(long nonce, Outcome<Boolean> outcome) implements Message {}

  /** The borrower's: so its handler reports of the job. */
  record Reported(long nonce, Report report) implements Message {}

  /** The borrower's: the code of a workflow did this. It waits. */
  record Turn(long nonce, WorkflowTurn turn) implements Message {}

  /** The lender's: what became of that; the entries were told before. */
  record Turned(long nonce, Outcome<Boolean> outcome) implements Message {}

  /** The lender's: the history of the workflow has an entry more, its {@code count}th. */
  record Recorded(long nonce, int count, HistoryEntry entry) implements Message {}

  /** The borrower's: the handler knows that it is to stop or to save and return. */
  record Recalled(long nonce) implements Message {}

  /** The lender's: it had taken the borrower for dead and deleted its permit. */
  record Revoked() implements Message {}

  /** The borrower's: a slot waits for one whose start is to be written down first. */
  record Ready(long nonce) implements Message {}

  /** The lender's: it is written down, call the handler. */
  record Go(long nonce) implements Message {}

  /** The borrower's: it has run for so long that it does not kill its node. */
  record Lasted(long nonce) implements Message {}

  /** A client's: do this for me. */
  @SuppressWarnings("ArrayRecordComponent") // bytes are handed over, never compared or copied
  record Errand(long number, byte[] asked) implements Message {}

  /** What came of it. */
  @SuppressWarnings("ArrayRecordComponent") // bytes are handed over, never compared or copied
  record ErrandDone(long number, byte[] answer) implements Message {}

  /** Look at the record of that limit: it says something of you, or for you. */
  record Look(String record) implements Message {}

  /** Owners and gateways of workers speak in a form of their own. */
  @SuppressWarnings("ArrayRecordComponent") // bytes are handed over, never compared or copied
  record OfWorker(byte[] word) implements Message {}

  /** Tell me what you have in memory. */
  record Asked(long number, Question question) implements Message {}

  /** What there is. */
  @SuppressWarnings("ArrayRecordComponent") // bytes are handed over, never compared or copied
  record Told(long number, byte[] answer) implements Message {}

  static byte[] encode(Message message) {
    ByteWriter out = new ByteWriter(256).u8(VERSION);
    switch (message) {
      case Lend(long era, long borrowerEra, Loan loan) ->
          loan.write(out.u8(1).varint(era).varint(borrowerEra));
      case Recall(long nonce, Recall.Why why) -> out.u8(2).i64(nonce).u8(why.code);
      case Check(List<Long> nonces) -> {
        out.u8(14).varint(nonces.size());
        nonces.forEach(out::i64);
      }
      case Window(int most) -> out.u8(3).varint(most);
      case Done done -> {
        out.u8(4).i64(done.nonce()).i64(done.startedMicros()).i64(done.endedMicros());
        out.u8(done.completes() ? 1 : 0);
        OutcomeFormat.write(done.outcome(), out.bytes(done.policy()));
      }
      case OutOfTime late -> {
        out.u8(5).i64(late.nonce()).i64(late.startedMicros()).u8(late.completes() ? 1 : 0);
        out.bytes(late.policy());
        if (late.verdict() != null) {
          OutcomeFormat.write(late.verdict(), out.u8(1));
        } else {
          out.u8(0);
        }
      }
      case Save(long nonce, byte[] state) -> out.u8(6).i64(nonce).bytes(state);
      case Saved(long nonce, Outcome<Boolean> outcome) -> out.u8(7).i64(nonce).raw(encode(outcome));
      case Turn(long nonce, WorkflowTurn turn) -> TurnFormat.write(turn, out.u8(19).i64(nonce));
      case Recalled(long nonce) -> out.u8(22).i64(nonce);
      case Turned(long nonce, Outcome<Boolean> outcome) ->
          out.u8(20).i64(nonce).raw(encode(outcome));
      case Recorded(long nonce, int count, HistoryEntry entry) ->
          entry.write(out.u8(21).i64(nonce).varint(count));
      case Revoked revoked -> out.u8(8);
      case Ready(long nonce) -> out.u8(9).i64(nonce);
      case Go(long nonce) -> out.u8(10).i64(nonce);
      case Lasted(long nonce) -> out.u8(11).i64(nonce);
      case Errand(long number, byte[] asked) -> out.u8(12).varint(number).bytes(asked);
      case ErrandDone(long number, byte[] answer) -> out.u8(13).varint(number).bytes(answer);
      case Look(String record) -> out.u8(15).string(record);
      case Asked(long number, Question question) ->
          Question.write(question, out.u8(16).varint(number));
      case Told(long number, byte[] answer) -> out.u8(17).varint(number).bytes(answer);
      case OfWorker(byte[] word) -> out.u8(23).raw(word);
      case Reported(long nonce, Report report) -> report.write(out.u8(18).i64(nonce));
    }
    return out.toBytes();
  }

  static Message decode(byte[] bytes) {
    ByteReader in = new ByteReader(bytes);
    in.requireVersion("message", VERSION);
    int kind = in.u8();
    return switch (kind) {
      case 1 -> new Lend(in.varint(), in.varint(), Loan.read(in));
      case 2 -> new Recall(in.i64(), Recall.Why.of(in.u8()));
      case 3 -> new Window((int) in.varint());
      case 4 ->
          new Done(in.i64(), in.i64(), in.i64(), in.u8() == 1, in.bytes(), OutcomeFormat.read(in));
      case 5 ->
          new OutOfTime(
              in.i64(),
              in.i64(),
              in.u8() == 1,
              in.bytes(),
              in.u8() == 1 ? OutcomeFormat.readVerdict(in) : null);
      case 6 -> new Save(in.i64(), in.bytes());
      case 7 -> new Saved(in.i64(), readAnswer(in));
      case 8 -> new Revoked();
      case 9 -> new Ready(in.i64());
      case 10 -> new Go(in.i64());
      case 11 -> new Lasted(in.i64());
      case 12 -> new Errand(in.varint(), in.bytes());
      case 13 -> new ErrandDone(in.varint(), in.bytes());
      case 14 -> {
        List<Long> nonces = new ArrayList<>();
        for (long left = in.varint(); left > 0; left--) {
          nonces.add(in.i64());
        }
        yield new Check(nonces);
      }
      case 15 -> new Look(in.string());
      case 16 -> new Asked(in.varint(), Question.read(in));
      case 17 -> new Told(in.varint(), in.bytes());
      case 18 -> new Reported(in.i64(), Report.read(in));
      case 19 -> new Turn(in.i64(), TurnFormat.read(in));
      case 20 -> new Turned(in.i64(), readAnswer(in));
      case 21 -> new Recorded(in.i64(), (int) in.varint(), HistoryEntry.read(in));
      case 22 -> new Recalled(in.i64());
      case 23 -> new OfWorker(in.rest());
      default -> throw new UnknownFormatException("message: kind " + kind + " (expected: 1 to 23)");
    };
  }

  private static byte[] encode(Outcome<Boolean> outcome) {
    return RemoteRequestFormat.encode(outcome.map(yes -> new byte[] {(byte) (yes ? 1 : 0)}));
  }

  private static Outcome<Boolean> readAnswer(ByteReader in) {
    return RemoteRequestFormat.decodeAnswer(in).map(answer -> answer[0] == 1);
  }
}
