package dev.carillon;

import dev.carillon.api.JobId;
import dev.carillon.api.WaitReason;
import dev.carillon.engine.format.Micros;
import dev.carillon.engine.request.Questions;
import dev.carillon.engine.request.WaitCounts;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * The due jobs that do not run, counted by queue and by what keeps each of them first, as the nodes
 * themselves tell.
 *
 * @param rows in no order
 * @param nodes the ids of the nodes that answered, the asked one first
 * @param silent the ids of the nodes that gave no answer in time: what waits there is not counted
 */
public record WaitsInfo(List<Row> rows, List<String> nodes, List<String> silent) {

  /**
   * Jobs that the same keeps.
   *
   * @param namespace their namespace
   * @param queue their queue
   * @param reason what keeps them first
   * @param jobs how many there are
   * @param oldestDue when the first of them was due
   * @param example that one
   */
  public record Row(
      String namespace,
      String queue,
      WaitReason reason,
      long jobs,
      Instant oldestDue,
      JobId example) {

    private Row and(Row other) {
      Row older = other.oldestDue.isBefore(oldestDue) ? other : this;
      return new Row(namespace, queue, reason, jobs + other.jobs, older.oldestDue, older.example);
    }
  }

  private record Key(String namespace, String queue, WaitReason reason) {}

  static WaitsInfo of(Questions.Answers<List<WaitCounts.Row>> answers) {
    Map<Key, Row> rows = new LinkedHashMap<>();
    for (List<WaitCounts.Row> told : answers.of().values()) {
      for (WaitCounts.Row each : told) {
        rows.merge(
            new Key(each.namespace(), each.queue(), each.reason()),
            new Row(
                each.namespace(),
                each.queue(),
                each.reason(),
                each.jobs(),
                Micros.toInstant(each.oldestDueMicros()),
                each.example()),
            Row::and);
      }
    }
    return new WaitsInfo(
        List.copyOf(rows.values()), List.copyOf(answers.of().keySet()), answers.silent());
  }
}
