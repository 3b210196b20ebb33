package dev.carillon.replay;

import org.jspecify.annotations.Nullable;

/**
 * What a workflow shows of itself.
 *
 * @param done how much is done; -1 where it is not known
 * @param total of how much; -1 where it is not known
 * @param message what is going on; may be empty
 * @param published the published value, encoded; null for none
 */
public record Shown(long done, long total, String message, byte @Nullable [] published) {
  static final Shown NOTHING = new Shown(-1, -1, "", null);

  Shown progress(long newDone, long newTotal, String newMessage) {
    return new Shown(newDone, newTotal, newMessage, published);
  }

  Shown publish(byte[] value) {
    return new Shown(done, total, message, value);
  }
}
