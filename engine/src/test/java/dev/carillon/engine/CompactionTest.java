package dev.carillon.engine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.carillon.api.JobError;
import dev.carillon.api.JobEvent;
import dev.carillon.api.JobState;
import dev.carillon.api.schedule.Overlap;
import dev.carillon.api.schedule.Schedule;
import dev.carillon.engine.fold.OperationBody;
import dev.carillon.engine.format.Frame;
import dev.carillon.engine.format.Kind;
import dev.carillon.engine.history.Bucket;
import dev.carillon.engine.history.Compaction;
import dev.carillon.engine.history.PastAttempts;
import dev.carillon.engine.history.PublishedValue;
import dev.carillon.engine.history.ShardLoad;
import dev.carillon.engine.history.Summary;
import dev.carillon.engine.job.HistoryEntry;
import dev.carillon.engine.job.JobRef;
import dev.carillon.engine.job.JobSpec;
import dev.carillon.engine.job.OccurrenceSpec;
import dev.carillon.engine.job.OptionalSpec;
import dev.carillon.engine.job.Ran;
import dev.carillon.engine.job.Report;
import dev.carillon.engine.job.ScheduleFormat;
import dev.carillon.engine.job.ScheduleState;
import dev.carillon.engine.job.Why;
import dev.carillon.engine.query.DeadWorkflow;
import dev.carillon.engine.query.HistoryReader;
import dev.carillon.engine.query.JobReader;
import dev.carillon.engine.shard.NodeJob;
import dev.carillon.store.Append;
import dev.carillon.store.Entry;
import dev.carillon.store.ForwardingStore;
import dev.carillon.store.Journals.Publication;
import dev.carillon.store.Journals.ReadPage;
import dev.carillon.store.MemoryStore;
import dev.carillon.store.Outcome;
import dev.carillon.store.Records.Stamp;
import dev.carillon.store.ShardId;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What a compaction leaves of live jobs, read with the generation before and without it. */
class CompactionTest {
  private static final Ran RAN = new Ran(5, "elsewhere");
  private static final long JOB = JobRef.number(1, 1);
  private static final long OCCURRENCE = JobRef.number(1, 2);
  private static final int PAYLOAD_BYTES = 1 << 20;
  private static final int MOST_READS = 20;
  private static final Compaction.Since ALL = new Compaction.Since(0, 0, Long.MAX_VALUE);
  private static final Compaction.Since NO_EVIDENCE =
      new Compaction.Since(Long.MAX_VALUE, Long.MAX_VALUE, Long.MAX_VALUE);

  private final MemoryStore store = new MemoryStore();
  private final ShardId shard = new ShardId(100, 5, 1);
  private int generation = 1;
  private long tail;
  private long snapshot;

  CompactionTest() {
    store.journals().create(shard, "node", 0, summary());
  }

  private static byte[] summary() {
    return Summary.fresh(new Bucket(100, 3600)).encode();
  }

  private void append(Frame... frames) {
    append(List.of(frames));
  }

  private void append(List<Frame> frames) {
    Append append = new Append(shard, 1, generation, tail + 1, tail + 1, Frame.encode(frames));
    assertThat(store.journals().append(List.of(append), false).getFirst().isOk()).isTrue();
    tail++;
  }

  private Compaction.Staged stage(Compaction.Since since) {
    Compaction.Source source = new Compaction.Source(shard, 1, generation, tail);
    return Compaction.stage(store, source, ++snapshot, since).orThrow();
  }

  private Compaction.Staged compact(Compaction.Since since) {
    Compaction.Staged staged = stage(since);
    publish(staged);
    return staged;
  }

  private void publish(Compaction.Staged staged) {
    store
        .journals()
        .publish(
            new Publication(shard, 1, generation, tail, snapshot, staged.count(), 0, summary()))
        .orThrow();
    generation++;
    tail = staged.count();
  }

  private void compact(boolean keepOld) {
    compact(ALL);
    if (!keepOld) {
      store.journals().dropGenerations(shard, 1, generation).orThrow();
    }
  }

  private List<Frame> operations() {
    List<Frame> frames = new ArrayList<>();
    for (Entry entry :
        store.journals().read(shard, generation, 1, Integer.MAX_VALUE).orThrow().entries()) {
      frames.addAll(Frame.decode(entry.data()));
    }
    return frames;
  }

  private static List<String> texts(List<Frame> frames) {
    return frames.stream()
        .map(frame -> frame.kind() + " " + frame.job() + " " + Arrays.toString(frame.body()))
        .toList();
  }

  private static Frame frame(Kind kind, OperationBody body) {
    return Frame.of(kind, JOB, body.encode());
  }

  private static Frame add() {
    return Frame.of(Kind.ADD, JOB, spec().encode());
  }

  private static Frame published(String value) {
    Report report =
        new Report(
            Report.UNKNOWN, Report.UNKNOWN, null, value.getBytes(StandardCharsets.UTF_8), false);
    return Frame.of(Kind.REPORT, JOB, new Report.Recorded(0, 9, false, report).encode());
  }

  private static Frame progress(long done) {
    Report report = new Report(done, 9, "at " + done, null, false);
    return Frame.of(Kind.REPORT, JOB, new Report.Recorded(0, 9, false, report).encode());
  }

  @Test
  void valueThatWasPublishedLastAndTheProgressSurvive() {
    append(add(), published("one"), progress(2));
    append(published("two"), progress(3));

    Compaction.Staged staged = compact(ALL);

    long place = staged.published().get(JOB);
    byte[] value =
        PublishedValue.read(store, new PublishedValue.Place(shard, generation, place)).orThrow();
    assertThat(new String(value, StandardCharsets.UTF_8)).isEqualTo("two");
    JobReader.Story story =
        new JobReader(store).find(new JobRef(shard, JOB)).orThrow().orElseThrow();
    assertThat(story.published()).isEqualTo(value);
    assertThat(story.view().info().progress().done()).isEqualTo(3);
    assertThat(operations()).filteredOn(frame -> frame.kind() == Kind.REPORT).hasSize(1);
  }

  private static JobSpec spec() {
    return new RandomOperations(1).spec().withMore(OptionalSpec.NONE);
  }

  private static Frame addRecurring() {
    return Frame.of(Kind.ADD, JOB, recurring(spec()).encode());
  }

  private static JobSpec recurring(JobSpec spec) {
    byte[] schedule = ScheduleFormat.encode(Schedule.every(Duration.ofHours(1)));
    return spec.withMore(OptionalSpec.NONE.with(new OptionalSpec.Recurring(1_000, schedule)));
  }

  private static JobSpec recurring(byte[] payload) {
    JobSpec spec = spec();
    return recurring(
        new JobSpec(
            1_000,
            0,
            0,
            Stamp.ABSENT,
            spec.type(),
            1,
            "default",
            "default",
            null,
            null,
            Map.of(),
            0,
            0,
            OptionalSpec.NONE,
            payload));
  }

  private static byte[] payload(int seed) {
    byte[] payload = new byte[PAYLOAD_BYTES];
    new Random(seed).nextBytes(payload);
    return payload;
  }

  /** Occurrences of the recurring job as jobs of their own, numbered from {@code first} on. */
  private static Frame occurrences(int first, int count) {
    List<OperationBody.Next.Child> children =
        IntStream.range(first, first + count)
            .mapToObj(
                i ->
                    new OperationBody.Next.Child(
                        JobRef.number(1, i), 1_000, new OccurrenceSpec(JOB, i, i, Overlap.ALLOW)))
            .toList();
    return frame(
        Kind.NEXT,
        new OperationBody.Next(0, 0, 10, Ran.NOT, null, null, null, children, null, false));
  }

  private static Frame deadOfItself(long number) {
    OperationBody.End end =
        new OperationBody.End(JobState.DEAD, 0, 0, 20, Ran.NOT, error(1), "no more", new byte[0]);
    return Frame.of(Kind.END, number, end.encode());
  }

  private byte[] payloadOf(long number) {
    return new JobReader(store)
        .find(new JobRef(shard, number))
        .orThrow()
        .map(JobReader.Story::payload)
        .orElseThrow();
  }

  private static JobError error(int attempt) {
    return new JobError("broken", "no " + attempt, "at line " + attempt, "node " + attempt);
  }

  private static Frame retry(int attempt) {
    return frame(
        Kind.RETRY,
        new OperationBody.Retry(attempt, 0, 10L * attempt, RAN, 99 + attempt, 0, error(attempt)));
  }

  private static Frame dead(int attempt) {
    return frame(
        Kind.END,
        new OperationBody.End(
            JobState.DEAD, attempt, 0, 10L * attempt, RAN, error(attempt), "over", new byte[0]));
  }

  /** The last attempt of an occurrence, which is a dead letter, and the next time. */
  private static Frame deadOccurrence(int attempt) {
    OccurrenceSpec occurrence = new OccurrenceSpec(JOB, 1, 1_000, Overlap.ALLOW);
    return frame(
        Kind.NEXT,
        new OperationBody.Next(
            attempt,
            0,
            10L * attempt,
            RAN,
            JobState.DEAD,
            error(attempt),
            "over",
            List.of(new OperationBody.Next.Child(OCCURRENCE, 1_000, occurrence)),
            new ScheduleState(5_000, 0, 1, Long.MIN_VALUE, 0),
            false));
  }

  private List<JobEvent> told(long number) {
    return new JobReader(store)
        .find(new JobRef(shard, number))
        .orThrow()
        .map(JobReader.Story::events)
        .orElse(List.of());
  }

  private List<JobError> errors(long number) {
    return told(number).stream().map(JobEvent::error).filter(Objects::nonNull).toList();
  }

  private static List<JobError> errors(int from, int to) {
    return IntStream.rangeClosed(from, to).mapToObj(CompactionTest::error).toList();
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void deadLetterTellsEveryAttemptOnceWheneverItsShardWasCompacted(boolean keepOld) {
    append(
        add(), retry(1), frame(Kind.START, new OperationBody.Start(2, 0, 15, 7, false)), retry(2));
    compact(keepOld);
    assertThat(errors(JOB)).isEqualTo(errors(1, 2));
    append(
        frame(Kind.PAUSE, new OperationBody.Pause(21, new Why("who", "wait"), false)),
        frame(Kind.RESUME, new OperationBody.Resume(22, "who", false)));
    append(retry(3));
    compact(keepOld);
    assertThat(errors(JOB)).isEqualTo(errors(1, 3));
    append(dead(4));
    assertThat(errors(JOB)).isEqualTo(errors(1, 4));

    compact(keepOld);

    assertThat(errors(JOB)).isEqualTo(errors(1, 4));
    assertThat(told(JOB)).extracting(JobEvent::attempt).containsSubsequence(1, 2, 3, 4);
    assertThat(told(JOB).getFirst().kind())
        .isEqualTo(keepOld ? JobEvent.Kind.SCHEDULED : JobEvent.Kind.RETRIED);
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void deadOccurrenceTellsEveryAttemptOnceWheneverItsShardWasCompacted(boolean keepOld) {
    append(addRecurring(), retry(1), retry(2));
    compact(keepOld);
    append(retry(3));
    compact(keepOld);
    append(deadOccurrence(4));
    assertThat(errors(OCCURRENCE)).isEqualTo(errors(1, 4));
    assertThat(errors(JOB)).isEqualTo(errors(1, 4));

    compact(keepOld);

    assertThat(errors(OCCURRENCE)).isEqualTo(errors(1, 4));
    assertThat(told(OCCURRENCE).getFirst().kind()).isEqualTo(JobEvent.Kind.SCHEDULED);
    assertThat(errors(JOB)).isEqualTo(keepOld ? errors(1, 4) : List.of());
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void occurrencesShareThePayloadOfTheirRecurringJob(boolean keepOld) {
    append(Frame.of(Kind.ADD, JOB, recurring(payload(1)).encode()), occurrences(2, 900));

    assertThat(compact(ALL).bytes()).isLessThan(2 * PAYLOAD_BYTES);
    compact(keepOld);

    assertThat(payloadOf(JobRef.number(1, 901))).isEqualTo(payload(1));
    ShardLoad<NodeJob> load = ShardLoad.read(store, NodeJob::new, shard, generation, tail);
    assertThat(((ShardLoad.Folded<NodeJob>) load).fold().liveBytes())
        .as("what the next compaction would write, so that it is no reason for one")
        .isBetween((long) PAYLOAD_BYTES, 2L * PAYLOAD_BYTES);
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void occurrenceKeepsItsPayloadWhateverBecomesOfItsRecurringJob(boolean keepOld) {
    append(Frame.of(Kind.ADD, JOB, recurring(payload(1)).encode()), occurrences(2, 2));
    compact(keepOld);
    append(
        frame(Kind.REPLACE, new OperationBody.Replace(15, "who", recurring(payload(2)).encode())));
    append(deadOfItself(OCCURRENCE));
    assertThat(payloadOf(OCCURRENCE)).isEqualTo(payload(1));

    compact(keepOld);

    assertThat(payloadOf(OCCURRENCE)).as("a dead letter").isEqualTo(payload(1));
    assertThat(payloadOf(JobRef.number(1, 3))).as("a live one").isEqualTo(payload(1));
    assertThat(payloadOf(JOB)).isEqualTo(payload(2));
    append(frame(Kind.END, OperationBody.End.without(JobState.CANCELLED, 30, "no more")));
    compact(keepOld);
    assertThat(payloadOf(OCCURRENCE)).as("a dead letter").isEqualTo(payload(1));
    assertThat(payloadOf(JobRef.number(1, 3))).as("a live one").isEqualTo(payload(1));
  }

  @Test
  void occurrencesOfAReplacedOrCancelledJobGoOnSharing() {
    append(Frame.of(Kind.ADD, JOB, recurring(payload(1)).encode()), occurrences(2, 50));
    append(
        frame(Kind.REPLACE, new OperationBody.Replace(15, "who", recurring(payload(2)).encode())));
    assertThat(compact(ALL).bytes()).isLessThan(3 * PAYLOAD_BYTES);
    append(frame(Kind.END, OperationBody.End.without(JobState.CANCELLED, 30, "no more")));

    assertThat(compact(ALL).bytes()).isLessThan(2 * PAYLOAD_BYTES);

    assertThat(payloadOf(JobRef.number(1, 51))).isEqualTo(payload(1));
  }

  @Test
  void deadOccurrencesShareOnePayload() {
    append(Frame.of(Kind.ADD, JOB, recurring(payload(1)).encode()), occurrences(2, 50));
    IntStream.range(2, 52).forEach(i -> append(deadOfItself(JobRef.number(1, i))));

    assertThat(compact(ALL).bytes()).isLessThan(2 * PAYLOAD_BYTES);
    append(frame(Kind.END, OperationBody.End.without(JobState.CANCELLED, 30, "no more")));
    assertThat(compact(ALL).bytes()).isLessThan(2 * PAYLOAD_BYTES);

    store.journals().dropGenerations(shard, 1, generation).orThrow();
    assertThat(payloadOf(JobRef.number(1, 51))).isEqualTo(payload(1));
    assertThat(told(JobRef.number(1, 51)))
        .extracting(JobEvent::kind)
        .containsExactly(JobEvent.Kind.SCHEDULED, JobEvent.Kind.DEAD);
  }

  @Test
  void occurrencesGoOnSharingWhenTheirRecurringJobHasAnotherSchedule() {
    append(Frame.of(Kind.ADD, JOB, recurring(payload(1)).encode()), occurrences(2, 5));
    byte[] schedule = ScheduleFormat.encode(Schedule.every(Duration.ofHours(2)));
    ScheduleState move = new ScheduleState(5_000, 0, 1, Long.MIN_VALUE, 0);
    append(
        frame(
            Kind.CHANGE,
            new OperationBody.Change(0, 25, "who", null, null, schedule, move, false)));

    assertThat(compact(ALL).bytes()).isLessThan(2 * PAYLOAD_BYTES);

    assertThat(payloadOf(OCCURRENCE)).isEqualTo(payload(1));
  }

  @Test
  void lastAttemptsOfAJobThatIsTriedForEverAreKept() {
    append(add());
    int attempts = 3 * PastAttempts.MOST;
    IntStream.rangeClosed(1, attempts).forEach(attempt -> append(retry(attempt)));
    compact(false);
    assertThat(errors(JOB)).isEqualTo(errors(attempts - PastAttempts.MOST + 1, attempts));
    append(retry(attempts + 1));

    compact(false);

    assertThat(errors(JOB)).isEqualTo(errors(attempts - PastAttempts.MOST + 2, attempts + 1));
    append(dead(attempts + 2));
    compact(false);
    assertThat(errors(JOB)).isEqualTo(errors(attempts - PastAttempts.MOST + 2, attempts + 2));
  }

  @Test
  void lastAttemptsOfAnOccurrenceThatWasTriedLongAreKept() {
    append(addRecurring());
    int attempts = PastAttempts.MOST + 9;
    IntStream.rangeClosed(1, attempts).forEach(attempt -> append(retry(attempt)));
    compact(false);
    append(deadOccurrence(attempts + 1));
    assertThat(errors(OCCURRENCE)).isEqualTo(errors(10, attempts + 1));

    compact(false);

    assertThat(errors(OCCURRENCE)).isEqualTo(errors(10, attempts + 1));
  }

  @Test
  void onlyAttemptsSinceTheJobBeganAnewAreTold() {
    append(addRecurring(), retry(1), retry(2));
    append(
        frame(Kind.CHANGE, new OperationBody.Change(0, 25, "who", null, null, null, null, true)));
    append(retry(2)); // of before, so it does not fit
    compact(false);
    assertThat(errors(JOB)).isEmpty();
    append(retry(1), retry(1));

    compact(false);

    assertThat(errors(JOB)).isEqualTo(errors(1, 1));
    append(frame(Kind.REPLACE, new OperationBody.Replace(30, "who", spec().encode())));
    compact(false);
    assertThat(errors(JOB)).isEmpty();
  }

  @Test
  void nextGenerationFoldsToTheSameAndIsLeftAsItIsByAnotherCompaction() {
    int told = 0;
    for (long seed = 0; seed < 400; seed++) {
      CompactionTest one = new CompactionTest();
      List<Frame> all = new RandomOperations(seed).take(120);
      one.append(all);
      FoldState before = FoldState.of(FoldState.fold(all));
      long bytes = one.compact(NO_EVIDENCE).bytes();
      List<Frame> first = one.operations();
      assertThat(FoldState.of(FoldState.fold(first))).as("seed %d", seed).isEqualTo(before);

      assertThat(one.compact(NO_EVIDENCE).bytes()).as("seed %d", seed).isEqualTo(bytes);

      assertThat(texts(one.operations())).as("seed %d", seed).isEqualTo(texts(first));
      told += (int) first.stream().filter(frame -> frame.kind() == Kind.RETRY).count();
    }
    assertThat(told).isGreaterThan(100);
  }

  @Test
  void workflowThatBeganAnewHasNoHistoryInTheNextGeneration() {
    byte[] spec = spec().encode();
    append(Frame.of(Kind.ADD, JOB, spec));
    HistoryEntry begun = new HistoryEntry.Begun(1, 1, 42);
    append(
        Frame.of(
            Kind.CHECKPOINT,
            JOB,
            new OperationBody.Checkpoint(1, 0, 0, 1, List.of(begun)).encode()));
    append(
        Frame.of(
            Kind.RENEW, JOB, new OperationBody.Renew(1, 0, 1, 2, 1, List.of(), spec).encode()));

    Map<Long, long[]> histories = stage(ALL).histories();

    assertThat(histories).containsKey(JOB);
    assertThat(histories.get(JOB)).isEmpty();
  }

  private static Frame checkpoint(int before, HistoryEntry... entries) {
    return Frame.of(
        Kind.CHECKPOINT,
        JOB,
        new OperationBody.Checkpoint(1, 0, before, 1, List.of(entries)).encode());
  }

  private static HistoryEntry done(int call) {
    return new HistoryEntry.StepDone(call, call, "step", 1, call, new byte[0]);
  }

  /** The generation before, which is kept for a while, tells of its first entries too. */
  @Test
  void workflowThatDiesAfterACompactionHasItsHistoryOnce() {
    HistoryEntry begun = new HistoryEntry.Begun(1, 1, 42);
    append(add(), checkpoint(0, begun, done(1)));
    compact(true);
    append(checkpoint(2, done(2)));
    JobRef ref = new JobRef(shard, JOB);
    assertThat(HistoryReader.read(store, ref).orThrow().orElseThrow().entries())
        .usingRecursiveFieldByFieldElementComparator()
        .containsExactly(begun, done(1), done(2));

    append(frame(Kind.END, OperationBody.End.without(JobState.DEAD, 30, "no more")));

    assertThat(DeadWorkflow.find(store, ref).orThrow().orElseThrow().entries())
        .usingRecursiveFieldByFieldElementComparator()
        .containsExactly(begun, done(1), done(2));
  }

  @Test
  void compactionThatCannotReadWhatWasPublishedLeavesNothingOut() {
    append(add(), published("one"));
    Compaction.Source source = new Compaction.Source(shard, 1, generation, tail);
    for (int failing = 1; failing < MOST_READS; failing++) {
      var outcome = Compaction.stage(new FailingReads(store, failing), source, ++snapshot, ALL);
      if (outcome instanceof Outcome.Ok<Compaction.Staged>(Compaction.Staged staged)) {
        assertThat(staged.count()).isEqualTo(1);
        assertThat(failing).isGreaterThan(2);
        return;
      }
      assertThat(outcome).isInstanceOf(Outcome.Unavailable.class);
    }
    throw new AssertionError("it reads again and again");
  }

  /** Fails one of its reads. */
  private static final class FailingReads extends ForwardingStore {
    private int left;

    FailingReads(MemoryStore store, int failing) {
      super(store);
      this.left = failing;
    }

    @Override
    public Outcome<ReadPage> read(ShardId of, int inGeneration, long from, int maxBytes) {
      return --left == 0
          ? new Outcome.Unavailable<>("on purpose")
          : super.read(of, inGeneration, from, maxBytes);
    }
  }

  @Test
  void compactionThatWasCutOffIsDoneAgainWithTheSameResult() {
    append(add(), retry(1), retry(2));
    stage(ALL);
    Compaction.Staged again = stage(ALL);
    publish(again);
    List<String> published = texts(operations());

    compact(ALL);

    assertThat(texts(operations())).isEqualTo(published).hasSize(3);
    assertThat(errors(JOB)).isEqualTo(errors(1, 2));
  }

  @Test
  void loadKnowsWhatAttemptsTakeSoThatTheyAreNoReasonToCompact() {
    append(add(), retry(1), retry(2), retry(2));
    long expected = (long) retry(1).frameBytes() + retry(2).frameBytes();
    assertThat(pastBytes()).isEqualTo(expected);

    compact(false);

    assertThat(pastBytes()).isEqualTo(expected);
    append(dead(3));
    assertThat(pastBytes()).isZero();
  }

  private long pastBytes() {
    ShardLoad<NodeJob> load = ShardLoad.read(store, NodeJob::new, shard, generation, tail);
    assertThat(load).isInstanceOf(ShardLoad.Folded.class);
    return ((ShardLoad.Folded<NodeJob>) load).pastBytes();
  }
}
