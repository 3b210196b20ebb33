package dev.carillon.engine.history;

import dev.carillon.engine.format.ByteReader;
import dev.carillon.engine.format.ByteWriter;
import java.nio.charset.StandardCharsets;
import java.util.Collection;

/**
 * Which metadata may occur among some jobs: a Bloom filter of about ten bits an entry, which says
 * "perhaps" of one in a hundred that is not there, and "no" only where that is certain. Persisted,
 * so its hash never changes.
 */
public final class MetadataFilter {
  private static final int BITS_AN_ENTRY = 10;
  private static final int PLACES = 5;

  /** Holds nothing. */
  static final MetadataFilter EMPTY = new MetadataFilter(new byte[0]);

  private final byte[] bits;

  private MetadataFilter(byte[] bits) {
    this.bits = bits;
  }

  public static MetadataFilter of(Collection<Long> hashes) {
    if (hashes.isEmpty()) {
      return EMPTY;
    }
    byte[] bits = new byte[Math.max(8, hashes.size() * BITS_AN_ENTRY / 8)];
    for (long hash : hashes) {
      for (int i = 0; i < PLACES; i++) {
        int place = place(hash, i, bits.length);
        bits[place >>> 3] |= (byte) (1 << (place & 7));
      }
    }
    return new MetadataFilter(bits);
  }

  /** Whether an entry of that hash may be there; false is certain. */
  public boolean mayHold(long hash) {
    if (bits.length == 0) {
      return false;
    }
    for (int i = 0; i < PLACES; i++) {
      int place = place(hash, i, bits.length);
      if ((bits[place >>> 3] & 1 << (place & 7)) == 0) {
        return false;
      }
    }
    return true;
  }

  private static int place(long hash, int i, int bytes) {
    long mixed = (hash >>> 32) + (hash & 0xFFFF_FFFFL) * i;
    return (int) Long.remainderUnsigned(mixed, 8L * bytes);
  }

  /** FNV-1a of key and value, and a final mix. */
  public static long hash(String key, String value) {
    long hash = 0xcbf29ce484222325L;
    for (byte b : (key + '\0' + value).getBytes(StandardCharsets.UTF_8)) {
      hash = (hash ^ (b & 0xFF)) * 0x100000001b3L;
    }
    hash = (hash ^ hash >>> 33) * 0xff51afd7ed558ccdL;
    return hash ^ hash >>> 33;
  }

  public void write(ByteWriter out) {
    out.bytes(bits);
  }

  public static MetadataFilter read(ByteReader in) {
    return new MetadataFilter(in.bytes());
  }
}
