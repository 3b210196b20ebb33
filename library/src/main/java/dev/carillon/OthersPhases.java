package dev.carillon;

import dev.carillon.api.JobInfo;
import dev.carillon.api.JobState;
import dev.carillon.engine.format.Micros;
import dev.carillon.engine.job.JobRef;
import dev.carillon.engine.life.LivePhases;
import dev.carillon.store.Head;
import dev.carillon.store.Outcome;
import java.time.Duration;
import java.util.LinkedHashSet;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * How jobs stand whose shards other nodes have: a journal does not tell that an attempt runs. The
 * owner is asked, and only about jobs that are due. One use for each list or snapshot: a node that
 * was silent once is not asked again.
 */
final class OthersPhases {
  private static final long PATIENCE_NANOS = Duration.ofMillis(500).toNanos();

  private final OpenNode opened;
  private final NodeLoop loop;
  private final long nowMicros;
  private final Set<Long> silent = new LinkedHashSet<>();

  OthersPhases(OpenNode opened) {
    this.opened = opened;
    this.loop = opened.loop;
    this.nowMicros = opened.time.wallMicros();
  }

  /** Whether a job that a journal tells of may stand otherwise on the node that has its shard. */
  boolean mayDiffer(JobInfo read) {
    boolean waits = read.state() == JobState.SCHEDULED || read.state() == JobState.WAITING;
    return opened.options.membership() != null && waits && Micros.ceil(read.dueAt()) <= nowMicros;
  }

  /** A job that was read from its journal, as it stands on the node that has its shard. */
  JobInfo complete(JobRef ref, JobInfo read) {
    if (!(opened.store.journals().head(ref.shard()) instanceof Outcome.Ok<Head>(Head head))) {
      return read;
    }
    LivePhases phases = ask(head, ref.number());
    return phases != null ? phases.complete(ref, read) : read;
  }

  /** How the jobs of a shard stand, or one of them; null where nobody can tell. */
  @Nullable LivePhases ask(Head head, long number) {
    if (head.released() || silent.contains(head.owner())) {
      return null;
    }
    Optional<LivePhases> told =
        loop.post(
                new Ask<Optional<LivePhases>>(
                    loop,
                    "asking another node",
                    Ask.Effect.READS,
                    (node, asked) ->
                        node.questions()
                            .phases(
                                head.shard(),
                                head.owner(),
                                number,
                                PATIENCE_NANOS,
                                phases -> asked.answer(Optional.ofNullable(phases)))))
            .await();
    if (told.isEmpty()) {
      silent.add(head.owner());
    }
    return told.orElse(null);
  }
}
