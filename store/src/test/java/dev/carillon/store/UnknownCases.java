package dev.carillon.store;

import static dev.carillon.store.Workbench.NO_WORDS;
import static dev.carillon.store.Workbench.WAKE;
import static org.assertj.core.api.Assertions.assertThat;

import dev.carillon.store.FaultyStore.Fault;
import dev.carillon.store.ForwardingStore.Operation;
import dev.carillon.store.Head.Status;
import dev.carillon.store.Journals.Publication;
import dev.carillon.store.Journals.Resolution;
import dev.carillon.store.Workbench.ShardMaker;
import java.util.List;
import java.util.function.Function;

/** Unknown outcomes of journal calls, and how each is settled (S8, S9). */
interface UnknownCases extends TckCases {

  private void submitUnknown(FaultyStore through, Append append) {
    assertThat(through.journals().append(List.of(append), false).getFirst())
        .isInstanceOf(Outcome.Unknown.class);
  }

  /** Makes the call so that it times out and waits; answers the store that holds it back. */
  private FaultyStore delay(Operation operation, Function<Journals, Outcome<?>> call) {
    FaultyStore slow = bench().scripted(operation, Fault.TIMEOUT_THEN_APPLY);
    assertThat(call.apply(slow.journals())).isInstanceOf(Outcome.Unknown.class);
    return slow;
  }

  @Case(id = "T15", title = "applied, then timed out, submitted again: no duplicate")
  default void anAppendThatTimedOutAfterItsEffectIsNotWrittenTwice() {
    JournalWriter writer = bench().create();
    int rounds = tck().times(100);
    for (int round = 0; round < rounds; round++) {
      Append append = writer.next();
      submitUnknown(bench().scripted(Operation.APPEND, Fault.APPLY_THEN_TIMEOUT), append);
      Outcome<Long> again = bench().settle(append);
      if (again.isOk()) {
        assertThat(again).isEqualTo(Outcome.ok(append.number()));
        writer.accept(append);
      } else {
        assertThat(bench().isFaulty()).as("applied, so it is found").isTrue();
        writer.skip();
      }
    }
    bench().assertHoldsExactly(writer);
  }

  @Case(id = "T15", title = "applied, then timed out: resolves to committed")
  default void anAppendThatTimedOutAfterItsEffectResolvesToCommitted() {
    JournalWriter writer = bench().create();
    writer.append();
    Append append = writer.next();
    submitUnknown(bench().scripted(Operation.APPEND, Fault.APPLY_THEN_TIMEOUT), append);
    Resolution resolution = bench().ok(() -> bench().journals().resolve(append));
    if (resolution == Resolution.COMMITTED) {
      writer.accept(append);
    } else {
      assertThat(bench().isFaulty()).as("applied, so it is committed").isTrue();
      writer.skip();
    }
    assertThat(bench().ok(() -> bench().journals().resolve(append)))
        .as("resolved again")
        .isEqualTo(resolution);
    writer.append();
    bench().assertHoldsExactly(writer);
  }

  @Case(id = "T16", title = "append timed out, applied late: refused after it resolved to absent")
  default void anAppendResolvedAsAbsentNeverAppears() {
    JournalWriter writer = bench().create();
    int rounds = tck().times(100);
    for (int round = 0; round < rounds; round++) {
      Append append = writer.next();
      FaultyStore slow =
          delay(Operation.APPEND, journals -> journals.append(List.of(append), false).getFirst());
      assertThat(bench().ok(() -> bench().journals().resolve(append))).isEqualTo(Resolution.ABSENT);
      slow.deliverLate();
      writer.skip();
      assertThat(bench().settle(append)).isEqualTo(new Outcome.Conflict<>(writer.tail()));
      assertThat(bench().ok(() -> bench().journals().resolve(append))).isEqualTo(Resolution.ABSENT);
      writer.append();
    }
    bench().assertHoldsExactly(writer);
  }

  @Case(id = "T16", title = "append applied late, before it is resolved: committed")
  default void anAppendThatArrivesBeforeItsResolutionIsCommitted() {
    JournalWriter writer = bench().create();
    Append append = writer.next();
    FaultyStore slow =
        delay(Operation.APPEND, journals -> journals.append(List.of(append), false).getFirst());
    slow.deliverLate();
    if (bench().ok(() -> bench().journals().resolve(append)) == Resolution.COMMITTED) {
      writer.accept(append);
    } else {
      assertThat(bench().isFaulty()).isTrue();
      writer.skip();
    }
    bench().assertHoldsExactly(writer);
  }

  @Case(id = "T16", title = "resolving says absent where another batch has the number")
  default void resolvingFindsAnotherBatchInItsPlace() {
    JournalWriter writer = bench().create();
    writer.append(2);
    Append never = new Append(writer.shard(), 1, 1, writer.tail(), bench().id(), new byte[1]);
    assertThat(bench().ok(() -> bench().journals().resolve(never))).isEqualTo(Resolution.ABSENT);
    Append ahead = new Append(writer.shard(), 1, 1, writer.tail() + 2, bench().id(), new byte[1]);
    assertThat(bench().ask(() -> bench().journals().resolve(ahead)))
        .as("resolving beyond the tail")
        .isEqualTo(new Outcome.Conflict<>(writer.tail()));
    bench().assertHoldsExactly(writer);
    assertThat(bench().read(writer.shard(), 1)).hasSize((int) writer.tail());
  }

  @Case(id = "T16", title = "a late raise of the wake time finds its number taken")
  default void aLateRaiseOfTheWakeTimeHasNoEffect() {
    JournalWriter writer = bench().create();
    Append raise = new Append(writer.shard(), 1, 1, 1, bench().id(), NO_WORDS, WAKE + 1_000, false);
    FaultyStore slow =
        delay(Operation.APPEND, journals -> journals.append(List.of(raise), false).getFirst());
    assertThat(bench().ok(() -> bench().journals().resolve(raise))).isEqualTo(Resolution.ABSENT);
    slow.deliverLate();
    assertThat(bench().head(writer.shard()).wakeMicros()).isEqualTo(WAKE);
  }

  @Case(id = "T16", title = "create timed out, repeated, dropped, applied late: stays dropped")
  default void aLateCreateDoesNotResurrect() {
    ShardMaker maker = bench().maker();
    ShardId shard = maker.next();
    FaultyStore slow =
        delay(Operation.CREATE, journals -> journals.create(shard, "home", WAKE, NO_WORDS));
    JournalWriter writer = bench().create(shard);
    writer.append();
    bench().ok(() -> bench().journals().drop(shard, 1));
    slow.deliverLate();
    assertThat(bench().ask(() -> bench().journals().head(shard)))
        .isEqualTo(new Outcome.Fenced<>(Head.DROPPED));
  }

  @Case(id = "T16", title = "claim timed out, repeated, applied late: no second effect")
  default void aLateClaimHasNoSecondEffect() {
    ShardId shard = bench().create().shard();
    long owner = bench().id();
    FaultyStore first = delay(Operation.CLAIM, journals -> journals.claim(shard, 1, owner));
    FaultyStore second = delay(Operation.CLAIM, journals -> journals.claim(shard, 1, owner));
    FaultyStore rival = delay(Operation.CLAIM, journals -> journals.claim(shard, 1, bench().id()));
    Head claimed = bench().ok(() -> bench().journals().claim(shard, 1, owner)).head();
    first.deliverLate();
    rival.deliverLate();
    assertThat(Invariants.text(bench().head(shard))).isEqualTo(Invariants.text(claimed));
    Head released = bench().ok(() -> bench().journals().release(shard, 2, 0, NO_WORDS));
    second.deliverLate();
    assertThat(Invariants.text(bench().head(shard)))
        .as("a late claim after the release")
        .isEqualTo(Invariants.text(released));
  }

  @Case(id = "T16", title = "drop timed out: repeated it is final; after a claim it is refused")
  default void aLateDropHitsNobodyElse() {
    ShardId dropped = bench().create().shard();
    FaultyStore repeated = delay(Operation.DROP, journals -> journals.drop(dropped, 1));
    bench().ok(() -> bench().journals().drop(dropped, 1));
    repeated.deliverLate();
    assertThat(bench().ask(() -> bench().journals().head(dropped)))
        .isEqualTo(new Outcome.Fenced<>(Head.DROPPED));

    ShardId claimed = bench().create().shard();
    FaultyStore fenced = delay(Operation.DROP, journals -> journals.drop(claimed, 1));
    JournalWriter owner = bench().claim(claimed);
    fenced.deliverLate();
    owner.append();
    bench().assertHoldsExactly(owner);
  }

  @Case(id = "T16", title = "seal, release, publish, drop of generations applied late: no effect")
  default void lateChangesOfTheHeadHaveNoEffect() {
    JournalWriter writer = bench().create();
    ShardId shard = writer.shard();
    writer.append(2);
    FaultyStore seal = delay(Operation.SEAL, journals -> journals.seal(shard, 1, new byte[] {1}));
    bench().ok(() -> bench().journals().seal(shard, 1, new byte[] {1}));
    long snapshot = bench().id();
    writer.tryStageAll(snapshot, List.of(new byte[] {1})).orThrow();
    Publication publication = writer.publication(snapshot, 1, WAKE);
    FaultyStore publish = delay(Operation.PUBLISH, journals -> journals.publish(publication));
    Head published = bench().ok(() -> bench().journals().publish(publication));
    writer = new JournalWriter(bench(), published, 1);
    writer.append();
    FaultyStore stage =
        delay(Operation.STAGE, journals -> journals.stage(shard, 1, 1, snapshot, 1, new byte[9]));
    FaultyStore drop =
        delay(Operation.DROP_GENERATIONS, journals -> journals.dropGenerations(shard, 1, 2));
    bench().ok(() -> bench().journals().dropGenerations(shard, 1, 2));
    long tail = writer.tail();
    FaultyStore release =
        delay(Operation.RELEASE, journals -> journals.release(shard, 1, tail, new byte[] {2}));
    Head released = bench().ok(() -> bench().journals().release(shard, 1, tail, new byte[] {2}));
    for (FaultyStore late : List.of(seal, publish, stage, drop, release)) {
      late.deliverLate();
    }
    assertThat(Invariants.text(bench().head(shard))).isEqualTo(Invariants.text(released));
    assertThat(released.status()).isEqualTo(Status.SEALED);
    assertThat(released.generation()).isEqualTo(2);
    assertThat(released.oldestGeneration()).isEqualTo(2);

    JournalWriter next = bench().claim(shard);
    FaultyStore stale =
        delay(Operation.RELEASE, journals -> journals.release(shard, 1, tail, new byte[] {3}));
    stale.deliverLate();
    assertThat(bench().head(shard).released()).as("released by a stale epoch").isFalse();
    next.append();
    assertThat(bench().read(shard, 2)).hasSize((int) next.tail());
  }

  @Case(id = "T17", title = "unknown during take-over: the new owner sees it, or it never appears")
  default void whatANewOwnerDoesNotSeeNeverAppears() {
    int rounds = tck().times(100);
    for (int round = 0; round < rounds; round++) {
      JournalWriter old = bench().create();
      old.append();
      Append append = old.next();
      boolean late = round % 2 == 0;
      FaultyStore store =
          bench()
              .scripted(
                  Operation.APPEND, late ? Fault.TIMEOUT_THEN_APPLY : Fault.APPLY_THEN_TIMEOUT);
      submitUnknown(store, append);
      JournalWriter owner = bench().claim(old.shard());
      List<Long> seen = bench().batches(old.shard(), 1);
      if (!bench().isFaulty()) {
        assertThat(seen.contains(append.batch())).isEqualTo(!late);
      }
      store.deliverLate();
      assertThat(bench().ask(() -> bench().journals().resolve(append)))
          .isEqualTo(new Outcome.Fenced<>(2));
      assertThat(bench().batches(old.shard(), 1)).isEqualTo(seen);
      Append after = owner.append();
      assertThat(bench().batches(old.shard(), 1)).hasSize(seen.size() + 1).endsWith(after.batch());
    }
  }

  @Case(id = "T18", title = "crash between an append and its answer: there once, or not at all")
  default void anAppendWhoseWriterDiedIsThereOnceOrNotAtAll() {
    JournalWriter writer = bench().create();
    int rounds = tck().times(50);
    for (int round = 0; round < rounds; round++) {
      writer.append();
      Append append = writer.next();
      submitUnknown(bench().scripted(Operation.APPEND, Fault.APPLY_THEN_TIMEOUT), append);
      bench().reopen();
      JournalWriter heir = bench().claim(writer.shard());
      List<Entry> entries = bench().read(writer.shard(), 1);
      long copies = entries.stream().filter(e -> e.batch() == append.batch()).count();
      assertThat(copies).isLessThanOrEqualTo(1);
      if (!bench().isFaulty()) {
        assertThat(copies).as("applied before the crash").isEqualTo(1);
      }
      assertThat(heir.tail()).isEqualTo(entries.size());
      Append last = writer.acknowledged().getLast();
      assertThat(entries.get((int) last.number() - 1).batch()).isEqualTo(last.batch());
      writer = heir;
    }
  }
}
