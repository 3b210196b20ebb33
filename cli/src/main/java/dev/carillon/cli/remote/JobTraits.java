package dev.carillon.cli.remote;

import dev.carillon.cli.client.Address;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import picocli.CommandLine.Option;

/** The options about what jobs are, whenever they are due. All of them must fit. */
final class JobTraits {
  @Option(
      names = {"-s", "--state"},
      split = ",",
      paramLabel = "STATE",
      description = "in one of these states, such as DEAD,BLOCKED")
  private List<String> states = new ArrayList<>();

  @Option(
      names = {"-t", "--type"},
      paramLabel = "TYPE",
      description = "of this type")
  private String type = "";

  @Option(
      names = {"-q", "--queue"},
      paramLabel = "QUEUE",
      description = "in this queue")
  private String queue = "";

  @Option(names = "--name-prefix", paramLabel = "TEXT", description = "whose name begins like this")
  private String namePrefix = "";

  @Option(
      names = "--occurrences-of",
      paramLabel = "ID",
      description = "occurrences of this recurring job")
  private String occurrencesOf = "";

  @Option(
      names = {"-m", "--meta"},
      paramLabel = "KEY=VALUE",
      description = "with this entry in its metadata")
  private Map<String, String> metadata = new LinkedHashMap<>();

  /** Any job. */
  JobTraits() {}

  /** Adds the conditions to what is asked for. */
  void on(Address address) {
    parameters().forEach(each -> address.with(each.getKey(), each.getValue()));
  }

  /** The conditions as the API names them. */
  List<Map.Entry<String, String>> parameters() {
    List<Map.Entry<String, String>> all = new ArrayList<>();
    states.forEach(state -> put(all, "state", state.strip().toUpperCase(Locale.ROOT)));
    put(all, "type", type);
    put(all, "queue", queue);
    put(all, "namePrefix", namePrefix);
    put(all, "occurrencesOf", occurrencesOf);
    metadata.forEach((key, value) -> put(all, "meta." + key, value));
    return all;
  }

  /** Adds a condition, unless it is empty. */
  static void put(List<Map.Entry<String, String>> all, String name, String value) {
    if (!value.isEmpty()) {
      all.add(Map.entry(name, value));
    }
  }
}
