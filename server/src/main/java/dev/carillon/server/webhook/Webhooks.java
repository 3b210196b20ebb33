package dev.carillon.server.webhook;

import dev.carillon.Carillon;
import dev.carillon.HandlerOptions;
import dev.carillon.HandlerRegistration;
import dev.carillon.RawPayload;
import dev.carillon.api.JobType;
import java.net.InetAddress;
import java.net.Socket;
import java.time.InstantSource;
import java.util.Set;
import java.util.function.Supplier;
import javax.net.ssl.SSLSocketFactory;
import org.jspecify.annotations.Nullable;

/**
 * The webhook target of a node: its handler, from {@link #register} until this is closed.
 * Thread-safe.
 */
public final class Webhooks implements AutoCloseable {
  /** Attempts at once on this node. */
  private static final int ATTEMPTS_MAX = 512;

  private static final JobType<RawPayload, RawPayload> TYPE =
      JobType.of(WebhookRequest.TYPE, RawPayload.class, RawPayload.class);

  private final WebhookHandler handler;
  private @Nullable HandlerRegistration registration;

  /**
   * A target that runs nothing yet.
   *
   * @param settings secrets and private ranges, asked for by each attempt
   * @param loopback whether this host may be reached: only without authentication
   * @param ownPorts the ports of this server, which are never reached
   */
  public Webhooks(
      Supplier<WebhookSettings> settings, boolean loopback, Supplier<Set<Integer>> ownPorts) {
    this(
        settings,
        new AddressGuard(InetAddress::getAllByName, loopback, ownPorts),
        new HttpExchange((SSLSocketFactory) SSLSocketFactory.getDefault(), Socket::connect));
  }

  Webhooks(Supplier<WebhookSettings> settings, AddressGuard guard, HttpExchange exchange) {
    this.handler = new WebhookHandler(guard, exchange, settings, InstantSource.system());
  }

  /**
   * From now on the node runs webhook jobs.
   *
   * @param carillon the node
   */
  public void register(Carillon carillon) {
    registration = carillon.handle(TYPE, handler, HandlerOptions.defaults().limit(ATTEMPTS_MAX));
  }

  /** No attempt begins any more; those that run are not waited for. */
  @Override
  public void close() {
    HandlerRegistration registered = registration;
    if (registered != null) {
      registered.close();
    }
  }
}
