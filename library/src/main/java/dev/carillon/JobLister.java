package dev.carillon;

import dev.carillon.api.JobInfo;
import dev.carillon.api.JobQuery;
import dev.carillon.api.JobState;
import dev.carillon.api.Page;
import dev.carillon.api.error.InvalidArgumentException;
import dev.carillon.engine.format.Micros;
import dev.carillon.engine.history.DamagedHead;
import dev.carillon.engine.job.JobRef;
import dev.carillon.engine.life.EndedJobs;
import dev.carillon.engine.life.LivePhases;
import dev.carillon.engine.query.JobScan;
import dev.carillon.store.Head;
import dev.carillon.store.Outcome;
import dev.carillon.store.ShardId;
import dev.carillon.store.Store;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Lists jobs, beside the loop: shard by shard in the order of their ids, in each by job number.
 * Neither ever changes for a job, so the place of a {@link Cursor} stays what it was however jobs
 * come and go, and what lies before it is never read again.
 *
 * <p>With a range of due times the shards made for it come first and the others, which may hold
 * retried or replaced jobs of the range, in a second pass. What the journals tell is completed by
 * how the jobs of this node stand.
 */
final class JobLister {
  private static final int SHARDS_A_PAGE = 256;
  private static final long LONGEST_SHARD_SECONDS = Duration.ofDays(31).toSeconds();

  private final OpenNode opened;
  private final Store store;
  private final NodeLoop loop;
  private final Predicate<Head> over;
  private final Predicate<JobInfo> gone;

  /**
   * A lister.
   *
   * @param over whether only the dead and failed jobs of a shard are still to be shown
   * @param gone whether a dead or failed job is past its retention
   */
  JobLister(OpenNode opened, Predicate<Head> over, Predicate<JobInfo> gone) {
    this.opened = opened;
    this.store = opened.store;
    this.loop = opened.loop;
    this.over = over;
    this.gone = gone;
  }

  Page<JobInfo> list(JobQuery query) {
    if (query.newest()) {
      return newest(query, store);
    }
    return NamedLister.fits(query)
        ? new NamedLister(opened, this::livePhases).list(query)
        : new Listing(query).read();
  }

  /** The same for jobs that have ended, the newest first, by a store that may count. */
  Page<JobInfo> newest(JobQuery query, Store read) {
    return new NewestLister(read, this::ended, over, gone).list(query);
  }

  private Map<ShardId, EndedJobs> ended() {
    return loop.post(
            new Ask<Map<ShardId, EndedJobs>>(
                loop,
                "looking at the shards",
                Ask.Effect.READS,
                (node, asked) -> asked.answer(node.lookup().ended())))
        .await();
  }

  /** How a job stands on this node, if it is there and the journal did not tell its end. */
  JobInfo withLivePhase(JobRef ref, JobInfo read) {
    if (read.state().ended()) {
      return read;
    }
    JobInfo here = livePhases(ref.shard()).complete(ref, read);
    OthersPhases others = new OthersPhases(opened);
    return others.mayDiffer(here) ? others.complete(ref, here) : here;
  }

  private LivePhases livePhases(ShardId shard) {
    return loop.post(
            new Ask<LivePhases>(
                loop,
                "looking at a shard",
                Ask.Effect.READS,
                (node, asked) -> asked.answer(node.livePhases(shard))))
        .await();
  }

  /**
   * Where a list goes on: after a job of a shard.
   *
   * @param pass 0 for the shards made for the range of due times, 1 for the others
   */
  private record Cursor(int pass, @Nullable ShardId shard, long number) {
    static final long ALL = Long.MAX_VALUE;
    private static final int SHARD_AT = 2;
    private static final int NUMBER_AT = SHARD_AT + ShardId.TEXT_LENGTH;

    static Cursor parse(String text) {
      try {
        return new Cursor(
            Integer.parseInt(text.substring(0, 1)),
            ShardId.parse(text.substring(SHARD_AT, NUMBER_AT)),
            Long.parseLong(text.substring(NUMBER_AT), 32));
      } catch (IllegalArgumentException | IndexOutOfBoundsException e) {
        throw InvalidArgumentException.of("cursor", text, "what Page.next() gave");
      }
    }

    @Override
    public String toString() {
      return pass + "-" + shard + Long.toString(number, 32);
    }
  }

  /** One page being read. */
  private final class Listing {
    private final JobQuery query;
    private final Conditions conditions;
    private final boolean ranged;
    private final long fromMicros;
    private final long toMicros;
    private final PageBudget budget;
    private final List<JobInfo> items = new ArrayList<>();
    private final List<String> unreadable = new ArrayList<>();
    private final OthersPhases others = new OthersPhases(opened);
    private Cursor at;

    /** Whether the place is behind that of the page's beginning. */
    private boolean moved;

    Listing(JobQuery query) {
      this.query = query;
      this.budget = new PageBudget(store, query);
      this.conditions = new Conditions(query);
      Instant from = query.dueFrom();
      Instant to = query.dueTo();
      this.ranged = from != null || to != null;
      this.fromMicros = from == null ? 0 : Micros.ceil(from);
      this.toMicros = to == null ? Long.MAX_VALUE : Micros.ceil(to);
      String cursor = query.cursor();
      this.at = cursor == null ? new Cursor(ranged ? 0 : 1, null, 0) : Cursor.parse(cursor);
    }

    Page<JobInfo> read() {
      ShardId begun = at.shard();
      if (begun != null && at.number() != Cursor.ALL) {
        readShard(begun, at.number());
      }
      while (!isFull()) {
        List<Head> heads = nextShards();
        for (Head head : heads) {
          if (at.pass() == 0 && startMicros(head) >= toMicros) {
            break;
          }
          if (isOfPass(head) && mayContribute(head)) {
            readShard(head.shard(), 0);
          }
          if (isFull()) {
            return new Page<>(items, at.toString(), unreadable);
          }
        }
        boolean passOver =
            heads.size() < SHARDS_A_PAGE
                || (at.pass() == 0 && startMicros(heads.getLast()) >= toMicros);
        if (!passOver) {
          at = new Cursor(at.pass(), heads.getLast().shard(), Cursor.ALL);
          moved = true;
        } else if (at.pass() == 0) {
          at = new Cursor(1, null, 0);
        } else {
          return new Page<>(items, null, unreadable);
        }
      }
      return new Page<>(items, at.toString(), unreadable);
    }

    private boolean isFull() {
      return at.shard() != null && (items.size() >= query.limit() || (moved && budget.isSpent()));
    }

    /** The shards after the place. */
    private List<Head> nextShards() {
      ShardId after = at.shard();
      if (after == null && at.pass() == 0) {
        after = justBefore(fromMicros);
      }
      return headsAfter(after);
    }

    /** A page of heads or more; fewer where there are no others. Damaged ones are left out. */
    private List<Head> headsAfter(@Nullable ShardId start) {
      var heads = StoreAnswers.get(DamagedHead.around(store, start, SHARDS_A_PAGE));
      for (ShardId damaged : heads.damaged()) {
        String where = "head of shard " + damaged;
        if (!unreadable.contains(where)) {
          unreadable.add(where);
        }
      }
      return heads.intact();
    }

    private boolean isOfPass(Head head) {
      boolean inRange =
          ranged && startMicros(head) < toMicros && JobScan.endMicros(head) > fromMicros;
      return inRange == (at.pass() == 0);
    }

    /**
     * A shard whose head or footer rules it out is passed over; a damaged one is read and named.
     */
    private boolean mayContribute(Head head) {
      return !(conditions.filter().mayHold(budget.store(), head)
              instanceof Outcome.Ok<Boolean>(Boolean may))
          || may;
    }

    private void readShard(ShardId shard, long after) {
      moved = true;
      int room = query.limit() - items.size();
      Phases phases = new Phases(shard);
      boolean evidence = phases.head != null && over.test(phases.head);
      var outcome =
          JobScan.page(
              budget.store(),
              shard,
              new JobScan.Wish(
                  conditions.filter(),
                  after,
                  room,
                  (ref, info) -> !evidence || kept(info) ? shown(ref, info, phases) : null));
      if (outcome instanceof Outcome.Damaged<?>(String where)) {
        unreadable.add(where);
        at = new Cursor(at.pass(), shard, Cursor.ALL);
        return;
      }
      List<Map.Entry<JobRef, JobInfo>> found = StoreAnswers.get(outcome);
      found.forEach(entry -> items.add(entry.getValue()));
      boolean more = found.size() == room;
      at = new Cursor(at.pass(), shard, more ? found.getLast().getKey().number() : Cursor.ALL);
    }

    private @Nullable JobInfo shown(JobRef ref, JobInfo read, Phases phases) {
      if (!fits(read)) {
        return null;
      }
      JobInfo info = phases.complete(ref, read);
      return query.states().isEmpty() || query.states().contains(info.state()) ? info : null;
    }

    /** How the jobs of a shard stand here, and once one may stand otherwise there, at its owner. */
    private final class Phases {
      final @Nullable Head head;
      private final LivePhases here;
      private @Nullable LivePhases there;
      private boolean asked;

      Phases(ShardId shard) {
        this.here = livePhases(shard);
        this.head =
            store.journals().head(shard) instanceof Outcome.Ok<Head>(Head found) ? found : null;
      }

      JobInfo complete(JobRef ref, JobInfo read) {
        JobInfo info = here.complete(ref, read);
        if (head == null || !others.mayDiffer(info)) {
          return info;
        }
        if (!asked) {
          asked = true;
          there = others.ask(head, 0);
        }
        return there != null ? there.complete(ref, read) : info;
      }
    }

    /** Everything but the state, which the journal alone does not know. */
    private boolean fits(JobInfo info) {
      return conditions.fit(info) && mayHaveState(info.state()) && !gone.test(info);
    }

    /** An ended job is as the journal says; any other may stand otherwise on this node. */
    private boolean mayHaveState(JobState read) {
      return query.states().isEmpty()
          || (read.ended()
              ? query.states().contains(read)
              : query.states().stream().anyMatch(state -> !state.ended()));
    }
  }

  /** Whether the job stays when the retention of successes is over. */
  static boolean kept(JobInfo info) {
    return !info.state().ended()
        || info.state() == JobState.DEAD
        || info.state() == JobState.FAILED;
  }

  private static long startMicros(Head head) {
    return head.shard().startSeconds() * 1_000_000;
  }

  /** An id before all shards that may be made for this time. */
  private static @Nullable ShardId justBefore(long micros) {
    long seconds = micros / 1_000_000 - LONGEST_SHARD_SECONDS;
    return seconds <= 0 ? null : new ShardId(seconds, 1, 1);
  }
}
