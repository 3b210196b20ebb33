package dev.carillon;

import static dev.carillon.Types.LENGTH;
import static dev.carillon.Types.LONG;
import static dev.carillon.Types.NOTE;
import static org.assertj.core.api.Assertions.assertThat;

import dev.carillon.api.JobInfo;
import dev.carillon.api.JobQuery;
import dev.carillon.api.JobState;
import dev.carillon.api.Page;
import dev.carillon.api.schedule.Schedule;
import dev.carillon.store.ForwardingStore;
import dev.carillon.store.MemoryStore;
import dev.carillon.store.Outcome;
import dev.carillon.store.Store;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Lists of jobs that have not ended, by their names. */
@Timeout(60)
class NamedListTest {
  private static final JobQuery NAMED =
      JobQuery.all()
          .namespace("default")
          .namePrefix("")
          .states(Arrays.stream(JobState.values()).filter(state -> !state.ended()).toList());

  @TempDir Path folder;

  private static List<JobInfo> all(Carillon carillon, JobQuery query) {
    List<JobInfo> found = new ArrayList<>();
    String cursor = null;
    do {
      Page<JobInfo> page = carillon.list(query.cursor(cursor));
      assertThat(page.unreadable()).isEmpty();
      found.addAll(page.items());
      cursor = page.next();
    } while (cursor != null);
    return found;
  }

  private static List<String> names(Carillon carillon, JobQuery query) {
    List<String> names = all(carillon, query).stream().map(JobInfo::name).toList();
    assertThat(all(carillon, query.limit(1)).stream().map(JobInfo::name)).isEqualTo(names);
    assertThat(all(carillon, query.within(Duration.ofNanos(1))).stream().map(JobInfo::name))
        .isEqualTo(names);
    return names;
  }

  @ParameterizedTest
  @EnumSource
  void liveJobsComeByNameWithoutThoseThatEndedAndThoseWithoutName(Place.Kind kind)
      throws Exception {
    Place place = new Place(kind, folder);
    try (Carillon carillon = place.open()) {
      Gate gate = new Gate();
      carillon.handle(
          LENGTH,
          (text, job) -> {
            if (text.equals("wait")) {
              gate.pass();
            }
            return text.length();
          });
      carillon.schedule(LENGTH.job("wait").named("runs").queue("q2"));
      gate.awaitReached();
      carillon.schedule(NOTE.job("far").named("b/far").in(Duration.ofDays(300)));
      carillon.schedule(NOTE.job("near").named("b/near").in(Duration.ofMinutes(30)));
      carillon.schedule(NOTE.job("no handler").named("c"));
      carillon.schedule(NOTE.job("each").named("a").on(Schedule.every(Duration.ofDays(1))));
      carillon.pause(
          carillon.schedule(NOTE.job("paused").named("p").in(Duration.ofDays(3))).id(), "");
      carillon.schedule(NOTE.job("other").named("a").namespace("other").in(Duration.ofDays(1)));
      carillon.schedule(NOTE.job("cancelled").named("x").in(Duration.ofDays(3))).cancel("");
      carillon.schedule(LENGTH.job("done").named("y").key("y")).result(LONG);
      for (int i = 0; i < 40; i++) {
        carillon.schedule(NOTE.job("nameless").in(Duration.ofDays(i)));
      }

      assertThat(names(carillon, NAMED)).containsExactly("a", "b/far", "b/near", "c", "p", "runs");
      assertThat(names(carillon, NAMED.namePrefix("b/"))).containsExactly("b/far", "b/near");
      assertThat(names(carillon, NAMED.namePrefix("d"))).isEmpty();
      assertThat(names(carillon, NAMED.queue("q2"))).containsExactly("runs");
      assertThat(names(carillon, NAMED.namespace("other"))).containsExactly("a");
      assertThat(names(carillon, NAMED.states(JobState.RUNNING))).containsExactly("runs");
      assertThat(names(carillon, NAMED.states(JobState.PAUSED))).containsExactly("p");
      assertThat(names(carillon, NAMED.states(JobState.BLOCKED))).containsExactly("c");
      gate.open();
    }
    try (Carillon carillon = place.open()) {
      assertThat(names(carillon, NAMED.namePrefix("b/"))).containsExactly("b/far", "b/near");
      assertThat(names(carillon, NAMED.states(JobState.PAUSED))).containsExactly("p");
      assertThat(names(carillon, NAMED.namePrefix("y"))).isEmpty();
      assertThat(all(carillon, NAMED.namePrefix("a")).getFirst().recurring()).isNotNull();
    }
  }

  @ParameterizedTest
  @EnumSource
  void pagesHaveEveryNameOnceWhileOthersComeAndGo(Place.Kind kind) {
    try (Carillon carillon = new Place(kind, folder).open()) {
      List<String> throughout = new ArrayList<>();
      for (int i = 0; i < 100; i++) {
        throughout.add("job-%03d".formatted(i));
        carillon.schedule(
            NOTE.job("stays").named(throughout.getLast()).in(Duration.ofHours(7L * i)));
        carillon.schedule(NOTE.job("goes").named("job-%03d-".formatted(i)).in(Duration.ofDays(i)));
      }

      List<String> listed = new ArrayList<>();
      String cursor = null;
      int pages = 0;
      do {
        Page<JobInfo> page = carillon.list(NAMED.limit(7).cursor(cursor));
        page.items().forEach(info -> listed.add(info.name()));
        cursor = page.next();
        carillon
            .get("default", "job-%03d-".formatted(99 - pages))
            .ifPresent(job -> carillon.cancel(job.id()));
        carillon.schedule(NOTE.job("new").named("new-" + pages).in(Duration.ofDays(1)));
        pages++;
        assertThat(pages).isLessThan(100);
      } while (cursor != null);

      assertThat(listed).doesNotHaveDuplicates().isSorted().containsAll(throughout);
    }
  }

  @Test
  void onlyShardsWithSuchJobsAreRead() {
    CountingStore store = new CountingStore(new MemoryStore());
    try (Carillon carillon = Carillon.builder().store(store).daemon(true).open()) {
      for (int i = 0; i < 200; i++) {
        carillon.schedule(NOTE.job("nameless").in(Duration.ofDays(3 + i)));
      }
      for (int i = 0; i < 20; i++) {
        carillon.schedule(NOTE.job("x").named("job-" + i).in(Duration.ofDays(100).plusHours(1)));
      }
      int before = store.reads.get();

      assertThat(all(carillon, NAMED)).hasSize(20);

      assertThat(store.reads.get() - before).isBetween(1, 3);
    }
  }

  /** Counts what is read of journals. */
  private static final class CountingStore extends ForwardingStore {
    final AtomicInteger reads = new AtomicInteger();

    CountingStore(Store store) {
      super(store);
    }

    @Override
    protected <T> Outcome<T> around(Operation operation, Supplier<Outcome<T>> next) {
      if (operation == Operation.READ) {
        reads.incrementAndGet();
      }
      return next.get();
    }
  }
}
