package dev.carillon.server.webhook;

import dev.carillon.api.error.RetryAfterException;
import java.time.Duration;

/** A webhook whose receiver said when to come back. */
final class WebhookDelayed extends RetryAfterException {
  private static final long serialVersionUID = 1L;

  WebhookDelayed(Duration delay, String message) {
    super(delay, message);
  }

  @Override
  public synchronized Throwable fillInStackTrace() {
    return this;
  }
}
