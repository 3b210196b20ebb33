package dev.carillon.engine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.carillon.api.JobState;
import dev.carillon.engine.fold.OperationBody;
import dev.carillon.engine.format.Frame;
import dev.carillon.engine.format.Kind;
import dev.carillon.engine.format.WordFilter;
import dev.carillon.engine.history.Bucket;
import dev.carillon.engine.history.Footer;
import dev.carillon.engine.history.PackPlan;
import dev.carillon.engine.history.Summary;
import dev.carillon.engine.job.JobRef;
import dev.carillon.engine.job.JobSpec;
import dev.carillon.engine.job.OptionalSpec;
import dev.carillon.engine.job.Ran;
import dev.carillon.engine.query.JobReader;
import dev.carillon.store.Append;
import dev.carillon.store.Entry;
import dev.carillon.store.Head;
import dev.carillon.store.Journals.Publication;
import dev.carillon.store.MemoryStore;
import dev.carillon.store.Outcome;
import dev.carillon.store.Records.Stamp;
import dev.carillon.store.ShardId;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;

class PackPlanTest {
  private static final int BLOCK_BYTES = 700;
  private static final long SNAPSHOT = 77;

  private final MemoryStore store = new MemoryStore();
  private final ShardId shard = new ShardId(100, 5, 1);
  private long tail;

  PackPlanTest() {
    store.journals().create(shard, "node", 0, Summary.fresh(new Bucket(100, 3600)).encode());
  }

  private void append(int generation, List<Frame> frames) {
    Append append = new Append(shard, 1, generation, tail + 1, tail + 1, Frame.encode(frames));
    assertThat(store.journals().append(List.of(append), false).getFirst().isOk()).isTrue();
    tail++;
  }

  private void appendAll(int generation, List<Frame> frames, int together) {
    for (int i = 0; i < frames.size(); i += together) {
      append(generation, frames.subList(i, Math.min(frames.size(), i + together)));
    }
  }

  private PackPlan plan() {
    return PackPlan.of(store, source(), Set.of(), BLOCK_BYTES).orThrow();
  }

  private PackPlan.Source source() {
    return new PackPlan.Source(shard, 1, 1, tail);
  }

  private void stage(PackPlan plan) {
    long number = 0;
    for (PackPlan.Block block : plan.blocks()) {
      byte[] data = PackPlan.data(store, source(), block).orThrow();
      store.journals().stage(shard, 1, 1, SNAPSHOT, ++number, data).orThrow();
    }
    for (byte[] footer : plan.footers()) {
      store.journals().stage(shard, 1, 1, SNAPSHOT, ++number, footer).orThrow();
    }
  }

  private Outcome<Head> publish(PackPlan plan, long expectedTail) {
    Summary summary =
        new Summary(
            3600, 9, 9, false, false, 0, 0, 0, 1, plan.bytes(), plan.packed(), List.of(), false);
    return store
        .journals()
        .publish(
            new Publication(
                shard, 1, 1, expectedTail, SNAPSHOT, plan.entries(), 0, summary.encode()));
  }

  private PackPlan pack() {
    PackPlan plan = plan();
    stage(plan);
    publish(plan, tail).orThrow();
    store.journals().dropGenerations(shard, 1, 2).orThrow();
    tail = plan.entries();
    return plan;
  }

  private List<Frame> operations(int generation) {
    List<Frame> frames = new ArrayList<>();
    for (Entry entry :
        store.journals().read(shard, generation, 1, Integer.MAX_VALUE).orThrow().entries()) {
      frames.addAll(Frame.decode(entry.data()));
    }
    frames.removeIf(frame -> frame.kind() == Kind.FOOTER);
    return frames;
  }

  private static Set<Long> numbers(List<Frame> frames) {
    Set<Long> numbers = new TreeSet<>();
    for (Frame frame : frames) {
      numbers.add(frame.job());
      if (frame.kind() == Kind.NEXT) {
        OperationBody.Next.decode(frame.reader())
            .children()
            .forEach(child -> numbers.add(child.number()));
      }
    }
    return numbers;
  }

  private List<String> told(Set<Long> numbers) {
    JobReader reader = new JobReader(store);
    List<String> told = new ArrayList<>();
    for (long number : numbers) {
      reader
          .find(new JobRef(shard, number))
          .orThrow()
          .ifPresent(story -> told.add(number + " " + story.view().info() + story.events()));
    }
    return told;
  }

  @Test
  void jobsReadByTheFooterAreWhatTheyWereInTheWholeJournal() {
    for (long seed = 0; seed < 150; seed++) {
      PackPlanTest one = new PackPlanTest();
      List<Frame> all = new RandomOperations(seed).take(120);
      List<Frame> later = new RandomOperations(seed + 1000).take(15);
      PackPlanTest whole = new PackPlanTest();
      one.appendAll(1, all, 1 + (int) (seed % 5));
      PackPlan plan = one.pack();
      one.appendAll(2, later, 2);
      whole.appendAll(1, all, 7);
      whole.appendAll(1, later, 7);
      Set<Long> numbers = numbers(all);
      numbers.addAll(numbers(later));

      assertThat(plan.blocks()).as("seed %d", seed).hasSizeGreaterThan(5);
      assertThat(one.told(numbers)).as("seed %d", seed).isEqualTo(whole.told(numbers)).isNotEmpty();
    }
  }

  @Test
  void operationsStayInOrderHoweverEntriesAreCut() {
    List<Frame> all = new RandomOperations(3).take(200);
    appendAll(1, all, 40);
    List<Frame> before = operations(1);

    pack();

    assertThat(Frame.encode(operations(2))).isEqualTo(Frame.encode(before));
  }

  @Test
  void packedShardThatGrewIsPackedAgainWithoutItsOldFooter() {
    List<Frame> all = new RandomOperations(4).take(100);
    appendAll(1, all, 3);
    pack();
    appendAll(2, new RandomOperations(5).take(10), 3);
    List<Frame> grown = operations(2);

    PackPlan again = PackPlan.of(store, new PackPlan.Source(shard, 1, 2, tail), Set.of()).orThrow();
    byte[] block =
        PackPlan.data(store, new PackPlan.Source(shard, 1, 2, tail), again.blocks().getFirst())
            .orThrow();

    assertThat(again.blocks()).hasSize(1);
    assertThat(block).isEqualTo(Frame.encode(grown));
  }

  @Test
  void beforeThePublishTheOldGenerationCountsAndWhatIsAppendedMeanwhileIsNotLost() {
    List<Frame> all = new RandomOperations(6).take(60);
    appendAll(1, all, 3);
    PackPlan plan = plan();
    long read = tail;
    stage(plan);
    assertThat(Frame.encode(operations(1))).isEqualTo(Frame.encode(all));

    append(1, new RandomOperations(7).take(1));

    assertThat(publish(plan, read)).isInstanceOf(Outcome.Conflict.class);
    assertThat(store.journals().head(shard).orThrow().generation()).isEqualTo(1);
    assertThat(operations(1)).hasSize(61);
  }

  @Test
  void afterThePublishTheNewGenerationCountsAndTheOldOneTakesNothing() {
    List<Frame> all = new RandomOperations(8).take(60);
    appendAll(1, all, 3);
    PackPlan plan = plan();
    stage(plan);
    publish(plan, tail).orThrow();

    Append late = new Append(shard, 1, 1, tail + 1, 99, Frame.encode(all.subList(0, 1)));

    assertThat(store.journals().append(List.of(late), false).getFirst().isOk()).isFalse();
    assertThat(Frame.encode(operations(2))).isEqualTo(Frame.encode(all));
    // Publishing again, as one does who heard no answer, changes nothing.
    assertThat(publish(plan, tail).orThrow().generation()).isEqualTo(2);
  }

  @Test
  void catalogueCountsWordsStatesAndEnds() {
    long first = JobRef.number(1, 1);
    JobSpec spec = new RandomOperations(1).spec();
    List<Frame> all = new ArrayList<>();
    for (int i = 0; i < 300; i++) {
      all.add(Frame.of(Kind.ADD, first + i, typed(spec, "t" + i).encode()));
    }
    for (int i = 0; i < 200; i++) {
      OperationBody.End end =
          new OperationBody.End(
              i < 50 ? JobState.CANCELLED : JobState.EXPIRED,
              0,
              0,
              1000 + i,
              Ran.NOT,
              null,
              "",
              new byte[0]);
      all.add(Frame.of(Kind.END, first + i, end.encode()));
    }
    appendAll(1, all, 3);

    PackPlan plan = plan();

    Footer.Catalogue catalogue = Footer.catalogue(plan.footers().getFirst());
    assertThat(catalogue.types().words()).hasSize(256).contains("t0", "t255");
    assertThat(catalogue.types().counts()[256]).isEqualTo(44);
    assertThat(catalogue.types().code("t299")).isEqualTo(Footer.OTHERS);
    assertThat(catalogue.live()).isEqualTo(100);
    assertThat(catalogue.states()[JobState.CANCELLED.code()]).isEqualTo(50);
    assertThat(catalogue.states()[JobState.EXPIRED.code()]).isEqualTo(150);
    assertThat(catalogue.firstEndMicros()).isEqualTo(1000);
    assertThat(catalogue.lastEndMicros()).isEqualTo(1199);
    assertThat(plan.packed().hasLive()).isTrue();
    assertThat(plan.packed().words().mayHold(WordFilter.Of.TYPE, "t299")).isTrue();
  }

  private static JobSpec typed(JobSpec spec, String type) {
    return new JobSpec(
        spec.dueMicros(),
        spec.acceptedMicros(),
        0,
        Stamp.ABSENT,
        type,
        1,
        "default",
        "default",
        null,
        null,
        Map.of(),
        0,
        0,
        OptionalSpec.NONE,
        new byte[0]);
  }

  @Test
  void filterForgetsNoWordAndRulesMostOthersOut() {
    WordFilter filter = WordFilter.empty();
    Set<String> words = new HashSet<>();
    for (int i = 0; i < 50; i++) {
      words.add("word " + i);
      filter.add(WordFilter.Of.TYPE, "word " + i);
    }
    int wrong = 0;
    for (int i = 0; i < 10_000; i++) {
      boolean may = filter.mayHold(WordFilter.Of.TYPE, "word " + i);
      assertThat(may || !words.contains("word " + i)).isTrue();
      wrong += may && !words.contains("word " + i) ? 1 : 0;
    }
    assertThat(wrong).isLessThan(400);
  }

  private Optional<Summary> read(byte[] summary) {
    Head head = store.journals().head(shard).orThrow();
    return Summary.read(new Head(shard, 1, 0, false, head.status(), 1, 1, 0, "node", summary));
  }

  @Test
  void summaryIsReadAsItWasWrittenAndOneOfAnotherVersionIsNot() {
    Summary summary =
        new Summary(3600, 7, 700, true, true, 1, 2, 3, 99, 1234, null, List.of(), true)
            .replacing(new Summary.Replaced(3, 17, 99));
    byte[] written = summary.encode();
    assertThat(read(written)).contains(summary);
    written[0]++;
    assertThat(read(written)).isEmpty();
  }
}
