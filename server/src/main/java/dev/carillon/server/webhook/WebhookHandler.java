package dev.carillon.server.webhook;

import dev.carillon.RawPayload;
import dev.carillon.api.JobContext;
import dev.carillon.api.JobHandler;
import dev.carillon.api.OccurrenceInfo;
import dev.carillon.server.json.InvalidBody;
import dev.carillon.server.json.Json;
import java.net.InetAddress;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.function.Supplier;
import java.util.stream.Collectors;

/**
 * Runs webhook jobs: one attempt is one request. 2xx succeeds; 400, 404, 410 and 422 are final
 * unless the job says otherwise; 429 and 503 may say when to come back; all else is retried by the
 * job's policy. Thread-safe.
 */
final class WebhookHandler implements JobHandler<RawPayload, RawPayload> {
  /** Statuses that another attempt does not change. */
  static final Set<Integer> FINAL = Set.of(400, 404, 410, 422);

  static final int RESULT_MAX_BYTES = 64 << 10;
  private static final int SHOWN_CHARS = 200;
  private static final int HTTP_PORT = 80;
  private static final int HTTPS_PORT = 443;

  private final AddressGuard guard;
  private final HttpExchange exchange;
  private final Supplier<WebhookSettings> settings;
  private final InstantSource clock;

  WebhookHandler(
      AddressGuard guard,
      HttpExchange exchange,
      Supplier<WebhookSettings> settings,
      InstantSource clock) {
    this.guard = guard;
    this.exchange = exchange;
    this.settings = settings;
    this.clock = clock;
  }

  @Override
  public RawPayload run(RawPayload input, JobContext job) throws InterruptedException {
    WebhookRequest request;
    try {
      request = WebhookRequest.of(input);
    } catch (InvalidBody e) {
      throw new WebhookRefused(e.getMessage());
    }
    WebhookSettings.Namespace own = settings.get().of(job.namespace());
    HttpReply reply = send(request, own, job);
    if (reply.isSuccess()) {
      return result(reply);
    }
    throw failure(request, reply);
  }

  // ---- the request

  private HttpReply send(WebhookRequest request, WebhookSettings.Namespace own, JobContext job)
      throws InterruptedException {
    Deadline deadline = Deadline.in(request.timeout());
    URI uri = request.target();
    boolean encrypted = uri.getScheme().equalsIgnoreCase("https");
    int standard = encrypted ? HTTPS_PORT : HTTP_PORT;
    int port = uri.getPort() < 0 ? standard : uri.getPort();
    String host = uri.getHost();
    String name = host.startsWith("[") ? host.substring(1, host.length() - 1) : host;
    List<InetAddress> addresses = guard.allowed(name, port, own.ranges(), deadline.left());
    String authority = port == standard ? host : host + ":" + port;
    HttpMessage message =
        new HttpMessage(
            request.method(), path(uri), headers(request, own, job, authority), request.body());
    HttpExchange.Target target = new HttpExchange.Target(encrypted, name, port, addresses);
    return exchange.send(target, message, RESULT_MAX_BYTES, deadline);
  }

  private static String path(URI uri) {
    String path = uri.getRawPath();
    String query = uri.getRawQuery();
    return (path == null || path.isEmpty() ? "/" : path) + (query == null ? "" : "?" + query);
  }

  private Map<String, String> headers(
      WebhookRequest request, WebhookSettings.Namespace own, JobContext job, String authority) {
    Map<String, String> headers = new LinkedHashMap<>();
    headers.put("Host", authority);
    headers.put("Connection", "close");
    headers.put("Accept-Encoding", "identity");
    Set<String> given =
        request.headers().keySet().stream()
            .map(name -> name.toLowerCase(Locale.ROOT))
            .collect(Collectors.toSet());
    standard(headers, given, "User-Agent", "Carillon");
    standard(headers, given, "Content-Type", request.contentType());
    standard(headers, given, "traceparent", request.traceparent());
    if (!given.contains("traceparent")) {
      standard(headers, given, "tracestate", request.tracestate());
    }
    headers.putAll(request.headers());
    byte[] body = request.body();
    if (body.length > 0 || !Set.of("GET", "HEAD", "DELETE").contains(request.method())) {
      headers.put("Content-Length", Integer.toString(body.length));
    }
    String id = id(job);
    headers.put("webhook-id", id);
    sign(headers, request, own, id);
    WebhookRequest.CloudEvent event = request.cloudEvent();
    if (event != null) {
      headers.put("ce-specversion", "1.0");
      headers.put("ce-id", id);
      headers.putAll(event.attributes());
      OccurrenceInfo occurrence = job.occurrence();
      if (occurrence != null) {
        headers.put("ce-time", occurrence.time().toString());
      }
    }
    return headers;
  }

  private static void standard(
      Map<String, String> headers,
      Set<String> given,
      String name,
      @org.jspecify.annotations.Nullable String value) {
    if (value != null && !given.contains(name.toLowerCase(Locale.ROOT))) {
      headers.put(name, value);
    }
  }

  /** Of a job one for all attempts, of a recurring job one for each occurrence. */
  private static String id(JobContext job) {
    OccurrenceInfo occurrence = job.occurrence();
    return occurrence == null
        ? "job_" + ascii(job.id().value())
        : "job_" + ascii(occurrence.schedule().value()) + "_" + occurrence.number();
  }

  /** The parts that are signed are joined by dots, so that an id has none. */
  private static String ascii(String id) {
    StringBuilder out = new StringBuilder(id.length());
    for (byte b : id.getBytes(StandardCharsets.UTF_8)) {
      boolean plain = (Character.isLetterOrDigit(b) && b > 0) || b == '-';
      out.append(plain ? String.valueOf((char) b) : String.format(Locale.ROOT, "~%02x", b & 0xff));
    }
    return out.toString();
  }

  private void sign(
      Map<String, String> headers,
      WebhookRequest request,
      WebhookSettings.Namespace own,
      String id) {
    boolean asked = Boolean.TRUE.equals(request.sign());
    if (asked && own.secrets().isEmpty()) {
      throw new WebhookFailed(
          "sign: no secret of this namespace on this server (expected: one in its file of"
              + " webhooks)");
    }
    if (own.secrets().isEmpty() || Boolean.FALSE.equals(request.sign())) {
      return;
    }
    long seconds = clock.instant().getEpochSecond();
    headers.put("webhook-timestamp", Long.toString(seconds));
    headers.put(
        "webhook-signature",
        own.secrets().stream()
            .map(secret -> secret.sign(id, seconds, request.body()))
            .collect(Collectors.joining(" ")));
  }

  // ---- the answer

  private static RawPayload result(HttpReply reply) {
    byte[] body = reply.body();
    if (body.length == 0) {
      return new RawPayload("", body);
    }
    boolean json = reply.whole() && isJson(reply.header("content-type")) && Json.isValid(body);
    return new RawPayload(json ? "json" : "bytes", body);
  }

  private static boolean isJson(@org.jspecify.annotations.Nullable String type) {
    String plain = type == null ? "" : type.split(";", 2)[0].strip().toLowerCase(Locale.ROOT);
    return plain.equals("application/json") || plain.endsWith("+json");
  }

  private RuntimeException failure(WebhookRequest request, HttpReply reply) {
    int status = reply.status();
    String message = "answered " + status + shown(reply);
    if (FINAL.contains(status) && !request.retryOn().contains(status)) {
      return new WebhookRefused(message);
    }
    if (status / 100 == 3) {
      return new WebhookFailed("answered " + status + "; redirects are not followed");
    }
    Instant now = clock.instant();
    Duration wait =
        status == 429 || status == 503 ? RetryAfter.of(reply.header("retry-after"), now) : null;
    return wait == null ? new WebhookFailed(message) : new WebhookDelayed(wait, message);
  }

  /** The beginning of a body that is text, for people. */
  private static String shown(HttpReply reply) {
    String type = reply.header("content-type");
    if (reply.body().length == 0 || type == null || !(isJson(type) || type.startsWith("text/"))) {
      return "";
    }
    String text =
        new String(reply.body(), StandardCharsets.UTF_8)
            .replaceAll("[\\s\\p{Cntrl}]+", " ")
            .strip();
    return ": " + (text.length() > SHOWN_CHARS ? text.substring(0, SHOWN_CHARS) + "…" : text);
  }
}
