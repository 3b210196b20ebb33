package dev.carillon.engine.life;

import dev.carillon.api.JobError;
import dev.carillon.api.JobInfo;
import dev.carillon.api.JobState;
import dev.carillon.engine.commit.Committer;
import dev.carillon.engine.commit.Operation;
import dev.carillon.engine.environment.NodeEnvironment;
import dev.carillon.engine.fold.FoldedJob;
import dev.carillon.engine.fold.OperationBody;
import dev.carillon.engine.fold.ShardFold;
import dev.carillon.engine.format.Frame;
import dev.carillon.engine.format.Kind;
import dev.carillon.engine.job.JobRef;
import dev.carillon.engine.query.JobReader;
import dev.carillon.engine.shard.NodeJob;
import dev.carillon.engine.shard.Shard;
import dev.carillon.engine.shard.Shards;
import dev.carillon.store.Outcome;
import java.util.Optional;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Puts the ends of children into the histories of their workflows, with their results: from the
 * memory of the node that ended the child, else from the journal of the child. The debt of the
 * child's shard keeps that journal until the workflow has the end.
 */
final class ChildEnds {
  private static final byte[] NOTHING = {};

  private final NodeEnvironment env;
  private final Shards shards;
  private final Committer committer;
  private final Consumer<NodeJob> wake;

  /**
   * How a child ended.
   *
   * @param state null where nobody knows any more
   * @param end with its result, where that is at hand
   */
  record Ended(JobRef child, @Nullable JobState state, OperationBody.@Nullable End end) {}

  ChildEnds(NodeEnvironment env, Shards shards, Committer committer, Consumer<NodeJob> wake) {
    this.env = env;
    this.shards = shards;
    this.committer = committer;
    this.wake = wake;
  }

  /** Tells a workflow; {@code done} hears true once it is durable, false to be asked again. */
  void tell(Shard shard, NodeJob workflow, Ended ended, Consumer<Boolean> done) {
    OperationBody.End end = ended.end();
    if (end != null) {
      append(
          shard,
          workflow,
          new OperationBody.ChildEnded(
              env.wallMicros(), ended.child(), end.state(), errorOf(end), end.result()),
          done);
      return;
    }
    env.submit(
        NodeEnvironment.Channel.READ,
        store -> new JobReader(store).find(ended.child()),
        outcome -> {
          if (outcome instanceof Outcome.Ok<Optional<JobReader.Story>>(var found)) {
            append(shard, workflow, body(ended, found.orElse(null)), done);
          } else {
            done.accept(false);
          }
        });
  }

  private OperationBody.ChildEnded body(Ended ended, JobReader.@Nullable Story story) {
    if (story == null) {
      JobState state = ended.state();
      return new OperationBody.ChildEnded(
          env.wallMicros(),
          ended.child(),
          state != null ? state : JobState.FAILED,
          new JobError("gone", "the child is not there any more", ""),
          NOTHING);
    }
    JobInfo info = story.view().info();
    JobState state = ended.state() != null ? ended.state() : info.state();
    byte[] result = story.view().result();
    return new OperationBody.ChildEnded(
        env.wallMicros(),
        ended.child(),
        state,
        state == JobState.SUCCEEDED ? null : errorOf(info),
        result != null ? result : NOTHING);
  }

  private static @Nullable JobError errorOf(OperationBody.End end) {
    if (end.state() == JobState.SUCCEEDED || end.error() != null) {
      return end.state() == JobState.SUCCEEDED ? null : end.error();
    }
    String reason = end.reason();
    return new JobError(end.state().name(), reason != null ? reason : "", "");
  }

  private static JobError errorOf(JobInfo info) {
    JobError error = info.lastError();
    String reason = info.reason();
    return error != null
        ? error
        : new JobError(info.state().name(), reason != null ? reason : "", "");
  }

  private void append(
      Shard shard, NodeJob workflow, OperationBody.ChildEnded body, Consumer<Boolean> done) {
    Frame frame = Frame.of(Kind.CHILD_ENDED, workflow.number, body.encode());
    Operation operation = new Operation(frame, new Written(done));
    shards.ensureAwakeBy(shard, 0, () -> committer.add(shard.journal, operation));
  }

  private final class Written implements Operation.Listener {
    private final Consumer<Boolean> done;

    Written(Consumer<Boolean> done) {
      this.done = done;
    }

    @Override
    public void applied(ShardFold.Answer answer, @Nullable FoldedJob met) {
      if (answer == ShardFold.Answer.APPLIED && met != null) {
        wake.accept(NodeJob.of(met));
      }
      done.accept(true);
    }

    @Override
    public void lost(Operation.Loss loss, String why) {
      done.accept(false);
    }
  }
}
