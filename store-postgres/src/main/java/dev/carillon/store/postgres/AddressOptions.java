package dev.carillon.store.postgres;

import dev.carillon.api.error.InvalidArgumentException;
import dev.carillon.store.StoreAddress;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.format.DateTimeParseException;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** Reads the options of a store from its address: from the parameters of the URL, and beside it. */
final class AddressOptions {

  private static final String PREFIX = "carillon.";

  /** Options that the driver does not have. */
  private static final List<String> OWN =
      List.of(
          "cluster",
          "keepTables",
          "pooler",
          "poolSize",
          "push",
          "rotateBytes",
          "rotateEvery",
          "schema",
          "statementTimeout");

  private static final String NAMES = String.join(", ", OWN) + ", password, user";

  /** By name, and what is left when all are taken is unknown. */
  private final Map<String, String> values = new TreeMap<>();

  private final StoreAddress address;

  private AddressOptions(StoreAddress address) {
    this.address = address;
  }

  static PostgresOptions of(StoreAddress address) {
    return new AddressOptions(address).read();
  }

  private PostgresOptions read() {
    String url = urlOfTheDriver();
    address.options().forEach(this::put);
    PostgresOptions.Builder builder =
        address.dataSource() != null
            ? PostgresOptions.at(address.dataSource())
            : PostgresOptions.at(url);
    apply(builder);
    if (!values.isEmpty()) {
      throw new InvalidArgumentException(
          "store options: %s (expected: of %s)".formatted(values.keySet(), NAMES));
    }
    return builder.build();
  }

  private void put(String name, String value) {
    if (values.put(name, value) != null) {
      throw new InvalidArgumentException(
          "store option: " + name + " twice (expected: in the URL or beside it)");
    }
  }

  /** Takes what is ours out of the URL. */
  private String urlOfTheDriver() {
    String url = address.url();
    int question = url.indexOf('?');
    if (question < 0) {
      return lowerScheme(url);
    }
    List<String> others = new ArrayList<>();
    for (String parameter : url.substring(question + 1).split("&", -1)) {
      if (parameter.startsWith(PREFIX)) {
        String[] parts = parameter.substring(PREFIX.length()).split("=", 2);
        put(parts[0], parts.length < 2 ? "" : decoded(parts[1]));
      } else {
        refuseOwn(parameter);
        others.add(parameter);
      }
    }
    String rest = others.isEmpty() ? "" : "?" + String.join("&", others);
    return lowerScheme(url.substring(0, question) + rest);
  }

  /**
   * The driver passes over what it does not know, and the option would be as if it was not said.
   */
  private static void refuseOwn(String parameter) {
    String name = parameter.split("=", 2)[0];
    if (OWN.stream().anyMatch(name::equalsIgnoreCase)) {
      throw new InvalidArgumentException(
          "parameter of the URL: %s (expected: %s%s)".formatted(name, PREFIX, name));
    }
  }

  /** The driver knows its URLs in lower case only. */
  private static String lowerScheme(String url) {
    int length = PostgresOptions.URL_PREFIX.length();
    return url.substring(0, length).toLowerCase(Locale.ROOT) + url.substring(length);
  }

  private static String decoded(String value) {
    return URLDecoder.decode(value, StandardCharsets.UTF_8);
  }

  private void apply(PostgresOptions.Builder builder) {
    String user = values.remove("user");
    String password = values.remove("password");
    if (user != null || password != null) {
      builder.user(user, password);
    }
    String schema = values.remove("schema");
    if (schema != null) {
      builder.schema(schema);
    }
    String cluster = values.remove("cluster");
    if (cluster != null) {
      builder.cluster(cluster);
    }
    Integer poolSize = parsed("poolSize", Integer::valueOf, "a number");
    if (poolSize != null) {
      builder.poolSize(poolSize);
    }
    Duration timeout = duration("statementTimeout");
    if (timeout != null) {
      builder.statementTimeout(timeout);
    }
    Boolean push = parsed("push", AddressOptions::yesOrNo, "true or false");
    if (push != null) {
      builder.push(push);
    }
    Boolean pooler = parsed("pooler", AddressOptions::yesOrNo, "true or false");
    if (pooler != null) {
      builder.pooler(pooler);
    }
    applyTables(builder);
  }

  private void applyTables(PostgresOptions.Builder builder) {
    Duration every = duration("rotateEvery");
    if (every != null) {
      builder.rotateEvery(every);
    }
    Long bytes = parsed("rotateBytes", Long::valueOf, "a number of bytes");
    if (bytes != null) {
      builder.rotateBytes(bytes);
    }
    Duration keep = duration("keepTables");
    if (keep != null) {
      builder.keepTables(keep);
    }
  }

  private @Nullable Duration duration(String name) {
    return parsed(
        name,
        text -> Duration.parse(text.toUpperCase(Locale.ROOT).startsWith("P") ? text : "PT" + text),
        "a duration such as 2s or P8D");
  }

  private <T> @Nullable T parsed(String name, Function<String, T> parser, String expected) {
    String value = values.remove(name);
    if (value == null) {
      return null;
    }
    try {
      return parser.apply(value);
    } catch (DateTimeParseException | IllegalArgumentException e) {
      throw new InvalidArgumentException(
          "store option %s: %s (expected: %s)".formatted(name, value, expected), e);
    }
  }

  private static Boolean yesOrNo(String value) {
    return switch (value) {
      case "true" -> true;
      case "false" -> false;
      default -> throw new IllegalArgumentException(value);
    };
  }
}
