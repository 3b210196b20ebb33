package dev.carillon;

import static dev.carillon.Types.LENGTH;
import static dev.carillon.Types.LONG;
import static dev.carillon.Types.NOTE;
import static org.assertj.core.api.Assertions.assertThat;

import dev.carillon.api.CancelResult;
import dev.carillon.api.IfExists;
import dev.carillon.api.JobHandle;
import dev.carillon.api.JobId;
import dev.carillon.api.JobQuery;
import dev.carillon.api.JobState;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Everything at once, from many threads: each answer is true and nothing runs twice. */
@Timeout(120)
class ManyCallersTest {
  private static final int CALLERS = 12;
  private static final int ROUNDS = 60;

  @TempDir Path folder;

  private final Map<JobId, Integer> runs = new ConcurrentHashMap<>();
  private final Set<JobId> cancelled = ConcurrentHashMap.newKeySet();

  @ParameterizedTest
  @EnumSource
  void answersAreTrueAndJobsRunOnce(Place.Kind kind) throws Exception {
    Place place = new Place(kind, folder);
    try (Carillon carillon = place.open();
        ExecutorService callers = Executors.newVirtualThreadPerTaskExecutor()) {
      carillon.handle(
          LENGTH,
          (text, job) -> {
            runs.merge(job.id(), 1, Integer::sum);
            return text.length();
          });
      carillon.handle(NOTE, (text, job) -> runs.merge(job.id(), 1, Integer::sum));
      List<Future<Integer>> done = new ArrayList<>();
      for (int i = 0; i < CALLERS; i++) {
        int caller = i;
        Callable<Integer> rounds = () -> rounds(carillon, caller);
        done.add(callers.submit(rounds));
      }
      int jobs = 0;
      for (Future<Integer> one : done) {
        jobs += one.get(100, TimeUnit.SECONDS);
      }
      assertThat(runs.values()).containsOnly(1);
      assertThat(cancelled).allSatisfy(id -> assertThat(runs).doesNotContainKey(id));
      int listed = 0;
      String cursor = null;
      do {
        var page = carillon.list(JobQuery.all().limit(500).cursor(cursor));
        listed += page.items().size();
        cursor = page.next();
      } while (cursor != null);
      assertThat(listed).isEqualTo(jobs);
    }
    try (Carillon carillon = place.open()) {
      for (JobId id : cancelled) {
        assertThat(carillon.get(id).orElseThrow().state()).isEqualTo(JobState.CANCELLED);
      }
    }
  }

  /** Returns how many jobs it made. */
  private int rounds(Carillon carillon, int caller) throws Exception {
    int made = 0;
    for (int round = 0; round < ROUNDS; round++) {
      switch (round % 5) {
        case 0 -> {
          assertThat(carillon.schedule(LENGTH.job("abc")).result(LONG)).isEqualTo(3);
          made++;
        }
        case 1 -> {
          assertThat(
                  carillon
                      .scheduleAsync(LENGTH.job("abcd").in(Duration.ofMillis(5)))
                      .get(60, TimeUnit.SECONDS)
                      .resultAsync()
                      .get(60, TimeUnit.SECONDS))
              .isEqualTo(4);
          made++;
        }
        case 2 -> {
          JobHandle<Void> later = carillon.schedule(NOTE.job("x").in(Duration.ofHours(2)));
          assertThat(later.cancel("no")).isEqualTo(new CancelResult.Cancelled());
          cancelled.add(later.id());
          made++;
        }
        case 3 -> {
          // All callers fight for the same few names.
          JobHandle<Void> named =
              carillon.schedule(NOTE.job("x").named("name" + round % 4).ifExists(IfExists.KEEP));
          made += named.created() ? 1 : 0;
          named.result(LONG);
        }
        default -> {
          List<JobHandle<?>> batch =
              carillon.scheduleAll(
                  List.of(NOTE.job("a"), LENGTH.job("b"), NOTE.job("c").key(caller + "/" + round)));
          for (JobHandle<?> handle : batch) {
            handle.result(LONG);
          }
          made += 3;
        }
      }
    }
    return made;
  }
}
