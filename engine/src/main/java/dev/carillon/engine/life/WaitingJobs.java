package dev.carillon.engine.life;

import dev.carillon.api.JobState;
import dev.carillon.engine.dispatch.JobMeters;
import dev.carillon.engine.environment.NodeEnvironment;
import dev.carillon.engine.environment.Timers;
import dev.carillon.engine.shard.NodeJob;
import dev.carillon.engine.shard.Shard;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;

/**
 * Due jobs of a node that do not run, by type, queue, namespace and reason.
 *
 * @param type the name of the type, or {@code others}; so for the next two
 * @param reason {@code slot} for those that only wait for their turn, {@code paused}, or a {@link
 *     dev.carillon.api.BlockReason} in lower case
 * @param jobs how many there are
 * @param oldestDueMicros when the first of them was due
 */
public record WaitingJobs(
    String type, String queue, String namespace, String reason, long jobs, long oldestDueMicros) {

  /** Counts those of some shards; {@code answer} comes later. */
  public static void of(
      Iterable<Shard> all,
      NodeEnvironment env,
      Timers timers,
      JobMeters meters,
      Consumer<List<WaitingJobs>> answer) {
    Survey survey = new Survey(meters);
    DueWalk.over(all, env, timers, survey::look, () -> answer.accept(survey.answer()));
  }

  private static final class Survey {
    private final JobMeters meters;
    private final Map<Key, long[]> found = new LinkedHashMap<>();

    private record Key(JobMeters.Tags tags, String reason) {}

    Survey(JobMeters meters) {
      this.meters = meters;
    }

    void look(NodeJob job) {
      Key key = new Key(meters.tags(job.type, job.queue, job.namespace), reason(job));
      long[] seen = found.computeIfAbsent(key, k -> new long[] {0, Long.MAX_VALUE});
      seen[0]++;
      seen[1] = Math.min(seen[1], job.dueMicros);
    }

    private static String reason(NodeJob job) {
      NodeJob.Phase phase = LivePhases.shown(job);
      var blocked = LivePhases.reason(phase);
      if (blocked != null) {
        return blocked.name().toLowerCase(java.util.Locale.ROOT);
      }
      return LivePhases.state(phase) == JobState.PAUSED ? "paused" : "slot";
    }

    List<WaitingJobs> answer() {
      List<WaitingJobs> all = new ArrayList<>();
      found.forEach(
          (key, seen) -> {
            JobMeters.Tags tags = key.tags();
            all.add(
                new WaitingJobs(
                    tags.type(), tags.queue(), tags.namespace(), key.reason(), seen[0], seen[1]));
          });
      return all;
    }
  }
}
