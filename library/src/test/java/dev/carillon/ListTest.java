package dev.carillon;

import static dev.carillon.Types.LENGTH;
import static dev.carillon.Types.LONG;
import static dev.carillon.Types.NOTE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.carillon.api.JobHandle;
import dev.carillon.api.JobId;
import dev.carillon.api.JobInfo;
import dev.carillon.api.JobQuery;
import dev.carillon.api.JobState;
import dev.carillon.api.Page;
import dev.carillon.api.error.InvalidArgumentException;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

@Timeout(60)
class ListTest {
  @TempDir Path folder;

  private static List<JobInfo> all(Carillon carillon, JobQuery query) {
    List<JobInfo> found = new ArrayList<>();
    String cursor = null;
    do {
      Page<JobInfo> page = carillon.list(query.cursor(cursor));
      found.addAll(page.items());
      cursor = page.next();
    } while (cursor != null);
    return found;
  }

  @ParameterizedTest
  @EnumSource
  void jobsAreFoundByEveryCondition(Place.Kind kind) throws Exception {
    try (Carillon carillon = new Place(kind, folder).open()) {
      Instant base = Instant.parse("2040-01-01T00:00:00Z");
      Gate gate = new Gate();
      carillon.handle(
          LENGTH,
          (text, job) -> {
            gate.pass();
            return 1;
          });
      JobId running = carillon.schedule(LENGTH.job("r").queue("q2")).id();
      gate.awaitReached();
      JobId one = carillon.schedule(NOTE.job("1").at(base).named("a/one").namespace("ns")).id();
      JobId two = carillon.schedule(NOTE.job("2").at(base.plusSeconds(60)).named("b")).id();
      JobHandle<Void> cancelled = carillon.schedule(NOTE.job("3").at(base.plusSeconds(90)));
      cancelled.cancel("");
      JobId three = cancelled.id();
      JobId noHandler = carillon.schedule(NOTE.job("4")).id();

      assertThat(ids(carillon, JobQuery.all()))
          .containsExactlyInAnyOrder(running, one, two, three, noHandler);
      assertThat(ids(carillon, JobQuery.all().type("length"))).containsExactly(running);
      assertThat(ids(carillon, JobQuery.all().namespace("ns"))).containsExactly(one);
      assertThat(ids(carillon, JobQuery.all().queue("q2"))).containsExactly(running);
      assertThat(ids(carillon, JobQuery.all().namePrefix("a/"))).containsExactly(one);
      assertThat(ids(carillon, JobQuery.all().namePrefix(""))).containsExactlyInAnyOrder(one, two);
      assertThat(ids(carillon, JobQuery.all().states(JobState.RUNNING))).containsExactly(running);
      assertThat(ids(carillon, JobQuery.all().states(JobState.CANCELLED))).containsExactly(three);
      assertThat(ids(carillon, JobQuery.all().states(JobState.SCHEDULED)))
          .containsExactlyInAnyOrder(one, two);
      assertThat(ids(carillon, JobQuery.all().states(JobState.BLOCKED, JobState.CANCELLED)))
          .containsExactlyInAnyOrder(three, noHandler);
      assertThat(ids(carillon, JobQuery.all().dueFrom(base.plusSeconds(60))))
          .containsExactlyInAnyOrder(two, three);
      assertThat(
              ids(carillon, JobQuery.all().dueFrom(base).dueTo(base.plusSeconds(90)).type("note")))
          .containsExactlyInAnyOrder(one, two);
      assertThat(ids(carillon, JobQuery.all().dueTo(base)))
          .containsExactlyInAnyOrder(running, noHandler);
      gate.open();
    }
  }

  private static List<JobId> ids(Carillon carillon, JobQuery query) {
    List<JobId> ids = all(carillon, query).stream().map(JobInfo::id).toList();
    assertThat(all(carillon, query.limit(1)).stream().map(JobInfo::id)).isEqualTo(ids);
    return ids;
  }

  @ParameterizedTest
  @EnumSource
  void pagesHaveEveryJobOnceWhileOthersComeAndGo(Place.Kind kind) {
    try (Carillon carillon = new Place(kind, folder).open()) {
      carillon.handle(LENGTH, (text, job) -> 1);
      Set<JobId> throughout = new HashSet<>();
      List<JobHandle<Void>> leaving = new ArrayList<>();
      for (int i = 0; i < 300; i++) {
        throughout.add(carillon.schedule(NOTE.job("x").in(Duration.ofHours(1 + 5 * i))).id());
        leaving.add(carillon.schedule(NOTE.job("x").in(Duration.ofHours(1 + 5 * i))));
      }

      List<JobId> listed = new ArrayList<>();
      String cursor = null;
      int pages = 0;
      do {
        Page<JobInfo> page =
            carillon.list(JobQuery.all().states(JobState.SCHEDULED).limit(7).cursor(cursor));
        page.items().forEach(info -> listed.add(info.id()));
        cursor = page.next();
        pages++;
        leaving.removeLast().cancel("");
        carillon.schedule(NOTE.job("new").in(Duration.ofHours(pages)));
        carillon.schedule(LENGTH.job("done"));
        assertThat(pages).isLessThan(250);
      } while (cursor != null);

      assertThat(listed).doesNotHaveDuplicates().containsAll(throughout);
    }
  }

  @ParameterizedTest
  @EnumSource
  void orderIsTheSameEachTimeAndAfterARestart(Place.Kind kind) {
    Place place = new Place(kind, folder);
    List<JobId> first;
    try (Carillon carillon = place.open()) {
      carillon.handle(LENGTH, (text, job) -> 1);
      for (int i = 0; i < 50; i++) {
        carillon.schedule(LENGTH.job("x")).result(LONG);
        carillon.schedule(NOTE.job("x").in(Duration.ofDays(i)));
      }
      first = all(carillon, JobQuery.all().limit(9)).stream().map(JobInfo::id).toList();
      assertThat(first).hasSize(100);
    }
    try (Carillon carillon = place.open()) {
      assertThat(all(carillon, JobQuery.all()).stream().map(JobInfo::id)).isEqualTo(first);
    }
  }

  @ParameterizedTest
  @EnumSource
  void cursorThatNoPageGaveIsRefused(Place.Kind kind) {
    try (Carillon carillon = new Place(kind, folder).open()) {
      for (String cursor : List.of("", "x", "1-", "1-0000", "nonsense")) {
        assertThatThrownBy(() -> carillon.list(JobQuery.all().cursor(cursor)))
            .isInstanceOf(InvalidArgumentException.class)
            .hasMessageContaining("cursor");
      }
    }
  }
}
