package dev.carillon.prove;

import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;

/**
 * The child's end of the pipe to its parent, its standard output. Each note is one write without
 * any buffer: it is with the kernel when {@link #tell} returns, and a kill cannot take it back.
 * Writes of one pipe up to 4096 bytes are atomic, so notes of several threads never mix and arrive
 * in the order in which they were told.
 */
final class Pipe {
  private static final int ATOMIC_BYTES = 4096;

  private final FileOutputStream out = new FileOutputStream(FileDescriptor.out);

  void tell(Note note) {
    byte[] line = (note.line() + "\n").getBytes(StandardCharsets.UTF_8);
    if (line.length > ATOMIC_BYTES) {
      throw new IllegalArgumentException(
          "note: " + line.length + " bytes (expected: at most " + ATOMIC_BYTES + ")");
    }
    try {
      out.write(line);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
