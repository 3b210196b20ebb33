package dev.carillon.engine.message;

import dev.carillon.api.JobError;
import dev.carillon.engine.environment.AttemptOutcome;
import dev.carillon.engine.fold.OperationBody;
import dev.carillon.engine.format.ByteReader;
import dev.carillon.engine.format.ByteWriter;
import dev.carillon.engine.format.UnknownFormatException;
import dev.carillon.engine.job.HistoryEntry;
import dev.carillon.engine.job.WorkflowTurn;
import dev.carillon.engine.job.WorkflowWait;
import java.util.List;

/** How an attempt went, as nodes tell each other: a byte for the kind, then what it has. */
public final class OutcomeFormat {
  private OutcomeFormat() {}

  public static void write(AttemptOutcome outcome, ByteWriter out) {
    switch (outcome) {
      case AttemptOutcome.Succeeded(byte[] result) -> out.u8(1).bytes(result);
      case AttemptOutcome.Failed(JobError error, AttemptOutcome.Verdict verdict) -> {
        OperationBody.writeError(out.u8(2), error);
        write(verdict, out);
      }
      case AttemptOutcome.Again(long due, String note) -> out.u8(3).i64(due).string(note);
      case AttemptOutcome.Undecodable(JobError error) -> OperationBody.writeError(out.u8(4), error);
      case AttemptOutcome.TooEarly early -> out.u8(5);
      case AttemptOutcome.TooLate late -> out.u8(6);
      case AttemptOutcome.Interrupted interrupted -> out.u8(7);
      case AttemptOutcome.WorkerLost lost -> out.u8(7); // its owner finds that out
      case AttemptOutcome.Waiting(WorkflowTurn turn, WorkflowWait wait) -> {
        TurnFormat.write(turn, out.u8(8));
        wait.write(out);
      }
      case AttemptOutcome.WorkflowFailed failed -> {
        TurnFormat.write(failed.turn(), out.u8(9));
        OperationBody.writeError(out, failed.error());
        write(failed.verdict(), out);
        out.u8(failed.compensations() ? 1 : 0);
      }
      case AttemptOutcome.Diverged(JobError error) -> OperationBody.writeError(out.u8(10), error);
      case AttemptOutcome.Compensated(JobError failure) -> {
        out.u8(11).u8(failure != null ? 1 : 0);
        if (failure != null) {
          OperationBody.writeError(out, failure);
        }
      }
      case AttemptOutcome.Renewed renewed ->
          out.u8(12)
              .bytes(renewed.input())
              .varint(renewed.typeVersion())
              .varint(renewed.seen())
              .raw(HistoryEntry.encode(renewed.unread()));
    }
  }

  private static AttemptOutcome.Renewed readRenewed(ByteReader in) {
    byte[] input = in.bytes();
    int version = (int) in.varint();
    int seen = (int) in.varint();
    List<HistoryEntry.Signalled> unread =
        HistoryEntry.decode(in).stream().map(HistoryEntry.Signalled.class::cast).toList();
    return new AttemptOutcome.Renewed(input, version, unread, seen);
  }

  public static AttemptOutcome read(ByteReader in) {
    int kind = in.u8();
    return switch (kind) {
      case 1 -> new AttemptOutcome.Succeeded(in.bytes());
      case 2 -> new AttemptOutcome.Failed(OperationBody.readError(in), readVerdict(in));
      case 3 -> new AttemptOutcome.Again(in.i64(), in.string());
      case 4 -> new AttemptOutcome.Undecodable(OperationBody.readError(in));
      case 5 -> new AttemptOutcome.TooEarly();
      case 6 -> new AttemptOutcome.TooLate();
      case 7 -> new AttemptOutcome.Interrupted();
      case 8 -> new AttemptOutcome.Waiting(TurnFormat.read(in), WorkflowWait.read(in));
      case 9 ->
          new AttemptOutcome.WorkflowFailed(
              TurnFormat.read(in), OperationBody.readError(in), readVerdict(in), in.u8() == 1);
      case 10 -> new AttemptOutcome.Diverged(OperationBody.readError(in));
      case 11 -> new AttemptOutcome.Compensated(in.u8() == 1 ? OperationBody.readError(in) : null);
      case 12 -> readRenewed(in);
      default -> throw new UnknownFormatException("outcome: " + kind + " (expected: 1 to 12)");
    };
  }

  static void write(AttemptOutcome.Verdict verdict, ByteWriter out) {
    switch (verdict) {
      case AttemptOutcome.Verdict.ByPolicy byPolicy -> out.u8(1);
      case AttemptOutcome.Verdict.NotRetryable never -> out.u8(2);
      case AttemptOutcome.Verdict.RetryAt(long micros) -> out.u8(3).i64(micros);
      case AttemptOutcome.Verdict.GiveUp never -> out.u8(4);
      case AttemptOutcome.Verdict.ByPolicyFrom(long micros) -> out.u8(5).i64(micros);
      case AttemptOutcome.Verdict.KillsWorkers never -> out.u8(6);
    }
  }

  static AttemptOutcome.Verdict readVerdict(ByteReader in) {
    int kind = in.u8();
    return switch (kind) {
      case 1 -> new AttemptOutcome.Verdict.ByPolicy();
      case 2 -> new AttemptOutcome.Verdict.NotRetryable();
      case 3 -> new AttemptOutcome.Verdict.RetryAt(in.i64());
      case 4 -> new AttemptOutcome.Verdict.GiveUp();
      case 5 -> new AttemptOutcome.Verdict.ByPolicyFrom(in.i64());
      case 6 -> new AttemptOutcome.Verdict.KillsWorkers();
      default -> throw new UnknownFormatException("verdict: " + kind + " (expected: 1 to 6)");
    };
  }
}
