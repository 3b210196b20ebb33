package dev.carillon.store.jdbc;

import dev.carillon.api.error.StoreCorruptedException;
import dev.carillon.api.error.StoreUnavailableException;
import java.io.BufferedInputStream;
import java.io.DataInputStream;
import java.io.EOFException;
import java.io.File;
import java.io.FileInputStream;
import java.io.IOException;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * Tells a write-ahead log that was cut short from one that was damaged. SQLite takes both alike: it
 * reads up to the first frame whose checksum is wrong and forgets the rest. After a crash that is
 * right, since only the last transaction can be incomplete, every other was synced before it. If
 * more than one transaction ends behind the wrong frame, acknowledged ones would be lost.
 *
 * <p>The format is <a href="https://www.sqlite.org/fileformat2.html#walformat">documented</a>.
 */
final class WalCheck {

  private static final int HEADER_BYTES = 32;
  private static final int FRAME_HEADER_BYTES = 24;
  private static final int CHECKED_FRAME_BYTES = 8;
  private static final int MAGIC = 0x377f0682;
  private static final int MIN_PAGE_BYTES = 512;
  private static final int MAX_PAGE_BYTES = 64 << 10;
  private static final int BUFFER_BYTES = 256 << 10;

  private static final VarHandle BIG =
      MethodHandles.byteArrayViewVarHandle(int[].class, ByteOrder.BIG_ENDIAN);
  private static final VarHandle LITTLE =
      MethodHandles.byteArrayViewVarHandle(int[].class, ByteOrder.LITTLE_ENDIAN);

  private final Path wal;
  private final byte[] header = new byte[HEADER_BYTES];
  private VarHandle words = LITTLE;
  private int sum1;
  private int sum2;

  private WalCheck(Path wal) {
    this.wal = wal;
  }

  /**
   * Checks the log of a database that nobody has open.
   *
   * @throws StoreCorruptedException if transactions would be lost
   */
  static void check(Path database) {
    Path wal = Sidecar.WAL.of(database);
    if (!Files.exists(wal)) {
      return;
    }
    try (DataInputStream in = new DataInputStream(new FileInputStream(wal.toFile()))) {
      new WalCheck(wal).check(in);
    } catch (IOException e) {
      throw new StoreUnavailableException("store: cannot read " + wal + ": " + e.getMessage(), e);
    }
  }

  /** The same where another process may be writing: what changes meanwhile says nothing. */
  static void checkIfUnchanged(Path database) {
    File wal = Sidecar.WAL.of(database).toFile();
    long length = wal.length();
    long modified = wal.lastModified();
    try {
      check(database);
    } catch (StoreCorruptedException e) {
      if (wal.length() == length && wal.lastModified() == modified) {
        throw e;
      }
    }
  }

  private void check(DataInputStream file) throws IOException {
    DataInputStream in = new DataInputStream(new BufferedInputStream(file, BUFFER_BYTES));
    if (in.readNBytes(header, 0, HEADER_BYTES) < HEADER_BYTES || isZero(header)) {
      return;
    }
    ByteBuffer fields = ByteBuffer.wrap(header);
    int magic = fields.getInt(0);
    int pageBytes = fields.getInt(8);
    words = (magic & 1) == 1 ? BIG : LITTLE;
    add(header, HEADER_BYTES - 8);
    if ((magic & ~1) != MAGIC
        || pageBytes < MIN_PAGE_BYTES
        || pageBytes > MAX_PAGE_BYTES
        || sum1 != fields.getInt(24)
        || sum2 != fields.getInt(28)) {
      throw new StoreCorruptedException(wal.toString(), "the header's checksum is wrong");
    }
    checkFrames(in, pageBytes, fields.getLong(16));
  }

  private void checkFrames(DataInputStream in, int pageBytes, long salt) throws IOException {
    byte[] frame = new byte[FRAME_HEADER_BYTES];
    byte[] page = new byte[pageBytes];
    ByteBuffer fields = ByteBuffer.wrap(frame);
    long number = 0;
    long wrong = 0;
    int endsBehind = 0;
    while (readFrame(in, frame, page)) {
      number++;
      boolean salted = fields.getLong(8) == salt;
      if (wrong == 0) {
        add(frame, CHECKED_FRAME_BYTES);
        add(page, pageBytes);
        if (!salted || sum1 != fields.getInt(16) || sum2 != fields.getInt(20)) {
          wrong = number;
        }
      }
      if (wrong != 0 && salted && fields.getInt(4) != 0) {
        endsBehind++;
      }
    }
    if (endsBehind > 1) {
      throw new StoreCorruptedException(
          wal + ", frame " + wrong,
          "wrong checksum, with " + endsBehind + " transactions in it or behind it");
    }
  }

  private static boolean readFrame(DataInputStream in, byte[] frame, byte[] page)
      throws IOException {
    try {
      in.readFully(frame);
      in.readFully(page);
      return true;
    } catch (EOFException e) {
      return false;
    }
  }

  private void add(byte[] bytes, int length) {
    int a = sum1;
    int b = sum2;
    for (int i = 0; i < length; i += 8) {
      a += (int) words.get(bytes, i) + b;
      b += (int) words.get(bytes, i + 4) + a;
    }
    sum1 = a;
    sum2 = b;
  }

  private static boolean isZero(byte[] bytes) {
    for (byte b : bytes) {
      if (b != 0) {
        return false;
      }
    }
    return true;
  }
}
