package dev.carillon.engine.shard;

import dev.carillon.api.JobInfo;
import dev.carillon.engine.commit.Committer;
import dev.carillon.engine.commit.RecordChanges;
import dev.carillon.engine.environment.NodeEnvironment;
import dev.carillon.engine.environment.NodeOptions;
import dev.carillon.engine.fold.FoldedJob;
import dev.carillon.engine.fold.Reported;
import dev.carillon.engine.fold.ShardFold;
import dev.carillon.engine.fold.WorkflowState;
import dev.carillon.engine.format.Micros;
import dev.carillon.engine.history.Compaction;
import dev.carillon.engine.history.DamagedHead;
import dev.carillon.engine.history.ShardLoad;
import dev.carillon.engine.history.Summary;
import dev.carillon.engine.job.JobRef;
import dev.carillon.engine.job.JobSpec;
import dev.carillon.engine.job.Names;
import dev.carillon.store.Head;
import dev.carillon.store.Journals.Publication;
import dev.carillon.store.Outcome;
import dev.carillon.store.Records.Stored;
import dev.carillon.store.Store;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.function.LongConsumer;
import java.util.function.LongSupplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * What becomes of a shard's history: how long a drained shard stays, what is kept of it then, and
 * when a lingering one is compacted.
 *
 * <p>Success stays for its retention, or while drained shards and older generations take no more
 * than their bytes, the oldest going first; dead and failed jobs are then compacted into a
 * generation of their own. Failures go with their retention, dead letters with theirs or when
 * somebody discards them.
 *
 * <p>A lingering shard, which has a live job beside its history, is compacted when it has grown far
 * beyond what is live, or when part of its history is past its retention; the generation before it
 * stays for another retention of successes, so that nothing in it goes too early.
 */
public final class Retention {
  /** A lingering shard is compacted from this part of its largest size on. */
  private static final int COMPACT_FROM_PART = 4;

  private static final int COMPACT_RATIO = 4;
  private static final int HORIZONS_A_LOOK = 10;

  private final NodeEnvironment env;
  private final NodeOptions options;
  private final Shards shards;
  private final Committer committer;
  private final RecordChanges records;
  private final CompactionTurns turns;
  private boolean lookingAtAll;

  /** Whether shards with history may be there that nobody owns. */
  private boolean hasHistory = true;

  /** When all shards are looked at again; 0 at first. */
  private long nextLookNanos;

  Retention(
      NodeEnvironment env,
      NodeOptions options,
      Shards shards,
      Committer committer,
      RecordChanges records) {
    this.env = env;
    this.options = options;
    this.shards = shards;
    this.committer = committer;
    this.records = records;
    this.turns = new CompactionTurns(shards, this::isWorthwhile, this::compactNow);
  }

  /**
   * Whether a drained shard is past the retention of successes: all but its dead and failed jobs
   * are as good as gone, though it may still wait to be dropped or compacted.
   */
  public static boolean isOver(NodeOptions options, Head head, long nowMicros) {
    Summary summary = Summary.read(head).orElse(null);
    return summary != null
        && summary.drained()
        && !summary.evidence()
        && keepUntil(options, summary) <= nowMicros;
  }

  /**
   * Whether a dead or failed job is past its retention: it is as good as gone, though an older
   * generation may still tell of it. One whose idempotency key still counts is shown until then.
   */
  public static boolean isOver(NodeOptions options, JobInfo job, long nowMicros) {
    Duration retention =
        switch (job.state()) {
          case DEAD -> options.deadRetention();
          case FAILED -> options.failureRetention();
          default -> null;
        };
    if (retention == null || job.endedAt() == null) {
      return false;
    }
    long keys = job.key() != null ? Micros.ceil(options.keyRetention()) : 0;
    return Micros.ceil(job.endedAt()) <= nowMicros - Math.max(Micros.ceil(retention), keys);
  }

  /** When something is to be done about a drained shard. */
  long keepUntil(Summary summary) {
    return keepUntil(options, summary);
  }

  /** Whether all that a drained shard tells is past its retention. */
  boolean isOver(Summary summary) {
    return keepUntil(summary) <= env.wallMicros();
  }

  /** Whether an idempotency key of a drained shard may still count. */
  boolean hasKeys(Summary summary) {
    long since = env.wallMicros() - Micros.ceil(options.keyRetention());
    return summary.keyed() > 0 && summary.lastEndMicros() >= since;
  }

  private static long keepUntil(NodeOptions options, Summary summary) {
    if (!summary.evidence()) {
      long keep = Micros.ceil(options.successRetention());
      long keys = summary.keyed() > 0 ? Micros.ceil(options.keyRetention()) : 0;
      return summary.lastEndMicros() + Math.max(keep, keys);
    }
    return summary.lastEndMicros()
        + Micros.ceil(summary.failed() > 0 ? options.failureRetention() : options.deadRetention());
  }

  /** The time of a drained shard, owned and not loaded, is over, or there is no room for it. */
  void retire(Shard shard, Summary summary) {
    if (isUsed(shard)) {
      return;
    }
    if (summary.keyed() > 0) {
      forgetKeys(
          shard,
          () -> Long.MAX_VALUE,
          () -> shard.owned() && !isUsed(shard),
          endedBefore -> retire(shard, summary.withoutKeys()));
    } else if (summary.dead() + summary.failed() > 0) {
      keepEvidence(shard, summary);
    } else {
      shards.settling.drop(shard);
    }
  }

  /** Somebody loaded it to replay one of its dead letters, say: it retires when it has settled. */
  private static boolean isUsed(Shard shard) {
    return shard.loaded() || shard.loading();
  }

  // ---- what need not wait for its wake time

  /**
   * Lets drained shards and older generations go that the settings no longer keep: the oldest where
   * all of them take more bytes than they may, and those whose retention was longer when their wake
   * time was set. Looked for at the start and then now and then, as long as there are any.
   */
  void lookAtAll() {
    long nanos = env.monotonicNanos();
    if (lookingAtAll || !hasHistory || (nextLookNanos != 0 && nanos - nextLookNanos < 0)) {
      return;
    }
    lookingAtAll = true;
    hasHistory = false; // unless it is found, or comes meanwhile
    nextLookNanos = nanos + HORIZONS_A_LOOK * options.loadHorizon().toNanos();
    long now = env.wallMicros();
    env.submit(
        NodeEnvironment.Channel.READ,
        store -> notKept(store, options, now),
        outcome -> {
          lookingAtAll = false;
          hasHistory |= !outcome.isOk();
          if (outcome instanceof Outcome.Ok<NotKept>(NotKept found)) {
            hasHistory |= found.history();
            found.over().forEach(head -> shards.claims.retireIfIdle(head, false));
            found.surplus().forEach(this::letGo);
          }
        });
  }

  private void letGo(Surplus surplus) {
    shards.claims.retireIfIdle(surplus.head(), surplus.drained());
    Shard shard = shards.known(surplus.head().shard());
    if (shard != null && !surplus.drained()) {
      shard.spentBefore = Math.max(shard.spentBefore, surplus.generation() + 1);
      dropOldIfTime(shard); // if it is at hand; else the next look at it does
    }
  }

  /** There is a shard with history that nobody has, or that has older generations. */
  void noteHistory() {
    hasHistory = true;
  }

  /**
   * What is not kept by these settings, of shards that nobody has or that this node has.
   *
   * @param over shards whose retention is over, or that of older generations; or they were packed
   *     by a node that died before it gave them back, and would be out of sight until their wake
   *     time
   * @param surplus there is no room for it, oldest first
   * @param history whether there is any that may not be kept one day
   */
  public record NotKept(List<Head> over, List<Surplus> surplus, boolean history) {}

  /**
   * History of successes: a drained shard, or an older generation of one that lives on.
   *
   * @param generation the last one that may go
   * @param endMicros when the last of it ended
   */
  record Surplus(Head head, boolean drained, int generation, long endMicros, long bytes) {}

  public static Outcome<NotKept> notKept(Store store, NodeOptions options, long nowMicros) {
    return DamagedHead.around(store, null, Integer.MAX_VALUE)
        .map(heads -> notKept(heads.intact(), options, nowMicros));
  }

  private static NotKept notKept(List<Head> heads, NodeOptions options, long nowMicros) {
    List<Head> over = new ArrayList<>();
    List<Surplus> successes = new ArrayList<>();
    boolean history = false;
    for (Head head : heads) {
      Summary summary = Summary.read(head).orElse(null);
      boolean own = head.owner() == options.incarnation();
      if (summary == null) {
        continue;
      }
      if (!head.released() && !own) {
        if (summary.drained()) {
          over.add(head);
        }
        continue;
      }
      history |= (summary.drained() && !own) || !summary.replaced().isEmpty();
      if (own) {
        addReplaced(successes, head, summary, options);
      } else if (summary.drained()
          ? keepUntil(options, summary) <= nowMicros
          : hasOldGenerations(head, summary, nowMicros)) {
        over.add(head);
      } else if (!summary.drained()) {
        addReplaced(successes, head, summary, options);
      } else if (!summary.evidence()) {
        successes.add(drained(head, summary));
      }
    }
    return new NotKept(over, surplus(successes, options, nowMicros), history);
  }

  private static Surplus drained(Head head, Summary summary) {
    long older = keptOf(head, summary).mapToLong(Summary.Replaced::bytes).sum();
    return new Surplus(
        head, true, head.generation(), summary.lastEndMicros(), summary.bytes() + older);
  }

  /** What is not a success in them was taken along into the generation after. */
  private static void addReplaced(
      List<Surplus> successes, Head head, Summary summary, NodeOptions options) {
    long keep = Micros.ceil(options.successRetention());
    keptOf(head, summary)
        .map(
            old ->
                new Surplus(head, false, old.generation(), old.untilMicros() - keep, old.bytes()))
        .forEach(successes::add);
  }

  private static Stream<Summary.Replaced> keptOf(Head head, Summary summary) {
    return summary.replaced().stream().filter(old -> old.generation() >= head.oldestGeneration());
  }

  private static List<Surplus> surplus(
      List<Surplus> successes, NodeOptions options, long nowMicros) {
    long bytes = successes.stream().mapToLong(Surplus::bytes).sum();
    long most = options.historyBytes() == 0 ? Long.MAX_VALUE : options.historyBytes();
    long keysSince = nowMicros - Micros.ceil(options.keyRetention());
    successes.sort(Comparator.comparingLong(Surplus::endMicros));
    List<Surplus> surplus = new ArrayList<>();
    for (Surplus oldest : successes) {
      if (bytes > most && mayGo(oldest, keysSince)) {
        surplus.add(oldest);
        bytes -= oldest.bytes();
      }
    }
    return surplus;
  }

  /** Whether no idempotency key of it still counts: an older generation has none. */
  private static boolean mayGo(Surplus oldest, long keysSince) {
    return !oldest.drained()
        || oldest.endMicros() < keysSince
        || Summary.read(oldest.head()).filter(summary -> summary.keyed() == 0).isPresent();
  }

  private static boolean hasOldGenerations(Head head, Summary summary, long nowMicros) {
    return keptOf(head, summary).anyMatch(old -> old.untilMicros() <= nowMicros);
  }

  // ---- idempotency keys

  /**
   * Deletes the records that the shard's jobs left under their keys, of those that ended before;
   * stops where {@code goesOn} says no. {@code before} is asked anew whenever the journal is read
   * again: where the clock has gone back, what has ended meanwhile seems to have ended earlier.
   */
  private void forgetKeys(
      Shard shard, LongSupplier before, BooleanSupplier goesOn, LongConsumer then) {
    long endedBefore = before.getAsLong();
    int generation = shard.journal.generation();
    long tail = shard.journal.tail();
    env.submit(
        NodeEnvironment.Channel.READ,
        store -> ShardLoad.read(store, NodeJob::new, shard.id, generation, tail),
        load -> {
          switch (load) {
            case ShardLoad.Folded<NodeJob> folded ->
                forgetKeys(
                    shard, keyed(folded, endedBefore), goesOn, () -> then.accept(endedBefore));
            case ShardLoad.Failed<NodeJob> failed -> forgetKeysLater(shard, before, goesOn, then);
            case ShardLoad.Replaced<NodeJob> meanwhile ->
                forgetKeysLater(shard, before, goesOn, then);
            case ShardLoad.Gone<NodeJob> gone -> shards.lost(shard);
            case ShardLoad.Refused<NodeJob>(String why) -> shards.refuse(shard, why);
          }
        });
  }

  private void forgetKeysLater(
      Shard shard, LongSupplier before, BooleanSupplier goesOn, LongConsumer then) {
    later(
        () -> {
          if (goesOn.getAsBoolean()) {
            forgetKeys(shard, before, goesOn, then);
          }
        });
  }

  private static ArrayDeque<NodeJob> keyed(ShardLoad.Folded<NodeJob> folded, long endedBefore) {
    ArrayDeque<NodeJob> jobs = new ArrayDeque<>();
    for (int i = 0; i < folded.ends().size(); i++) {
      NodeJob job = folded.endedWithName().get(i);
      if (job.has(JobSpec.KEYED) && folded.ends().get(i).at() < endedBefore) {
        jobs.add(job);
      }
    }
    return jobs;
  }

  private void forgetKeys(
      Shard shard, ArrayDeque<NodeJob> jobs, BooleanSupplier goesOn, Runnable then) {
    if (!goesOn.getAsBoolean()) {
      return;
    }
    NodeJob job = jobs.poll();
    if (job == null) {
      then.run();
      return;
    }
    String recordKey = Names.recordKey(job.head());
    records.get(
        recordKey,
        found -> {
          if (found.isPresent() && pointsAt(found.get(), shard.ref(job.number))) {
            records.change(
                recordKey,
                found.get().version(),
                null,
                inEffect -> {
                  if (!inEffect) {
                    jobs.addFirst(job); // looked at again
                  }
                  forgetKeys(shard, jobs, goesOn, then);
                });
          } else {
            forgetKeys(shard, jobs, goesOn, then);
          }
        });
  }

  private static boolean pointsAt(Stored record, JobRef job) {
    return Names.Value.decode(record.value()).job().equals(job);
  }

  private void later(Runnable action) {
    shards.later(action);
  }

  // ---- compaction

  private void keepEvidence(Shard shard, Summary summary) {
    Summing summing =
        staged ->
            staged.count() == 0
                ? null
                : summary.asEvidence(staged.dead(), staged.failed(), staged.bytes());
    compact(
        shard,
        new Plan(
            true,
            Long.MAX_VALUE,
            summing,
            left -> shards.settling.releaseAs(shard, left, head -> {})));
  }

  /**
   * Compacts a loaded shard whose journal has grown far beyond what is live in it, or tells of what
   * need not be kept, when its turn comes; says whether it will, unless something comes between.
   */
  boolean compactIfWorthwhile(Shard shard) {
    return turns.offer(shard);
  }

  private boolean isWorthwhile(Shard shard) {
    ShardFold<NodeJob> fold = shard.fold;
    return fold != null
        && !shard.handingBack
        && mayBeCompacted(shard, fold)
        && (isOld(fold) || isLoose(shard, fold));
  }

  private boolean isOld(ShardFold<NodeJob> fold) {
    return agesMicros(fold) <= env.wallMicros();
  }

  private boolean isLoose(Shard shard, ShardFold<NodeJob> fold) {
    long bytes = shard.journal.bytes();
    return bytes >= options.maxShardBytes() / COMPACT_FROM_PART
        && bytes >= COMPACT_RATIO * Math.max(fold.liveBytes(), shard.compactedBytes);
  }

  private void compactNow(Shard shard) {
    ShardFold<NodeJob> fold = shard.fold;
    if (fold != null && isOld(fold)) {
      compactForAge(shard);
    } else {
      compactLingering(shard, Long.MIN_VALUE);
    }
  }

  private static boolean mayBeCompacted(Shard shard, ShardFold<NodeJob> fold) {
    return fold.live().size() > 0
        && fold.debts().isEmpty()
        && shard.stripped == 0
        && !shard.fetching
        && shard.quiet();
  }

  /**
   * When something is to be done about the history of a lingering shard: part of it is past its
   * retention, or a generation is that was kept for it.
   */
  long dueMicros(Shard shard, ShardFold<NodeJob> fold) {
    long replaced =
        shard.replaced.isEmpty() ? Long.MAX_VALUE : shard.replaced.getFirst().untilMicros();
    return fold.live().size() == 0 ? replaced : Math.min(replaced, agesMicros(fold));
  }

  /** Not at once when the first job is past its retention, so that some go together. */
  private long agesMicros(ShardFold<NodeJob> fold) {
    long patience = HORIZONS_A_LOOK * Micros.ceil(options.loadHorizon());
    long until = fold.oldestEnds().keptUntilMicros(options);
    return until > Long.MAX_VALUE - patience ? Long.MAX_VALUE : until + patience;
  }

  private void compactForAge(Shard shard) {
    LongSupplier before = () -> env.wallMicros() - keyMicros();
    if (shard.fold != null && shard.fold.keyed() == 0) {
      compactLingering(shard, before.getAsLong());
      return;
    }
    shard.hold();
    forgetKeys(
        shard,
        before,
        shard::loaded,
        endedBefore -> {
          shard.unhold();
          if (shard.fold != null && mayBeCompacted(shard, shard.fold)) {
            compactLingering(shard, endedBefore);
          }
        });
  }

  /** How long the records of jobs with an idempotency key stay at least. */
  private long keyMicros() {
    return Math.max(keepMicros(), Micros.ceil(options.keyRetention()));
  }

  private void compactLingering(Shard shard, long keyedSince) {
    compact(shard, new Plan(false, keyedSince, staged -> replaced(shard, staged), done -> {}));
  }

  /** Looked at when all of the generation is read: jobs may have ended since it was thought of. */
  private Summary replaced(Shard shard, Compaction.Staged staged) {
    Summary summary = shard.summary();
    long until = Math.max(env.wallMicros(), summary.lastEndMicros()) + keepMicros();
    return summary
        .rewritten(staged.bytes(), null)
        .replacing(new Summary.Replaced(shard.journal.generation(), until, shard.journal.bytes()));
  }

  /** What a compaction needs to know and to do at its end. */
  private interface Summing {
    /** The summary to publish, or null where nothing is left of the shard. */
    @Nullable Summary of(Compaction.Staged staged);
  }

  /**
   * How a compaction ends.
   *
   * @param retires whether only evidence is to be left of the shard
   * @param keyedSince the records of jobs with an idempotency key that ended earlier are deleted
   */
  private record Plan(
      boolean retires, long keyedSince, Summing summing, Consumer<Summary> published) {
    /**
     * Where the clock has gone back since they were deleted, jobs that ended later seem earlier.
     */
    long keyedSince(long now) {
      return retires ? keyedSince : Math.min(keyedSince, now);
    }

    /**
     * Whether the shard is still as it was: somebody may have come for one of its jobs, or the last
     * of them has ended, whose own retention begins then.
     */
    boolean fits(Shard shard) {
      ShardFold<NodeJob> fold = shard.fold;
      return shard.owned() && (retires ? !isUsed(shard) : fold != null && fold.live().size() > 0);
    }
  }

  private void compact(Shard shard, Plan plan) {
    if (!plan.fits(shard) || shard.journal.isRewriting()) {
      return; // another rewrite may have begun while this one waited
    }
    if (shard.journal.isAppending()) {
      later(() -> compact(shard, plan));
      return;
    }
    if (shard.loaded() && (shard.stripped > 0 || shard.fetching)) {
      return; // meanwhile bodies were let go of, by their place in this generation
    }
    if (shard.packed != null && shard.journal.olderGenerations() > 0) {
      dropCopied(shard, () -> compact(shard, plan));
      return;
    }
    shard.journal.beginRewrite();
    long snapshot = env.random() | 1;
    long now = env.wallMicros();
    Compaction.Since since =
        new Compaction.Since(
            now - Micros.ceil(options.failureRetention()),
            now - Micros.ceil(options.deadRetention()),
            plan.keyedSince(now - keyMicros()));
    Compaction.Source source =
        new Compaction.Source(
            shard.id, shard.journal.epoch(), shard.journal.generation(), shard.journal.tail());
    env.submit(
        NodeEnvironment.Channel.PACK, // it takes long, and claims and creates must not wait for it
        store -> Compaction.stage(store, source, snapshot, since),
        outcome -> {
          if (!shard.owned()) {
            return;
          }
          switch (outcome) {
            case Outcome.Ok<Compaction.Staged> ok when plan.retires() && isUsed(shard) -> {
              shard.journal.endRewrite();
              committer.touch(shard.journal);
            }
            case Outcome.Ok<Compaction.Staged>(Compaction.Staged staged) -> {
              Summary summary = plan.summing().of(staged);
              if (summary == null) {
                shard.journal.endRewrite();
                shards.settling.drop(shard);
              } else {
                publish(
                    shard, plan, publication(source, snapshot, staged, summary), staged, summary);
              }
            }
            case Outcome.Fenced<Compaction.Staged> fenced -> shards.lost(shard);
            case Outcome.Damaged<Compaction.Staged>(String where) -> shards.refuse(shard, where);
            default -> {
              shard.journal.endRewrite();
              committer.touch(shard.journal);
              if (!shard.loaded()) {
                later(() -> compact(shard, plan));
              }
            }
          }
        });
  }

  /**
   * A packed generation holds all of those before it, which a crash has left there: beside a third
   * one they would tell everything twice. The hold keeps the next look from a second compaction.
   */
  private void dropCopied(Shard shard, Runnable then) {
    int packed = shard.journal.generation();
    shard.hold();
    dropGenerations(
        shard,
        packed,
        () -> {
          shard.unhold();
          shard.replaced =
              shard.replaced.stream().filter(old -> old.generation() >= packed).toList();
          then.run();
          shards.settle(shard); // its last job may have ended meanwhile
        });
  }

  private Publication publication(
      Compaction.Source source, long snapshot, Compaction.Staged staged, Summary summary) {
    Shard shard = shards.known(source.shard());
    long wake =
        summary.drained() || shard == null ? keepUntil(summary) : shard.journal.wakeMicros();
    return new Publication(
        source.shard(),
        source.epoch(),
        source.generation(),
        source.tail(),
        snapshot,
        staged.count(),
        wake,
        summary.encode());
  }

  /** Repeats the publish until it is answered: it is idempotent, and nothing is appended before. */
  private void publish(
      Shard shard, Plan plan, Publication publication, Compaction.Staged staged, Summary summary) {
    if (!shard.owned()) {
      return;
    }
    env.submit(
        NodeEnvironment.Channel.CONTROL,
        store -> store.journals().publish(publication),
        outcome -> {
          if (!shard.owned()) {
            return;
          }
          switch (outcome) {
            case Outcome.Ok<Head>(Head head) -> {
              env.metrics().count("shards.compacted", 1);
              shard.journal.published(head, staged.count(), staged.bytes());
              forgetPositions(shard, staged);
              shard.compactedBytes = staged.bytes();
              if (shard.fold != null) {
                shard.fold.compacted(staged.oldest(), staged.ended());
              }
              shard.packed = null;
              shard.drainedAs(null);
              shard.lastEndMicros = Math.max(shard.lastEndMicros, summary.lastEndMicros());
              dropOld(shard, plan, summary);
            }
            case Outcome.Fenced<Head> fenced -> shards.lost(shard);
            case Outcome.Conflict<Head> conflict -> unstaged(shard, plan);
            case Outcome.Damaged<Head>(String where) -> shards.refuse(shard, where);
            default -> later(() -> publish(shard, plan, publication, staged, summary));
          }
        });
  }

  /**
   * What was staged is gone: a late call of an earlier compaction took its place. The old
   * generation goes on, by an entry, so that no late publish finds the tail it expects.
   */
  private void unstaged(Shard shard, Plan plan) {
    shard.journal.endRewrite();
    committer.raiseWake(shard.journal, shard.journal.wakeMicros());
    if (!shard.loaded()) {
      later(() -> compact(shard, plan));
    }
  }

  /** Generations whose retention is over go at once; a lingering shard's stays for a while. */
  private void dropOld(Shard shard, Plan plan, Summary summary) {
    if (!plan.retires()) {
      shard.journal.endRewrite();
      shard.replaced = summary.replaced();
      noteHistory();
      committer.touch(shard.journal);
      plan.published().accept(summary);
      return;
    }
    dropGenerations(
        shard,
        shard.journal.generation(),
        () -> {
          shard.journal.endRewrite();
          plan.published().accept(summary);
        });
  }

  /** Where the bodies of its jobs stand now is known again when it is loaded the next time. */
  private static void forgetPositions(Shard shard, Compaction.Staged staged) {
    ShardFold<NodeJob> fold = shard.fold;
    if (fold == null) {
      return;
    }
    fold.live().forEach(job -> job.position = FoldedJob.NO_POSITION);
    staged
        .histories()
        .forEach(
            (number, positions) -> {
              NodeJob job = fold.job(number);
              WorkflowState workflow = job != null ? job.workflow() : null;
              if (workflow != null) {
                workflow.moved(positions);
              }
            });
    staged
        .published()
        .forEach(
            (number, place) -> {
              NodeJob job = fold.job(number);
              Reported reported = job != null ? job.reported() : null;
              if (reported != null) {
                reported.publishedMoved(place);
              }
            });
  }

  private long keepMicros() {
    return Micros.ceil(options.successRetention());
  }

  /** The older generations of a shard that was just claimed. */
  List<Summary.Replaced> stillKept(Shard shard, List<Summary.Replaced> replaced) {
    List<Summary.Replaced> kept = new ArrayList<>(replaced);
    kept.removeIf(old -> old.generation() < shard.journal.oldestGeneration());
    if (kept.isEmpty() && shard.journal.olderGenerations() > 0) {
      long from = Math.max(env.wallMicros(), shard.lastEndMicros); // clocks may have gone back
      kept.add(new Summary.Replaced(shard.journal.generation() - 1, from + keepMicros(), 0));
    }
    return kept;
  }

  /**
   * Drops those of a lingering shard's replaced generations whose retention is over, or for which
   * there is no room.
   */
  void dropOldIfTime(Shard shard) {
    long now = env.wallMicros();
    List<Summary.Replaced> left = new ArrayList<>(shard.replaced);
    int oldest = 0;
    while (!left.isEmpty()
        && (left.getFirst().untilMicros() <= now
            || left.getFirst().generation() < shard.spentBefore)) {
      oldest = left.removeFirst().generation() + 1;
    }
    if (oldest != 0 && shard.quiet()) {
      shard.replaced = left;
      shard.hold();
      dropGenerations(
          shard,
          oldest,
          () -> {
            shard.unhold();
            shards.settle(shard);
          });
    }
  }

  /** Drops the generations before {@code oldest}. */
  private void dropGenerations(Shard shard, int oldest, Runnable done) {
    if (!shard.owned()) {
      return;
    }
    shards.write(
        shard,
        store -> store.journals().dropGenerations(shard.id, shard.journal.epoch(), oldest),
        head -> {
          if (shard.owned()) {
            shard.journal.droppedBefore(oldest);
            done.run();
          }
        },
        () -> {});
  }
}
