package dev.carillon.store.jdbc;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Objects;
import java.util.SplittableRandom;

/**
 * Disk space kept back in a file of its own, given up when the disk is full so that jobs can still
 * end and shards be dropped, and taken again when there is space. Guarded by the writer's lock.
 */
final class Reserve {

  private static final int CHUNK_BYTES = 64 << 10;

  private final Path file;
  private final Path folder;
  private final int bytes;
  private boolean held;

  Reserve(Path file, int bytes) {
    this.file = file;
    this.folder = Objects.requireNonNull(file.getParent(), "folder");
    this.bytes = bytes;
  }

  /** Whether the space is kept back now. */
  boolean held() {
    return held;
  }

  /**
   * Takes the space if there is twice as much.
   *
   * @return whether it is held
   */
  boolean take() {
    if (held || bytes == 0) {
      held = true;
      return true;
    }
    try {
      if (Files.exists(file) && Files.size(file) == bytes) {
        held = true;
      } else if (Files.getFileStore(folder).getUsableSpace() >= 2L * bytes) {
        write();
        held = true;
      }
    } catch (IOException e) {
      giveUp();
    }
    return held;
  }

  /** Writes bytes that no file system can squeeze or leave out. */
  private void write() throws IOException {
    SplittableRandom random = new SplittableRandom(bytes);
    byte[] chunk = new byte[CHUNK_BYTES];
    // Not a channel: an interrupt would close it.
    try (RandomAccessFile out = new RandomAccessFile(file.toFile(), "rw")) {
      for (int left = bytes; left > 0; left -= chunk.length) {
        random.nextBytes(chunk);
        out.write(chunk, 0, Math.min(left, chunk.length));
      }
      out.getFD().sync();
    }
  }

  /** Gives the space to whoever writes next. */
  boolean giveUp() {
    boolean given = held && bytes > 0;
    held = false;
    try {
      Files.deleteIfExists(file);
    } catch (IOException e) {
      return false;
    }
    return given;
  }
}
