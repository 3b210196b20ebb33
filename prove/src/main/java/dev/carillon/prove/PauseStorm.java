package dev.carillon.prove;

import dev.carillon.Carillon;
import dev.carillon.api.ControlResult;
import dev.carillon.api.JobId;
import dev.carillon.api.PauseMode;
import dev.carillon.api.error.CarillonException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Pauses and resumes workflows that its process has scheduled, over and over, each by one thread of
 * several: some in their own time, some at once. A kill may leave one paused.
 */
final class PauseStorm {
  private static final int THREADS = 3;
  private static final int LEAST_MILLIS = 150;
  private static final int MOST_MILLIS = 600;
  private static final int BETWEEN_MILLIS = 30;

  private final Carillon carillon;
  private final Consumer<String> tell;
  private final List<Target> targets = new ArrayList<>();

  private record Target(int number, JobId id) {}

  PauseStorm(Carillon carillon, Consumer<String> tell) {
    this.carillon = carillon;
    this.tell = tell;
  }

  void start() {
    for (int i = 0; i < THREADS; i++) {
      Thread.ofPlatform().name("storm-" + i).daemon().start(this::blow);
    }
  }

  /** It may pause this workflow from now on. */
  synchronized void add(int number, JobId id) {
    targets.add(new Target(number, id));
  }

  /** One that has just been scheduled is under way: of two, the later. Nobody else has it then. */
  private synchronized @Nullable Target take() {
    ThreadLocalRandom random = ThreadLocalRandom.current();
    if (targets.isEmpty()) {
      return null;
    }
    int place = Math.max(random.nextInt(targets.size()), random.nextInt(targets.size()));
    return targets.remove(place);
  }

  private void blow() {
    try {
      while (true) {
        Target target = take();
        if (target != null && pauseAndResume(target)) {
          add(target.number(), target.id());
        }
        TimeUnit.MILLISECONDS.sleep(BETWEEN_MILLIS);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /** Whether it goes on. */
  private boolean pauseAndResume(Target target) throws InterruptedException {
    ThreadLocalRandom random = ThreadLocalRandom.current();
    PauseMode mode = random.nextBoolean() ? PauseMode.NOW : PauseMode.AFTER_STEPS;
    try {
      if (carillon.pause(target.id(), "storm", mode) == ControlResult.DONE) {
        tell.accept("P " + target.number() + " " + System.currentTimeMillis());
        TimeUnit.MILLISECONDS.sleep(random.nextInt(LEAST_MILLIS, MOST_MILLIS));
      }
    } catch (CarillonException e) {
      // it may be paused all the same, and is resumed
    }
    return resume(carillon, tell, target.number(), target.id());
  }

  /** Resumes a workflow until the store says that it is; false where it has ended. */
  static boolean resume(Carillon carillon, Consumer<String> tell, int number, JobId id)
      throws InterruptedException {
    tell.accept("R " + number + " " + System.currentTimeMillis());
    while (true) {
      try {
        return carillon.resume(id) == ControlResult.DONE;
      } catch (CarillonException e) {
        TimeUnit.MILLISECONDS.sleep(BETWEEN_MILLIS);
      }
    }
  }
}
