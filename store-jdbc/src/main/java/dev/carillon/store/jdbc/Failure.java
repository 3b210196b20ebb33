package dev.carillon.store.jdbc;

import java.sql.SQLException;
import org.sqlite.SQLiteException;

/** What an error of SQLite means to us. */
enum Failure {
  /** Another program has locked the file. */
  BUSY,
  /** No space on the disk, or the file may not grow. */
  FULL,
  /** The file is damaged or is not a database. */
  CORRUPT,
  /** The file or its folder cannot be written. */
  READ_ONLY,
  /** A row is there that should not be: somebody else has written to the file. */
  CONSTRAINT,
  /** The disk failed, or anything else. */
  IO;

  private static final int SQLITE_BUSY = 5;
  private static final int SQLITE_LOCKED = 6;
  private static final int SQLITE_READONLY = 8;
  private static final int SQLITE_CORRUPT = 11;
  private static final int SQLITE_FULL = 13;
  private static final int SQLITE_CANTOPEN = 14;
  private static final int SQLITE_PROTOCOL = 15;
  private static final int SQLITE_CONSTRAINT = 19;
  private static final int SQLITE_NOTADB = 26;

  static Failure of(SQLException error) {
    if (!(error instanceof SQLiteException sqlite)) {
      return IO;
    }
    int code = sqlite.getResultCode().code;
    return switch (code < 0 ? code : code & 0xff) {
      case SQLITE_BUSY, SQLITE_LOCKED, SQLITE_PROTOCOL -> BUSY;
      case SQLITE_FULL -> FULL;
      case SQLITE_CORRUPT, SQLITE_NOTADB -> CORRUPT;
      case SQLITE_READONLY, SQLITE_CANTOPEN -> READ_ONLY;
      case SQLITE_CONSTRAINT -> CONSTRAINT;
      default -> IO;
    };
  }
}
