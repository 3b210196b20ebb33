package dev.carillon.store;

import static dev.carillon.store.Workbench.NO_WORDS;
import static dev.carillon.store.Workbench.WAKE;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.carillon.store.FaultyStore.Fault;
import dev.carillon.store.ForwardingStore.Operation;
import dev.carillon.store.Head.Status;
import dev.carillon.store.Journals.Publication;
import dev.carillon.store.Workbench.ShardMaker;
import java.io.IOException;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;

/** Snapshots, sealing, the end of a shard, names and formats (S14, S15, S16, S17). */
interface LifecycleCases extends TckCases {

  @Case(id = "T39", title = "snapshot + tail is the full journal, for random histories")
  default void aSnapshotAndItsTailAreTheFullJournal() {
    int histories = tck().times(500);
    Random random = bench().random();
    for (int history = 0; history < histories; history++) {
      JournalWriter writer = bench().create();
      Map<String, String> expected = new TreeMap<>();
      int steps = random.nextInt(30);
      for (int step = 0; step < steps; step++) {
        if (random.nextInt(8) == 0) {
          writer.publish(snapshot(fold(writer), 1 + random.nextInt(4)), WAKE);
        } else {
          appendChange(writer, expected, random);
        }
        if (random.nextInt(20) == 0) {
          writer = bench().claim(writer.shard());
        }
      }
      assertThat(fold(writer)).isEqualTo(expected);
      ShardId shard = writer.shard();
      long epoch = writer.epoch();
      int generation = writer.generation();
      bench().ok(() -> bench().journals().dropGenerations(shard, epoch, generation));
      assertThat(fold(writer)).isEqualTo(expected);
      bench().ok(() -> bench().journals().drop(shard, epoch));
    }
  }

  private static void appendChange(
      JournalWriter writer, Map<String, String> expected, Random random) {
    String key = "k" + random.nextInt(5);
    String value = Integer.toString(random.nextInt());
    writer.append((key + "=" + value + "\n").getBytes(UTF_8));
    expected.put(key, value);
  }

  /** The state that the current generation folds to. */
  private Map<String, String> fold(JournalWriter writer) {
    return fold(bench().read(writer.shard(), writer.generation()));
  }

  private static Map<String, String> fold(List<Entry> entries) {
    Map<String, String> state = new TreeMap<>();
    for (Entry entry : entries) {
      new String(entry.data(), UTF_8)
          .lines()
          .forEach(
              line ->
                  state.put(
                      line.substring(0, line.indexOf('=')), line.substring(line.indexOf('=') + 1)));
    }
    return state;
  }

  /** The state as entries of a snapshot, in so many blocks. */
  private static List<byte[]> snapshot(Map<String, String> state, int blocks) {
    List<StringBuilder> texts = new ArrayList<>();
    for (int i = 0; i < blocks; i++) {
      texts.add(new StringBuilder());
    }
    int next = 0;
    for (Map.Entry<String, String> entry : state.entrySet()) {
      texts
          .get(next++ % blocks)
          .append(entry.getKey())
          .append('=')
          .append(entry.getValue())
          .append('\n');
    }
    return texts.stream().map(text -> text.toString().getBytes(UTF_8)).toList();
  }

  @Case(id = "T39", title = "a crash after each step of a publication changes nothing")
  default void aPublicationCutShortChangesNothing() {
    Random random = bench().random();
    int blocks = 3;
    for (int steps = 0; steps <= blocks + 1; steps++) {
      JournalWriter writer = bench().create();
      Map<String, String> expected = new TreeMap<>();
      for (int i = 0; i < 10; i++) {
        appendChange(writer, expected, random);
      }
      List<byte[]> snapshot = snapshot(expected, blocks);
      long name = bench().id();
      writer.tryStageAll(name, snapshot.subList(0, Math.min(steps, blocks))).orThrow();
      if (steps > blocks) {
        Publication publication = writer.publication(name, blocks, WAKE);
        bench().ok(() -> bench().journals().publish(publication));
      }
      bench().reopen();
      JournalWriter heir = bench().claim(writer.shard());
      assertThat(heir.generation()).isEqualTo(steps > blocks ? 2 : 1);
      assertThat(fold(heir)).isEqualTo(expected);
      Publication unfinished = heir.publication(name, blocks, WAKE);
      if (steps < blocks) {
        assertThat(bench().ask(() -> bench().journals().publish(unfinished)))
            .as("publishing what was not staged")
            .isInstanceOf(Outcome.Conflict.class);
      }
      appendChange(heir, expected, random);
      heir.publish(snapshot(expected, 2), WAKE);
      appendChange(heir, expected, random);
      assertThat(fold(heir)).isEqualTo(expected);
    }
    tck().counted(blocks + 2);
  }

  @Case(id = "T39", title = "crash at each write of a publication")
  default void aPublicationCutAtAnyWriteIsThereOrNot() {
    JournalWriter writer = bench().create();
    Map<String, String> expected = new TreeMap<>();
    Random random = bench().random();
    for (int i = 0; i < 50; i++) {
      appendChange(writer, expected, random);
    }
    int[] cuts = {0};
    ShardId shard = writer.shard();
    try (var folders =
        tck()
            .cuts(
                bench().bare(),
                bench().folder(),
                () -> writer.publish(snapshot(expected, 5), WAKE))) {
      folders.forEach(
          folder -> {
            cuts[0]++;
            try (Store cut = tck().opener().open(folder)) {
              Head head = cut.journals().head(shard).orThrow();
              assertThat(fold(bench().read(cut.journals(), shard, head.generation(), 1)))
                  .as("after cut %s", cuts[0])
                  .isEqualTo(expected);
              Invariants.inspect(cut);
            }
          });
    }
    assertThat(cuts[0]).as("write boundaries").isPositive();
    tck().counted(cuts[0]);
  }

  @Case(id = "T39", title = "a publication that does not fit is refused and changes nothing")
  default void aPublicationThatDoesNotFitIsRefused() {
    JournalWriter writer = bench().create();
    writer.append(4);
    ShardId shard = writer.shard();
    long tail = writer.tail();
    long name = bench().id();
    writer.tryStageAll(name, List.of(new byte[1], new byte[2])).orThrow();
    Head before = bench().head(shard);
    List<Publication> wrong =
        List.of(
            new Publication(shard, 1, 1, tail - 1, name, 2, WAKE + 1, new byte[1]),
            new Publication(shard, 1, 1, tail + 1, name, 2, WAKE + 1, new byte[1]),
            new Publication(shard, 1, 1, tail, name, 3, WAKE + 1, new byte[1]),
            new Publication(shard, 1, 1, tail, name + 2, 2, WAKE + 1, new byte[1]),
            new Publication(shard, 1, 2, tail, name, 2, WAKE + 1, new byte[1]));
    for (Publication publication : wrong) {
      assertThat(bench().bare().journals().publish(publication))
          .as("%s", publication)
          .isInstanceOf(Outcome.Conflict.class);
    }
    assertThat(Invariants.text(bench().head(shard))).isEqualTo(Invariants.text(before));
    assertThat(bench().head(shard).wakeMicros()).isEqualTo(WAKE);
    bench().assertHoldsExactly(writer);

    byte[] words = {1, 2};
    Publication right = new Publication(shard, 1, 1, tail, name, 2, WAKE + 1, words);
    Head published = bench().ok(() -> bench().journals().publish(right));
    assertThat(published.generation()).isEqualTo(2);
    assertThat(published.oldestGeneration()).isEqualTo(1);
    assertThat(published.wakeMicros()).isEqualTo(WAKE + 1);
    assertThat(published.summary()).isEqualTo(words);
    assertThat(bench().read(shard, 2).stream().map(Entry::epoch)).containsExactly(0L, 0L);
    assertThat(bench().read(shard, 1)).hasSize((int) tail);
  }

  @Case(id = "T39", title = "another snapshot discards what was staged before it")
  default void anotherSnapshotStartsAnew() {
    JournalWriter writer = bench().create();
    writer.append();
    long abandoned = bench().id();
    writer.tryStageAll(abandoned, List.of(new byte[5], new byte[6], new byte[7])).orThrow();
    writer.publish(List.of(new byte[1], new byte[2]), WAKE);
    assertThat(bench().read(writer.shard(), 2).stream().map(entry -> entry.data().length))
        .containsExactly(1, 2);
    assertThat(writer.append().number()).isGreaterThanOrEqualTo(3);
    bench().assertHoldsExactly(writer);
  }

  @Case(id = "T39", title = "staging again, in time or late, leaves what is staged")
  default void stagingAgainLeavesWhatIsStaged() {
    JournalWriter writer = bench().create();
    ShardId shard = writer.shard();
    writer.append();
    long name = bench().id();
    List<byte[]> blocks = List.of(new byte[] {1}, new byte[] {2}, new byte[] {3});
    FaultyStore slow = bench().scripted(Operation.STAGE, Fault.TIMEOUT_THEN_APPLY);
    assertThat(slow.journals().stage(shard, 1, 1, name, 1, blocks.getFirst()))
        .isInstanceOf(Outcome.Unknown.class);
    writer.tryStageAll(name, blocks).orThrow();
    slow.deliverLate();
    writer.tryStageAll(name, blocks.subList(0, 2)).orThrow();
    Publication publication = writer.publication(name, 3, WAKE);
    bench().ok(() -> bench().journals().publish(publication));
    assertThat(bench().read(shard, 2).stream().map(Entry::data)).containsExactlyElementsOf(blocks);
  }

  @Case(id = "T39", title = "an empty snapshot, and one of fewer entries than were staged")
  default void snapshotsMayBeEmptyOrCutShort() {
    JournalWriter writer = bench().create();
    writer.append(2);
    writer.publish(List.of(), WAKE);
    assertThat(bench().read(writer.shard(), 2)).isEmpty();
    writer.append(2);
    bench().assertHoldsExactly(writer);
    long name = bench().id();
    writer.tryStageAll(name, List.of(new byte[1], new byte[2], new byte[3])).orThrow();
    Publication shorter = writer.publication(name, 2, WAKE);
    assertThat(bench().ok(() -> bench().journals().publish(shorter)).generation()).isEqualTo(3);
    assertThat(bench().read(writer.shard(), 3)).hasSize(2);
  }

  @Case(id = "T39", title = "old generations stay until they are dropped, the current one always")
  default void oldGenerationsGoOnlyWhenDropped() {
    JournalWriter writer = bench().create();
    ShardId shard = writer.shard();
    for (int generation = 1; generation <= 3; generation++) {
      writer.append(2);
      writer.publish(List.of(new byte[generation]), WAKE);
    }
    assertThat(bench().batches(shard, 1)).hasSize(2);
    Head head = bench().ok(() -> bench().journals().dropGenerations(shard, 1, 3));
    assertThat(head.oldestGeneration()).isEqualTo(3);
    assertThat(head.generation()).isEqualTo(4);
    assertThat(bench().ask(() -> bench().journals().read(shard, 2, 1, 100)))
        .isInstanceOf(Outcome.Conflict.class);
    assertThat(bench().read(shard, 3)).isNotEmpty();
    assertThat(bench().ok(() -> bench().journals().dropGenerations(shard, 1, 2)))
        .as("dropping what is gone")
        .extracting(Head::oldestGeneration)
        .isEqualTo(3);
    bench().ask(() -> bench().journals().dropGenerations(shard, 1, 9));
    assertThat(bench().read(shard, 4)).as("the current generation").hasSize(1);
    writer.append();
    bench().assertHoldsExactly(writer);
  }

  @Case(id = "T39", title = "sealed for good; entries still go in")
  default void aSealedShardTakesEntriesAndStaysSealed() {
    JournalWriter writer = bench().create();
    ShardId shard = writer.shard();
    writer.append();
    byte[] words = {4, 2};
    Head sealed = bench().ok(() -> bench().journals().seal(shard, 1, words));
    assertThat(sealed.status()).isEqualTo(Status.SEALED);
    assertThat(sealed.summary()).isEqualTo(words);
    Head again = bench().ok(() -> bench().journals().seal(shard, 1, new byte[] {9}));
    assertThat(again.summary()).as("sealed already").isEqualTo(words);
    writer.append();
    bench().assertHoldsExactly(writer);
    writer.publish(List.of(new byte[1]), WAKE);
    writer.tryRelease().orThrow();
    bench().claim(shard);
    bench().reopen();
    assertThat(bench().head(shard).status()).isEqualTo(Status.SEALED);
  }

  @Case(id = "T39", title = "drop is final and closes the shard to everybody")
  default void aDroppedShardIsGone() {
    JournalWriter writer = bench().create();
    ShardId shard = writer.shard();
    writer.append(3);
    Append unsent = writer.next();
    writer.tryStageAll(7, List.of(new byte[1])).orThrow();
    Publication publication = writer.publication(7, 1, WAKE);
    assertThat(bench().ask(() -> bench().journals().drop(shard, 2)))
        .as("drop by a wrong epoch")
        .isEqualTo(new Outcome.Fenced<>(1));
    bench().ok(() -> bench().journals().drop(shard, 1));
    bench().ok(() -> bench().journals().drop(shard, 1));

    Outcome<Object> gone = new Outcome.Fenced<>(Head.DROPPED);
    Journals journals = bench().journals();
    assertThat(bench().ask(() -> journals.head(shard))).isEqualTo(gone);
    assertThat(bench().ask(() -> journals.claim(shard, 1, bench().id()))).isEqualTo(gone);
    assertThat(bench().settle(unsent)).isEqualTo(gone);
    assertThat(bench().ask(() -> journals.resolve(unsent))).isEqualTo(gone);
    assertThat(bench().ask(() -> journals.lowerWake(shard, 1, 5))).isEqualTo(gone);
    assertThat(bench().ask(() -> journals.seal(shard, 1, NO_WORDS))).isEqualTo(gone);
    assertThat(bench().ask(() -> journals.release(shard, 1, 3, NO_WORDS))).isEqualTo(gone);
    assertThat(bench().ask(() -> journals.read(shard, 1, 1, 100))).isEqualTo(gone);
    assertThat(bench().ask(() -> journals.stage(shard, 1, 1, 7, 1, NO_WORDS))).isEqualTo(gone);
    assertThat(bench().ask(() -> journals.publish(publication))).isEqualTo(gone);
    assertThat(bench().ask(() -> journals.dropGenerations(shard, 1, 1))).isEqualTo(gone);
    assertThat(bench().ok(() -> journals.listById(null, 10))).isEmpty();
    assertThat(bench().ok(() -> journals.listByWake(Long.MAX_VALUE, null, 10))).isEmpty();
  }

  @Case(id = "T40", title = "fixtures of every released format replay to their recorded state")
  default void releasedFormatsAreRead() {
    tck().fixtures();
  }

  @Case(id = "T41", title = "hostile names of homes and words of summaries")
  default void hostileHomesComeBackAsTheyWentIn() {
    ShardMaker maker = bench().maker();
    Map<ShardId, String> homes = new TreeMap<>();
    for (String name : HostileNames.all(bench().store().info().maxKeyBytes())) {
      ShardId shard = maker.next();
      bench().ok(() -> bench().journals().create(shard, name, WAKE, name.getBytes(UTF_8)));
      homes.put(shard, name);
    }
    bench().reopen();
    for (Head head : bench().ok(() -> bench().journals().listById(null, 1_000))) {
      assertThat(head.home()).isEqualTo(homes.remove(head.shard()));
      assertThat(head.summary()).isEqualTo(head.home().getBytes(UTF_8));
    }
    assertThat(homes).isEmpty();
  }

  @Case(id = "T41", title = "two stores never see each other's shards and records")
  default void twoStoresAreApart() throws IOException {
    JournalWriter writer = bench().create();
    writer.append();
    bench().recordWriter().create("key", new byte[1]);
    try (Store other = tck().opener().open(Files.createDirectories(tck().folder("other")))) {
      assertThat(other.journals().listById(null, 10).orThrow()).isEmpty();
      assertThat(other.journals().head(writer.shard()))
          .isEqualTo(new Outcome.Fenced<>(Head.DROPPED));
      assertThat(other.records().get("key").orThrow()).isEmpty();
      Head head = other.journals().create(writer.shard(), "home", WAKE, NO_WORDS).orThrow();
      assertThat(head.epoch()).isEqualTo(1);
      other.journals().drop(writer.shard(), 1).orThrow();
    }
    bench().assertHoldsExactly(writer);
  }
}
