package dev.carillon.engine.format;

import java.util.Arrays;
import java.util.function.Consumer;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * A map from job numbers to jobs in two arrays: 16 to 30 bytes an entry where {@code HashMap} takes
 * 60. Linear probing, removal by shifting back, so there are no tombstones. Zero is no key.
 */
public final class LongMap<V> {
  private static final int SMALLEST = 16;

  /** Grows at ten parts of thirteen: the 50,000 jobs of a full shard fit into 65,536 places. */
  private static final long FULL_AT = 10;

  private static final long FULL_OF = 13;

  private long[] keys = new long[SMALLEST];
  private @Nullable Object[] values = new @Nullable Object[SMALLEST];
  private int size;

  public int size() {
    return size;
  }

  /** Eight numbers in a row stay together, as jobs that come and go together do. */
  private int slot(long key) {
    long mixed = (key >>> 3) * 0x9E3779B97F4A7C15L;
    return (((int) (mixed >>> 29) & ~7) | ((int) key & 7)) & (keys.length - 1);
  }

  public @SuppressWarnings("unchecked") // only values of V are put
  @Nullable V get(long key) {
    for (int i = slot(key); keys[i] != 0; i = i + 1 & keys.length - 1) {
      if (keys[i] == key) {
        return (V) values[i];
      }
    }
    return null;
  }

  public void put(long key, V value) {
    if (key == 0) {
      throw new IllegalArgumentException("key: 0 (expected: another number)");
    }
    if ((size + 1) * FULL_OF > keys.length * FULL_AT) {
      resize(keys.length * 2);
    }
    int i = slot(key);
    while (keys[i] != 0 && keys[i] != key) {
      i = i + 1 & keys.length - 1;
    }
    if (keys[i] == 0) {
      size++;
    }
    keys[i] = key;
    values[i] = value;
  }

  public @SuppressWarnings("unchecked") // only values of V are put
  @Nullable V remove(long key) {
    int i = slot(key);
    while (keys[i] != key) {
      if (keys[i] == 0) {
        return null;
      }
      i = i + 1 & keys.length - 1;
    }
    V removed = (V) values[i];
    closeGap(i);
    size--;
    if (keys.length > SMALLEST && size * 8L < keys.length) {
      resize(keys.length / 2);
    }
    return removed;
  }

  private void closeGap(int gap) {
    int mask = keys.length - 1;
    for (int i = gap + 1 & mask; keys[i] != 0; i = i + 1 & mask) {
      int wanted = slot(keys[i]);
      if ((i - wanted & mask) >= (i - gap & mask)) {
        keys[gap] = keys[i];
        values[gap] = values[i];
        gap = i;
      }
    }
    keys[gap] = 0;
    values[gap] = null;
  }

  private void resize(int capacity) {
    long[] oldKeys = keys;
    @Nullable Object[] oldValues = values;
    keys = new long[capacity];
    values = new @Nullable Object[capacity];
    for (int i = 0; i < oldKeys.length; i++) {
      if (oldKeys[i] != 0) {
        int to = slot(oldKeys[i]);
        while (keys[to] != 0) {
          to = to + 1 & capacity - 1;
        }
        keys[to] = oldKeys[i];
        values[to] = oldValues[i];
      }
    }
  }

  /** Whether one of the values is such; looks no further than that one. */
  public @SuppressWarnings("unchecked") // only values of V are put
  boolean any(Predicate<V> such) {
    for (Object value : values) {
      if (value != null && such.test((V) value)) {
        return true;
      }
    }
    return false;
  }

  /** Calls {@code action} with every value, in no particular but repeatable order. */
  public @SuppressWarnings("unchecked") // only values of V are put
  void forEach(Consumer<V> action) {
    for (Object value : Arrays.copyOf(values, values.length)) {
      if (value != null) {
        action.accept((V) value);
      }
    }
  }
}
