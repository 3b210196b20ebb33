package dev.carillon.engine.format;

import dev.carillon.engine.history.Footer;
import dev.carillon.engine.job.JobSpec;

/** The kinds of operations. Codes are persisted; 0 is reserved and none is ever used again. */
public enum Kind {
  /** A job enters the shard: {@link JobSpec}. */
  ADD(1),
  /** An attempt is about to start; written only where a crash must be noticed. */
  START(2),
  /** A handler keeps its resume position. */
  SAVE(3),
  /** An attempt failed and there will be another. */
  RETRY(4),
  /** The job's input and times are exchanged; its attempts start anew. */
  REPLACE(5),
  /** A running job is asked to stop. */
  CANCEL(6),
  /** The job has ended. */
  END(7),
  /** The job's start markers no longer count: its attempt outlived its time alone. */
  CLEAR(8),
  /** The whole state of a job, as a compaction found it. */
  STATE(9),
  /** A recurring job moves on to its next time, or has an occurrence as a job of its own. */
  NEXT(10),
  /** An attempt asked to be made again later; it does not count. */
  AGAIN(11),
  /** The job does not start until it is resumed. */
  PAUSE(12),
  /** The job goes on. */
  RESUME(13),
  /** The job's time, priority or schedule is another. */
  CHANGE(14),
  /** A dead letter is to be tried again. */
  REPLAY(15),
  /** A dead letter is no longer kept. */
  DISCARD(16),
  /** Another job waits for the end of this one. */
  WAITER(17),
  /** A job that this one waits for has ended. */
  MET(18),
  /** A job that waited for the end of this one knows of it. */
  TOLD(19),
  /**
   * A payload that several jobs of a compacted generation share: its bytes. Of no job; its number
   * is the one they name it by.
   */
  PAYLOAD(20),
  /** A recurring job was declared again: what differs is exchanged, and it goes on. */
  UPDATE(21),
  /** The code of a workflow has made entries of its event history. */
  CHECKPOINT(22),
  /** A workflow waits and holds no slot. */
  WAIT(23),
  /** A signal reaches a workflow. */
  SIGNAL(24),
  /** A child of a workflow, of whatever shard, has ended. */
  CHILD_ENDED(25),
  /** Entries of a workflow's event history, as a compaction found them. */
  HISTORY(26),
  /** A workflow goes on from its beginning, with another input. */
  RENEW(27),
  /** What a handler or a workflow reports of its job: progress, or a published value. */
  REPORT(28),
  /** What a workflow that is replayed remembers; its history follows. */
  RESTORED(29),
  /** A worker runs the attempt, and may go on with it when the shard has another owner. */
  LEASE(31),
  /** What a packed generation says of itself behind its blocks; of no job: {@link Footer}. */
  FOOTER(32);

  private static final Kind[] BY_CODE = new Kind[33];

  static {
    for (Kind kind : values()) {
      BY_CODE[kind.code] = kind;
    }
  }

  private final int code;

  Kind(int code) {
    this.code = code;
  }

  int code() {
    return code;
  }

  static Kind of(int code, int version) {
    Kind kind = code < BY_CODE.length ? BY_CODE[code] : null;
    if (kind == null || version != Frame.VERSION) {
      throw new UnknownFormatException(
          "operation: kind "
              + code
              + " version "
              + version
              + " (expected: one this version reads)");
    }
    return kind;
  }
}
