package dev.carillon.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.carillon.api.ControlResult;
import dev.carillon.api.JobState;
import dev.carillon.api.error.StoreVersionException;
import dev.carillon.api.schedule.Schedule;
import dev.carillon.engine.environment.Membership;
import dev.carillon.engine.environment.NodeOptions;
import dev.carillon.engine.format.DamagedException;
import dev.carillon.engine.format.Frame;
import dev.carillon.engine.format.Kind;
import dev.carillon.engine.format.Micros;
import dev.carillon.engine.format.UnknownFormatException;
import dev.carillon.engine.job.JobRef;
import dev.carillon.engine.member.ClusterFormat;
import dev.carillon.engine.member.Formats;
import dev.carillon.engine.member.Heartbeat;
import dev.carillon.engine.member.Members;
import dev.carillon.engine.member.Upgrade;
import dev.carillon.engine.query.JobReader;
import dev.carillon.store.Entry;
import dev.carillon.store.Head;
import dev.carillon.store.MemoryStore;
import dev.carillon.store.Outcome;
import dev.carillon.store.Records.Stamp;
import dev.carillon.store.Records.Stored;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;

/** Nodes of two versions of the code on one store; the newer one knows {@link SecondFormat} too. */
class MixedFleetTest {
  private static final Duration STEP = Duration.ofMillis(100);
  private static final Duration DEAD_WITHIN = Duration.ofMillis(3600);

  private final MemoryStore store = new MemoryStore(this::trueMicros);
  private final List<StillWorld> running = new ArrayList<>();
  private Duration passed = Duration.ZERO;
  private long incarnations;

  private long trueMicros() {
    return StillWorld.FIRST_MICROS + Micros.ceil(passed);
  }

  private StillWorld old(String id) {
    return node(id, Formats.shipped());
  }

  private StillWorld upgraded(String id) {
    return node(id, SecondFormat.formats());
  }

  private StillWorld node(String id, Formats formats) {
    NodeOptions options = NodeOptions.of(id, ++incarnations).among(Membership.standard());
    StillWorld world = new StillWorld(options, store, formats);
    world.pass(passed);
    world.settle();
    running.add(world);
    return world;
  }

  private void kill(StillWorld world) {
    running.remove(world);
  }

  private void stop(StillWorld world) {
    world.node().beginStop();
    world.settle();
    world.node().release(() -> {});
    world.settle();
    running.remove(world);
  }

  private void pass(Duration time) {
    for (Duration left = time; left.isPositive(); left = left.minus(STEP)) {
      passed = passed.plus(STEP);
      for (StillWorld world : running) {
        world.pass(STEP);
        world.settle();
      }
    }
  }

  private static JobRef addDueIn(StillWorld world, Duration delay) {
    return world.add(world.spec(world.nowMicros() + Micros.ceil(delay), 0, 0, new byte[] {7}));
  }

  /** As a version sees it that reads everything. */
  private JobState stateOf(JobRef job) {
    return new JobReader(SecondFormat.formats().over(store))
        .find(job)
        .orThrow()
        .orElseThrow()
        .view()
        .info()
        .state();
  }

  /** The versions of all operations in the store. */
  private Set<Integer> versions() {
    Set<Integer> versions = new TreeSet<>();
    for (Head head : store.journals().listById(null, 1000).orThrow()) {
      versions.addAll(versionsIn(head));
    }
    return versions;
  }

  private Set<Integer> versionsIn(Head head) {
    Set<Integer> versions = new TreeSet<>();
    for (Entry entry :
        store
            .journals()
            .read(head.shard(), head.generation(), 1, Integer.MAX_VALUE)
            .orThrow()
            .entries()) {
      Frame.translated(
          entry.data(),
          0,
          Integer.MAX_VALUE,
          (version, body) -> {
            versions.add(version);
            return body;
          });
    }
    return versions;
  }

  private int format() {
    return ClusterFormat.read(store.records().get(ClusterFormat.KEY).orThrow().orElseThrow());
  }

  private Upgrade.Standing standing() {
    return standing(SecondFormat.formats());
  }

  private Upgrade.Standing standing(Formats formats) {
    Upgrade upgrade = new Upgrade(formats);
    upgrade.look(store).orThrow();
    pass(Membership.standard().heartbeatInterval().multipliedBy(3));
    return upgrade.standing(store).orThrow();
  }

  private boolean finish() {
    return new Upgrade(SecondFormat.formats())
        .finish(store, standing(), new Stamp(99, ++incarnations))
        .orThrow();
  }

  private int finishAll(StillWorld world) {
    int finished = 0;
    while (world.finishOne() != null) {
      finished++;
    }
    return finished;
  }

  @Test
  void newClusterStartsAtTheNewestFormat() {
    StillWorld a = upgraded("a");
    pass(Duration.ofSeconds(1));
    JobRef job = addDueIn(a, Duration.ofSeconds(1));
    assertThat(format()).isEqualTo(SecondFormat.NUMBER);
    assertThat(versions()).containsExactly(SecondFormat.NUMBER);
    pass(Duration.ofSeconds(2));
    assertThat(finishAll(a)).isEqualTo(1);
    assertThat(stateOf(job)).isEqualTo(JobState.SUCCEEDED);
  }

  @Test
  void newerNodeWritesTheOldFormatAndNothingIsLostInEitherDirection() {
    StillWorld a = old("a");
    pass(Duration.ofSeconds(1));
    StillWorld b = upgraded("b");
    pass(Duration.ofSeconds(3));
    List<JobRef> jobs = new ArrayList<>();
    jobs.add(addDueIn(a, Duration.ofSeconds(1)));
    JobRef far = addDueIn(b, Duration.ofDays(2));
    jobs.add(addDueIn(b, Duration.ofMinutes(1)));
    kill(a);
    pass(DEAD_WITHIN); // the newer one takes over from the older
    assertThat(finishAll(b)).isEqualTo(1);
    StillWorld again = old("a");
    pass(Duration.ofSeconds(3));
    jobs.add(addDueIn(again, Duration.ofSeconds(90)));
    kill(b);
    pass(Duration.ofMinutes(2)); // and the older one from the newer
    assertThat(finishAll(again)).isEqualTo(2);
    assertThat(jobs).allMatch(job -> stateOf(job) == JobState.SUCCEEDED);
    assertThat(stateOf(far)).isEqualTo(JobState.SCHEDULED);
    assertThat(format()).isEqualTo(Formats.OLDEST);
    assertThat(versions()).containsExactly(Formats.OLDEST);
    assertThat(again.reports()).isEmpty();
  }

  @Test
  void requestsNamesAndRecurringJobsPassBetweenVersions() {
    StillWorld a = old("a");
    StillWorld b = upgraded("b");
    pass(Duration.ofSeconds(3));
    JobRef job = addDueIn(b, Duration.ofHours(1));
    List<ControlResult> results = new ArrayList<>();
    a.pause(job, "audit", outcome -> results.add(outcome.orThrow()));
    pass(Duration.ofSeconds(2));
    b.resume(job, outcome -> results.add(outcome.orThrow()));
    pass(Duration.ofSeconds(2));
    assertThat(results).containsExactly(ControlResult.DONE, ControlResult.DONE);
    JobRef named = a.add(a.named("report", a.nowMicros() + 3_600_000_000L, new byte[] {1}));
    List<JobRef> replaced = b.ask(b.named("report", b.nowMicros() + 1_000_000, new byte[] {2}));
    pass(Duration.ofSeconds(2));
    assertThat(replaced).containsExactly(named);
    assertThat(finishAll(a)).isEqualTo(1);
    a.add(a.recurring(Schedule.every(Duration.ofSeconds(10)), a.nowMicros() + 1_000_000));
    pass(Duration.ofSeconds(2));
    assertThat(finishAll(a)).isEqualTo(1);
    kill(a);
    pass(Duration.ofSeconds(12));
    assertThat(finishAll(b)).isEqualTo(1);
  }

  @Test
  void upgradeIsNotFinishedWhileSomebodyReadsLess() {
    StillWorld a = old("a");
    upgraded("b");
    pass(Duration.ofSeconds(1));
    assertThat(standing().behind()).containsExactly(new Upgrade.Reader("a", Formats.OLDEST, true));
    stop(a); // it may come back as it was
    assertThat(standing().behind()).containsExactly(new Upgrade.Reader("a", Formats.OLDEST, false));
    assertThatThrownBy(this::finish).isInstanceOf(IllegalStateException.class);
    pass(Membership.standard().forget().plusSeconds(5));
    assertThat(standing().behind()).isEmpty();
    assertThat(finish()).isTrue();
    assertThat(format()).isEqualTo(SecondFormat.NUMBER);
  }

  @Test
  void afterTheUpgradeIsFinishedTheNewFormatIsWrittenAndAnOldNodeRefuses() {
    StillWorld a = old("a");
    StillWorld b = old("b");
    pass(Duration.ofSeconds(1));
    JobRef before = addDueIn(a, Duration.ofMinutes(5));
    stop(a);
    StillWorld newA = upgraded("a");
    pass(Duration.ofSeconds(2));
    stop(b);
    StillWorld newB = upgraded("b");
    pass(Duration.ofSeconds(2));
    JobRef held = addDueIn(newA, Duration.ofMinutes(5));
    assertThat(versions()).containsExactly(Formats.OLDEST);

    assertThat(finish()).isTrue();
    pass(Duration.ofSeconds(1));
    JobRef after = addDueIn(newB, Duration.ofMinutes(5));
    assertThat(versions()).contains(SecondFormat.NUMBER);
    assertThat(newB.reports()).isEmpty();

    StillWorld rolledBack = old("c");
    pass(Duration.ofSeconds(5));
    assertThat(rolledBack.reports()).singleElement().asString().contains("format is 2");
    assertThat(rolledBack.node().stats().shards()).isZero();
    assertThatThrownBy(() -> Formats.shipped().requireReadable(store))
        .isInstanceOf(StoreVersionException.class)
        .hasMessageContaining("2");
    SecondFormat.formats().requireReadable(store);
    assertThat(store.records().list(Heartbeat.PREFIX, null, 100).orThrow())
        .filteredOn(Members::isHeartbeat)
        .noneMatch(heartbeat -> Members.read(heartbeat).nodeId().equals("c"));

    kill(newA);
    pass(Duration.ofMinutes(6));
    assertThat(finishAll(newB)).isEqualTo(3);
    assertThat(List.of(before, held, after)).allMatch(j -> stateOf(j) == JobState.SUCCEEDED);
  }

  @Test
  void nodeThatIsThereWhenTheFormatIsRaisedBeyondItGivesItsShardsAway() {
    StillWorld b = upgraded("b");
    pass(Duration.ofSeconds(1));
    assertThat(format()).isEqualTo(SecondFormat.NUMBER);
    raise(Formats.OLDEST);
    StillWorld a = old("a");
    pass(Duration.ofSeconds(2));
    JobRef job = addDueIn(a, Duration.ofMinutes(2));
    raise(SecondFormat.NUMBER);
    pass(Duration.ofSeconds(3));
    assertThat(a.reports()).singleElement().asString().contains("format is 2");
    assertThat(a.node().stats().shards()).isZero();
    pass(Duration.ofMinutes(3));
    assertThat(a.running()).isEmpty();
    assertThat(finishAll(b)).isEqualTo(1);
    assertThat(stateOf(job)).isEqualTo(JobState.SUCCEEDED);
  }

  private void raise(int format) {
    Stored record = store.records().get(ClusterFormat.KEY).orThrow().orElseThrow();
    assertThat(
            store
                .records()
                .apply(
                    List.of(
                        new dev.carillon.store.Records.Change(
                            ClusterFormat.KEY,
                            record.version(),
                            ClusterFormat.encode(format),
                            new Stamp(98, ++incarnations))))
                .getFirst())
        .isInstanceOf(Outcome.Ok.class);
  }

  @Test
  void shardThatItsNodeCannotReadIsRunByOneThatCan() {
    StillWorld newer = upgraded("a");
    pass(Duration.ofSeconds(1));
    JobRef job = addDueIn(newer, Duration.ofMinutes(2));
    assertThat(versions()).containsExactly(SecondFormat.NUMBER);
    raise(Formats.OLDEST); // as nobody does; so that the old one does not know
    stop(newer);
    StillWorld a = old("a");
    pass(Duration.ofMinutes(4)); // the shard is at home with it
    assertThat(a.running()).isEmpty();
    assertThat(a.reports()).singleElement().asString().contains("refused");
    long epoch = store.journals().head(job.shard()).orThrow().epoch();
    pass(Duration.ofMinutes(2));
    assertThat(store.journals().head(job.shard()).orThrow().epoch())
        .as("claims of a node that cannot read it")
        .isEqualTo(epoch);
    StillWorld c = upgraded("c");
    pass(Duration.ofMinutes(2));
    assertThat(finishAll(c)).isEqualTo(1);
    assertThat(stateOf(job)).isEqualTo(JobState.SUCCEEDED);
    assertThat(a.reports()).hasSize(1);
  }

  @Test
  void damageIsFoundThroughEitherFormat() {
    Formats formats = SecondFormat.formats();
    formats.writes(SecondFormat.NUMBER);
    byte[] entry = Frame.encode(List.of(Frame.of(Kind.SAVE, 5, new byte[] {1, 2, 3})));
    byte[] written = formats.entryWritten(entry);
    assertThat(formats.entryRead(written)).isEqualTo(entry);
    assertThatThrownBy(() -> Frame.decode(written)).isInstanceOf(UnknownFormatException.class);
    for (int i = 0; i < written.length; i++) {
      byte[] damaged = written.clone();
      damaged[i] ^= 0x10;
      assertThatThrownBy(() -> Frame.decode(formats.entryRead(damaged)))
          .as("byte %s", i)
          .isInstanceOf(DamagedException.class);
    }
  }
}
