package dev.carillon.server.webhook;

import dev.carillon.api.error.NotRetryableException;

/** A webhook that is not sent, or that its receiver does not want: no further attempt helps. */
final class WebhookRefused extends NotRetryableException {
  private static final long serialVersionUID = 1L;

  WebhookRefused(String message) {
    super(message);
  }

  @Override
  public synchronized Throwable fillInStackTrace() {
    return this;
  }
}
