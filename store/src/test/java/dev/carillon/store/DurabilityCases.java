package dev.carillon.store;

import static dev.carillon.store.Workbench.NO_WORDS;
import static dev.carillon.store.Workbench.WAKE;
import static org.assertj.core.api.Assertions.assertThat;

import dev.carillon.store.Records.Stamp;
import dev.carillon.store.StoreInfo.Durability;
import dev.carillon.store.StoreTck.Mode;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.awaitility.Awaitility;

/** What is acknowledged survives, or the store says that it does not (S6, S7, S13, S17). */
interface DurabilityCases extends TckCases {

  private void onlyBare() {
    if (tck().mode() == Mode.FAULTY) {
      throw StoreTck.notApplicable("shown on the bare store: the wrapper keeps nothing");
    }
  }

  private void onlyDurable() {
    if (bench().store().info().durability() == Durability.LOSSY) {
      throw StoreTck.notApplicable("declared LOSSY: nothing is promised after a crash");
    }
  }

  @Case(id = "T21", title = "kill -9 after the answer: everything acknowledged is there")
  default void whatIsAcknowledgedSurvivesAKill() throws IOException {
    onlyDurable();
    onlyBare();
    int rounds = tck().times(200, 10);
    try (KillLoop loop = new KillLoop(tck().opener(), tck().folder("killed"), bench().random())) {
      for (int round = 0; round < rounds; round++) {
        loop.killOnce();
      }
    }
  }

  @Case(id = "T22", title = "a tail torn at every byte is cut off")
  default void tornTailsAreCutOff() {
    onlyBare();
    tck().tornTails();
  }

  @Case(id = "T23", title = "bit flips are detected")
  default void bitFlipsAreDetected() throws IOException {
    onlyDurable();
    onlyBare();
    for (int i = 0; i < 5; i++) {
      JournalWriter writer = bench().create();
      writer.append(40);
      bench().recordWriter().create("key " + i, new byte[100]);
    }
    Map<String, String> truth = Invariants.inspect(bench().bare());
    bench().bare().close();
    Random random = bench().random();
    int detected = 0;
    int rounds = tck().times(500);
    for (int round = 0; round < rounds; round++) {
      Path copy = tck().folder("flipped-" + round);
      copy(bench().folder(), copy);
      tck().flipBit(copy, random);
      Map<String, String> found = inspectDamaged(copy);
      if (found.isEmpty()) {
        detected++;
      } else {
        assertThat(found).as("what a store with a flipped bit says").isEqualTo(truth);
      }
    }
    bench().reopen();
    assertThat(detected).as("flips that were noticed, of %s", rounds).isPositive();
  }

  /** What is found, or nothing where the store refuses. */
  private Map<String, String> inspectDamaged(Path folder) {
    try (Store store = tck().opener().open(folder)) {
      return Invariants.inspect(store);
    } catch (RuntimeException refused) {
      return Map.of();
    }
  }

  private static void copy(Path from, Path to) throws IOException {
    Files.createDirectories(to);
    try (var files = Files.list(from)) {
      for (Path file : files.filter(Files::isRegularFile).toList()) {
        Files.copy(file, to.resolve(file.getFileName()));
      }
    }
  }

  @Case(id = "T24", title = "where syncing fails nothing is acknowledged, then nothing is written")
  default void aFailingSyncIsNotAcknowledged() {
    onlyDurable();
    onlyBare();
    tck().failingSync();
  }

  @Case(id = "T25", title = "disk full: full, nothing partial; ends and drops still go")
  default void aFullStoreStillEndsAndDrops() {
    onlyBare();
    Path folder = tck().folder("small");
    try {
      Files.createDirectories(folder);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    try (Store small = tck().openSmall(folder)) {
      Journals journals = small.journals();
      ShardId filled = bench().maker().next();
      journals.create(filled, "home", WAKE, NO_WORDS).orThrow();
      ShardId busy = bench().maker().next();
      journals.create(busy, "home", WAKE, NO_WORDS).orThrow();
      List<Long> acknowledged = fill(journals, filled);

      assertThat(bench().read(journals, filled, 1, 1).stream().map(Entry::batch))
          .as("what a full store holds")
          .containsExactlyElementsOf(acknowledged);
      for (int number = 1; number <= 20; number++) {
        Append end = new Append(busy, 1, 1, number, bench().id(), new byte[200]).asUrgent();
        assertThat(journals.append(List.of(end), false)).containsExactly(Outcome.ok((long) number));
      }
      assertThat(journals.release(busy, 1, 20, NO_WORDS).isOk()).as("release").isTrue();
      assertThat(journals.drop(filled, 1).isOk()).as("drop").isTrue();
      Invariants.inspect(small);

      ShardId next = bench().maker().next();
      Awaitility.await("room after the drop")
          .until(() -> journals.create(next, "home", WAKE, NO_WORDS).isOk());
      Append again = new Append(next, 1, 1, 1, bench().id(), new byte[100_000]);
      Awaitility.await("room after the drop")
          .until(() -> journals.append(List.of(again), false).getFirst().isOk());
    }
  }

  /** Appends until the store is full; answers the batches that went in. */
  private List<Long> fill(Journals journals, ShardId shard) {
    List<Long> acknowledged = new ArrayList<>();
    for (int i = 0; i < 10_000; i++) {
      long number = acknowledged.size() + 1L;
      Append append = new Append(shard, 1, 1, number, bench().id(), new byte[100_000]);
      Outcome<Long> outcome = journals.append(List.of(append), false).getFirst();
      if (outcome instanceof Outcome.Full<Long>) {
        assertThat(journals.append(List.of(append), false).getFirst())
            .as("once more")
            .isInstanceOf(Outcome.Full.class);
        return acknowledged;
      }
      outcome.orThrow();
      acknowledged.add(append.batch());
    }
    throw new AssertionError("a small store took a gigabyte");
  }

  @Case(id = "T26", title = "everything acknowledged is there when the store is opened again")
  default void everythingIsThereWhenOpenedAgain() {
    List<JournalWriter> writers = new ArrayList<>();
    RecordWriter records = bench().recordWriter();
    for (int i = 0; i < 20; i++) {
      JournalWriter writer = bench().create();
      writer.append(i);
      writers.add(writer);
      Stamp version = records.create("key " + i, new byte[i]);
      if (i % 3 == 0) {
        records.write("key " + i, version, null).orThrow();
      }
      if (i % 4 == 0) {
        bench().ok(() -> bench().journals().lowerWake(writer.shard(), 1, WAKE - 10));
        writer.publish(List.of(new byte[i], new byte[1]), WAKE + i);
      }
    }
    Map<String, String> before = Invariants.inspect(bench().bare());
    bench().reopen();
    assertThat(Invariants.withoutWakes(Invariants.inspect(bench().bare())))
        .isEqualTo(Invariants.withoutWakes(before));
    for (JournalWriter writer : writers) {
      bench().assertHoldsExactly(writer);
      writer.append();
      bench().assertHoldsExactly(writer);
    }
  }
}
