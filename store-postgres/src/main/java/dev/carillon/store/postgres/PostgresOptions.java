package dev.carillon.store.postgres;

import dev.carillon.api.Limits;
import dev.carillon.api.error.InvalidArgumentException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/**
 * Where a {@link PostgresStore} keeps its tables and how it uses the server. The defaults are right
 * for almost everybody.
 *
 * @param url a JDBC URL, {@code jdbc:postgresql://host/database}; null with a data source
 * @param user whom to connect as; null where the URL or the data source says
 * @param password the user's password; null where none is needed, or the URL says
 * @param dataSource which database to connect to; null with a URL. Either way a node has
 *     connections of its own, which it does not share with the application: it connects as the data
 *     source does where that is one of HikariCP or of PostgreSQL's driver, or a wrapper of one.
 *     From any other data source it takes connections when it is opened and keeps them
 * @param schema the database schema of the tables, made where it is missing; "carillon"
 * @param cluster whose jobs: clusters of one schema do not see each other; "main"
 * @param poolSize how many connections a node has at most, made as they are needed; 0 for the
 *     default: 20, so that no call of a node waits for another, or 5 of a data source from which
 *     the node takes and keeps them. With {@code push} one more listens
 * @param statementTimeout how long the server may take for a statement, and how long a transaction
 *     may lie idle there; below the member timeout, so that what a paused node has locked is free
 *     before it is taken over; 2 seconds
 * @param push whether to listen for what other nodes announce; true. Without it nodes find out by
 *     polling. Takes one more connection
 * @param pooler whether a pooler that hands out connections by transaction (PgBouncer) stands
 *     before the server: nothing is then left behind in a session, statements are not kept prepared
 *     (of a data source its owner must see to that) and push is off; false
 * @param rotateEvery how long a table of entries is written to before the next one is begun; a day
 * @param rotateBytes how large it grows before that; 4 GiB
 * @param keepTables how long a full table may be kept for the sake of what is still needed in it,
 *     before that is copied to the newest one; 8 days, one more than successes are kept
 */
public record PostgresOptions(
    @Nullable String url,
    @Nullable String user,
    @Nullable String password,
    @Nullable DataSource dataSource,
    String schema,
    String cluster,
    int poolSize,
    Duration statementTimeout,
    boolean push,
    boolean pooler,
    Duration rotateEvery,
    long rotateBytes,
    Duration keepTables) {

  static final String URL_PREFIX = "jdbc:postgresql:";
  private static final int MAX_SCHEMA_BYTES = 63;
  private static final int MAX_CLUSTER_BYTES = 1_024;
  private static final int MAX_POOL_SIZE = 1_000;
  private static final Duration MIN_TIMEOUT = Duration.ofMillis(100);
  private static final Duration MAX_TIMEOUT = Duration.ofMinutes(10);
  private static final Duration MIN_ROTATION = Duration.ofSeconds(1);
  private static final Duration MAX_ROTATION = Duration.ofDays(3_650);

  public PostgresOptions {
    Limits.checkPresent("schema", schema);
    Limits.checkPresent("cluster", cluster);
    Limits.checkPresent("statementTimeout", statementTimeout);
    Limits.checkPresent("rotateEvery", rotateEvery);
    Limits.checkPresent("keepTables", keepTables);
    require(
        (url == null) != (dataSource == null),
        "url and dataSource",
        url == null ? "neither" : "both",
        "one of them");
    require(url == null || url.startsWith(URL_PREFIX), "url", url, "one that starts " + URL_PREFIX);
    requireName("schema", schema, MAX_SCHEMA_BYTES);
    requireName("cluster", cluster, MAX_CLUSTER_BYTES);
    require(poolSize >= 0 && poolSize <= MAX_POOL_SIZE, "poolSize", poolSize, "0 to 1000");
    requireBetween("statementTimeout", statementTimeout, MIN_TIMEOUT, MAX_TIMEOUT);
    requireBetween("rotateEvery", rotateEvery, MIN_ROTATION, MAX_ROTATION);
    requireBetween("keepTables", keepTables, Duration.ZERO, MAX_ROTATION);
    require(rotateBytes >= 1 << 20, "rotateBytes", rotateBytes, "at least 1 MiB");
  }

  private static void requireName(String what, String name, int maxBytes) {
    boolean good =
        !name.isEmpty()
            && name.indexOf('\0') < 0
            && name.getBytes(StandardCharsets.UTF_8).length <= maxBytes
            && StandardCharsets.UTF_8.newEncoder().canEncode(name);
    require(good, what, name, "1 to " + maxBytes + " bytes of UTF-8 without NUL");
    require(
        !what.equals("schema") || !name.startsWith("pg_"),
        what,
        name,
        "a name that PostgreSQL does not keep for itself");
  }

  private static void requireBetween(String what, Duration value, Duration least, Duration most) {
    require(
        value.compareTo(least) >= 0 && value.compareTo(most) <= 0,
        what,
        value,
        least + " to " + most);
  }

  private static void require(
      boolean condition, String what, @Nullable Object value, String expected) {
    if (!condition) {
      throw new InvalidArgumentException(what + ": " + value + " (expected: " + expected + ")");
    }
  }

  /** Options for the database at {@code url}. */
  public static Builder at(String url) {
    Builder builder = new Builder();
    builder.url = Limits.checkPresent("url", url);
    return builder;
  }

  /**
   * Options for the database that {@code dataSource} connects to. Sessions that are taken from it
   * are left as they were found.
   */
  public static Builder at(DataSource dataSource) {
    Builder builder = new Builder();
    builder.dataSource = Limits.checkPresent("dataSource", dataSource);
    return builder;
  }

  /** Without the password. */
  @Override
  public String toString() {
    return "PostgresOptions[" + where() + "]";
  }

  /** The place, for messages. */
  String where() {
    String server = url == null ? "data source" : url.replaceAll("[?].*", "");
    return server + ", schema " + schema + ", cluster " + cluster;
  }

  /** Collects options; see {@link PostgresOptions} for what each means and its default. */
  public static final class Builder {
    private @Nullable String url;
    private @Nullable String user;
    private @Nullable String password;
    private @Nullable DataSource dataSource;
    private String schema = "carillon";
    private String cluster = "main";
    private int poolSize;
    private Duration statementTimeout = Duration.ofSeconds(2);
    private boolean push = true;
    private boolean pooler;
    private Duration rotateEvery = Duration.ofDays(1);
    private long rotateBytes = 4L << 30;
    private Duration keepTables = Duration.ofDays(8);

    private Builder() {}

    /** Whom to connect as, and the password. */
    public Builder user(@Nullable String user, @Nullable String password) {
      this.user = user;
      this.password = password;
      return this;
    }

    /** The database schema of the tables. */
    public Builder schema(String schema) {
      this.schema = schema;
      return this;
    }

    /** Whose jobs. */
    public Builder cluster(String cluster) {
      this.cluster = cluster;
      return this;
    }

    /** How many connections a node has at most; 0 for the default. */
    public Builder poolSize(int connections) {
      this.poolSize = connections;
      return this;
    }

    /** How long the server may take for a statement, and a transaction may lie idle. */
    public Builder statementTimeout(Duration timeout) {
      this.statementTimeout = timeout;
      return this;
    }

    /** Whether to listen for what other nodes announce. */
    public Builder push(boolean push) {
      this.push = push;
      return this;
    }

    /** Whether a pooler that hands out connections by transaction stands before the server. */
    public Builder pooler(boolean pooler) {
      this.pooler = pooler;
      return this;
    }

    /** When the next table of entries is begun: after a time, or at a size. */
    public Builder rotate(Duration every, long bytes) {
      return rotateEvery(every).rotateBytes(bytes);
    }

    /** After how long the next table of entries is begun. */
    Builder rotateEvery(Duration every) {
      this.rotateEvery = every;
      return this;
    }

    /** At which size the next table of entries is begun. */
    Builder rotateBytes(long bytes) {
      this.rotateBytes = bytes;
      return this;
    }

    /** How long a full table may be kept for the sake of what is still needed in it. */
    public Builder keepTables(Duration keep) {
      this.keepTables = keep;
      return this;
    }

    /** The options. */
    public PostgresOptions build() {
      return new PostgresOptions(
          url,
          user,
          password,
          dataSource,
          schema,
          cluster,
          poolSize,
          statementTimeout,
          push && !pooler,
          pooler,
          rotateEvery,
          rotateBytes,
          keepTables);
    }
  }
}
