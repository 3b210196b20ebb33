package dev.carillon.store.postgres;

import java.net.UnknownHostException;
import java.sql.SQLException;
import org.jspecify.annotations.Nullable;

/** What an error of PostgreSQL, or of the way to it, means to us. */
enum Failure {
  /** Undone by the server in favour of another transaction; worth an immediate second try. */
  CONTENTION,
  /** A table is not there: its period was dropped meanwhile. */
  NO_TABLE,
  /** A statement found that it must not be done, and undid itself. */
  UNDONE,
  /** No space on the server's disk. */
  FULL,
  /** The server found its files damaged. */
  CORRUPT,
  /** It took too long. */
  TIMEOUT,
  /** Any other refusal by the server: what was asked for was not done. */
  REFUSED,
  /** The way to the server, or the server itself, broke. */
  LOST;

  /** Raised on purpose: see {@link AppendGroup}. */
  private static final String DIVISION_BY_ZERO = "22012";

  private static final String COMPLETION_UNKNOWN = "40003";

  /** The state of {@link #NO_TABLE}. */
  static final String NO_TABLE_STATE = "42P01";

  private static final String DISK_FULL = "53100";
  private static final String QUERY_CANCELED = "57014";
  private static final String DATA_CORRUPTED = "XX001";
  private static final String INDEX_CORRUPTED = "XX002";

  static Failure of(SQLException error) {
    String state = error.getSQLState();
    if (state == null || state.length() != 5) {
      return LOST;
    }
    return switch (state) {
      case DIVISION_BY_ZERO -> UNDONE;
      case NO_TABLE_STATE -> NO_TABLE;
      case DISK_FULL -> FULL;
      case QUERY_CANCELED -> TIMEOUT;
      case COMPLETION_UNKNOWN -> LOST;
      case DATA_CORRUPTED, INDEX_CORRUPTED -> CORRUPT;
      default -> ofClass(state.substring(0, 2));
    };
  }

  /** Classes that are not named here may have struck after the commit. */
  private static Failure ofClass(String sqlClass) {
    return switch (sqlClass) {
      case "40" -> CONTENTION;
      case "0A", "22", "23", "25", "26", "28", "3D", "3F", "42", "53", "54", "55" -> REFUSED;
      default -> LOST;
    };
  }

  /**
   * Whether the transaction it ended is certainly undone, although it may have been asked to
   * commit.
   */
  boolean isDefinite() {
    return switch (this) {
      case CONTENTION, NO_TABLE, UNDONE, FULL, REFUSED -> true;
      case CORRUPT, TIMEOUT, LOST -> false;
    };
  }

  /** Whether there is no host of the name that was asked for. */
  static boolean isOfUnknownHost(SQLException error) {
    for (Throwable cause = error; cause != null; cause = cause.getCause()) {
      if (cause instanceof UnknownHostException) {
        return true;
      }
    }
    return false;
  }

  /** What went wrong, in one line. */
  static String text(SQLException error) {
    String state = error.getSQLState();
    return message(error.getMessage()) + (state == null ? "" : " (SQLSTATE " + state + ")");
  }

  private static String message(@Nullable String message) {
    return message == null ? "no message" : message.strip().replaceAll("\\s+", " ");
  }
}
