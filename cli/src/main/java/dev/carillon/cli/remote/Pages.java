package dev.carillon.cli.remote;

import dev.carillon.cli.client.Address;
import dev.carillon.cli.client.ApiClient;
import dev.carillon.cli.client.ExitCode;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Consumer;
import tools.jackson.databind.JsonNode;

/** Reads lists of the API page by page, as many items as are wanted. */
final class Pages {
  private static final int PAGE = 1_000;

  private final ApiClient server;
  private final Address address;
  private final long most;
  private final Set<String> unreadable = new LinkedHashSet<>();
  private boolean more;

  /**
   * Pages of a list.
   *
   * @param most how many items at most
   */
  Pages(ApiClient server, Address address, long most) {
    this.server = server;
    this.address = address;
    this.most = most;
  }

  /** Gives each page to {@code use} as it comes. */
  void each(Consumer<List<JsonNode>> use) {
    long left = most;
    String cursor = "";
    do {
      Address page = address.copy().with("limit", Math.min(left, PAGE)).with("cursor", cursor);
      JsonNode answer = server.get(page).json();
      List<JsonNode> items = new ArrayList<>();
      answer.path("items").forEach(items::add);
      answer.path("unreadable").forEach(part -> unreadable.add(part.asString("")));
      use.accept(items);
      left -= items.size();
      cursor = answer.path("next").asString("");
    } while (!cursor.isEmpty() && left > 0);
    more = !cursor.isEmpty();
  }

  /** All of them. */
  List<JsonNode> all() {
    List<JsonNode> all = new ArrayList<>();
    each(all::addAll);
    return all;
  }

  /** Tells what is missing; returns how the command ends. */
  ExitCode conclude(Report report) {
    if (more && !report.json()) {
      report.aside("there are more; --limit says how many are shown, --all shows all");
    }
    unreadable.forEach(part -> report.aside("carillon: damaged and left out: " + part));
    return unreadable.isEmpty() ? ExitCode.DONE : ExitCode.FAILED;
  }
}
