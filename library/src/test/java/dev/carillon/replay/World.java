package dev.carillon.replay;

import static org.assertj.core.api.Assertions.assertThat;

import dev.carillon.api.JobState;
import dev.carillon.engine.environment.AttemptOutcome;
import dev.carillon.engine.environment.AttemptOutcome.Verdict;
import dev.carillon.engine.environment.AttemptOutcome.Waiting;
import dev.carillon.engine.environment.AttemptOutcome.WorkflowFailed;
import dev.carillon.engine.job.HistoryEntry;
import dev.carillon.engine.job.HistoryEntry.CancelRequested;
import dev.carillon.engine.job.HistoryEntry.ChildEnded;
import dev.carillon.engine.job.HistoryEntry.ChildStarted;
import dev.carillon.engine.job.HistoryEntry.GivenUp;
import dev.carillon.engine.job.HistoryEntry.Signalled;
import dev.carillon.engine.job.WorkflowWait;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;

/** What happens to a workflow from outside, made from a seed, until it has ended. */
final class World {
  private static final int MOST_ACTIVATIONS = 500;

  private final Journal journal;
  private final SplittableRandom random;
  private final boolean keepsThreads;
  private int signals;

  /**
   * A world.
   *
   * @param keepsThreads whether parked threads go on, or the code runs again after every wait
   */
  World(Journal journal, long seed, boolean keepsThreads) {
    this.journal = journal;
    this.random = new SplittableRandom(seed);
    this.keepsThreads = keepsThreads;
  }

  /** Now and then something also comes between the code and its journal. */
  World withNewsBeside() {
    journal.beforeCheckpoint(this::besideTheCode);
    return this;
  }

  /** Now and then something comes between the code and its journal. */
  private void besideTheCode() {
    switch (random.nextInt(30)) {
      case 0 -> journal.arrives(signal(random.nextBoolean() ? "even" : "odd"));
      case 1 -> {
        if (random.nextInt(4) == 0) {
          journal.arrives(new CancelRequested(journal.wallMicros(), "beside"));
        }
      }
      default -> {}
    }
  }

  private Signalled signal(String type) {
    byte[] payload = Integer.toString(++signals).getBytes(java.nio.charset.StandardCharsets.UTF_8);
    return new Signalled(journal.wallMicros(), type, "", payload);
  }

  /** Plays until the workflow has ended; says how. */
  AttemptOutcome play() {
    AttemptOutcome outcome = journal.begin();
    for (int i = 0; i < MOST_ACTIVATIONS; i++) {
      switch (outcome) {
        case Waiting waiting -> {
          journal.write(waiting.turn());
          comes(waiting.waitFor());
          outcome = keepsThreads ? journal.resume() : again();
        }
        case WorkflowFailed failed when failed.verdict() instanceof Verdict.ByPolicy -> {
          journal.write(failed.turn());
          outcome = journal.begin();
        }
        case WorkflowFailed failed when failed.compensations() -> {
          journal.write(failed.turn());
          journal.happens(new GivenUp(journal.wallMicros(), JobState.DEAD, null, failed.error()));
          outcome = journal.begin();
        }
        default -> {
          return outcome;
        }
      }
    }
    throw new AssertionError("the workflow does not end");
  }

  private AttemptOutcome again() {
    journal.run().unwind("evicted");
    return journal.begin();
  }

  private void comes(WorkflowWait wait) {
    int chance = random.nextInt(40);
    if (chance == 0) {
      journal.happens(new CancelRequested(journal.wallMicros(), "at a wait"));
    } else if (chance == 1) {
      journal.happens(new GivenUp(journal.wallMicros(), JobState.EXPIRED, "late", null));
    } else if (chance < 5) {
      journal.happens(signal(random.nextBoolean() ? "even" : "odd"));
    } else {
      comesWhatIsAwaited(wait);
    }
  }

  private void comesWhatIsAwaited(WorkflowWait wait) {
    List<Runnable> choices = new ArrayList<>();
    if (wait.untilMicros() != WorkflowWait.FOR_EVER) {
      choices.add(() -> journal.passTo(wait.untilMicros() + random.nextInt(3)));
    }
    for (WorkflowWait.AwaitedSignal awaited : wait.signals()) {
      choices.add(() -> journal.happens(signal(awaited.type())));
    }
    for (int child : wait.children()) {
      choices.add(() -> childEnds(child));
    }
    if (choices.isEmpty()) {
      journal.happens(new CancelRequested(journal.wallMicros(), "nothing is awaited"));
    } else {
      choices.get(random.nextInt(choices.size())).run();
      journal.pass(Duration.ofMillis(random.nextInt(3)));
    }
  }

  private void childEnds(int call) {
    boolean started = false;
    boolean ended = false;
    for (HistoryEntry entry : journal.entries()) {
      started |= entry instanceof ChildStarted child && child.call() == call;
      ended |= entry instanceof ChildEnded child && child.call() == call;
    }
    assertThat(started).as("child " + call).isTrue();
    if (!ended) {
      boolean well = random.nextInt(4) != 0;
      journal.childEnds(call, well ? JobState.SUCCEEDED : JobState.DEAD, "child " + call);
    }
  }
}
