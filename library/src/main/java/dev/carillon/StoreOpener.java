package dev.carillon;

import dev.carillon.api.error.CarillonException;
import dev.carillon.api.error.InvalidArgumentException;
import dev.carillon.api.error.StoreRefusedException;
import dev.carillon.api.error.StoreUnavailableException;
import dev.carillon.api.error.TransientException;
import dev.carillon.api.error.WaitInterruptedException;
import dev.carillon.store.Store;
import dev.carillon.store.StoreAddress;
import dev.carillon.store.Stores;
import java.net.UnknownHostException;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Supplier;
import java.util.stream.Stream;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/** Finds the store that a builder says. */
final class StoreOpener {

  private static final Duration PAUSE = Duration.ofMillis(250);
  private static final Duration CONNECT_WAIT = Duration.ofSeconds(10);

  // Classes of SQL states.
  private static final String WRONG_USER = "28";
  private static final String WRONG_DATABASE = "3D";

  private StoreOpener() {}

  static Store open(CarillonBuilder options) {
    long said =
        Stream.of(options.store, options.url, options.dataSource).filter(Objects::nonNull).count();
    if (said != 1) {
      throw new InvalidArgumentException(
          "store: " + said + " of them (expected: one of url, dataSource, store and inMemory)");
    }
    Store store = options.store;
    if (store != null) {
      if (!options.advanced.storeOptions.isEmpty()) {
        throw new InvalidArgumentException(
            "store options: %s (expected: none for a store that is open already)"
                .formatted(options.advanced.storeOptions.keySet()));
      }
      return store;
    }
    return waiting(options.storeWait, () -> openNow(options));
  }

  private static Store openNow(CarillonBuilder options) {
    DataSource dataSource = options.dataSource;
    String url = dataSource != null ? urlOf(dataSource) : Objects.requireNonNull(options.url);
    return Stores.open(new StoreAddress(url, dataSource, options.advanced.storeOptions));
  }

  /** Opens again and again, until it succeeds or fails in a way that waiting does not mend. */
  private static Store waiting(Duration limit, Supplier<Store> opening) {
    long deadline = System.nanoTime() + limit.toNanos();
    while (true) {
      try {
        return opening.get();
      } catch (CarillonException e) {
        if (!mayPass(e) || System.nanoTime() + PAUSE.toNanos() - deadline > 0) {
          throw e;
        }
        pause(e);
      }
    }
  }

  private static boolean mayPass(CarillonException failure) {
    for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
      if (cause instanceof TransientException || cause instanceof UnknownHostException) {
        return true;
      }
    }
    return false;
  }

  private static void pause(CarillonException failure) {
    try {
      Thread.sleep(PAUSE);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new WaitInterruptedException("opening the store: interrupted", failure);
    }
  }

  /** The store for people: its kind, and its address without user, password or parameters. */
  static String words(CarillonBuilder options, Store store) {
    String kind = store.info().kind();
    String url = options.url;
    if (url == null) {
      return options.dataSource == null ? kind : kind + " (data source)";
    }
    String address = url.replaceFirst("[?;].*", "").replaceFirst("//[^/]*@", "//");
    return kind + " (" + address + ")";
  }

  /** Says of which database it is, and where SQLite's file lies. */
  private static String urlOf(DataSource dataSource) {
    String known = Stores.urlOf(dataSource);
    return known != null ? known : urlByConnection(dataSource);
  }

  /** Asks a connection, on a thread of its own: a data source may wait for ever for a free one. */
  private static String urlByConnection(DataSource dataSource) {
    FutureTask<String> asking = new FutureTask<>(() -> urlOfConnection(dataSource));
    Thread.ofPlatform().daemon().name("carillon-data-source").start(asking);
    try {
      return asking.get(CONNECT_WAIT.toSeconds(), TimeUnit.SECONDS);
    } catch (ExecutionException e) {
      if (e.getCause() instanceof InvalidArgumentException bad) {
        throw bad;
      }
      throw noConnection(e.getCause());
    } catch (TimeoutException e) {
      throw new StoreUnavailableException(
          "data source: gave no connection within %s (expected: a pool with connections to spare)"
              .formatted(CONNECT_WAIT),
          e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new WaitInterruptedException("opening the store: interrupted", e);
    }
  }

  private static CarillonException noConnection(@Nullable Throwable why) {
    String said = "data source: gives no connection: " + (why == null ? "" : why.getMessage());
    for (Throwable cause = why; cause != null; cause = cause.getCause()) {
      String state = cause instanceof SQLException e ? e.getSQLState() : null;
      if (state != null && (state.startsWith(WRONG_USER) || state.startsWith(WRONG_DATABASE))) {
        return new StoreRefusedException(said + ": " + cause.getMessage(), why);
      }
    }
    return new StoreUnavailableException(said, why);
  }

  private static String urlOfConnection(DataSource dataSource) throws SQLException {
    try (Connection connection = dataSource.getConnection()) {
      String url = connection.getMetaData().getURL();
      if (url == null) {
        throw new InvalidArgumentException(
            "data source: of "
                + connection.getMetaData().getDatabaseProductName()
                + " without a URL (expected: one of SQLite or PostgreSQL)");
      }
      return url;
    }
  }
}
