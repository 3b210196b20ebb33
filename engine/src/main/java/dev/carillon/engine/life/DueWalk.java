package dev.carillon.engine.life;

import dev.carillon.engine.environment.NodeEnvironment;
import dev.carillon.engine.environment.Timers;
import dev.carillon.engine.fold.ShardFold;
import dev.carillon.engine.shard.NodeJob;
import dev.carillon.engine.shard.Shard;
import java.util.ArrayDeque;
import java.util.function.Consumer;

/**
 * Looks at the due jobs in memory that do not run, at those of one shard a turn, so that the loop
 * is never held for long.
 */
public final class DueWalk {
  private final NodeEnvironment env;
  private final Timers timers;
  private final ArrayDeque<Shard> left = new ArrayDeque<>();
  private final Consumer<NodeJob> look;
  private final Runnable done;

  private DueWalk(NodeEnvironment env, Timers timers, Consumer<NodeJob> look, Runnable done) {
    this.env = env;
    this.timers = timers;
    this.look = look;
    this.done = done;
  }

  /** Gives each such job of the shards to {@code look}, then runs {@code done}. */
  public static void over(
      Iterable<Shard> all,
      NodeEnvironment env,
      Timers timers,
      Consumer<NodeJob> look,
      Runnable done) {
    DueWalk walk = new DueWalk(env, timers, look, done);
    all.forEach(walk.left::add);
    walk.goOn();
  }

  private void goOn() {
    ShardFold<NodeJob> fold = null;
    while (fold == null && !left.isEmpty()) {
      fold = left.remove().fold;
    }
    if (fold == null) {
      done.run();
      return;
    }
    long now = env.wallMicros();
    fold.live()
        .forEach(
            job -> {
              if (job.dueMicros <= now && job.phase() != NodeJob.Phase.RUNNING) {
                look.accept(job);
              }
            });
    timers.at(env.monotonicNanos(), this::goOn);
  }
}
