package dev.carillon;

import static dev.carillon.Types.LENGTH;
import static dev.carillon.Types.LONG;
import static dev.carillon.Types.NOTE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.carillon.api.JobHandle;
import dev.carillon.api.JobId;
import dev.carillon.api.JobState;
import dev.carillon.api.error.JobNotFoundException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

@Timeout(60)
class WatchTest {
  @TempDir Path folder;

  @ParameterizedTest
  @EnumSource
  void watcherSeesTheEndAndOthersAreNotDisturbedByItsErrors(Place.Kind kind) throws Exception {
    try (Carillon carillon = new Place(kind, folder).open()) {
      BlockingQueue<JobState> states = new LinkedBlockingQueue<>();
      Gate gate = new Gate();
      carillon.handle(
          LENGTH,
          (text, job) -> {
            gate.pass();
            return text.length();
          });
      JobHandle<Integer> handle = carillon.schedule(LENGTH.job("abc"));
      gate.awaitReached();
      handle.watch(
          info -> {
            throw new IllegalStateException("watcher");
          });
      handle.watch(info -> states.add(info.state()));

      assertThat(states.poll(20, TimeUnit.SECONDS)).isEqualTo(JobState.RUNNING);
      gate.open();
      assertThat(states.poll(20, TimeUnit.SECONDS)).isEqualTo(JobState.SUCCEEDED);

      BlockingQueue<JobState> late = new LinkedBlockingQueue<>();
      handle.watch(info -> late.add(info.state()));
      assertThat(late.poll(20, TimeUnit.SECONDS)).isEqualTo(JobState.SUCCEEDED);
    }
  }

  @ParameterizedTest
  @EnumSource
  void unknownJobIsNotFound(Place.Kind kind) {
    try (Carillon carillon = new Place(kind, folder).open()) {
      String near = carillon.schedule(NOTE.job("x").in(Duration.ofDays(2))).id().value();
      JobId neverWas = new JobId(near.substring(0, near.length() - 1) + "v");

      assertThatThrownBy(() -> carillon.watch(neverWas, info -> {}))
          .isInstanceOf(JobNotFoundException.class)
          .hasMessageContaining(neverWas.value());
    }
  }

  @ParameterizedTest
  @EnumSource
  void endOfAJobOfAnEarlierProcessIsToldOnce(Place.Kind kind) throws Exception {
    Place place = new Place(kind, folder);
    JobId id;
    try (Carillon carillon = place.open()) {
      JobHandle<Void> handle = carillon.schedule(NOTE.job("x").in(Duration.ofDays(2)));
      handle.cancel("not needed");
      id = handle.id();
    }
    try (Carillon carillon = place.open()) {
      BlockingQueue<JobState> states = new LinkedBlockingQueue<>();
      carillon.watch(id, info -> states.add(info.state()));
      assertThat(states.poll(20, TimeUnit.SECONDS)).isEqualTo(JobState.CANCELLED);

      // Asked after it, and told after it if there were anything more to tell.
      carillon.handle(LENGTH, (text, job) -> text.length());
      carillon.schedule(LENGTH.job("abc")).result(LONG);
      assertThat(states).isEmpty();
    }
  }
}
