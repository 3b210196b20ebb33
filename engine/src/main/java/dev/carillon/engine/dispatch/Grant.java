package dev.carillon.engine.dispatch;

import dev.carillon.engine.limit.TokenBucket;
import dev.carillon.engine.shard.NodeJob;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The dispatcher's permission to run one attempt of a job. A grant counts at the gates of its lane
 * and takes a slot, unless another node runs the attempt. It also records which rates it used up
 * and which concurrency key it holds.
 *
 * <p>The attempt has the grant from its start and returns it in two steps, each of them once:
 *
 * <ol>
 *   <li>{@link #leave}, when the handler has returned or will not be called: the slot and the
 *       places at the gates are free.
 *   <li>{@link #release}, when the outcome is durable too: the concurrency key is free.
 * </ol>
 *
 * <p>The loop owns it, and a crash ends it: no store knows of grants.
 */
public final class Grant implements KeySlot.Holder {
  private final Dispatcher dispatcher;
  private final NodeJob job;

  /** The lane whose gates it went through; its job may have moved to another since. */
  public final Lane lane;

  /** The handler whose slot it takes; null where another node runs the attempt. */
  final @Nullable HandlerSlot handler;

  /** The concurrency key that it holds, if any. */
  @Nullable KeySlot key;

  /** What it used up of rates; null for nothing. */
  private @Nullable List<Taken> taken;

  private @Nullable Run run;
  private boolean alone;
  private boolean left;

  /** An attempt, as far as those who wait for its concurrency key are concerned. */
  public interface Run {
    /** Whether the outcome is decided; the handler may go on all the same. */
    boolean isOver();

    /** Whether the attempt was told to stop, so that its recurring job moves on. */
    boolean isStopped();

    /** When its handler was called, or was meant to be. */
    long startedMicros();
  }

  private record Taken(TokenBucket bucket, TokenBucket.Take take) {}

  /**
   * Goes through the gates of the lane.
   *
   * @param handler whose slot was taken; null where another node runs the attempt
   * @param alone whether nothing else starts until {@link #endAlone}
   */
  public Grant(
      Dispatcher dispatcher, NodeJob job, Lane lane, @Nullable HandlerSlot handler, boolean alone) {
    this.dispatcher = dispatcher;
    this.job = job;
    this.lane = lane;
    this.handler = handler;
    this.alone = alone;
    lane.underWay++;
    lane.starts++;
    enter(lane.namespaceGate);
    enter(lane.queueGate);
  }

  /** For an attempt that an earlier owner started: it uses up no rate here. */
  Grant(Dispatcher dispatcher, NodeJob job, Lane lane) {
    this.dispatcher = dispatcher;
    this.job = job;
    this.lane = lane;
    this.handler = null;
    lane.underWay++;
    lane.namespaceGate.adopt();
    lane.queueGate.adopt();
  }

  private void enter(Gate gate) {
    TokenBucket bucket = gate.enter(!job.isWaiting());
    if (bucket != null) {
      took(bucket);
    }
  }

  /** It has used up one start of the bucket. */
  void took(TokenBucket bucket) {
    if (taken == null) {
      taken = new ArrayList<>(2);
    }
    taken.add(new Taken(bucket, bucket.lastTake()));
  }

  /** This attempt runs by it. */
  public void runs(Run attempt) {
    run = attempt;
  }

  @Override
  public NodeJob job() {
    return job;
  }

  @Override
  public boolean isStarted() {
    return true;
  }

  @Override
  public long startedMicros() {
    return run != null ? run.startedMicros() : 0;
  }

  @Override
  public boolean isHung() {
    return !left && run != null && run.isOver();
  }

  @Override
  public boolean isEnding() {
    return run != null && (run.isOver() || run.isStopped());
  }

  /** Whether the attempt counts towards a limit that several nodes may share. */
  public boolean isLimited() {
    return key != null || lane.namespaceGate.isLimited() || lane.queueGate.isLimited();
  }

  /** Whether nothing else may start on this node. */
  public boolean isAlone() {
    return alone;
  }

  /** Other attempts may start beside this one, or after it. */
  public void endAlone() {
    if (alone) {
      alone = false;
      dispatcher.endExclusive();
    }
  }

  /**
   * The handler has returned, or will not be called.
   *
   * @param called whether it was called: else others may use what this took of rates
   */
  public void leave(boolean called) {
    if (left) {
      throw new IllegalStateException("job " + job.number + ": its grant was returned before");
    }
    left = true;
    if (!called && taken != null) {
      taken.forEach(each -> each.bucket().giveBack(each.take()));
    }
    taken = null;
    dispatcher.left(this);
  }

  /** The handler has returned and the outcome, if there is one, is durable. */
  public void release() {
    lane.underWay--;
    dispatcher.released(this);
  }
}
