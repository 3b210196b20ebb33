package dev.carillon.cli.client;

import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** What to ask a server for: a path and its query. Mutable; one thread. */
public final class Address {
  private final boolean inNamespace;
  private final List<String> segments;
  private final StringBuilder query = new StringBuilder();

  private Address(boolean inNamespace, List<String> segments) {
    this.inNamespace = inNamespace;
    this.segments = List.copyOf(segments);
  }

  /** A path below {@code /v1/namespaces/NS}. */
  public static Address of(String... segments) {
    return new Address(true, List.of(segments));
  }

  /** A path below {@code /v1}. */
  public static Address root(String... segments) {
    return new Address(false, List.of(segments));
  }

  /** A path further down. */
  public Address then(String... more) {
    List<String> all = new ArrayList<>(segments);
    all.addAll(List.of(more));
    return new Address(inNamespace, all);
  }

  /** With a parameter; without one for null and for an empty text. */
  public Address with(String name, @Nullable Object value) {
    if (value != null && !value.toString().isEmpty()) {
      query.append(query.isEmpty() ? '?' : '&');
      query.append(encoded(name)).append('=').append(encoded(value.toString()));
    }
    return this;
  }

  /** The same with another value of a parameter that may change, such as a cursor. */
  public Address copy() {
    Address copy = new Address(inNamespace, segments);
    copy.query.append(query);
    return copy;
  }

  /** The path and the query. */
  String text(String namespace) {
    StringBuilder text = new StringBuilder("/v1");
    if (inNamespace) {
      text.append("/namespaces/").append(encoded(namespace));
    }
    segments.forEach(segment -> text.append('/').append(encoded(segment)));
    return text.append(query).toString();
  }

  private static String encoded(String text) {
    return URLEncoder.encode(text, StandardCharsets.UTF_8).replace("+", "%20");
  }
}
