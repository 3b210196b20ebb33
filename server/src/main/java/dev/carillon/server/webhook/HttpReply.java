package dev.carillon.server.webhook;

import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * What a receiver answered.
 *
 * @param status the status
 * @param headers the first value of each, by its name in lower case
 * @param body what was read of the body
 * @param whole whether that is all of it
 */
record HttpReply(int status, Map<String, String> headers, byte[] body, boolean whole) {
  private static final int SUCCESS = 2;

  boolean isSuccess() {
    return status / 100 == SUCCESS;
  }

  @Nullable String header(String lowerCaseName) {
    return headers.get(lowerCaseName);
  }
}
