package dev.carillon.engine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.carillon.api.JobListener;
import dev.carillon.api.Metrics;
import dev.carillon.engine.commit.Basics;
import dev.carillon.engine.commit.RecordChanges;
import dev.carillon.engine.environment.Membership;
import dev.carillon.engine.environment.NodeEnvironment;
import dev.carillon.engine.environment.NodeOptions;
import dev.carillon.engine.environment.Timers;
import dev.carillon.engine.member.ClusterFormat;
import dev.carillon.engine.member.Formats;
import dev.carillon.engine.member.Heartbeat;
import dev.carillon.engine.member.Member;
import dev.carillon.engine.member.Members;
import dev.carillon.store.Head;
import dev.carillon.store.MemoryStore;
import dev.carillon.store.ShardId;
import dev.carillon.store.Store;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Members of one store, each with its own clock and its own way to the store. */
class MembersTest {
  private static final Duration INTERVAL = Duration.ofMillis(500);
  private static final Duration TIMEOUT = Duration.ofMillis(2500);
  private static final Duration FORGET = Duration.ofMinutes(10);

  private final MemoryStore store = new MemoryStore();
  private Duration forget = FORGET;
  private final List<One> all = new ArrayList<>();

  /** A member, its clock and its link. */
  private final class One implements NodeEnvironment, Members.Host, Heartbeat.Host {
    private final Timers timers = new Timers();
    private final List<Runnable> answers = new ArrayList<>();
    private final long incarnation = all.size() + 1L;
    private final Members members;
    private long nanos = 1_000_000_000L * all.size();
    private boolean cutOff;
    private boolean paused;

    /** What the store does is answered by {@link #deliverLate}. */
    private boolean lateAnswers;

    private final List<Runnable> late = new ArrayList<>();
    private int fenced;
    private int joined;
    private int changed;

    One(String nodeId) {
      this(nodeId, true);
    }

    One(String nodeId, boolean looks) {
      members =
          new Members(
              new Basics(
                  this,
                  NodeOptions.of(nodeId, incarnation),
                  timers,
                  new RecordChanges(this, incarnation, timers)),
              new Membership(INTERVAL, TIMEOUT, forget, true, null, true, false),
              new ClusterFormat(this, timers, Formats.shipped(), One::outdated),
              this,
              this);
      members.proven(true);
      all.add(this);
      if (looks) {
        members.watch();
        members.start();
        settle();
      }
    }

    /** Answers that were on their way arrive. */
    void deliverLate() {
      List<Runnable> late = List.copyOf(this.late);
      this.late.clear();
      late.forEach(Runnable::run);
    }

    void settle() {
      while (!paused && !answers.isEmpty() && !cutOff) {
        answers.removeFirst().run();
      }
    }

    void pass(Duration time) {
      nanos += time.toNanos();
      if (!paused) {
        timers.run(nanos);
        settle();
      }
    }

    @Override
    public String firstCopy() {
      return store.incarnation();
    }

    private static void outdated(String why) {
      throw new IllegalStateException(why);
    }

    @Override
    public long wallMicros() {
      throw new IllegalStateException("the wall clock is read");
    }

    @Override
    public long monotonicNanos() {
      return nanos;
    }

    @Override
    public long random() {
      return 1000 + incarnation;
    }

    @Override
    public <T> void submit(Channel channel, Function<Store, T> work, Consumer<T> done) {
      answers.add(
          () -> {
            T result = work.apply(store);
            if (lateAnswers) {
              late.add(() -> done.accept(result));
            } else {
              done.accept(result);
            }
          });
    }

    @Override
    public Metrics metrics() {
      return Metrics.none();
    }

    @Override
    public @Nullable JobListener listener() {
      return null;
    }

    @Override
    public void report(String problem, @Nullable Throwable cause) {
      throw new IllegalStateException(problem, cause);
    }

    @Override
    public void exchanged(String was, String is, Runnable then) {
      then.run();
    }

    @Override
    public void adopted() {}

    @Override
    public void looked(List<Member> others) {}

    @Override
    public Member.Said says(Member.Said before) {
      return before;
    }

    @Override
    public void membersChanged() {
      changed++;
    }

    @Override
    public void controlsChanged(Runnable done) {
      done.run();
    }

    @Override
    public void fenced() {
      fenced++;
    }

    @Override
    public void joined() {
      joined++;
    }
  }

  private void pass(Duration time) {
    for (long millis = 0; millis < time.toMillis(); millis += 100) {
      all.forEach(one -> one.pass(Duration.ofMillis(100)));
    }
  }

  @Test
  void membersSeeEachOther() {
    One a = new One("a");
    One b = new One("b");
    pass(Duration.ofSeconds(1));
    assertThat(a.members.living()).extracting(Member::nodeId).containsExactlyInAnyOrder("a", "b");
    assertThat(b.members.living()).extracting(Member::nodeId).containsExactlyInAnyOrder("a", "b");
    assertThat(a.joined).isEqualTo(1);
    assertThat(a.members.heartbeat().isMember()).isTrue();
    int changes = a.changed;
    pass(Duration.ofMinutes(1));
    assertThat(a.members.isDead(b.incarnation)).isFalse();
    assertThat(a.fenced + b.fenced).isZero();
    assertThat(a.changed).as("changes in a quiet minute").isEqualTo(changes);
    new One("c");
    pass(Duration.ofSeconds(1));
    assertThat(a.changed).as("changes after that").isEqualTo(changes + 1);
  }

  @Test
  void whoIsPausedIsDeadToOthersAfterItsOwnDeadline() {
    One a = new One("a");
    One b = new One("b");
    pass(Duration.ofSeconds(3));
    b.paused = true;
    long pausedAt = b.nanos;
    while (!a.members.isDead(b.incarnation)) {
      pass(Duration.ofMillis(100));
    }
    Duration took = Duration.ofNanos(b.nanos - pausedAt);
    assertThat(took).isBetween(TIMEOUT, TIMEOUT.plus(INTERVAL.multipliedBy(2)));
    assertThat(b.nanos).isGreaterThan(b.members.heartbeat().deadlineNanos());
    b.paused = false;
    assertThat(b.members.heartbeat().isMember()).isFalse();
    assertThat(b.fenced).isEqualTo(1);
    pass(Duration.ofSeconds(1));
    assertThat(a.members.isDead(b.incarnation)).isFalse();
    assertThat(b.joined).isEqualTo(2);
    assertThat(b.members.heartbeat().isMember()).isTrue();
  }

  @Test
  void whoWasNotLookingJudgesNobody() {
    One a = new One("a");
    One b = new One("b");
    pass(Duration.ofSeconds(3));
    a.paused = true;
    b.paused = true;
    pass(Duration.ofMinutes(5));
    a.paused = false;
    pass(Duration.ofSeconds(2));
    assertThat(a.members.isDead(b.incarnation)).isFalse();
    pass(Duration.ofSeconds(2));
    assertThat(a.members.isDead(b.incarnation)).isTrue();
  }

  @Test
  void storeThatIsGoneFencesAllAndKillsNobody() {
    One a = new One("a");
    One b = new One("b");
    pass(Duration.ofSeconds(3));
    all.forEach(one -> one.cutOff = true);
    pass(Duration.ofMinutes(1));
    assertThat(a.members.heartbeat().isMember()).isFalse();
    assertThat(b.members.heartbeat().isMember()).isFalse();
    all.forEach(one -> one.cutOff = false);
    pass(Duration.ofSeconds(3));
    assertThat(a.members.isDead(b.incarnation)).isFalse();
    assertThat(a.members.heartbeat().isMember()).isTrue();
    assertThat(a.fenced).isEqualTo(1);
  }

  @Test
  void ownerWithoutARecordIsWatchedBeforeItIsDead() {
    One a = new One("a");
    pass(Duration.ofSeconds(1));
    assertThat(a.members.isDead(99)).isFalse();
    pass(Duration.ofSeconds(2));
    assertThat(a.members.isDead(99)).isFalse();
    pass(Duration.ofSeconds(1));
    assertThat(a.members.isDead(99)).isTrue();
  }

  @Test
  void whoStoppedInOrderIsGoneAtOnceAndForgottenInTime() {
    One a = new One("a");
    One b = new One("b");
    pass(Duration.ofSeconds(1));
    b.members.leave(() -> {});
    b.settle();
    pass(INTERVAL.multipliedBy(2));
    assertThat(a.members.isDead(b.incarnation)).isTrue();
    assertThat(a.members.isForgotten("b")).isFalse();
    pass(FORGET);
    pass(INTERVAL.multipliedBy(2));
    assertThat(a.members.isForgotten("b")).isTrue();
    assertThat(store.records().list(Heartbeat.PREFIX, null, 10).orThrow()).hasSize(1);
  }

  @Test
  void whoWasForgottenWhilePausedComesBack() {
    One a = new One("a");
    One b = new One("b");
    pass(Duration.ofSeconds(1));
    b.paused = true;
    pass(FORGET.plus(TIMEOUT).plusSeconds(1));
    assertThat(a.members.isForgotten("b")).isTrue();
    b.paused = false;
    pass(Duration.ofSeconds(3));
    assertThat(a.members.isForgotten("b")).isFalse();
    assertThat(b.members.heartbeat().isMember()).isTrue();
    assertThat(b.joined).isEqualTo(2);
  }

  private static Head headOf(One owner) {
    ShardId shard = new ShardId(1, owner.incarnation, 1);
    return new Head(
        shard, 1, owner.incarnation, false, Head.Status.OPEN, 1, 1, 0, "b", new byte[0]);
  }

  @Test
  void whoWasThereIsNotForgottenWhileNothingCanBeRead() {
    One a = new One("a");
    One b = new One("b");
    pass(Duration.ofSeconds(1));
    a.cutOff = true;
    pass(TIMEOUT.multipliedBy(2));
    assertThat(a.members.incarnations()).isEmpty();
    assertThat(a.members.wasThere(b.incarnation)).isTrue();
    b.paused = true;
    a.cutOff = false;
    pass(TIMEOUT.multipliedBy(3));
    assertThat(a.members.wasThere(b.incarnation)).isFalse();
  }

  @Test
  void judgementIsNotActedOnAfterTheReadsHaveStopped() {
    One a = new One("a");
    One b = new One("b");
    pass(Duration.ofSeconds(1));
    b.paused = true;
    pass(TIMEOUT.plusSeconds(1));
    assertThat(a.members.isFree(headOf(b))).isTrue();
    a.cutOff = true;
    pass(TIMEOUT);
    assertThat(a.members.isFree(headOf(b))).as("b may be back").isFalse();
    int changes = a.changed;
    a.cutOff = false;
    pass(TIMEOUT.plusSeconds(2));
    assertThat(a.changed).as("what could not be claimed is looked for").isGreaterThan(changes);
    assertThat(a.members.isFree(headOf(b))).isTrue();
  }

  @Test
  void nobodyIsForgottenBeforeItsHandlersHadTheirTimeToStop() {
    forget = TIMEOUT;
    One a = new One("a");
    One b = new One("b");
    One c = new One("c");
    pass(Duration.ofSeconds(1));
    b.paused = true;
    pass(TIMEOUT.plusSeconds(8));
    for (One other : List.of(a, c)) {
      assertThat(other.members.isDead(b.incarnation)).isTrue();
      assertThat(other.members.isOver(b.incarnation)).isFalse();
    }
    pass(Duration.ofSeconds(4));
    for (One other : List.of(a, c)) {
      assertThat(other.members.isOver(b.incarnation)).isTrue();
      assertThat(other.members.isForgotten(b.incarnation)).isTrue();
    }
  }

  @Test
  void readCountsFromWhenItWasSent() {
    One a = new One("a");
    One b = new One("b");
    pass(Duration.ofSeconds(1));
    b.paused = true;
    pass(TIMEOUT.plusSeconds(1));
    a.lateAnswers = true;
    pass(TIMEOUT);
    a.deliverLate();
    assertThat(a.members.isFree(headOf(b))).as("the read is as old as the silence").isFalse();
  }

  @Test
  void nobodyIsForgottenByOneWhoHasNotLookedYet() {
    One a = new One("a");
    assertThat(a.members.isForgotten("b")).isTrue();
    One c = new One("c", false);
    assertThat(c.members.isForgotten("b")).isFalse();
  }
}
