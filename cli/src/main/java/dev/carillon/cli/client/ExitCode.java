package dev.carillon.cli.client;

/** How a command ended, for scripts. The numbers never change. */
public enum ExitCode {
  /** Done. */
  DONE(0, "done"),
  /** It failed in a way that has no number of its own, or parts were left out. */
  FAILED(1, "failed, or a part is missing; the error stream says what"),
  /** The command or a value in it is wrong; nothing was done. */
  USAGE(2, "wrong usage or a wrong value; nothing was done"),
  /** There is no such thing. */
  NOT_FOUND(3, "there is no such job, schedule, node or token"),
  /** It does not fit what is there. */
  CONFLICT(4, "it does not fit the state of the job, or the name is taken; nothing was done"),
  /** The caller may not. */
  DENIED(5, "the token is missing, unknown or may not do that"),
  /** The server or its store is away or has too much to do. */
  AWAY(6, "server or store cannot be reached or is overloaded; nothing was done, come back"),
  /** It may or may not have been done. */
  UNKNOWN(7, "it may or may not have been done; the message says how to ask again"),
  /** The job has not ended in the time given. */
  NOT_YET(8, "the job has not ended yet"),
  /** The job ended in another way than by success. */
  JOB_FAILED(9, "the job ended, but did not succeed");

  private final int code;
  private final String words;

  ExitCode(int code, String words) {
    this.code = code;
    this.words = words;
  }

  /** The number. */
  public int code() {
    return code;
  }

  /** What it means. */
  public String words() {
    return words;
  }

  /** That of an answer which is a problem. */
  public static ExitCode of(int status, String type) {
    return switch (type) {
      case "urn:carillon:problem:job-failed" -> JOB_FAILED;
      case "urn:carillon:problem:unknown-outcome" -> UNKNOWN;
      case "urn:carillon:problem:store-damaged" -> FAILED;
      default ->
          switch (status) {
            case 401, 403 -> DENIED;
            case 404 -> NOT_FOUND;
            case 409, 412 -> CONFLICT;
            case 408, 429, 502, 503 -> AWAY;
            case 504 -> UNKNOWN;
            default -> status >= 400 && status < 500 ? USAGE : FAILED;
          };
    };
  }
}
