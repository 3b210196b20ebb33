package dev.carillon.engine.limit;

import dev.carillon.engine.commit.Basics;
import dev.carillon.engine.commit.RecordChanges;
import dev.carillon.engine.commit.RecordSweep;
import dev.carillon.engine.environment.NodeEnvironment;
import dev.carillon.engine.environment.Timers;
import dev.carillon.engine.job.JobRef;
import dev.carillon.engine.limit.LimitClaim.Answer;
import dev.carillon.engine.limit.LimitClaim.Order;
import dev.carillon.engine.limit.LimitClaim.Question;
import dev.carillon.engine.member.MemberStatus;
import dev.carillon.store.Records.Stamp;
import dev.carillon.store.Records.Stored;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;

/**
 * Limits of all nodes together. A limit has a record that says how much of it which incarnation
 * has; a node takes what it needs and is free, by the record's version, and gives back what it has
 * not used for a second. So the parts never add up to more than the limit, but for what runs
 * already when the limit is set or made lower: that is in the record too, and nobody takes or uses
 * more until it has ended. {@link LimitClaim} has the format.
 *
 * <p>Where others wait, a node keeps no more than it has used at once between its last two looks;
 * and where they have less than their even part, one that has more uses as many fewer; where there
 * is not one for each, the one that was due first has it. Who waits for two limits and has one of
 * them keeps that for a few looks by the same rule: where all nodes have the same order, the first
 * of them gets both.
 *
 * <p>That others have all of it does not say that they use it. Where a job is to go rather than to
 * wait, its node puts a question into the record, those who have some of the limit answer there how
 * much of it they use, and by what they have answered since it was there the job is judged. A
 * question may also be an order to cancel the oldest.
 *
 * <p>Crash table: the node dies: what it had is free once it has been dead for as long as its
 * handlers had to stop; its question is gone with its claim, and who waits for its answer gets what
 * it had. It is paused: before that time it stops itself, and afterwards it writes what it still
 * has once more before it uses it: who has left it out since its last look then finds another
 * version. The answer to a change is lost: {@link RecordChanges} resolves it. An order is read
 * again before the answer to it is in effect: it was remembered. Somebody else changes the record
 * before an order is there: it is given again.
 */
public final class Shares {
  public static final String RECORDS = "l\0";

  private static final long POLL_NANOS = 250_000_000;
  private static final long CONFLICT_NANOS = 5_000_000;
  private static final long LINGER_NANOS = 1_000_000_000;
  private static final int MOST_DOUBLINGS = 3;
  private static final int MOST_KEPT_LOOKS = 4;

  private final NodeEnvironment env;
  private final RecordChanges records;
  private final Timers timers;
  private final long incarnation;
  private final MemberStatus status;
  private final Host host;
  private final Map<String, Share> held = new LinkedHashMap<>();
  private final RecordSweep sweep;

  /** The number of the last question that this node asked. */
  private long lastNumber;

  /** The node, as far as limits need it. */
  public interface Host {
    /** Another node is to look at a record that concerns it now; it would have anyway. */
    void sayLook(long incarnation, String record);
  }

  public Shares(Basics basics, MemberStatus status, Host host) {
    this.env = basics.env();
    this.records = basics.records();
    this.timers = basics.timers();
    this.incarnation = status.incarnation();
    this.status = status;
    this.host = host;
    this.sweep = new RecordSweep(env, records, RECORDS, this::isOver);
  }

  /** Whether limits are of several nodes together. */
  public boolean isShared() {
    return status.isShared();
  }

  public long nowMicros() {
    return env.wallMicros();
  }

  /** A limit of that record. */
  public Share of(String record, Share.User user) {
    return new Share(record, incarnation, user);
  }

  /** Whether this node has nothing of it, wants nothing and is not about to look. */
  public boolean isGone(Share share) {
    return held.get(share.record) != share;
  }

  /**
   * More of it is needed here: {@link Share.User#changed} runs when there is, or nothing is left.
   */
  public void ask(Share share, int limit, int wanted, long sinceMicros) {
    share.asked = true;
    share.limit = limit;
    share.wanted = wanted;
    share.wantedSince = Math.min(share.wantedSince, Math.max(sinceMicros, share.lastInVain));
    if (!share.full) { // else it is looked at again and again
      step(share);
    }
  }

  /** The limit is another; with 0 there is none any more. */
  public void limit(Share share, int limit) {
    if (share.limit != limit) {
      share.limit = limit;
      share.full = false;
      share.wanted = limit == 0 ? 0 : share.wanted;
      if (share.granted > 0 || share.wanted > 0 || isUsedUnseen(share)) {
        step(share);
      }
    }
  }

  /** More is in use than was taken of it: attempts came with shards of other nodes. */
  public void used(Share share, int limit) {
    share.limit = limit;
    if (isUsedUnseen(share)) {
      step(share);
    }
  }

  /** Whether more is in use than the record says. */
  private static boolean isUsedUnseen(Share share) {
    return share.limit > 0 && share.user.inUse() > share.granted;
  }

  /** One that was in use is not any more. */
  public void freed(Share share) {
    if (isGone(share)) {
      return;
    }
    share.peak = Math.max(share.peak, share.user.inUse() + 1);
    share.keptSince = LimitClaim.NOTHING;
    reckon(share);
    if (share.owed > 0 || share.granted > share.limit || isAsked(share)) {
      step(share);
    } else {
      lookIn(share, LINGER_NANOS);
    }
  }

  /** What this node has may have been taken from it: it is written before it is used again. */
  public void fenced() {
    for (Share share : held.values()) {
      share.stale = true;
      share.proven = false;
      share.granted = 0;
      share.excess = 0;
      share.owed = 0;
      lookIn(share, POLL_NANOS);
    }
  }

  /** Another node has changed the record, and says so. */
  public void look(String record) {
    Share share = held.get(record);
    // What somebody counts on who waits for another limit is looked at in its own time.
    if (share != null && share.expectedSince == LimitClaim.NOTHING) {
      share.stale = true;
      share.quietLooks = 0;
      step(share);
    }
  }

  private void lookIn(Share share, long nanos) {
    if (share.next == null || share.next.isOver()) {
      share.next = timers.at(env.monotonicNanos() + nanos, () -> lookAt(share));
    }
  }

  private void lookAt(Share share) {
    if (!share.asked) {
      share.wanted = 0;
      share.wantedSince = LimitClaim.NOTHING;
    }
    share.asked = false;
    int inUse = share.user.inUse();
    share.most = Math.max(inUse, share.peak);
    share.peak = inUse;
    boolean idle = share.wanted == 0 && inUse == 0;
    keep(share, idle);
    share.stale |= !idle || share.kept; // what is given back needs no look
    step(share);
  }

  /**
   * Given back, a share that waits for another limit would go round while another node has what is
   * missing beside it. So who was due first keeps it, but not for long: others may need only this.
   */
  private void keep(Share share, boolean idle) {
    boolean expected = share.expectedSince != LimitClaim.NOTHING && share.usable() > 0;
    share.kept = idle && expected;
    share.keptLooks = share.kept ? share.keptLooks + 1 : 0;
    if (!idle) {
      share.lastInVain = Long.MIN_VALUE;
    } else if (share.keptLooks > MOST_KEPT_LOOKS) {
      share.keptLooks = 0;
      share.lastInVain = env.wallMicros();
    }
    share.keptSince =
        expected ? Math.max(share.expectedSince, share.lastInVain) : LimitClaim.NOTHING;
    share.expectedSince = LimitClaim.NOTHING;
  }

  /** Takes or gives what is to be. */
  private void step(Share share) {
    if (share.busy || share.deciding) {
      return;
    }
    timers.cancel(share.next);
    Share other = held.putIfAbsent(share.record, share);
    if (other != null && other != share) {
      lookIn(share, POLL_NANOS); // what they have is this node's: one of them at a time
      return;
    }
    if (share.stale) {
      read(share);
    } else {
      decide(share);
    }
  }

  private void read(Share share) {
    share.busy = true;
    share.stale = false;
    records.get(
        share.record,
        found -> {
          share.busy = false;
          if (share.stale) {
            read(share); // others may have taken it since it was read
          } else {
            remember(share, found);
            decide(share);
          }
        });
  }

  private void remember(Share share, Optional<Stored> found) {
    Stamp version = found.map(Stored::version).orElse(Stamp.ABSENT);
    share.quietLooks = version.equals(share.version) ? share.quietLooks : 0;
    share.version = version;
    int granted = 0;
    share.said = LimitClaim.none(incarnation);
    List<LimitClaim> elsewhere = new ArrayList<>();
    for (LimitClaim claim : found.map(Stored::value).map(LimitClaim::decode).orElse(List.of())) {
      if (claim.incarnation() == incarnation) {
        granted = claim.share();
        share.said = claim;
      } else {
        elsewhere.add(claim);
      }
    }
    share.elsewhere = elsewhere;
    grant(share, granted);
  }

  /** What is new is not yet looked at for whether it is used. */
  private static void grant(Share share, int granted) {
    share.most = granted > share.granted ? granted : share.most;
    share.granted = granted;
  }

  /** Those who count: one that seemed over when the record was read may be back. */
  private List<LimitClaim> others(Share share) {
    List<LimitClaim> others = new ArrayList<>();
    for (LimitClaim claim : share.elsewhere) {
      if (!status.isOver(claim.incarnation())) {
        others.add(claim);
      }
    }
    return others;
  }

  private void decide(Share share) {
    boolean member = status.mayStart();
    if (share.stale) {
      read(share); // this node was fenced by that look
      return;
    }
    share.deciding = true;
    share.others = others(share);
    if (member) {
      obey(share);
    }
    LimitClaim mine = claim(share, member);
    share.deciding = false;
    change(share, mine);
  }

  /** What this node is to have and to say from now on. */
  private LimitClaim claim(Share share, boolean member) {
    if (share.limit == 0) {
      return LimitClaim.none(incarnation);
    }
    int inUse = share.user.inUse();
    reckon(share);
    int most = Math.min(share.granted - share.owed, share.limit);
    if (!share.kept && share.others.stream().anyMatch(LimitClaim::wants)) {
      most = Math.min(most, share.most);
    }
    // What ran before there was a limit, or goes on though others took it, is there for them to
    // see.
    int kept = Math.max(inUse, Math.min(share.granted, most));
    int target = kept;
    if (share.wanted == 0) {
      target = inUse == 0 && !share.kept ? 0 : kept;
      if (share.kept) {
        share.kept = false;
        share.quietLooks = 0; // others may come to wait for it
      }
    } else if (share.owed == 0) {
      target = Math.max(inUse, share.granted + Math.min(share.wanted, free(share)));
    }
    share.full = share.wanted > 0 && target <= inUse;
    long since = share.full ? share.wantedSince : LimitClaim.NOTHING;
    Answer answer = target > 0 ? answer(share, member) : Answer.NONE;
    return new LimitClaim(incarnation, target, since, question(share, inUse), answer);
  }

  // ---- who really uses it

  /** What this node asks the others: what it has asked until it is settled, then the next. */
  private Question question(Share share, int inUse) {
    if (!share.full) {
      share.order = null;
      return Question.NONE;
    }
    Question asked = share.said.question();
    Order decided = share.order;
    if (decided != null && !decided.equals(asked.order())) {
      return new Question(nextNumber(share), decided); // the record was changed before it was there
    }
    share.order = null;
    Order order = asked.order();
    if (order != null && !isFollowed(share, asked.number(), order)) {
      return asked;
    }
    if (!asked.equals(Question.NONE) && order == null) {
      LimitClaim oldest = oldest(share, asked);
      int used = inUse + used(share, asked);
      switch (share.user.judge(used, oldest.answer().oldest())) {
        case OPEN -> {
          return asked;
        }
        case CANCEL_ELSEWHERE -> {
          JobRef job = Objects.requireNonNull(oldest.answer().oldest()).job();
          share.order = new Order(oldest.incarnation(), job);
          return new Question(nextNumber(share), share.order);
        }
        case SETTLED -> {}
      }
    }
    if (!share.user.doubts()) {
      return Question.NONE;
    }
    share.user.asking();
    return new Question(nextNumber(share), null);
  }

  /** How much the others use, as far as they have said so since the question. */
  private static int used(Share share, Question question) {
    return share.others.stream()
        .filter(other -> other.answer().number() >= question.number())
        .mapToInt(other -> Math.min(other.share(), other.answer().used()))
        .sum();
  }

  /** The one of the others that has the oldest, as far as they have said; else this node's. */
  private LimitClaim oldest(Share share, Question question) {
    return share.others.stream()
        .filter(other -> other.answer().number() >= question.number())
        .min(Comparator.comparingLong(other -> other.answer().oldestDue()))
        .orElse(LimitClaim.none(incarnation));
  }

  /** Whether the one that was to cancel something has, or has nothing of the limit any more. */
  private static boolean isFollowed(Share share, long number, Order order) {
    return share.others.stream()
        .noneMatch(
            other ->
                other.incarnation() == order.to()
                    && other.share() > 0
                    && other.answer().number() < number);
  }

  /** One that this node has never used, also where the record was deleted meanwhile. */
  private long nextNumber(Share share) {
    lastNumber = Math.max(lastNumber, lastNumber(share)) + 1;
    return lastNumber;
  }

  private static long lastNumber(Share share) {
    return Stream.concat(share.others.stream(), Stream.of(share.said))
        .mapToLong(claim -> Math.max(claim.question().number(), claim.answer().number()))
        .max()
        .orElse(0);
  }

  /** What this node has to say to the others' questions: nothing new unless that has changed. */
  private static Answer answer(Share share, boolean member) {
    long asked = lastAsked(share);
    int used = share.user.toldOf();
    Answer said = share.said.answer();
    boolean isNew = asked > said.number() || (asked > 0 && used != said.used());
    // What uses it here may be another's by now and only look as if it was in use.
    return isNew && member
        ? new Answer(Math.max(asked, said.number()), used, share.user.oldest())
        : said;
  }

  private static long lastAsked(Share share) {
    return share.others.stream().mapToLong(other -> other.question().number()).max().orElse(0);
  }

  /** Follows the orders of other nodes, each once. */
  private void obey(Share share) {
    Map<Long, Question> obeyed = new LinkedHashMap<>();
    for (LimitClaim other : share.elsewhere) {
      long asker = other.incarnation();
      Question question = other.question();
      Order order = question.order();
      boolean followed = question.equals(share.obeyed.get(asker));
      boolean isNew = question.isFor(incarnation) && share.others.contains(other);
      if (order != null && (followed || isNew)) {
        obeyed.put(asker, question);
        if (!followed) {
          share.user.cancelOldest(order.job());
        }
      }
    }
    share.obeyed = obeyed;
  }

  // ---- how much is whose

  /** What is left of the limit for this node: those who wait longer come first. */
  private static int free(Share share) {
    int even = even(share);
    boolean scarce = share.limit < contenders(share);
    int left = share.limit - share.granted;
    for (LimitClaim other : share.others) {
      left -= other.share();
      boolean first = !scarce || other.wantedSince() < share.wantedSince;
      if (other.wants() && first) {
        left -= Math.max(0, even - other.share());
      }
    }
    return Math.max(0, left);
  }

  /** Those who have some of it or want some, this node with them. */
  private static int contenders(Share share) {
    return 1 + share.others.size();
  }

  /**
   * What each of them can have, rounded down: were it more, each of several who have nothing would
   * leave all there is to the others.
   */
  private static int even(Share share) {
    return Math.max(1, share.limit / contenders(share));
  }

  /** When the first was due here that waits for it, or that has it and waits for another. */
  private static long since(Share share) {
    return Math.min(share.wantedSince, share.keptSince);
  }

  /** How many of this node's it may not use, by what it and the others have. */
  private static void reckon(Share share) {
    long all = share.granted;
    for (LimitClaim other : share.others) {
      all += other.share();
    }
    share.excess = Math.clamp(all - share.limit, 0, share.granted);
    share.owed = Math.max(share.excess, owedToOthers(share));
  }

  /** What others are to have of this node's. */
  private static int owedToOthers(Share share) {
    List<LimitClaim> wanting = share.others.stream().filter(LimitClaim::wants).toList();
    if (wanting.isEmpty() || share.granted == 0) {
      return 0;
    }
    int even = even(share);
    if (share.granted > even) {
      int missing = wanting.stream().mapToInt(each -> Math.max(0, even - each.share())).sum();
      return Math.min(share.granted - even, missing);
    }
    boolean scarce = share.limit < contenders(share);
    boolean older =
        wanting.stream().anyMatch(each -> each.share() == 0 && each.wantedSince() < since(share));
    return scarce && older ? share.granted : 0;
  }

  private void change(Share share, LimitClaim mine) {
    boolean proves = !share.proven && mine.share() > 0;
    if (!proves && mine.share() == share.granted && mine.equals(share.said)) {
      share.quietLooks++;
      settled(share);
      return;
    }
    List<LimitClaim> others = share.others;
    List<LimitClaim> all = new ArrayList<>(others);
    if (mine.share() > 0 || mine.wants()) {
      all.add(mine);
    }
    Set<Long> concerned = concerned(share, mine);
    share.quietLooks = 0;
    share.busy = true;
    share.granted = Math.min(share.granted, mine.share()); // others may have it before the answer
    Stamp[] version = new Stamp[1];
    version[0] =
        records.change(
            share.record,
            share.version,
            all.isEmpty() ? null : LimitClaim.encode(all),
            inEffect -> {
              if (!inEffect) {
                readAgain(share); // somebody else took or gave
                return;
              }
              share.busy = false;
              share.conflicts = 0;
              share.version = all.isEmpty() ? Stamp.ABSENT : version[0];
              share.elsewhere = others;
              if (!share.stale) { // else it is not this node's to use before it was read
                grant(share, mine.share());
                share.said = mine;
                share.proven = true;
              }
              concerned.forEach(other -> host.sayLook(other, share.record));
              settled(share);
            });
  }

  /** Where many change it at once they would go on to meet: each waits for another time. */
  private void readAgain(Share share) {
    share.conflicts++;
    if (share.conflicts < 2) {
      read(share);
    } else {
      long most = CONFLICT_NANOS << Math.min(share.conflicts, MOST_DOUBLINGS);
      long delay = Math.floorMod(env.random(), most);
      timers.at(env.monotonicNanos() + delay, () -> read(share));
    }
  }

  /** Those who should look: who has what is wanted, who asked, and who may have what is given. */
  private static Set<Long> concerned(Share share, LimitClaim mine) {
    LimitClaim said = share.said;
    boolean wants = mine.wants() && !said.wants();
    boolean asks = !mine.question().equals(said.question());
    boolean answers = !mine.answer().equals(said.answer());
    int given = share.granted - mine.share();
    Set<Long> concerned = new LinkedHashSet<>();
    List<LimitClaim> byAge = new ArrayList<>(share.others);
    byAge.sort(Comparator.comparingLong(LimitClaim::wantedSince));
    for (LimitClaim other : byAge) {
      boolean takes = other.wants() && given-- > 0;
      boolean asked = !other.question().equals(Question.NONE);
      if (takes || (other.share() > 0 && (wants || asks)) || (asked && answers)) {
        concerned.add(other.incarnation());
      }
    }
    return concerned;
  }

  private void settled(Share share) {
    reckon(share);
    if (share.usable() > share.user.inUse()) {
      share.full = false;
      share.wanted = 0;
      share.wantedSince = LimitClaim.NOTHING;
    }
    boolean saysSo = share.said.wants(); // others leave it to this node
    boolean waits = share.wanted > 0 || saysSo || isAsked(share);
    int doublings = Math.min(share.quietLooks, MOST_DOUBLINGS);
    if (share.stale || isUsedUnseen(share)) {
      lookIn(share, POLL_NANOS);
    } else if (waits) { // who changes something says so: a look is for what was not heard
      lookIn(share, POLL_NANOS << doublings);
    } else if (share.granted > 0) {
      lookIn(share, LINGER_NANOS << doublings);
    } else {
      held.remove(share.record, share);
    }
    share.user.changed();
  }

  /** Whether others want to know how much is used here. */
  private static boolean isAsked(Share share) {
    return share.granted > 0 && lastAsked(share) > 0;
  }

  /**
   * Deletes what nodes left behind that are over, and gives back what this one has and does not
   * know of; called now and then.
   */
  public void sweep() {
    sweep.begin();
  }

  /** Whether all nodes that have a part of the limit are over; else gives back an unknown part. */
  private boolean isOver(Stored record) {
    boolean over = true;
    boolean own = false;
    for (LimitClaim claim : LimitClaim.decode(record.value())) {
      over &= status.isOver(claim.incarnation()); // each of them is wondered about
      own |= claim.incarnation() == incarnation;
    }
    if (!over && own && !held.containsKey(record.key())) {
      giveBack(record.key());
    }
    return over;
  }

  /** The record says that this node has some of it, as it had when the store was copied. */
  private void giveBack(String record) {
    Share share = of(record, () -> 0);
    share.stale = true;
    step(share);
  }
}
