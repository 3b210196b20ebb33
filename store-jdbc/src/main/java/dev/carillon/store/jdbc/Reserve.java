package dev.carillon.store.jdbc;

import dev.carillon.store.jdbc.Database.Urgency;
import java.io.File;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.Path;
import java.util.Objects;
import java.util.SplittableRandom;

/**
 * Disk space kept back in a file of its own, given up when the disk is full and taken again when
 * there is space. Half of it is for jobs that end and shards that are dropped; the other half for
 * removing what was dropped, which needs space before it makes some. Guarded by the writer's lock.
 */
final class Reserve {

  private static final int CHUNK_BYTES = 64 << 10;

  private final File file;
  private final File folder;
  private final int bytes;
  private int heldBytes;

  /** As a former owner left it. */
  Reserve(Path database, int bytes) {
    Path path = Sidecar.RESERVE.of(database);
    this.file = path.toFile();
    this.folder = Objects.requireNonNull(path.getParent(), "folder").toFile();
    this.bytes = bytes;
    this.heldBytes = (int) Math.min(file.length(), bytes);
  }

  /** Whether all of it is kept back. */
  boolean held() {
    return heldBytes == bytes;
  }

  /** What is left on the disk besides; without limit where the file system does not say. */
  long usableBytes() {
    long usable = folder.getUsableSpace();
    return usable == 0 && folder.getTotalSpace() == 0 ? Long.MAX_VALUE : usable;
  }

  /**
   * Takes the space if there is twice as much.
   *
   * @return whether it is held
   */
  boolean take() {
    if (file.length() != bytes && usableBytes() + file.length() >= 2L * bytes) {
      try {
        write();
      } catch (IOException e) {
        shrinkTo(0);
      }
    }
    heldBytes = (int) Math.min(file.length(), bytes);
    return held();
  }

  /** Writes bytes that no file system can squeeze or leave out. */
  private void write() throws IOException {
    SplittableRandom random = new SplittableRandom(bytes);
    byte[] chunk = new byte[CHUNK_BYTES];
    // Not a channel: an interrupt would close it.
    try (RandomAccessFile out = new RandomAccessFile(file, "rw")) {
      for (int left = bytes; left > 0; left -= chunk.length) {
        random.nextBytes(chunk);
        out.write(chunk, 0, Math.min(left, chunk.length));
      }
      out.setLength(bytes);
      out.getFD().sync();
    }
  }

  /**
   * Gives to whoever writes next what it may have.
   *
   * @return whether there was something to give
   */
  boolean giveTo(Urgency urgency) {
    int keep =
        switch (urgency) {
          case ORDINARY -> bytes;
          case URGENT -> bytes / 2;
          case CLEANING -> 0;
        };
    boolean gives = heldBytes > keep;
    if (gives) {
      shrinkTo(keep);
    }
    return gives;
  }

  private void shrinkTo(int length) {
    try (RandomAccessFile out = new RandomAccessFile(file, "rw")) {
      out.setLength(length);
    } catch (IOException e) {
      // What the file holds then is measured when it is taken again.
    }
    heldBytes = length;
  }
}
