package dev.carillon.engine.dispatch;

import dev.carillon.api.Concurrency;
import dev.carillon.api.JobState;
import dev.carillon.api.Rate;
import dev.carillon.api.WhenFull;
import dev.carillon.engine.job.JobRef;
import dev.carillon.engine.limit.LimitClaim;
import dev.carillon.engine.limit.Rates;
import dev.carillon.engine.limit.Share;
import dev.carillon.engine.limit.Shares;
import dev.carillon.engine.limit.TokenBucket;
import dev.carillon.engine.shard.NodeJob;
import dev.carillon.engine.shard.Shard;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The concurrency keys of this node's due jobs. A job gets its key before it stands in its lane, so
 * that jobs of one key go in the order of their due times whatever lanes they stand in.
 *
 * <p>Until all shards with due jobs are loaded after a start nobody gets a key: what is loaded
 * first need not be due first.
 */
public final class Keys {
  private static final int SWEEP_FROM = 1024;
  private static final String KEY_LIMITS = Shares.RECORDS + "c\0";

  private final Rates rates;
  private final Shares shares;
  private final Host host;
  private final Map<Name, KeySlot> slots = new LinkedHashMap<>();
  private int sweepAt = SWEEP_FROM;
  private boolean open;
  private boolean fenced;
  private boolean stopped;

  private record Name(String namespace, String key) {}

  /** The node, as far as keys need it. */
  public interface Host {
    /** The job may get its key: it is due. */
    void ready(NodeJob job);

    /** The job waits for its key. */
    void blocked(NodeJob job);

    /** The job ends without an attempt, or passes over this time if it is recurring. */
    void refuse(NodeJob job, JobState state, String reason);

    /** The job does not go on; of a recurring one that is the occurrence. */
    void cancel(NodeJob job, String reason);
  }

  public Keys(Rates rates, Shares shares, Host host) {
    this.rates = rates;
    this.shares = shares;
    this.host = host;
  }

  /** Everything that is due is here. */
  public void open() {
    open = true;
    lookAgain();
  }

  /** Others may have what holds keys here: nobody gets one, or is refused one, by that. */
  public void fenced() {
    fenced = true;
  }

  /** It is known again what is here. */
  public void proven() {
    if (fenced) {
      fenced = false;
      lookAgain();
    }
  }

  /** Nothing starts here any more: the jobs give their keys back, their attempts go on. */
  public void stop() {
    stopped = true;
    for (KeySlot slot : slots.values()) {
      if (slot.releaseJobs()) {
        freed(slot);
      }
    }
  }

  private void lookAgain() {
    List<NodeJob> waiting = new ArrayList<>();
    slots.values().forEach(slot -> waiting.addAll(slot.pollAll()));
    waiting.forEach(host::ready);
  }

  boolean mayJudge() {
    return open && !fenced && !stopped;
  }

  public boolean isOpen() {
    return open;
  }

  private KeySlot slot(NodeJob job, Concurrency concurrency) {
    KeySlot slot =
        slots.computeIfAbsent(
            new Name(job.namespace, concurrency.key()), n -> new KeySlot(n.namespace(), n.key()));
    Rate rate = concurrency.rate();
    if (rate != null && slot.bucket == null) {
      slot.bucket =
          TokenBucket.followingJobs(recordKey(Rates.KEY_RECORDS, slot), rate, () -> offer(slot));
    }
    if (slot.share == null && shares.isShared()) {
      slot.share = shares.of(recordKey(KEY_LIMITS, slot), new KeyUser(slot));
    }
    return slot;
  }

  /** The key, if anybody has it or waits for it. */
  @Nullable KeySlot find(String namespace, String key) {
    return slots.get(new Name(namespace, key));
  }

  private static String recordKey(String prefix, KeySlot slot) {
    return prefix + slot.namespace + "\0" + slot.key;
  }

  /** How many may hold the key here, as far as this job is concerned. */
  static int room(KeySlot slot, Concurrency concurrency) {
    Share share = slot.share;
    return share == null ? concurrency.limit() : Math.min(concurrency.limit(), share.usable());
  }

  /** Asks for more of the limit than this node has, for a job that waits here. */
  private void askForMore(KeySlot slot, NodeJob job, Concurrency concurrency) {
    Share share = slot.share;
    if (share != null && slot.held() < concurrency.limit() && slot.held() >= share.usable()) {
      int wanted = Math.min(concurrency.limit() - slot.held(), slot.waiting());
      shares.ask(share, concurrency.limit(), Math.max(1, wanted), job.dueMicros);
    }
  }

  private void freed(KeySlot slot) {
    if (slot.share != null) {
      shares.freed(slot.share);
    }
  }

  /** Whether the due job has its key; if not, it waits or is over. */
  boolean admit(NodeJob job, Concurrency concurrency) {
    sweepIfMany();
    KeySlot slot = slot(job, concurrency);
    if (slot.isHeldBy(job)) {
      return true;
    }
    slot.unclaim(job);
    // One that is being changed may have another key soon: it comes back once that is done.
    boolean may = mayJudge() && job.busy == 0;
    if (may && slot.held() + slot.claims() < room(slot, concurrency) && isNext(slot, job)) {
      slot.hold(job);
      return true;
    }
    // Whatever its rule, a job waits for its rate, and for its own handler that goes on after a
    // timeout.
    boolean byRate = slot.bucket != null && slot.held() < room(slot, concurrency);
    boolean byShare = slot.share != null && slot.held() < concurrency.limit();
    NodeJob oldest = null;
    // A retry waits too, and a workflow that goes on: its occasion was there when it was new.
    boolean isNew = job.attempts == 0 && !job.hasBegun();
    boolean mayGo = may && !byRate && isNew && !slot.isHeldByAttemptOf(job);
    if (mayGo && !byShare) {
      if (refuse(job, concurrency)) {
        return false;
      }
      if (concurrency.whenFull() == WhenFull.CANCEL_RUNNING) {
        oldest = inTheWay(slot, concurrency.limit());
      }
    }
    slot.await(job);
    host.blocked(job);
    if (mayGo && byShare && concurrency.whenFull() != WhenFull.WAIT) {
      slot.doubt(job);
    }
    if (may) {
      askForMore(slot, job, concurrency);
    }
    if (oldest != null) {
      // Now that it is in line, for the room may be offered at once.
      host.cancel(oldest, forNewer(concurrency));
    }
    return false;
  }

  private static boolean isNext(KeySlot slot, NodeJob job) {
    NodeJob first = slot.first();
    return first == null || ReadyLine.compare(job, first) <= 0;
  }

  private static String full(Concurrency concurrency) {
    return "concurrency key " + concurrency.key() + ": " + concurrency.limit() + " at once";
  }

  private static String forNewer(Concurrency concurrency) {
    return "a newer job is due; " + full(concurrency);
  }

  private boolean refuse(NodeJob job, Concurrency concurrency) {
    JobState state =
        switch (concurrency.whenFull()) {
          case REJECT -> JobState.FAILED;
          case CANCEL_NEWEST -> JobState.CANCELLED;
          case WAIT, CANCEL_RUNNING -> null;
        };
    if (state != null) {
      host.refuse(job, state, full(concurrency));
    }
    return state != null;
  }

  /** The newest wins over the oldest of those that run or wait; null where there is room. */
  private static @Nullable NodeJob inTheWay(KeySlot slot, int limit) {
    List<NodeJob> others = slot.contenders();
    boolean full = others.size() + slot.hung() >= limit;
    return full && !others.isEmpty() ? others.getFirst() : null;
  }

  /** Whether the job, whose turn has come in its lane, may start; if not, it waits again. */
  boolean mayStart(NodeJob job, Concurrency concurrency) {
    KeySlot slot = slot(job, concurrency);
    if (!slot.isHeldBy(job)) {
      host.ready(job); // it gave the key back while its lane was paused
      return false;
    }
    TokenBucket bucket = slot.bucket;
    // One with a higher limit may have come to its lane after this one and started before it.
    Share share = slot.share;
    int most =
        share == null ? concurrency.limit() : Math.min(concurrency.limit(), share.startable());
    boolean room = slot.attempts() < most;
    if (room && !mustWaitForRate(slot, bucket, job)) {
      return true;
    }
    slot.release(job);
    slot.await(job);
    host.blocked(job);
    askForMore(slot, job, concurrency);
    return false;
  }

  /**
   * Whether its rate lets the job start. Where another stands in its lane that was let through by
   * another rate, that one goes first: their writes would else undo each other.
   */
  private boolean mayTake(KeySlot slot, TokenBucket bucket, NodeJob job) {
    Rate rate = rate(bucket, job.concurrency());
    boolean standsBack = bucket.isWrittenForOther(rate) && slot.isHeldByJobBesides(job);
    return !standsBack && rates.mayTake(bucket, rate);
  }

  /** What a job goes by: its own rate, or that of the last one that started. */
  static Rate rate(TokenBucket bucket, @Nullable Concurrency concurrency) {
    Rate own = concurrency != null ? concurrency.rate() : null;
    return own != null ? own : bucket.rate();
  }

  /** The grant of an attempt holds the key in the place of its job. */
  void start(Grant grant, Concurrency concurrency) {
    KeySlot slot = slot(grant.job(), concurrency);
    slot.start(grant);
    grant.key = slot;
    TokenBucket bucket = slot.bucket;
    if (bucket != null && !grant.job().isWaiting()) {
      rates.take(bucket, rate(bucket, concurrency));
      grant.took(bucket);
      NodeJob next = slot.first();
      if (next != null && bucket.isWrittenForOther(rate(bucket, next.concurrency()))) {
        rates.lookAgain(bucket); // it may have stood back
      }
    }
  }

  /** An attempt came with its shard, and has its key whoever else has it. */
  void adopt(Grant grant, Concurrency concurrency) {
    KeySlot slot = slot(grant.job(), concurrency);
    slot.start(grant);
    grant.key = slot;
    if (slot.share != null) {
      shares.used(slot.share, concurrency.limit());
    }
  }

  /** The attempt's handler has returned and its outcome is durable: another may have its key. */
  void left(Grant grant) {
    KeySlot slot = grant.key;
    if (slot != null) {
      grant.key = null;
      slot.end(grant);
      if (keepsKey(grant.job(), slot)) {
        slot.hold(grant.job());
        return;
      }
      freed(slot);
      offer(slot);
    }
  }

  /** A workflow has its key until it ends, also while it waits. */
  private static boolean keepsKey(NodeJob job, KeySlot slot) {
    Concurrency own = job.concurrency();
    return job.phase() != NodeJob.Phase.GONE
        && keepsKey(job)
        && own != null
        && own.key().equals(slot.key);
  }

  /** Whether it is a workflow that waits, or is paused between two calls. */
  private static boolean keepsKey(NodeJob job) {
    return job.isWaiting() || (job.hasBegun() && job.isPaused());
  }

  /**
   * The job has come to this node. A workflow that waits had its key where it was before, and takes
   * it again before others get one: at once where there is room, else as soon as there is.
   */
  public void arrived(NodeJob job, Concurrency concurrency) {
    if (!keepsKey(job)) {
      return;
    }
    KeySlot slot = slot(job, concurrency);
    if (slot.held() < room(slot, concurrency)) {
      slot.hold(job);
    } else {
      slot.claim(job);
      askForMore(slot, job, concurrency);
    }
  }

  /** Workflows that had the key on another node get it before others. */
  private void giveClaimed(KeySlot slot) {
    for (NodeJob job = slot.firstClaim(); job != null; job = slot.firstClaim()) {
      Concurrency concurrency = job.concurrency();
      if (concurrency != null && slot.held() >= room(slot, concurrency)) {
        askForMore(slot, job, concurrency);
        return;
      }
      slot.unclaim(job);
      if (concurrency != null) {
        slot.hold(job);
      }
    }
  }

  /** The job gives its key back, if it has it. */
  public void leave(NodeJob job, Concurrency concurrency) {
    KeySlot slot = slots.get(new Name(job.namespace, concurrency.key()));
    if (slot == null) {
      return;
    }
    boolean wanted = slot.unclaim(job);
    if (slot.release(job) || wanted) {
      freed(slot);
      offer(slot);
    }
  }

  /** The job no longer stands where it waits for its key; looks at all who do. */
  void withdraw(NodeJob job, Concurrency concurrency) {
    KeySlot slot = slots.get(new Name(job.namespace, concurrency.key()));
    if (slot != null) {
      slot.forget(job);
      if (!keepsKey(job)) {
        leave(job, concurrency);
      }
    }
  }

  /** The jobs that have a key or wait for one, and are due later. */
  List<NodeJob> dueAfter(long micros) {
    List<NodeJob> later = new ArrayList<>();
    slots.values().forEach(slot -> slot.dueAfter(micros, later));
    return later;
  }

  /** Those that have room go on to their lanes. */
  private void offer(KeySlot slot) {
    if (!mayJudge()) {
      return;
    }
    giveClaimed(slot);
    for (NodeJob first = slot.first(); first != null; first = slot.first()) {
      Concurrency concurrency = first.concurrency();
      TokenBucket bucket = slot.bucket;
      if (concurrency != null && slot.held() + slot.claims() >= room(slot, concurrency)) {
        askForMore(slot, first, concurrency);
        return;
      }
      if (concurrency == null || mustWaitForRate(slot, bucket, first)) {
        return;
      }
      slot.poll();
      host.ready(first);
    }
    if (slot.isIdle() && slot.bucket == null && isGone(slot.share)) {
      slots.remove(new Name(slot.namespace, slot.key), slot);
    }
  }

  /** A workflow that goes on after a wait needs no rate. */
  private boolean mustWaitForRate(KeySlot slot, @Nullable TokenBucket bucket, NodeJob job) {
    return bucket != null && !job.isWaiting() && !mayTake(slot, bucket, job);
  }

  /** Keys with a rate are kept until all of it is there again. */
  private void sweepIfMany() {
    if (slots.size() < sweepAt) {
      return;
    }
    slots.values().removeIf(slot -> slot.isIdle() && isGone(slot.share) && isFull(slot.bucket));
    sweepAt = Math.max(SWEEP_FROM, 2 * slots.size());
  }

  private boolean isGone(@Nullable Share share) {
    return share == null || shares.isGone(share);
  }

  private boolean isFull(@Nullable TokenBucket bucket) {
    return bucket == null || rates.forget(bucket);
  }

  /** The jobs of a key, towards the limit of all nodes. */
  private final class KeyUser implements Share.User {
    private final KeySlot slot;

    KeyUser(KeySlot slot) {
      this.slot = slot;
    }

    @Override
    public int inUse() {
      return slot.held();
    }

    @Override
    public int toldOf() {
      return slot.heldFirmly();
    }

    @Override
    public void changed() {
      offer(slot);
    }

    @Override
    public boolean doubts() {
      return slot.doubts();
    }

    @Override
    public void asking() {
      slot.asking();
    }

    @Override
    public Share.Verdict judge(int used, LimitClaim.@Nullable Oldest oldestElsewhere) {
      for (NodeJob job : slot.asked()) {
        Concurrency concurrency = job.concurrency();
        Shard shard = job.shard;
        boolean here = mayJudge() && shard != null && shard.owned() && !shard.handingBack;
        boolean waits = slot.isAsked(job); // else it was cancelled for one of those before
        if (!here || !waits || concurrency == null || used < concurrency.limit()) {
          continue;
        }
        slot.judged(job, false);
        if (concurrency.whenFull() != WhenFull.CANCEL_RUNNING) {
          slot.forget(job);
          refuse(job, concurrency);
        } else if (!cancelsHere(job, concurrency, oldestElsewhere)) {
          slot.asked().forEach(other -> slot.judged(other, true)); // one at a time
          return Share.Verdict.CANCEL_ELSEWHERE;
        }
      }
      return slot.asked().isEmpty() ? Share.Verdict.SETTLED : Share.Verdict.OPEN;
    }

    /** Cancels the oldest for the job if it is one of this node. */
    private boolean cancelsHere(
        NodeJob job, Concurrency concurrency, LimitClaim.@Nullable Oldest elsewhere) {
      NodeJob oldestHere = first(slot.contendersBefore(job));
      if (oldestHere != null
          && (elsewhere == null || oldestHere.dueMicros <= elsewhere.dueMicros())) {
        host.cancel(oldestHere, forNewer(concurrency));
        return true;
      }
      return elsewhere == null;
    }

    private static @Nullable NodeJob first(List<NodeJob> contenders) {
      return contenders.isEmpty() ? null : contenders.getFirst();
    }

    @Override
    public LimitClaim.@Nullable Oldest oldest() {
      NodeJob oldest = first(slot.contenders());
      Shard shard = oldest == null ? null : oldest.shard;
      return oldest == null || shard == null
          ? null
          : new LimitClaim.Oldest(oldest.dueMicros, shard.ref(oldest.number));
    }

    /** Where it has left since there is room. */
    @Override
    public void cancelOldest(JobRef job) {
      for (NodeJob contender : slot.contenders()) {
        Shard shard = contender.shard;
        Concurrency concurrency = contender.concurrency();
        if (shard != null && concurrency != null && shard.ref(contender.number).equals(job)) {
          host.cancel(contender, forNewer(concurrency));
          return;
        }
      }
    }
  }
}
