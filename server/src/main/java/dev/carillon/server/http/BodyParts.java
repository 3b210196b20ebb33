package dev.carillon.server.http;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;

/** A body as it comes: it takes as much memory as has come, not as was announced. */
final class BodyParts {
  private final List<byte[]> parts = new ArrayList<>(1);
  private int size;

  void add(ByteBuffer buffer) {
    byte[] part = new byte[buffer.remaining()];
    buffer.get(part);
    if (part.length > 0) {
      parts.add(part);
      size += part.length;
    }
  }

  int size() {
    return size;
  }

  boolean isOne() {
    return parts.size() <= 1;
  }

  /** All of it; it is not to be added to afterwards. */
  byte[] join() {
    if (parts.size() == 1) {
      return parts.getFirst();
    }
    byte[] whole = new byte[size];
    int at = 0;
    for (byte[] part : parts) {
      System.arraycopy(part, 0, whole, at, part.length);
      at += part.length;
    }
    return whole;
  }
}
