package dev.carillon;

import dev.carillon.api.JobId;
import dev.carillon.engine.format.Micros;
import dev.carillon.engine.message.RunningJob;
import dev.carillon.engine.request.Questions;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;

/**
 * The jobs whose handlers run now, as the nodes themselves tell.
 *
 * @param jobs by node, the asked one first; of each those that began first
 * @param nodes how many run where
 * @param silent the ids of the nodes that gave no answer in time: what runs there is not known
 */
public record RunningInfo(List<Running> jobs, List<Count> nodes, List<String> silent) {

  /**
   * A job whose handler runs.
   *
   * @param id the job
   * @param nodeId the node that runs it
   * @param attempt which attempt it is, from 1
   * @param dueAt when the attempt was due
   * @param startedAt when its handler was called, by the clock of that node
   */
  public record Running(
      JobId id,
      String nodeId,
      String type,
      String namespace,
      String queue,
      int attempt,
      Instant dueAt,
      Instant startedAt) {}

  /**
   * How many run on a node.
   *
   * @param running all of them
   * @param shown how many of them are in the list
   */
  public record Count(String nodeId, int running, int shown) {}

  static RunningInfo of(Questions.Answers<Questions.Running> answers) {
    List<Running> jobs = new ArrayList<>();
    List<Count> nodes = new ArrayList<>();
    answers
        .of()
        .forEach(
            (node, told) -> {
              told.jobs().forEach(job -> jobs.add(of(node, job)));
              nodes.add(new Count(node, told.all(), told.jobs().size()));
            });
    return new RunningInfo(List.copyOf(jobs), List.copyOf(nodes), answers.silent());
  }

  private static Running of(String node, RunningJob job) {
    return new Running(
        job.id(),
        node,
        job.type(),
        job.namespace(),
        job.queue(),
        job.attempt(),
        Micros.toInstant(job.dueMicros()),
        Micros.toInstant(job.startedMicros()));
  }
}
