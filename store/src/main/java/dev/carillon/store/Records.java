package dev.carillon.store;

import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Small versioned values under text keys, ordered by the UTF-8 bytes of their keys. A change of a
 * key with an unpaired surrogate, which has no such bytes, is the caller's bug and throws {@link
 * IllegalArgumentException}.
 *
 * <p>The version of a record is the {@link Stamp} of the change that wrote it: a writer's
 * incarnation and a sequence that only grows, so versions never repeat for a key, also after a
 * delete, and a change made twice is recognised.
 *
 * <p><b>Unknown outcomes</b> are settled by {@link #resolve}, which also closes the door to every
 * change of that writer up to the resolved one: a late one is refused with {@link Outcome.Fenced}.
 * A writer therefore has one call of {@link #apply} under way at a time.
 */
public interface Records {

  /** The record of {@code key}, if any. */
  Outcome<Optional<Stored>> get(String key);

  /** A record as it is. */
  @SuppressWarnings("ArrayRecordComponent") // bytes are handed over, never compared or copied
  record Stored(String key, byte[] value, Stamp version) {}

  /**
   * Makes the changes, each with its own outcome, in order: ok with the change's stamp, {@link
   * Outcome.Conflict} where the expected version is not the record's. One call's changes are
   * durable together.
   */
  List<Outcome<Stamp>> apply(List<Change> changes);

  /**
   * Says whether {@code unknown} is in effect, and makes sure that the answer stays true: from now
   * on no change of its writer with its sequence or a lower one takes effect. A put is in effect
   * while the record has its version, a delete when the record no longer has the expected one.
   */
  Outcome<Boolean> resolve(Change unknown);

  /** Records whose key starts with {@code prefix}, by key; at most {@code limit} after it. */
  Outcome<List<Stored>> list(String prefix, @Nullable String afterKey, int limit);

  /**
   * Who made a change and as which of theirs.
   *
   * @param writer an incarnation, not zero
   * @param sequence grows with each change of that writer, from 1
   */
  record Stamp(long writer, long sequence) {
    /** The version of a record that is not there. */
    public static final Stamp ABSENT = new Stamp(0, 0);
  }

  /**
   * A put or a delete, conditional on the version.
   *
   * @param expected the version the record must have, {@link Stamp#ABSENT} for none
   * @param value the new value, null to delete
   * @param stamp the version the record will have
   */
  @SuppressWarnings("ArrayRecordComponent") // bytes are handed over, never compared or copied
  record Change(String key, Stamp expected, byte @Nullable [] value, Stamp stamp) {

    /** Whether it is in effect, as {@link Records#resolve} says, if the record has this version. */
    public boolean isInEffect(Stamp version) {
      return value == null ? !version.equals(expected) : version.equals(stamp);
    }
  }
}
