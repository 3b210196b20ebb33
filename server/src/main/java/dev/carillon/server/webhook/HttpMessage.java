package dev.carillon.server.webhook;

import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * A request to be sent. The headers are checked: nothing in them ends a line.
 *
 * @param method the method
 * @param target path and query, as they stand in the URL
 * @param headers by name, in the order in which they are sent
 * @param body what is sent
 */
record HttpMessage(String method, String target, Map<String, String> headers, byte[] body) {

  HttpMessage {
    headers = java.util.Collections.unmodifiableMap(new LinkedHashMap<>(headers));
  }

  /** The request line and the headers, with the empty line behind them. */
  byte[] head() {
    StringBuilder text = new StringBuilder(512);
    text.append(method).append(' ').append(target).append(" HTTP/1.1\r\n");
    headers.forEach((name, value) -> text.append(name).append(": ").append(value).append("\r\n"));
    text.append("\r\n");
    return text.toString().getBytes(StandardCharsets.ISO_8859_1);
  }
}
