package dev.carillon.engine.limit;

import dev.carillon.engine.environment.Timers;
import dev.carillon.engine.job.JobRef;
import dev.carillon.engine.limit.LimitClaim.Oldest;
import dev.carillon.engine.limit.LimitClaim.Order;
import dev.carillon.engine.limit.LimitClaim.Question;
import dev.carillon.store.Records.Stamp;
import java.util.List;
import java.util.Map;
import java.util.function.ObjLongConsumer;
import org.jspecify.annotations.Nullable;

/** This node's part of a limit that all nodes have together. Owned by the loop. */
public final class Share {
  final String record;

  final User user;

  /** The limit by which it was asked for last; 0 for none. */
  int limit;

  /** How many more are wanted, and when the first of those that wait was due. */
  int wanted;

  long wantedSince = LimitClaim.NOTHING;

  /** Whether somebody still waited when it was looked at last. */
  boolean asked;

  /**
   * When the first was due of those that counted on it since then, who may wait for another limit
   * as well.
   */
  public long expectedSince = LimitClaim.NOTHING;

  /** What the record says, as far as this node knows: at first, that there is none. */
  Stamp version = Stamp.ABSENT;

  LimitClaim said;
  List<LimitClaim> elsewhere = List.of();

  /** Those of them whose nodes could still use what they have, when it was decided last. */
  List<LimitClaim> others = List.of();

  int granted;

  /** Whether nobody can have left out what this node has: it was written since it was fenced. */
  boolean proven = true;

  /** Whether it is read before anything else is done: it may be quite another. */
  boolean stale;

  /** By how many it and what others have are more than the limit: these are only in use. */
  int excess;

  /** The same and those that others wait for, who have less: they are not used again here. */
  int owed;

  /** How many were in use at once since the last look, at most. */
  int peak;

  /** The same for the time before that look: so many are kept where others wait. */
  int most;

  /** At the last look nothing was left of the limit. */
  boolean full;

  /** The orders to this node that the record had, which were followed, by who gave them. */
  Map<Long, Question> obeyed = Map.of();

  /** An order that was decided on and may not be in the record yet. */
  @Nullable Order order;

  /** It is being decided about: what that leads to does not decide again. */
  boolean deciding;

  /** It is not used, and not to be given back at this look unless others are to have it. */
  boolean kept;

  /** When the first was due of those for whom it is kept, and at how many looks on end it was. */
  long keptSince = LimitClaim.NOTHING;

  int keptLooks;

  /** It was kept in vain until then: others who wait since then come first. */
  long lastInVain = Long.MIN_VALUE;

  boolean busy;

  /** At how many looks on end nothing was new, and how many changes on end came too late. */
  int quietLooks;

  int conflicts;
  Timers.@Nullable Timer next;

  /** Who uses it. */
  public interface User {
    int inUse();

    /** How much of that the others are told of: not what they may have by now themselves. */
    default int toldOf() {
      return inUse();
    }

    /** There may be more of it, or nothing left. */
    default void changed() {}

    /** Whether some who wait are not to where it is really used up, and do not know whether. */
    default boolean doubts() {
      return false;
    }

    /** How much the others use is asked now, for all who doubt. */
    default void asking() {}

    /**
     * So much is used of it by all nodes, as far as they have answered since then.
     *
     * @param oldestElsewhere the oldest that another node has
     */
    default Verdict judge(int used, @Nullable Oldest oldestElsewhere) {
      return Verdict.SETTLED;
    }

    /** The oldest that uses it or waits here, of which the others are told; null for none. */
    default @Nullable Oldest oldest() {
      return null;
    }

    /** Another node has a newer one: the oldest here does not go on, if it is that job. */
    default void cancelOldest(JobRef job) {}
  }

  /** What an answer means to those for whom it was asked. */
  public enum Verdict {
    /** They all know what they have to. */
    SETTLED,
    /** The others may have more to say. */
    OPEN,
    /** The oldest elsewhere is to be cancelled for one of them. */
    CANCEL_ELSEWHERE
  }

  Share(String record, long incarnation, User user) {
    this.record = record;
    this.said = LimitClaim.none(incarnation);
    this.user = user;
  }

  /** How many of it other nodes keep, as far as this node knows. */
  public int usedElsewhere() {
    int used = 0;
    for (LimitClaim each : elsewhere) {
      used += each.share();
    }
    return used;
  }

  /** Names the incarnations that keep some of it, and how many. */
  public void eachUserElsewhere(ObjLongConsumer<Integer> user) {
    for (LimitClaim each : elsewhere) {
      if (each.share() > 0) {
        user.accept(each.share(), each.incarnation());
      }
    }
  }

  /** How many may be in use. */
  public int usable() {
    return proven ? granted - owed : 0;
  }

  /** How many attempts there may be, with those of jobs that came before others waited. */
  public int startable() {
    return proven ? granted - excess : 0;
  }
}
