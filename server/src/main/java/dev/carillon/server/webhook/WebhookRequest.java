package dev.carillon.server.webhook;

import dev.carillon.RawPayload;
import dev.carillon.server.json.InvalidBody;
import dev.carillon.server.json.Json;
import dev.carillon.server.json.JsonText;
import dev.carillon.server.json.Shape;
import java.net.URI;
import java.net.URISyntaxException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The request that a webhook job makes: the field {@code webhook} of a job in a body, and the input
 * of the job as it is stored. Checked where it is scheduled and again by each attempt, because
 * other programs write inputs too. Filled by its shape, then never changed.
 */
public final class WebhookRequest {
  /** The type of the jobs. */
  public static final String TYPE = "carillon.webhook";

  private static final Duration TIMEOUT = Duration.ofSeconds(30);
  private static final Duration TIMEOUT_MIN = Duration.ofMillis(100);
  private static final Duration TIMEOUT_MAX = Duration.ofMinutes(15);
  private static final int URL_MAX_CHARS = 2_048;
  private static final int HEADERS_MAX = 64;
  private static final int HEADERS_MAX_CHARS = 8 << 10;
  private static final int ATTRIBUTE_MAX_CHARS = 1_024;
  private static final int PORT_MAX = 65_535;

  private static final Set<String> METHODS =
      Set.of("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE");

  /** What the connection, the signature or the event say. */
  private static final Set<String> OWN_HEADERS =
      Set.of(
          "accept-encoding",
          "connection",
          "content-length",
          "expect",
          "host",
          "keep-alive",
          "te",
          "trailer",
          "transfer-encoding",
          "upgrade");

  private static final List<String> OWN_PREFIXES = List.of("webhook-", "ce-", "proxy-");

  private static final Pattern NAME = Pattern.compile("[!#$%&'*+.^_`|~0-9A-Za-z-]{1,128}");
  private static final Pattern VALUE = Pattern.compile("[\\x20-\\x7e\\t]*");
  private static final Pattern TRACE_PARENT =
      Pattern.compile("[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}(-[\\x21-\\x7e]{1,400})?");
  private static final Pattern TRACE_STATE = Pattern.compile("[\\x20-\\x7e]{1,512}");

  /** Programs read such a host as an address, each in its own way. */
  private static final Pattern NUMBER_LAST =
      Pattern.compile("(.*\\.)?(\\d+|0[xX][0-9a-fA-F]*)\\.?");

  private static final Pattern QUAD = Pattern.compile("(0|[1-9]\\d{0,2})(\\.(0|[1-9]\\d{0,2})){3}");

  /** The fields of a request. */
  public static final Shape<WebhookRequest> SHAPE =
      Shape.of(WebhookRequest::new)
          .text("url", (w, v) -> w.url = v)
          .text("method", (w, v) -> w.method = v)
          .map("headers", (w, v) -> w.headers = new LinkedHashMap<>(v))
          .raw("body", (w, v) -> w.body = v)
          .text("bodyText", (w, v) -> w.bodyText = v)
          .text("bodyBase64", (w, v) -> w.bodyBase64 = v)
          .duration("timeout", (w, v) -> w.timeout = v)
          .integers("retryOn", (w, v) -> w.retryOn = v)
          .flag("sign", (w, v) -> w.sign = v)
          .object("cloudEvent", CloudEvent.SHAPE, (w, v) -> w.cloudEvent = v)
          .text("traceparent", (w, v) -> w.traceparent = v)
          .text("tracestate", (w, v) -> w.tracestate = v);

  private @Nullable String url;
  private String method = "POST";
  private Map<String, String> headers = Map.of();
  private byte @Nullable [] body;
  private @Nullable String bodyText;
  private @Nullable String bodyBase64;
  private Duration timeout = TIMEOUT;
  private List<Integer> retryOn = List.of();
  private @Nullable Boolean sign;
  private @Nullable CloudEvent cloudEvent;
  private @Nullable String traceparent;
  private @Nullable String tracestate;

  private WebhookRequest() {}

  /** What makes a request an event by CloudEvents; the id is that of the webhook. */
  static final class CloudEvent {
    static final Shape<CloudEvent> SHAPE =
        Shape.of(CloudEvent::new)
            .text("type", (e, v) -> e.type = v)
            .text("source", (e, v) -> e.source = v)
            .text("subject", (e, v) -> e.subject = v);

    private @Nullable String type;
    private @Nullable String source;
    private @Nullable String subject;

    private void check() {
      check("type", type, true);
      check("source", source, true);
      check("subject", subject, false);
    }

    private static void check(String name, @Nullable String value, boolean needed) {
      if (value == null ? needed : value.isBlank() || value.length() > ATTRIBUTE_MAX_CHARS) {
        throw Shape.invalid(
            "cloudEvent." + name,
            value == null ? "missing" : Shape.quoted(value),
            "a text of 1 to " + ATTRIBUTE_MAX_CHARS + " characters");
      }
    }

    /** The attributes by name; text that headers cannot have is percent-encoded. */
    Map<String, String> attributes() {
      Map<String, String> attributes = new LinkedHashMap<>();
      attributes.put("ce-type", encoded(String.valueOf(type)));
      attributes.put("ce-source", encoded(String.valueOf(source)));
      if (subject != null) {
        attributes.put("ce-subject", encoded(subject));
      }
      return attributes;
    }

    private static String encoded(String text) {
      StringBuilder out = new StringBuilder(text.length());
      for (byte b : text.getBytes(StandardCharsets.UTF_8)) {
        if (b > ' ' && b < 0x7f && b != '"' && b != '%') {
          out.append((char) b);
        } else {
          out.append('%').append(String.format(Locale.ROOT, "%02X", b & 0xff));
        }
      }
      return out.toString();
    }

    private void write(JsonText out) {
      out.put("type", type).put("source", source).put("subject", subject);
    }
  }

  // ---- checks

  /**
   * The input of a job.
   *
   * @param parent the trace context of whoever schedules it, or null; one in the body goes before
   * @param state what goes with it, or null
   * @return the stored form
   * @throws InvalidBody if the request is not acceptable
   */
  public RawPayload payload(@Nullable String parent, @Nullable String state) {
    if (traceparent == null && parent != null && TRACE_PARENT.matcher(parent).matches()) {
      traceparent = parent;
      tracestate = state != null && TRACE_STATE.matcher(state).matches() ? state : null;
    }
    check();
    return new RawPayload("json", Json.object(this::write));
  }

  /** Reads the input of a job, and checks it. */
  static WebhookRequest of(RawPayload input) {
    WebhookRequest request = SHAPE.read(input.bytes());
    request.check();
    return request;
  }

  private void check() {
    URI unused = target();
    if (!METHODS.contains(method)) {
      throw Shape.invalid(
          "method", Shape.quoted(method), "one of " + METHODS.stream().sorted().toList());
    }
    checkHeaders();
    checkBody();
    if (timeout.compareTo(TIMEOUT_MIN) < 0 || timeout.compareTo(TIMEOUT_MAX) > 0) {
      throw Shape.invalid("timeout", timeout.toString(), TIMEOUT_MIN + " to " + TIMEOUT_MAX);
    }
    for (int status : retryOn) {
      if (!WebhookHandler.FINAL.contains(status)) {
        throw Shape.invalid(
            "retryOn",
            Integer.toString(status),
            "one of " + WebhookHandler.FINAL.stream().sorted().toList());
      }
    }
    if (cloudEvent != null) {
      cloudEvent.check();
    }
    check("traceparent", traceparent, TRACE_PARENT);
    check("tracestate", tracestate, TRACE_STATE);
  }

  private static void check(String name, @Nullable String value, Pattern pattern) {
    if (value != null && !pattern.matcher(value).matches()) {
      throw Shape.invalid(name, Shape.quoted(value), "one by W3C Trace Context");
    }
  }

  private void checkHeaders() {
    if (headers.size() > HEADERS_MAX) {
      throw Shape.invalid("headers", headers.size() + " headers", "at most " + HEADERS_MAX);
    }
    int chars = 0;
    for (Map.Entry<String, String> header : headers.entrySet()) {
      String name = header.getKey();
      String lower = name.toLowerCase(Locale.ROOT);
      if (!NAME.matcher(name).matches()) {
        throw Shape.invalid("headers", Shape.quoted(name), "the name of a header");
      }
      if (OWN_HEADERS.contains(lower) || OWN_PREFIXES.stream().anyMatch(lower::startsWith)) {
        throw Shape.invalid("headers." + name, "given", "none; the server sets it where it is due");
      }
      if (!VALUE.matcher(header.getValue()).matches()) {
        throw Shape.invalid("headers." + name, "other characters", "visible ASCII and blanks");
      }
      chars += name.length() + header.getValue().length();
    }
    if (chars > HEADERS_MAX_CHARS) {
      throw Shape.invalid("headers", chars + " characters", "at most " + HEADERS_MAX_CHARS);
    }
  }

  private void checkBody() {
    int bodies = (body != null ? 1 : 0) + (bodyText != null ? 1 : 0) + (bodyBase64 != null ? 1 : 0);
    if (bodies > 1) {
      throw new InvalidBody("body: given twice (expected: one of body, bodyText and bodyBase64)");
    }
    if (bodies == 1 && (method.equals("GET") || method.equals("HEAD"))) {
      throw new InvalidBody("body: given (expected: none for " + method + ")");
    }
    byte[] unused = body();
  }

  /** The URL; nothing is looked up. */
  URI target() {
    if (url == null) {
      throw new InvalidBody("url: missing (expected: where to send the request)");
    }
    if (url.length() > URL_MAX_CHARS) {
      throw Shape.invalid("url", url.length() + " characters", "at most " + URL_MAX_CHARS);
    }
    URI uri;
    try {
      uri = new URI(url).parseServerAuthority();
    } catch (URISyntaxException e) {
      throw invalidUrl();
    }
    String scheme = uri.getScheme();
    boolean known = "http".equalsIgnoreCase(scheme) || "https".equalsIgnoreCase(scheme);
    if (!known || uri.getHost() == null || !url.chars().allMatch(c -> c > ' ' && c < 0x7f)) {
      throw invalidUrl();
    }
    if (uri.getRawUserInfo() != null) { // not shown: it is a password
      throw new InvalidBody("url: with a user (expected: none; a header can say who asks)");
    }
    if (uri.getRawFragment() != null || uri.getHost().indexOf('%') >= 0) {
      throw invalidUrl();
    }
    if (NUMBER_LAST.matcher(uri.getHost()).matches() && !QUAD.matcher(uri.getHost()).matches()) {
      throw Shape.invalid("url", Shape.quoted(url), "an IPv4 address as four decimal numbers");
    }
    if (uri.getPort() == 0 || uri.getPort() > PORT_MAX) {
      throw Shape.invalid("url", Shape.quoted(url), "a port of 1 to " + PORT_MAX);
    }
    return uri;
  }

  private InvalidBody invalidUrl() {
    return Shape.invalid(
        "url",
        Shape.quoted(String.valueOf(url)),
        "http:// or https://, a host in ASCII, no fragment");
  }

  // ---- parts

  String method() {
    return method;
  }

  Map<String, String> headers() {
    return headers;
  }

  Duration timeout() {
    return timeout;
  }

  List<Integer> retryOn() {
    return retryOn;
  }

  @Nullable Boolean sign() {
    return sign;
  }

  @Nullable CloudEvent cloudEvent() {
    return cloudEvent;
  }

  @Nullable String traceparent() {
    return traceparent;
  }

  @Nullable String tracestate() {
    return tracestate;
  }

  /** What is sent. */
  byte[] body() {
    if (body != null) {
      return body;
    }
    if (bodyText != null) {
      return bodyText.getBytes(StandardCharsets.UTF_8);
    }
    try {
      return bodyBase64 != null ? Base64.getDecoder().decode(bodyBase64) : new byte[0];
    } catch (IllegalArgumentException e) {
      throw new InvalidBody("bodyBase64: not base64 (expected: the alphabet of RFC 4648, padded)");
    }
  }

  /** The type of the body where no header says so; null where there is none. */
  @Nullable String contentType() {
    if (body != null) {
      return "application/json";
    }
    if (bodyText != null) {
      return "text/plain; charset=utf-8";
    }
    return bodyBase64 != null ? "application/octet-stream" : null;
  }

  private void write(JsonText out) {
    out.put("url", url).put("method", method).texts("headers", headers);
    if (body != null) {
      out.raw("body", new String(body, StandardCharsets.UTF_8));
    }
    out.put("bodyText", bodyText).put("bodyBase64", bodyBase64).put("timeout", timeout);
    if (!retryOn.isEmpty()) {
      out.integers("retryOn", retryOn);
    }
    if (sign != null) {
      out.put("sign", sign);
    }
    CloudEvent event = cloudEvent;
    if (event != null) {
      out.object("cloudEvent", event::write);
    }
    out.put("traceparent", traceparent).put("tracestate", tracestate);
  }
}
