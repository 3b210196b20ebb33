package dev.carillon;

import dev.carillon.engine.request.Questions;
import dev.carillon.engine.request.ShardCounts;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;

/**
 * The shards that nodes have, counted by node and by the time of their jobs, as the nodes
 * themselves tell.
 *
 * @param rows by node, the asked one first; of each by time
 * @param nodes the ids of the nodes that answered, the asked one first
 * @param silent the ids of the nodes that gave no answer in time: their shards are not counted
 */
public record ShardsInfo(List<Row> rows, List<String> nodes, List<String> silent) {

  /**
   * Shards of one node and one slice of time.
   *
   * @param nodeId the node that has them
   * @param start where the slice begins
   * @param width how long it is
   * @param shards how many there are
   * @param loaded how many of them have their jobs in memory; the others are asleep
   * @param coming how many of them the node is making or claiming
   * @param going how many of them it is handing to another node
   * @param jobs their jobs that have not ended; of a shard that is asleep those that may not have
   */
  public record Row(
      String nodeId,
      Instant start,
      Duration width,
      int shards,
      int loaded,
      int coming,
      int going,
      long jobs) {}

  static ShardsInfo of(Questions.Answers<List<ShardCounts.Row>> answers) {
    List<Row> rows = new ArrayList<>();
    answers.of().forEach((node, told) -> told.forEach(each -> rows.add(of(node, each))));
    return new ShardsInfo(List.copyOf(rows), List.copyOf(answers.of().keySet()), answers.silent());
  }

  private static Row of(String node, ShardCounts.Row told) {
    return new Row(
        node,
        Instant.ofEpochSecond(told.startSeconds()),
        Duration.ofSeconds(told.widthSeconds()),
        told.shards(),
        told.loaded(),
        told.coming(),
        told.going(),
        told.jobs());
  }
}
