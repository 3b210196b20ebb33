package dev.carillon.simulator;

import static dev.carillon.simulator.Violation.check;

import dev.carillon.api.Concurrency;
import dev.carillon.api.JobId;
import dev.carillon.api.WaitReason;
import dev.carillon.engine.job.FlowSubject;
import dev.carillon.engine.job.JobRef;
import dev.carillon.engine.message.Hindrance;
import dev.carillon.engine.message.JobStand;
import dev.carillon.engine.message.Question;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * Asks nodes in whatever state they are why jobs do not run, and judges the answers by what the
 * checker folded from the journals. Draws nothing by chance and leaves no trace, so that it changes
 * no run.
 *
 * <ol>
 *   <li>A due job that does not run has at least one reason.
 *   <li>A reason that the journals can judge is so: its time, a pause, a job that it waits for, an
 *       occurrence before it, those that have its key, a limit that is full, a rate, how many are
 *       before it.
 *   <li>A job of which nothing is on its way to the store is judged; else the node may know less,
 *       or more, than the journals.
 * </ol>
 */
final class WhyProbe {
  private static final int TURNS_A_LOOK = 61;
  private static final int MOST_JOBS = 40;
  private static final long NEWS_NANOS = 30 * VirtualClock.SECOND;

  private final World world;
  private final Map<WaitReason, Integer> named = new TreeMap<>();
  private int turns;
  private int looks;

  WhyProbe(World world) {
    this.world = world;
  }

  /** How often jobs were looked at. */
  int looks() {
    return looks;
  }

  /** How often each reason was named. */
  Map<WaitReason, Integer> named() {
    return named;
  }

  /** The node has had a turn: from time to time it is asked. */
  void turned(Life life) {
    if (++turns % TURNS_A_LOOK != 0 || life.stale() || !life.channels.idle()) {
      return;
    }
    life.probe(() -> look(life));
  }

  private void look(Life life) {
    int left = MOST_JOBS;
    for (ModelShard shard : world.model.shards()) {
      if (shard.owner != life.incarnation) {
        continue;
      }
      for (ModelJob job : shard.jobs.values()) {
        if (job.live() && left-- > 0) {
          ask(life, job);
        }
      }
    }
  }

  private void ask(Life life, ModelJob job) {
    Question.Why question =
        new Question.Why(job.ref, job.spec.type(), job.spec.namespace(), job.spec.queue());
    life.node
        .questions()
        .why(
            question,
            0,
            1,
            stand -> {
              if (stand != null && stand.known() == JobStand.Known.HERE) {
                judge(life, job, stand);
              }
            });
  }

  private void judge(Life life, ModelJob job, JobStand stand) {
    looks++;
    world.table.countReason("jobs asked about");
    check(
        JobStand.decode(stand.encode()).equals(stand),
        Guarantee.FOLD,
        () -> "why of " + job + " is another once it was written and read");
    boolean due = job.due <= life.wallMicros();
    check(
        !due || stand.run() != null || !stand.hindrances().isEmpty(),
        Guarantee.FOLD,
        () -> "why of " + job + ", which is due and does not run, is empty");
    boolean changes =
        stand.hindrances().stream().anyMatch(each -> each.reason() == WaitReason.STORE);
    if (changes) {
      return;
    }
    for (Hindrance each : stand.hindrances()) {
      named.merge(each.reason(), 1, Integer::sum);
      world.table.countReason(each.reason().name());
      check(
          isSo(life, job, each),
          Guarantee.FOLD,
          () -> "why of " + job + " names what is not so: " + each);
    }
  }

  private boolean isSo(Life life, ModelJob job, Hindrance hindrance) {
    return switch (hindrance.reason()) {
      case NOT_DUE -> job.due > life.wallMicros() && hindrance.untilMicros() == job.due;
      case PAUSED -> isPaused(job, hindrance);
      case DEPENDENCY -> awaits(job);
      case OVERLAP -> job.parent != null;
      case KEY -> isTaken(job, hindrance);
      case LIMIT -> isLimited(job, hindrance);
      // Of other nodes it says what they announced last.
      case SLOT ->
          hindrance.facts().containsKey("limit")
              ? life.node.running() > 0 && isFull(hindrance)
              : hindrance.facts().containsKey("nodes") || world.seed.workers() > 0;
      case RATE -> isRated(job, hindrance);
      // Its lane has workflows too, jobs whose outcome is on its way, those of shards that went.
      case TURN -> true;
      case NO_HANDLER -> Objects.equals(hindrance.facts().get("type"), job.spec.type());
      case WAITING -> job.due > life.wallMicros();
      case UNFIT, ALONE, TRANSACTION, STORE, NODE, SHARD -> true;
    };
  }

  private static long fact(Hindrance hindrance, String name) {
    return Long.parseLong(hindrance.facts().getOrDefault(name, "0"));
  }

  /** Whether as many run as may. */
  private static boolean isFull(Hindrance hindrance) {
    return fact(hindrance, "running") + fact(hindrance, "elsewhere") >= fact(hindrance, "limit");
  }

  /** Jobs of the key have it, perhaps the job's own former attempt, or other nodes. */
  private boolean isTaken(ModelJob job, Hindrance hindrance) {
    Concurrency own = job.spec.more().concurrency();
    if (own == null || !own.key().equals(hindrance.facts().get("key"))) {
      return false;
    }
    for (String id : hindrance.facts().getOrDefault("holders", "").split(" ", -1)) {
      JobRef ref = id.isEmpty() ? null : JobRef.parse(new JobId(id));
      ModelShard shard = ref != null ? world.model.shard(ref.shard()) : null;
      ModelJob holder = shard != null && ref != null ? shard.jobs.get(ref.number()) : null;
      // Its attempt may hold the key of what it was before it was replaced.
      boolean has = holder != null && holder.spec.namespace().equals(job.spec.namespace());
      if (!has && !id.isEmpty()) {
        return false;
      }
    }
    return true;
  }

  private boolean isRated(ModelJob job, Hindrance hindrance) {
    String scope = hindrance.facts().get("scope");
    Concurrency own = job.spec.more().concurrency();
    return Objects.equals(scope, "key")
        ? own != null && own.rate() != null
        : world.flow.perhapsRated(subject(job, scope));
  }

  /** The node may not know yet what became of the append that says that an awaited job ended. */
  private boolean awaits(ModelJob job) {
    return job.awaited.values().stream().anyMatch(one -> !one.met)
        || world.clock.nanos() - job.sinceNanos <= NEWS_NANOS;
  }

  private boolean isPaused(ModelJob job, Hindrance hindrance) {
    String scope = hindrance.facts().get("scope");
    if (Objects.equals(scope, "job")) {
      return job.pauseReason != null;
    }
    long since = world.clock.nanos() - (world.climate.nodes == 1 ? 0 : NEWS_NANOS);
    return world.flow.perhapsPausedSince(subject(job, scope), since);
  }

  private static FlowSubject subject(ModelJob job, @Nullable String scope) {
    return Objects.equals(scope, "queue")
        ? new FlowSubject(FlowSubject.Scope.QUEUE, job.spec.queue())
        : new FlowSubject(FlowSubject.Scope.NAMESPACE, job.spec.namespace());
  }

  private boolean isLimited(ModelJob job, Hindrance hindrance) {
    String scope = hindrance.facts().get("scope");
    return Objects.equals(scope, "handler")
        ? job.spec.type().equals(Wishes.LIMITED_TYPE)
        : world.flow.perhapsLimited(subject(job, scope)) && isFull(hindrance);
  }
}
