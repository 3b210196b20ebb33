package dev.carillon.server.webhook;

import java.net.InetAddress;
import java.net.NetworkInterface;
import java.net.SocketException;
import java.net.UnknownHostException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Future;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Supplier;

/**
 * Says which addresses a webhook may be sent to, against requests that a job has this server make
 * to its own network (SSRF). A name is looked up once; every address of it must be allowed, and
 * only these addresses are connected to. What is said of a refusal names no address: a job must not
 * learn what names mean inside.
 *
 * <p>Looking up may hang and cannot be interrupted: it is done on a few threads of its own, which
 * attempts wait for only so long. Thread-safe.
 */
final class AddressGuard {
  private static final int LOOKUP_THREADS = 16;
  private static final int LOOKUPS_MAX = 10_000;
  private static final int ADDRESSES_MAX = 32;
  private static final long IDLE_SECONDS = 10;

  /** Looks up a name. */
  @FunctionalInterface
  interface Resolver {
    InetAddress[] lookUp(String host) throws UnknownHostException;
  }

  private final Resolver resolver;
  private final boolean loopback;
  private final Supplier<Set<Integer>> ownPorts;
  private final ExecutorService lookups;

  /**
   * A guard.
   *
   * @param resolver looks up names
   * @param loopback whether this host may be reached: only without authentication
   * @param ownPorts the ports that this server listens on
   */
  AddressGuard(Resolver resolver, boolean loopback, Supplier<Set<Integer>> ownPorts) {
    this.resolver = resolver;
    this.loopback = loopback;
    this.ownPorts = ownPorts;
    ThreadPoolExecutor pool =
        new ThreadPoolExecutor(
            LOOKUP_THREADS,
            LOOKUP_THREADS,
            IDLE_SECONDS,
            TimeUnit.SECONDS,
            new LinkedBlockingQueue<>(LOOKUPS_MAX),
            Thread.ofPlatform().daemon().name("carillon-lookup-", 1).factory());
    pool.allowCoreThreadTimeOut(true);
    this.lookups = pool;
  }

  /**
   * The addresses of a name, all of them allowed.
   *
   * @param host a name or a literal, without brackets
   * @param port the port
   * @param ranges the private ranges that may be reached
   * @param time how long looking up may take
   * @return at least one
   * @throws WebhookRefused if one is not allowed
   * @throws WebhookFailed if there is none now
   * @throws InterruptedException if the attempt is to end
   */
  List<InetAddress> allowed(String host, int port, List<AddressRange> ranges, Duration time)
      throws InterruptedException {
    List<InetAddress> allowed = new ArrayList<>();
    for (InetAddress found : lookUp(host, time)) {
      InetAddress address = bare(host, found);
      if (!mayReach(address, port, ranges)) {
        throw new WebhookRefused(
            "url: \"%s\" has an address that is not allowed here (expected: global ones)"
                .formatted(host));
      }
      if (allowed.size() < ADDRESSES_MAX) {
        allowed.add(address);
      }
    }
    if (allowed.isEmpty()) {
      throw new WebhookFailed("url: \"%s\" has no address".formatted(host));
    }
    return allowed;
  }

  private boolean mayReach(InetAddress address, int port, List<AddressRange> ranges) {
    boolean kind =
        switch (AddressKind.of(address)) {
          case GLOBAL -> true;
          case PRIVATE -> ranges.stream().anyMatch(range -> range.contains(address));
          case LOOPBACK -> loopback;
          case NEVER -> false;
        };
    return kind && !(ownPorts.get().contains(port) && isOfThisHost(address));
  }

  private static boolean isOfThisHost(InetAddress address) {
    try {
      return AddressKind.of(address) == AddressKind.LOOPBACK
          || NetworkInterface.getByInetAddress(address) != null;
    } catch (SocketException e) {
      return true;
    }
  }

  private InetAddress[] lookUp(String host, Duration time) throws InterruptedException {
    Future<InetAddress[]> answer;
    try {
      answer = lookups.submit(() -> resolver.lookUp(host));
    } catch (RejectedExecutionException e) {
      throw new WebhookFailed("too many names are being looked up");
    }
    try {
      return answer.get(time.toNanos(), TimeUnit.NANOSECONDS);
    } catch (ExecutionException e) {
      throw new WebhookFailed("url: \"%s\" has no address".formatted(host));
    } catch (TimeoutException e) {
      throw new WebhookFailed("url: looking up \"%s\" took longer than %s".formatted(host, time));
    } finally {
      answer.cancel(false);
    }
  }

  /** Bytes and the name that was asked for: nothing that could be looked up again. */
  private static InetAddress bare(String host, InetAddress found) {
    try {
      return InetAddress.getByAddress(host, found.getAddress());
    } catch (UnknownHostException e) {
      throw new IllegalStateException(e); // the bytes are those of an address
    }
  }
}
