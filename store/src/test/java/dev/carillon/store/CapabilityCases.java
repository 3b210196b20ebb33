package dev.carillon.store;

import static dev.carillon.store.Workbench.WAKE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import dev.carillon.store.Journals.Resolution;
import dev.carillon.store.StoreInfo.Capability;
import dev.carillon.store.StoreInfo.Durability;
import java.io.IOException;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.awaitility.Awaitility;

/** What a store declares beyond the minimum, it does. */
interface CapabilityCases extends TckCases {

  /** Ends the case as not applicable where the store does not declare {@code capability}. */
  static void needs(TckCases cases, Capability capability) {
    if (!cases.bench().store().info().can(capability)) {
      throw StoreTck.notApplicable(capability + " is not declared");
    }
  }

  @Case(id = "C01", title = "atomic across journals: one fenced, none written")
  default void oneRefusalLeavesTheWholeGroupOut() {
    needs(this, Capability.ATOMIC_ACROSS_JOURNALS);
    List<JournalWriter> good = new ArrayList<>();
    for (int i = 0; i < 5; i++) {
      JournalWriter writer = bench().create();
      writer.append(i);
      good.add(writer);
    }
    JournalWriter stale = bench().create();
    bench().claim(stale.shard());
    for (int place = 0; place <= good.size(); place++) {
      List<Append> group = new ArrayList<>();
      for (JournalWriter writer : good) {
        group.add(raising(writer));
      }
      group.add(place, raising(stale));
      List<Outcome<Long>> outcomes = bench().bare().journals().append(group, true);
      for (int i = 0; i < group.size(); i++) {
        if (i == place) {
          assertThat(outcomes.get(i)).isEqualTo(new Outcome.Fenced<>(2));
        } else {
          assertThat(outcomes.get(i)).isInstanceOf(Outcome.Unavailable.class);
        }
      }
      good.forEach(bench()::assertHoldsExactly);
      for (JournalWriter writer : good) {
        assertThat(bench().read(writer.shard(), 1)).hasSize((int) writer.tail());
        assertThat(bench().head(writer.shard()).wakeMicros()).isEqualTo(WAKE);
      }
    }
    tck().counted(good.size() + 1);
  }

  private Append raising(JournalWriter writer) {
    return new Append(
        writer.shard(),
        writer.epoch(),
        writer.generation(),
        writer.tail() + 1,
        bench().id(),
        new byte[10],
        WAKE + 100,
        false);
  }

  @Case(id = "C01", title = "atomic across journals: a conflict or a large entry, none written")
  default void anyRefusalLeavesTheWholeGroupOut() {
    needs(this, Capability.ATOMIC_ACROSS_JOURNALS);
    JournalWriter good = bench().create();
    JournalWriter other = bench().create();
    other.append(2);
    Append first = good.next();
    Append second = new Append(good.shard(), 1, 1, 2, bench().id(), new byte[1]);
    Append conflict = new Append(other.shard(), 1, 1, 1, bench().id(), new byte[1]);
    List<Outcome<Long>> outcomes =
        bench().bare().journals().append(List.of(first, conflict, second), true);
    assertThat(outcomes.get(0)).isInstanceOf(Outcome.Unavailable.class);
    assertThat(outcomes.get(1)).isEqualTo(new Outcome.Conflict<>(other.tail()));
    assertThat(outcomes.get(2)).isInstanceOf(Outcome.Unavailable.class);
    int max = bench().store().info().maxEntryBytes();
    Append large = other.next(bench().id(), new byte[max + 1]);
    outcomes = bench().bare().journals().append(List.of(first, second, large), true);
    assertThat(outcomes.get(2)).isEqualTo(new Outcome.TooLarge<>(max));
    assertThat(outcomes.get(0)).isInstanceOf(Outcome.Unavailable.class);
    assertThat(bench().read(good.shard(), 1)).isEmpty();
    bench().assertHoldsExactly(other);
  }

  @Case(id = "C01", title = "atomic across journals: all written, wakes raised")
  default void aGroupWithoutRefusalIsWrittenWhole() {
    needs(this, Capability.ATOMIC_ACROSS_JOURNALS);
    List<JournalWriter> writers = new ArrayList<>();
    for (int i = 0; i < 50; i++) {
      writers.add(bench().create());
    }
    int groups = tck().times(100);
    for (int group = 0; group < groups; group++) {
      List<Append> appends = writers.stream().map(this::raising).toList();
      boolean written = bench().settleTogether(appends).stream().allMatch(Outcome::isOk);
      assertThat(written || bench().isFaulty()).isTrue();
      for (int i = 0; i < writers.size(); i++) {
        if (written) {
          writers.get(i).accept(appends.get(i));
        } else {
          writers.get(i).skip();
        }
      }
    }
    for (JournalWriter writer : writers) {
      bench().assertHoldsExactly(writer);
      assertThat(bench().head(writer.shard()).wakeMicros())
          .isEqualTo(writer.acknowledged().isEmpty() ? WAKE : WAKE + 100);
    }
  }

  @Case(id = "C09", title = "concurrent appends: groups at once, each journal in order")
  default void groupsAtOnceKeepTheOrderOfEachJournal() {
    needs(this, Capability.CONCURRENT_APPENDS);
    int groups = tck().times(400, 40);
    List<List<JournalWriter>> crews =
        List.of(new ArrayList<>(), new ArrayList<>(), new ArrayList<>());
    for (int i = 0; i < 18; i++) {
      crews.get(i % crews.size()).add(bench().create()); // ids of one crew between those of others
    }
    JournalWriter stale = bench().create();
    bench().claim(stale.shard());
    crews.getFirst().add(stale);
    List<Callable<Boolean>> committers = new ArrayList<>();
    for (List<JournalWriter> crew : crews) {
      committers.add(() -> appendGroups(crew, stale, groups));
    }
    assertThat(bench().together(committers)).containsOnly(true);
    for (List<JournalWriter> crew : crews) {
      crew.forEach(bench()::assertHoldsExactly);
      crew.stream()
          .filter(writer -> !writer.equals(stale))
          .forEach(writer -> assertThat(writer.acknowledged()).hasSizeGreaterThan(groups / 2));
    }
    assertThat(bench().read(stale.shard(), 1)).isEmpty();
    tck().counted(groups * crews.size());
  }

  /**
   * As a node commits: an entry of each journal a group, what is unknown resolved before the next.
   */
  private boolean appendGroups(List<JournalWriter> crew, JournalWriter stale, int groups) {
    for (int group = 0; group < groups; group++) {
      List<Append> appends = crew.stream().map(JournalWriter::next).toList();
      List<Outcome<Long>> outcomes = bench().journals().append(appends, false);
      for (int i = 0; i < crew.size(); i++) {
        Append append = appends.get(i);
        JournalWriter writer = crew.get(i);
        boolean isIn = outcomes.get(i).isOk();
        if (outcomes.get(i) instanceof Outcome.Unknown && !writer.equals(stale)) {
          isIn = bench().ok(() -> bench().journals().resolve(append)) == Resolution.COMMITTED;
          if (!isIn) {
            writer.skip();
          }
        }
        if (isIn) {
          writer.accept(append);
        }
      }
    }
    return true;
  }

  @Case(id = "T13", title = "order kept with 16 appends under way (pipelining)")
  default void appendsUnderWayKeepTheirOrder() {
    needs(this, Capability.PIPELINING);
    throw new AssertionError("the first store that declares it brings this case");
  }

  @Case(id = "C02", title = "single process: a second opening is refused, the first goes on")
  default void aSecondOpeningIsRefused() {
    needs(this, Capability.SINGLE_PROCESS);
    JournalWriter writer = bench().create();
    writer.append();
    assertThatThrownBy(() -> tck().opener().open(bench().folder())).isNotNull();
    writer.append();
    bench().assertHoldsExactly(writer);
  }

  @Case(id = "C07", title = "push: a ring is heard by others that have the store open")
  default void aRingIsHeardElsewhere() {
    needs(this, Capability.PUSH);
    Store other = tck().another(bench().bare());
    try {
      List<String> names = HostileNames.all(Doorbells.MAX_NAME_BYTES);
      int count = tck().times(names.size(), 10);
      for (String name : names.subList(names.size() - count, names.size())) {
        AtomicInteger heard = new AtomicInteger();
        try (Doorbells.Listening listening =
            other.doorbells().listen(name, heard::incrementAndGet)) {
          // The first ones may come before the store listens.
          Awaitility.await().until(() -> heardAfterRing(name, heard));
          assertThat(listening).isNotNull();
        }
      }
    } finally {
      if (!other.equals(bench().bare())) {
        other.close();
      }
    }
  }

  private boolean heardAfterRing(String name, AtomicInteger heard) {
    bench().store().doorbells().ring(name);
    return heard.get() > 0;
  }

  @Case(id = "C03", title = "the incarnation names the copy: kept when opened again, never shared")
  default void theIncarnationNamesTheCopy() throws IOException {
    String incarnation = bench().store().incarnation();
    assertThat(incarnation).isNotBlank();
    bench().create().append();
    assertThat(bench().store().incarnation()).isEqualTo(incarnation);
    try (Store other = tck().opener().open(Files.createDirectories(tck().folder("other")))) {
      assertThat(other.incarnation()).isNotEqualTo(incarnation);
    }
    bench().reopen();
    if (bench().store().info().durability() != Durability.LOSSY) {
      assertThat(bench().store().incarnation()).isEqualTo(incarnation);
    }
  }

  @Case(id = "C08", title = "the store's clock goes on, and is the same for all that have it open")
  default void theClockIsOneForAll() {
    long before = bench().store().clockMicros().orThrow();
    Store other = tck().another(bench().bare());
    try {
      long between = other.clockMicros().orThrow();
      long after = bench().store().clockMicros().orThrow();
      assertThat(between).isBetween(before, after);
      long here = TimeUnit.MILLISECONDS.toMicros(System.currentTimeMillis());
      assertThat(after).isCloseTo(here, within(TimeUnit.MINUTES.toMicros(5)));
    } finally {
      if (!other.equals(bench().bare())) {
        other.close();
      }
    }
  }

  @Case(id = "C04", title = "what is declared makes sense")
  default void theDeclarationMakesSense() {
    StoreInfo info = bench().store().info();
    assertThat(info.kind()).matches("[a-z][a-z0-9-]*");
    assertThat(info.maxEntryBytes()).isBetween(1 << 20, info.maxGroupBytes());
    assertThat(info.maxValueBytes()).isGreaterThanOrEqualTo(16 << 10);
    assertThat(info.maxKeyBytes()).isGreaterThanOrEqualTo(1_024);
  }
}
