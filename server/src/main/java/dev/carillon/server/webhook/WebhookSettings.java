package dev.carillon.server.webhook;

import java.util.List;
import java.util.Map;

/**
 * What the webhooks of each namespace may reach, and what signs them. Immutable.
 *
 * @param namespaces by name; one that is not there reaches global addresses only and signs nothing
 */
public record WebhookSettings(Map<String, Namespace> namespaces) {
  private static final Namespace NOTHING = new Namespace(List.of(), List.of());

  /** How many secrets sign at once: the new one and the one that it follows. */
  public static final int SECRETS_MAX = 2;

  /**
   * Of one namespace.
   *
   * @param secrets what signs, the newest first; none for no signatures
   * @param ranges the private ranges that it may reach
   */
  public record Namespace(List<WebhookSecret> secrets, List<AddressRange> ranges) {
    /**
     * Copies both.
     *
     * @throws IllegalArgumentException if there are too many secrets
     */
    public Namespace {
      secrets = List.copyOf(secrets);
      ranges = List.copyOf(ranges);
      if (secrets.size() > SECRETS_MAX) {
        throw new IllegalArgumentException(
            "secrets: %d (expected: at most %d, the new one and the old one)"
                .formatted(secrets.size(), SECRETS_MAX));
      }
    }
  }

  /** Copies the map. */
  public WebhookSettings {
    namespaces = Map.copyOf(namespaces);
  }

  /** No secrets, no private ranges. */
  public static WebhookSettings none() {
    return new WebhookSettings(Map.of());
  }

  Namespace of(String namespace) {
    return namespaces.getOrDefault(namespace, NOTHING);
  }
}
