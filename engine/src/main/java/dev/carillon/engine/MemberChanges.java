package dev.carillon.engine;

import dev.carillon.engine.dispatch.SlowStart;
import dev.carillon.engine.environment.NodeEnvironment;
import dev.carillon.engine.environment.NodeEvent;
import dev.carillon.engine.member.ClusterFormat;
import dev.carillon.engine.member.Heartbeat;
import dev.carillon.engine.member.Member;
import dev.carillon.engine.member.Members;
import java.util.List;

/**
 * What a node does when it joins the others, is fenced, sees them change, or finds another copy of
 * the store.
 *
 * <p>A node that joins starts nothing before it has proven its shards:
 *
 * <ol>
 *   <li>It waits until every other node has heard that it is back, unless it is too young for
 *       anybody to have taken it for dead.
 *   <li>It asks the store of each of its shards whether that is still its own.
 *   <li>It reads the settings of operators, which were not waited to be acted on here.
 * </ol>
 *
 * <p>A fence, a later join or another copy of the store ends a proof that is under way.
 */
final class MemberChanges implements Members.Host, Heartbeat.Host, ClusterFormat.Host {
  private final Assembly parts;
  private final NodeEnvironment env;
  private int joins;

  /** The store is another copy since what this node has of limits was last compared with it. */
  private boolean exchanged;

  /** The parts are not there yet: nothing is called before the node starts. */
  MemberChanges(Assembly parts, NodeEnvironment env) {
    this.parts = parts;
    this.env = env;
  }

  /** The node goes on in the format that it writes, and takes no shard. */
  @Override
  public void outdated(String why) {
    env.report(why, null);
    if (parts.status.isShared()) {
      parts.status.leaving();
      parts.shards.beginStop();
    }
  }

  @Override
  public void membersChanged() {
    parts.requests.notified();
    if (!parts.status.isStopping()) {
      parts.shards.look();
    }
  }

  @Override
  public void looked(List<Member> others) {
    parts.wire.looked();
    if (parts.status.isClient()) {
      parts.router.errands().saw(others);
    }
    if (parts.status.lends()) {
      parts.handlerLists.saw(others);
      parts.lending.saw(others);
      parts.borrowing.saw(others);
      parts.workers.saw(others);
    }
  }

  @Override
  public void controlsChanged(Runnable done) {
    parts.flow.load(done);
  }

  @Override
  public Member.Said says(Member.Said before) {
    return before.withFree(parts.status.lends() ? parts.borrowing.free() : 0);
  }

  @Override
  public void fenced() {
    joins++; // what was being proven may be another's by now
    parts.status.proven(false);
    SlowStart slowStart = parts.slowStart;
    slowStart.fenced();
    env.tell(
        new NodeEvent.Fenced(
            parts.status.silentNanos(), slowStart.fences(), slowStart.firstSlots()));
    parts.shares.fenced();
    parts.keys.fenced();
    parts.attempts.stops.fence();
    parts.borrowing.fence();
    parts.workers.fenced();
  }

  // ---- another copy of the store

  @Override
  public void exchanged(String was, String is, Runnable then) {
    env.report(
        "the store went back in time or was exchanged: its incarnation was "
            + was
            + " and is "
            + is
            + ", acknowledged jobs may be lost",
        null);
    exchanged = true;
    forgetCopy();
    parts.flow.reload(then);
  }

  /** Once more: what was asked of the copy before may have been answered meanwhile. */
  @Override
  public void adopted() {
    forgetCopy();
    parts.format.learn(() -> {}); // the copy may be older than the record of it
    // What they wait for went with the copy; what they say now is in this one.
    parts.router.errands().exchanged();
    parts.borrowing.exchanged();
    parts.workers.exchanged();
  }

  private void forgetCopy() {
    parts.status.exchanged();
    joins++; // what was being proven is gone
    parts.status.proven(false);
    parts.shards.loseAll();
    parts.wire.exchanged();
    parts.records.exchanged();
    parts.life.dependencies().exchanged();
  }

  // ---- joining

  @Override
  public void joined() {
    int join = ++joins;
    parts.status.proven(false);
    if (parts.status.lends()) {
      parts.permits.renew();
    }
    parts.handlerLists.writeAgain();
    parts.shards.joined();
    if (join == 1 && parts.status.isYoung()) {
      prove(join);
    } else {
      // Who has not heard yet that this node is back may still take what it has.
      parts.keys.fenced();
      parts.timers.at(env.monotonicNanos() + parts.status.newsNanos(), () -> prove(join));
    }
  }

  private void prove(int join) {
    if (join == joins) {
      parts.shares.fenced(); // others may have taken them until they heard of this node
      parts.shards.prove(() -> parts.flow.load(() -> proven(join)));
    }
  }

  private void proven(int join) {
    if (join == joins) { // else a later one proves it, or has
      parts.status.proven(true);
      parts.slowStart.goOn();
      parts.keys.proven();
      parts.shards.look();
      if (exchanged) {
        exchanged = false;
        parts.shares.sweep(); // what this node has of limits by the copy is not what it knows
      }
    }
  }
}
