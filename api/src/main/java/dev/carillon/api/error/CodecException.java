package dev.carillon.api.error;

import dev.carillon.api.BlockReason;
import dev.carillon.api.PayloadCodec;
import dev.carillon.api.Upcaster;
import org.jspecify.annotations.Nullable;

/**
 * A payload cannot be encoded or decoded. When scheduling it is the caller's bug and nothing was
 * written; when running it blocks the job as {@link BlockReason#UNDECODABLE}, its bytes kept.
 * Thrown by {@link PayloadCodec}s and {@link Upcaster}s.
 */
public final class CodecException extends CarillonException {

  /**
   * With a message.
   *
   * @param message what is wrong, for people
   */
  public CodecException(String message) {
    this(message, null);
  }

  /**
   * With a message and a cause.
   *
   * @param message what is wrong, for people
   * @param cause what caused it, or null
   */
  public CodecException(String message, @Nullable Throwable cause) {
    super(message, cause);
  }
}
