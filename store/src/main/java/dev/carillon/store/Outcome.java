package dev.carillon.store;

import java.util.function.Function;

/**
 * How a store call ended: exactly one of these, never an exception.
 *
 * <p>All but {@link Ok} and {@link Unknown} mean that the call had no effect and will have none.
 * After {@link Unknown} it may have taken effect, or still may: only the call's resolution (see
 * {@link Journals} and {@link Records}) says which, and settles it.
 */
public sealed interface Outcome<T> {

  /** It took effect, as durable as the store declares. */
  record Ok<T>(T value) implements Outcome<T> {}

  /** The caller's epoch is no longer the shard's; {@code epoch} is, or {@link Head#DROPPED}. */
  record Fenced<T>(long epoch) implements Outcome<T> {}

  /** The state is not the expected one; for an append {@code tail} is the journal's last number. */
  record Conflict<T>(long tail) implements Outcome<T> {}

  /** Refused before writing: over the store's limit. */
  record TooLarge<T>(long limitBytes) implements Outcome<T> {}

  /** No room for it. Reads still work, and urgent appends as far as the reserve goes. */
  record Full<T>(String detail) implements Outcome<T> {}

  /** Definitely not applied; may be tried again. */
  record Unavailable<T>(String detail) implements Outcome<T> {}

  /** Its fate is not known yet. */
  record Unknown<T>(String detail) implements Outcome<T> {}

  /** What was to be read is damaged; {@code where} names the shard and entry. */
  record Damaged<T>(String where) implements Outcome<T> {}

  /** The call took effect and answered {@code value}. */
  static <T> Outcome<T> ok(T value) {
    return new Ok<>(value);
  }

  /** Whether this is {@link Ok}. */
  default boolean isOk() {
    return this instanceof Ok;
  }

  /** The value of an {@link Ok}; any other outcome throws {@link IllegalStateException}. */
  default T orThrow() {
    if (this instanceof Ok<T> ok) {
      return ok.value();
    }
    throw new IllegalStateException("outcome: " + this + " (expected: ok)");
  }

  /** The same outcome with its value, if any, mapped. */
  @SuppressWarnings("unchecked") // every alternative but Ok holds no T
  default <U> Outcome<U> map(Function<T, U> mapping) {
    return this instanceof Ok<T> ok ? new Ok<>(mapping.apply(ok.value())) : (Outcome<U>) this;
  }
}
