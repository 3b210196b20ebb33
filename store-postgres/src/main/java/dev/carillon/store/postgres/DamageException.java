package dev.carillon.store.postgres;

/** A row whose checksum is wrong, or which is missing. Ends as {@code Outcome.Damaged}. */
final class DamageException extends RuntimeException {

  DamageException(String where) {
    super(where);
  }

  /** Names the place. */
  String where() {
    return String.valueOf(getMessage());
  }
}
