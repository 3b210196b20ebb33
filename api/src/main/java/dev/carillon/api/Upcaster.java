package dev.carillon.api;

import dev.carillon.api.error.CodecException;

/**
 * Brings the stored input of an older payload version of a type to its current one, before it is
 * decoded. Must be thread-safe and depend on nothing but its arguments; the stored bytes stay as
 * they are, so it runs again with each attempt.
 */
@FunctionalInterface
public interface Upcaster {

  /**
   * Brings a payload to the current version.
   *
   * @param fromVersion the version it was written with, lower than the current one
   * @param bytes the bytes as stored, not to be changed
   * @return the bytes in the current version
   * @throws CodecException if that is not possible; the job is then blocked as {@link
   *     BlockReason#UNDECODABLE} and keeps its bytes
   */
  byte[] upcast(int fromVersion, byte[] bytes);
}
