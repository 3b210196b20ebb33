package dev.carillon.store.jdbc;

import dev.carillon.api.error.StoreCorruptedException;
import dev.carillon.api.error.StoreUnavailableException;
import dev.carillon.api.error.StoreVersionException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.sql.SQLException;
import java.util.HexFormat;
import java.util.List;
import java.util.zip.CRC32C;

/**
 * The tables, their version, and whether a file has them. A file that is empty gets them; one that
 * another program made, a newer version made, or which is damaged is refused and not touched.
 */
final class Schema {

  /** The format written by this version; it reads no other yet. */
  static final int FORMAT = 1;

  /** Marks a file as ours: {@code CARI}. */
  static final int APPLICATION_ID = 0x43415249;

  private static final int INCARNATION_BYTES = 16;
  private static final List<String> LISTING = List.of("meta", "heads", "segments", "writers");

  private final Path file;
  private final SqliteOptions options;

  Schema(Path file, SqliteOptions options) {
    this.file = file;
    this.options = options;
  }

  /** Whether there is nothing in the file. */
  boolean isEmpty(Session session) throws SQLException {
    return session.number("pragma application_id") == 0
        && session.number("pragma user_version") == 0
        && session.number("select count(*) from sqlite_schema") == 0;
  }

  void install(Session session) throws SQLException {
    session.run("pragma page_size = " + options.pageBytes());
    session.run("pragma auto_vacuum = incremental");
    useWal(session);
    session.begin();
    for (String statement : Tables.SCHEMA) {
      session.run(statement);
    }
    session.run("insert into meta values ('format', '" + FORMAT + "')");
    writeIncarnation(session, newIncarnation());
    session.run("insert into meta values ('proofs', '0')");
    session.run("pragma application_id = " + APPLICATION_ID);
    session.run("pragma user_version = " + FORMAT);
    session.commit();
  }

  void useWal(Session session) throws SQLException {
    String mode = session.text("pragma journal_mode = wal");
    if (!mode.equals("wal")) {
      throw new StoreUnavailableException(
          "journal mode of " + file + ": " + mode + " (expected: wal; is it on a local disk?)");
    }
  }

  /** Refuses what is not ours, too new or damaged. */
  void check(Session session) throws SQLException {
    int application = (int) session.number("pragma application_id");
    if (application != APPLICATION_ID) {
      throw new StoreCorruptedException(
          file.toString(),
          "application id "
              + Integer.toHexString(application)
              + " is not that of Carillon: damaged, or the database of another program");
    }
    int version = (int) session.number("pragma user_version");
    if (version > FORMAT) {
      throw new StoreVersionException(file.toString(), version, FORMAT);
    }
    checkIntegrity(session);
    String format = meta(session, "format");
    if (version < 1 || !format.equals(Integer.toString(version))) {
      throw new StoreCorruptedException(
          file.toString(), "format " + format + " in the tables, " + version + " in the header");
    }
    if (!meta(session, "checksum").equals(crc(incarnation(session)))) {
      throw new StoreCorruptedException(file.toString(), "the incarnation's checksum is wrong");
    }
  }

  private void checkIntegrity(Session session) throws SQLException {
    long bytes = session.number("pragma page_count") * session.number("pragma page_size");
    if (bytes <= options.checkBytes()) {
      checkIntegrity(session, "pragma integrity_check(1)");
      return;
    }
    for (String table : LISTING) {
      checkIntegrity(session, "pragma integrity_check(" + table + ")");
    }
  }

  private void checkIntegrity(Session session, String pragma) throws SQLException {
    String answer = session.text(pragma);
    if (!answer.equals("ok")) {
      throw new StoreCorruptedException(file.toString(), answer);
    }
  }

  static String incarnation(Session session) throws SQLException {
    return meta(session, "incarnation");
  }

  private static String meta(Session session, String name) throws SQLException {
    return session.text("select value from meta where name = '" + name + "'");
  }

  /** Commits something, which shows that the file can be written. */
  static void prove(Session session) throws SQLException {
    session.begin();
    session.run("update meta set value = value + 1 where name = 'proofs'");
    session.commit();
  }

  /** Says that this copy of the data may have gone back in time. */
  static String renewIncarnation(Session session) throws SQLException {
    String incarnation = newIncarnation();
    session.begin();
    writeIncarnation(session, incarnation);
    session.commit();
    return incarnation;
  }

  private static void writeIncarnation(Session session, String incarnation) throws SQLException {
    session.run("insert or replace into meta values ('incarnation', '" + incarnation + "')");
    session.run("insert or replace into meta values ('checksum', '" + crc(incarnation) + "')");
  }

  private static String newIncarnation() {
    byte[] random = new byte[INCARNATION_BYTES];
    new SecureRandom().nextBytes(random);
    return HexFormat.of().formatHex(random);
  }

  private static String crc(String text) {
    CRC32C crc = new CRC32C();
    crc.update(text.getBytes(StandardCharsets.UTF_8));
    return Long.toHexString(crc.getValue());
  }
}
