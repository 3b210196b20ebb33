package dev.carillon.store;

import static dev.carillon.store.Workbench.NO_WORDS;
import static dev.carillon.store.Workbench.WAKE;
import static org.assertj.core.api.Assertions.assertThat;

import dev.carillon.store.FaultyStore.Fault;
import dev.carillon.store.ForwardingStore.Operation;
import dev.carillon.store.Head.Status;
import dev.carillon.store.Journals.Claim;
import dev.carillon.store.Journals.Publication;
import dev.carillon.store.Journals.Resolution;
import dev.carillon.store.Workbench.ShardMaker;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/** Claims and fences: who may write (S1, S2, S3). */
interface ClaimCases extends TckCases {

  int MAX_RACING_APPENDS = 100;

  @Case(id = "T01", title = "64 claimers, one winner")
  default void ofManyClaimersOneWins() {
    int rounds = tck().times(100);
    for (int round = 0; round < rounds; round++) {
      ShardId shard = bench().create().shard();
      List<Long> owners = new ArrayList<>();
      List<Callable<Outcome<Claim>>> claimers = new ArrayList<>();
      for (int i = 0; i < 64; i++) {
        long owner = bench().id();
        owners.add(owner);
        claimers.add(() -> bench().ask(() -> bench().journals().claim(shard, 1, owner)));
      }
      List<Outcome<Claim>> outcomes = bench().together(claimers);
      List<Long> winners = new ArrayList<>();
      for (int i = 0; i < owners.size(); i++) {
        if (outcomes.get(i) instanceof Outcome.Ok<Claim> ok) {
          winners.add(owners.get(i));
          assertThat(ok.value().head().epoch()).isEqualTo(2);
          assertThat(ok.value().head().owner()).isEqualTo(owners.get(i));
        } else {
          assertThat(outcomes.get(i)).isEqualTo(new Outcome.Fenced<>(2));
        }
      }
      assertThat(winners).containsExactly(bench().head(shard).owner());
    }
  }

  @Case(id = "T01", title = "two claimers at the same instant, one winner")
  default void ofTwoClaimersOneWins() {
    ShardId shard = bench().create().shard();
    int rounds = tck().times(10_000);
    for (int epoch = 1; epoch <= rounds; epoch++) {
      long expected = epoch;
      long left = bench().id();
      long right = bench().id();
      List<Callable<Outcome<Claim>>> claimers =
          List.of(
              () -> bench().ask(() -> bench().journals().claim(shard, expected, left)),
              () -> bench().ask(() -> bench().journals().claim(shard, expected, right)));
      List<Outcome<Claim>> outcomes = bench().together(claimers);
      Head head = bench().head(shard);
      assertThat(head.epoch()).isEqualTo(expected + 1);
      assertThat(outcomes.getFirst().isOk()).isEqualTo(head.owner() == left);
      assertThat(outcomes.getLast().isOk()).isEqualTo(head.owner() == right);
    }
  }

  @Case(id = "T02", title = "the winner crashes before its answer, then resolves to owner")
  default void aClaimWhoseAnswerWasLostIsFoundByRepeatingIt() {
    ShardId shard = bench().create().shard();
    int rounds = tck().times(1_000);
    for (int epoch = 1; epoch <= rounds; epoch++) {
      long expected = epoch;
      long winner = bench().id();
      FaultyStore cutOff = bench().scripted(Operation.CLAIM, Fault.APPLY_THEN_TIMEOUT);
      assertThat(cutOff.journals().claim(shard, expected, winner))
          .isInstanceOf(Outcome.Unknown.class);
      if (epoch % 100 == 0) {
        bench().reopen();
      }
      Claim claim = bench().ok(() -> bench().journals().claim(shard, expected, winner));
      assertThat(claim.head().epoch()).isEqualTo(expected + 1);
      assertThat(claim.head().owner()).isEqualTo(winner);
      assertThat(bench().ask(() -> bench().journals().claim(shard, expected, bench().id())))
          .isEqualTo(new Outcome.Fenced<>(expected + 1));
    }
    assertThat(bench().head(shard).epoch()).isEqualTo(rounds + 1);
  }

  @Case(id = "T03", title = "a stale append is refused, the journal unchanged")
  default void aStaleAppendIsRefused() {
    JournalWriter stale = bench().create();
    stale.append(3);
    JournalWriter owner = bench().claim(stale.shard());
    assertThat(bench().settle(stale.next())).isEqualTo(new Outcome.Fenced<>(2));
    bench().assertHoldsExactly(owner, stale.acknowledged());
    List<Append> all = new ArrayList<>(stale.acknowledged());
    all.add(owner.append());
    assertThat(bench().settle(stale.next())).isEqualTo(new Outcome.Fenced<>(2));
    bench().assertHoldsExactly(owner, all);
  }

  @Case(id = "T04", title = "an append sent before a claim and delivered after it is refused")
  default void anAppendDeliveredAfterAClaimIsRefused() {
    JournalWriter stale = bench().create();
    stale.append(2);
    FaultyStore slow = bench().scripted(Operation.APPEND, Fault.TIMEOUT_THEN_APPLY);
    assertThat(slow.journals().append(List.of(stale.next()), false).getFirst())
        .isInstanceOf(Outcome.Unknown.class);
    JournalWriter owner = bench().claim(stale.shard());
    assertThat(slow.deliverLate()).isEqualTo(1);
    bench().assertHoldsExactly(owner, stale.acknowledged());
    List<Append> all = new ArrayList<>(stale.acknowledged());
    all.add(owner.append());
    bench().assertHoldsExactly(owner, all);
  }

  @Case(id = "T05", title = "claim against append race, history linearizable")
  default void claimsAndAppendsAreLinearizable() {
    int rounds = tck().times(10_000);
    Random random = bench().random();
    JournalWriter owner = bench().create();
    for (int round = 0; round < rounds; round++) {
      if (round % 50 == 49) {
        owner = bench().create();
      }
      owner = raceForTheShard(owner, random.nextInt(8));
    }
  }

  /**
   * The owner appends until it is refused; another claims in the midst of it and appends as well.
   * Answers the new owner.
   */
  private JournalWriter raceForTheShard(JournalWriter stale, int head) {
    int acknowledgedBefore = stale.acknowledged().size();
    long tailBefore = stale.tail();
    CountDownLatch sent = new CountDownLatch(head);
    CountDownLatch claimed = new CountDownLatch(1);
    Callable<JournalWriter> appender =
        () -> {
          boolean refused = false;
          for (int i = 0; !refused; i++) {
            sent.countDown();
            if (i == MAX_RACING_APPENDS) {
              assertThat(claimed.await(1, TimeUnit.MINUTES)).as("claimed").isTrue();
            }
            boolean tooLate = claimed.getCount() == 0;
            refused = !stale.tryAppend().isOk();
            assertThat(tooLate && !refused).as("accepted after a claim's answer").isFalse();
          }
          return stale;
        };
    Callable<JournalWriter> claimer =
        () -> {
          assertThat(sent.await(1, TimeUnit.MINUTES)).as("sent").isTrue();
          JournalWriter fresh = bench().claim(stale.shard(), stale.epoch());
          claimed.countDown();
          fresh.append(2);
          return fresh;
        };
    JournalWriter fresh = bench().together(List.of(appender, claimer)).getLast();
    assertOneEpochAfterTheOther(stale, fresh, tailBefore, acknowledgedBefore);
    return fresh;
  }

  private void assertOneEpochAfterTheOther(
      JournalWriter stale, JournalWriter fresh, long tailBefore, int acknowledgedBefore) {
    List<Long> expected = new ArrayList<>();
    List<Append> old = stale.acknowledged();
    old.subList(acknowledgedBefore, old.size()).forEach(append -> expected.add(append.batch()));
    List<Long> foundOld = new ArrayList<>();
    List<Long> foundNew = new ArrayList<>();
    long epoch = 0;
    for (Entry entry :
        bench().read(bench().journals(), stale.shard(), stale.generation(), tailBefore + 1)) {
      assertThat(entry.epoch()).isGreaterThanOrEqualTo(epoch).isLessThanOrEqualTo(fresh.epoch());
      epoch = entry.epoch();
      if (entry.batch() != 0) {
        (epoch == fresh.epoch() ? foundNew : foundOld).add(entry.batch());
      }
    }
    if (stale.unsettled() != 0 && foundOld.size() == expected.size() + 1) {
      // Its writer was fenced before it could learn what became of it; it may be in, at its place.
      expected.add(stale.unsettled());
    }
    assertThat(foundOld).as("entries of the old epoch").isEqualTo(expected);
    assertThat(foundNew)
        .as("entries of the new epoch")
        .isEqualTo(fresh.acknowledged().stream().map(Append::batch).toList());
  }

  @Case(id = "T06", title = "the same owner claims again: a new epoch, the old handle fenced")
  default void claimingOnesOwnShardFencesTheOldHandle() {
    JournalWriter first = bench().create();
    first.append();
    long owner = bench().id();
    Claim once = bench().ok(() -> bench().journals().claim(first.shard(), 1, owner));
    Claim twice = bench().ok(() -> bench().journals().claim(first.shard(), 2, owner));
    assertThat(once.head().epoch()).isEqualTo(2);
    assertThat(twice.head().epoch()).isEqualTo(3);
    assertThat(twice.head().suspect()).as("no release between").isTrue();
    JournalWriter old = new JournalWriter(bench(), once.head(), once.tail());
    assertThat(old.tryAppend()).isEqualTo(new Outcome.Fenced<>(3));
    new JournalWriter(bench(), twice.head(), twice.tail()).append();
    assertThat(bench().batches(first.shard(), 1)).hasSize(2);
  }

  @Case(id = "T08", title = "several released in one call, an outcome each")
  default void severalAreReleasedEachByItself() {
    List<JournalWriter> writers = new ArrayList<>();
    for (int i = 0; i < 5; i++) {
      JournalWriter writer = bench().create();
      writer.append(i);
      writers.add(writer);
    }
    JournalWriter stale = writers.get(1);
    bench().claim(stale.shard());
    JournalWriter ahead = writers.get(2);
    JournalWriter gone = writers.get(3);
    bench().ok(() -> bench().journals().drop(gone.shard(), 1));
    byte[] words = {1, 2, 3};
    List<Journals.Release> releases = new ArrayList<>();
    for (JournalWriter writer : writers) {
      long tail = writer.tail() + (writer == ahead ? 1 : 0);
      releases.add(new Journals.Release(writer.shard(), 1, tail, words));
    }
    List<Outcome<Head>> outcomes = List.of();
    for (int i = 0; i < 20 && !isSettled(outcomes); i++) {
      outcomes = bench().journals().releaseAll(releases); // what is lost or unknown is asked again
    }
    assertThat(outcomes).hasSize(5);
    assertThat(outcomes.get(0).orThrow().summary()).isEqualTo(words);
    assertThat(outcomes.get(1)).isEqualTo(new Outcome.Fenced<>(2));
    assertThat(outcomes.get(2)).isEqualTo(new Outcome.Conflict<>(ahead.tail()));
    assertThat(outcomes.get(3)).isEqualTo(new Outcome.Fenced<>(Head.DROPPED));
    assertThat(outcomes.get(4).orThrow().released()).isTrue();
    assertThat(bench().head(writers.get(4).shard()).released()).isTrue();
    assertThat(bench().head(stale.shard()).released()).isFalse();
    assertThat(bench().head(ahead.shard()).released()).isFalse();
    bench().claim(writers.get(0).shard());
    assertThat(bench().head(writers.get(0).shard()).suspect()).isFalse();
  }

  private static boolean isSettled(List<Outcome<Head>> outcomes) {
    return !outcomes.isEmpty()
        && outcomes.stream()
            .noneMatch(
                outcome ->
                    outcome instanceof Outcome.Unknown || outcome instanceof Outcome.Unavailable);
  }

  @Case(id = "T08", title = "release, then claim at once; a stale release is ignored")
  default void aReleasedShardIsFreeAtOnce() {
    JournalWriter first = bench().create();
    first.append(2);
    byte[] words = {1, 2, 3};
    assertThat(
            bench()
                .ask(() -> bench().journals().release(first.shard(), 1, first.tail() + 1, words)))
        .as("release with an entry unaccounted for")
        .isInstanceOf(Outcome.Conflict.class);
    assertThat(bench().head(first.shard()).released()).isFalse();
    Head released =
        bench().ok(() -> bench().journals().release(first.shard(), 1, first.tail(), words));
    assertThat(released.released()).isTrue();
    assertThat(released.epoch()).isEqualTo(1);
    assertThat(released.summary()).isEqualTo(words);

    JournalWriter second = bench().claim(first.shard());
    Head claimed = bench().head(first.shard());
    assertThat(claimed.suspect()).as("claimed after a release").isFalse();
    assertThat(claimed.summary()).isEqualTo(words);
    assertThat(first.tryRelease()).isEqualTo(new Outcome.Fenced<>(2));
    assertThat(bench().head(first.shard()).released()).isFalse();
    second.append();
    bench().claim(first.shard());
    assertThat(bench().head(first.shard()).suspect()).as("claimed without a release").isTrue();
  }

  @Case(id = "T09", title = "a dropped id is never created again")
  default void aDroppedIdIsNeverCreatedAgain() {
    ShardMaker maker = bench().maker();
    JournalWriter writer = bench().create(maker.next());
    writer.append(2);
    assertThat(bench().ask(() -> create(writer.shard())).isOk()).as("repeated create").isTrue();
    bench().ok(() -> bench().journals().drop(writer.shard(), 1));
    assertThat(bench().ask(() -> create(writer.shard()))).isInstanceOf(Outcome.Conflict.class);
    assertGone(writer.shard());
    bench().reopen();
    assertThat(bench().ask(() -> create(writer.shard()))).isInstanceOf(Outcome.Conflict.class);
    assertThat(bench().settle(writer.next())).isEqualTo(new Outcome.Fenced<>(Head.DROPPED));
    assertGone(writer.shard());
    assertThat(bench().ask(() -> create(maker.next())).isOk()).as("the next one").isTrue();
  }

  @Case(id = "T09", title = "a late create is harmless")
  default void aLateCreateIsHarmless() {
    ShardMaker maker = bench().maker();
    ShardId late = maker.next();
    FaultyStore slow = bench().scripted(Operation.CREATE, Fault.TIMEOUT_THEN_APPLY);
    assertThat(slow.journals().create(late, "home", WAKE, NO_WORDS))
        .isInstanceOf(Outcome.Unknown.class);
    bench().create(maker.next());
    slow.deliverLate();
    assertGone(late);

    ShardId orphan = maker.next();
    FaultyStore dying = bench().scripted(Operation.CREATE, Fault.APPLY_THEN_TIMEOUT);
    assertThat(dying.journals().create(orphan, "home", WAKE, NO_WORDS))
        .isInstanceOf(Outcome.Unknown.class);
    // The next one closes the door to it, so that it is there now or never.
    bench().create(maker.next());
    if (bench().ask(() -> bench().journals().head(orphan)).isOk()) {
      JournalWriter anybody = bench().claim(orphan);
      assertThat(bench().read(orphan, 1)).isEmpty();
      bench().ok(() -> bench().journals().drop(orphan, anybody.epoch()));
    } else {
      assertThat(bench().isFaulty()).as("applied, then timed out").isTrue();
    }
    assertGone(orphan);
  }

  @Case(id = "T09", title = "create: an empty, open shard; claimed by another it is refused")
  default void aCreatedShardIsEmptyAndOpen() {
    ShardId shard = bench().maker().next();
    byte[] words = {7};
    Head head = bench().ok(() -> bench().journals().create(shard, "here", WAKE, words));
    assertThat(Invariants.text(head))
        .isEqualTo(
            Invariants.text(
                new Head(
                    shard, 1, shard.incarnation(), false, Status.OPEN, 1, 1, WAKE, "here", words)));
    assertThat(head.wakeMicros()).isEqualTo(WAKE);
    assertThat(bench().read(shard, 1)).isEmpty();
    Head again = bench().ok(() -> bench().journals().create(shard, "there", 5, NO_WORDS));
    assertThat(Invariants.text(again))
        .as("a repeat changes nothing")
        .isEqualTo(Invariants.text(head));
    assertThat(again.wakeMicros()).isEqualTo(WAKE);
    bench().claim(shard);
    assertThat(bench().ask(() -> create(shard))).isInstanceOf(Outcome.Conflict.class);
    assertThat(bench().head(shard).epoch()).isEqualTo(2);
  }

  private Outcome<Head> create(ShardId shard) {
    return bench().journals().create(shard, "home", WAKE, NO_WORDS);
  }

  private void assertGone(ShardId shard) {
    assertThat(bench().ask(() -> bench().journals().head(shard)))
        .isEqualTo(new Outcome.Fenced<>(Head.DROPPED));
  }

  @Case(id = "T10", title = "stale snapshot, seal, release, wake and drop are refused")
  default void everyStaleWriteIsRefused() {
    JournalWriter stale = bench().create();
    stale.append(3);
    long snapshot = bench().id();
    stale.tryStageAll(snapshot, List.of(new byte[1], new byte[2])).orThrow();
    Append unsent = stale.next();
    Publication publication = stale.publication(snapshot, 2, 5);
    JournalWriter owner = bench().claim(stale.shard());
    ShardId shard = stale.shard();
    Head before = bench().head(shard);

    Outcome<Object> fenced = new Outcome.Fenced<>(2);
    Journals journals = bench().journals();
    assertThat(bench().ask(() -> journals.lowerWake(shard, 1, 5))).isEqualTo(fenced);
    assertThat(bench().ask(() -> journals.seal(shard, 1, new byte[9]))).isEqualTo(fenced);
    assertThat(bench().ask(() -> journals.release(shard, 1, stale.tail(), new byte[9])))
        .isEqualTo(fenced);
    assertThat(bench().ask(() -> journals.stage(shard, 1, 1, snapshot, 3, new byte[3])))
        .isEqualTo(fenced);
    assertThat(bench().ask(() -> journals.publish(publication))).isEqualTo(fenced);
    assertThat(bench().ask(() -> journals.dropGenerations(shard, 1, 1))).isEqualTo(fenced);
    assertThat(bench().ask(() -> journals.drop(shard, 1))).isEqualTo(fenced);
    assertThat(bench().ask(() -> journals.resolve(unsent))).isEqualTo(fenced);
    assertThat(bench().settle(unsent)).isEqualTo(fenced);

    Head after = bench().head(shard);
    assertThat(Invariants.text(after)).isEqualTo(Invariants.text(before));
    assertThat(after.wakeMicros()).isEqualTo(before.wakeMicros());
    bench().assertHoldsExactly(owner, stale.acknowledged());
  }

  @Case(id = "T10", title = "claim racing a publish: the stale owner writes to neither generation")
  default void aClaimRacingAPublishLeavesTheStaleOwnerNoGeneration() {
    int rounds = tck().times(1_000);
    for (int round = 0; round < rounds; round++) {
      JournalWriter stale = bench().create();
      stale.append(2);
      List<Append> entries = stale.acknowledged();
      List<byte[]> snapshot = List.of(new byte[] {1}, new byte[] {2}, new byte[] {3});
      Callable<Object> publisher = () -> stale.tryPublish(snapshot, WAKE);
      Callable<Object> claimer = () -> bench().claim(stale.shard());
      List<Object> results = bench().together(List.of(publisher, claimer));
      JournalWriter owner = (JournalWriter) results.getLast();

      boolean published = owner.generation() == 2;
      if (!published) {
        assertThat(results.getFirst()).isEqualTo(new Outcome.Fenced<>(2));
        bench().assertHoldsExactly(owner, entries);
      } else {
        assertThat(bench().read(owner.shard(), 2).stream().map(Entry::data))
            .containsExactlyElementsOf(snapshot);
      }
      for (int generation = 1; generation <= 2; generation++) {
        Append late = new Append(owner.shard(), 1, generation, 4, bench().id(), new byte[] {9});
        assertThat(bench().settle(late)).isEqualTo(new Outcome.Fenced<>(2));
      }
      assertThat(owner.tail()).isGreaterThanOrEqualTo(published ? 3 : 2);
      Append written = owner.append();
      assertThat(bench().batches(owner.shard(), owner.generation())).endsWith(written.batch());
      bench().ok(() -> bench().journals().drop(owner.shard(), 2));
    }
  }

  @Case(id = "T10", title = "the old generation refuses appends for ever")
  default void anOldGenerationRefusesAppends() {
    JournalWriter writer = bench().create();
    Append first = writer.append();
    long oldTail = writer.tail();
    writer.publish(List.of(new byte[] {1}), WAKE);
    Append old =
        new Append(writer.shard(), writer.epoch(), 1, oldTail + 1, bench().id(), new byte[] {9});
    assertThat(bench().settle(old)).isEqualTo(new Outcome.Conflict<>(writer.tail()));
    assertThat(bench().settle(first))
        .as("a committed batch submitted again after a publish")
        .isEqualTo(new Outcome.Conflict<>(writer.tail()));
    assertThat(bench().ask(() -> bench().journals().resolve(old)))
        .isInstanceOfAny(Outcome.Conflict.class, Outcome.Ok.class)
        .isNotEqualTo(Outcome.ok(Resolution.COMMITTED));
    assertThat(bench().batches(writer.shard(), 1)).containsExactly(first.batch());
    assertThat(bench().read(writer.shard(), 2)).hasSize(1);
  }
}
