package dev.carillon.server.webhook;

import dev.carillon.api.error.CarillonException;

/**
 * An attempt to send a webhook failed, and another may succeed. Without a stack: it says nothing.
 */
final class WebhookFailed extends CarillonException {
  private static final long serialVersionUID = 1L;

  WebhookFailed(String message) {
    super(message, null);
  }

  @Override
  public synchronized Throwable fillInStackTrace() {
    return this;
  }
}
