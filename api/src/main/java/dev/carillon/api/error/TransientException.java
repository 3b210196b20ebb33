package dev.carillon.api.error;

import org.jspecify.annotations.Nullable;

/**
 * Transient: the request was definitely not applied, and the same request may succeed later. Trying
 * again is safe and cannot duplicate anything.
 */
public abstract sealed class TransientException extends CarillonException
    permits StoreUnavailableException, OverloadedException {

  TransientException(String message, @Nullable Throwable cause) {
    super(message, cause);
  }
}
