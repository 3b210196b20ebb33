package dev.carillon.engine.dispatch;

import dev.carillon.engine.environment.NodeEnvironment;
import dev.carillon.engine.environment.NodeEvent;
import dev.carillon.engine.environment.Timers;
import dev.carillon.engine.fold.FoldedJob;
import dev.carillon.engine.shard.NodeJob;
import dev.carillon.engine.shard.Shard;

/**
 * Tells once of a type that its jobs wait for a handler, or that its handler cannot decode them;
 * again only after a handler was registered. A program opens first and registers its handlers then,
 * so a missing handler is told of after a moment.
 */
public final class BlockedTypes {
  private static final long PATIENCE_NANOS = 2_000_000_000;

  private final NodeEnvironment env;
  private final Timers timers;

  public BlockedTypes(NodeEnvironment env, Timers timers) {
    this.env = env;
    this.timers = timers;
  }

  /** A job of this handler's type is blocked. */
  public void blocked(HandlerSlot handler, Shard shard, NodeJob job) {
    if (job.phase() == NodeJob.Phase.UNDECODABLE && !handler.undecodableTold) {
      handler.undecodableTold = true;
      FoldedJob.UncommonState rare = job.rare;
      String error = rare == null || rare.lastErrorType == null ? "" : rare.lastErrorType;
      env.tell(new NodeEvent.Undecodable(shard.subject(job), error));
    } else if (job.phase() == NodeJob.Phase.NO_HANDLER && !handler.missingTold) {
      handler.missingTold = true;
      NodeEvent.Subject example = shard.subject(job);
      timers.at(env.monotonicNanos() + PATIENCE_NANOS, () -> look(handler, example));
    }
  }

  private void look(HandlerSlot handler, NodeEvent.Subject example) {
    long waiting = handler.registered ? 0 : handler.withoutHandler();
    if (waiting == 0) {
      handler.missingTold = false;
    } else {
      env.tell(new NodeEvent.NoHandler(handler.type, waiting, example));
      handler.missed = true;
    }
  }

  /** The type has a handler, and so many jobs that waited for it go on. */
  public void registered(HandlerSlot handler, int jobs) {
    if (handler.missed) {
      env.tell(new NodeEvent.HandlerCame(handler.type, jobs));
    }
    handler.missed = false;
    handler.missingTold = false;
    handler.undecodableTold = false;
  }
}
