package dev.carillon.server.webhook;

import dev.carillon.server.json.InvalidBody;
import dev.carillon.server.json.Shape;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The settings of webhooks in a file, which may change while the server runs: it is looked at again
 * when a second has passed. One that became unreadable or wrong is logged, and the settings before
 * it go on. Thread-safe.
 *
 * <pre>{@code
 * {"namespaces": [{"namespace": "shop", "secrets": ["whsec_…", "whsec_…"],
 *                  "privateRanges": ["10.20.0.0/16"]}]}
 * }</pre>
 */
public final class WebhookFile implements Supplier<WebhookSettings> {
  private static final Logger LOG = LoggerFactory.getLogger(WebhookFile.class);
  private static final long LOOK_NANOS = Duration.ofSeconds(1).toNanos();
  private static final int NAMESPACES_MAX = 10_000;
  private static final long BYTES_MAX = 8 << 20;

  private final Path file;
  private volatile Seen seen;

  private record Seen(WebhookSettings settings, FileTime changed, long lookedNanos) {}

  /**
   * Reads a file.
   *
   * @param file where it is
   * @throws IOException if it cannot be read
   * @throws IllegalArgumentException if it is wrong; the message shows no secret
   */
  public WebhookFile(Path file) throws IOException {
    this.file = file;
    this.seen = look();
  }

  @Override
  public WebhookSettings get() {
    Seen last = seen;
    if (System.nanoTime() - last.lookedNanos() > LOOK_NANOS) {
      lookAgain(last);
    }
    return seen.settings();
  }

  private synchronized void lookAgain(Seen last) {
    if (seen.lookedNanos() != last.lookedNanos()) {
      return;
    }
    try {
      seen =
          Files.getLastModifiedTime(file).equals(last.changed())
              ? new Seen(last.settings(), last.changed(), System.nanoTime())
              : look();
    } catch (IOException | IllegalArgumentException e) {
      LOG.warn("webhooks: the file cannot be read again, its settings stay: {}", e.toString());
      seen = new Seen(last.settings(), last.changed(), System.nanoTime());
    }
  }

  private Seen look() throws IOException {
    FileTime changed = Files.getLastModifiedTime(file);
    if (Files.size(file) > BYTES_MAX) {
      throw new IllegalArgumentException(
          "webhooks: more than %d bytes (expected: at most so)".formatted(BYTES_MAX));
    }
    try {
      return new Seen(
          All.SHAPE.read(Files.readAllBytes(file)).settings(), changed, System.nanoTime());
    } catch (InvalidBody e) {
      throw new IllegalArgumentException("webhooks: " + e.getMessage());
    }
  }

  /** The file. */
  private static final class All {
    static final Shape<All> SHAPE =
        Shape.of(All::new).list("namespaces", One.SHAPE, NAMESPACES_MAX, (a, v) -> a.all = v);

    private List<One> all = List.of();

    WebhookSettings settings() {
      Map<String, WebhookSettings.Namespace> namespaces = new LinkedHashMap<>();
      for (One one : all) {
        if (one.namespace == null || namespaces.put(one.namespace, one.settings()) != null) {
          throw new IllegalArgumentException(
              "webhooks: namespace %s (expected: each once, by its name)".formatted(one.namespace));
        }
      }
      return new WebhookSettings(namespaces);
    }
  }

  /** What it says of one namespace. */
  private static final class One {
    static final Shape<One> SHAPE =
        Shape.of(One::new)
            .text("namespace", (o, v) -> o.namespace = v)
            .texts("secrets", (o, v) -> o.secrets = v)
            .texts("privateRanges", (o, v) -> o.ranges = v);

    private @Nullable String namespace;
    private List<String> secrets = List.of();
    private List<String> ranges = List.of();

    WebhookSettings.Namespace settings() {
      return new WebhookSettings.Namespace(
          secrets.stream().map(WebhookSecret::of).toList(),
          ranges.stream().map(AddressRange::ofPrivate).toList());
    }
  }
}
