package dev.carillon.prove;

import dev.carillon.prove.Ledger.Line;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/**
 * Starts a child on the store, lets it work, kills it at a random moment, and again; at last one
 * may end its work. Now and then a child is killed while it is still starting: recovery must
 * survive that too.
 */
final class KillLoop {
  private static final int LEAST_LOAD_MILLIS = 500;
  private static final int MOST_LOAD_MILLIS = 2_000;

  /** A node among others waits for its former self to be dead before it has its shards again. */
  private static final int REJOIN_MILLIS = 2_500;

  private static final int MOST_EARLY_MILLIS = 1_500;
  private static final int START_MILLIS = 60_000;
  private static final int DRAIN_MILLIS = 300_000;
  private static final int CANCELS_FROM_BEFORE = 20;

  /** The incarnations in which jobs may begin that take minutes to fail for good. */
  private static final int EXHAUSTING = 3;

  private final String url;
  private final Path errors;
  private final boolean shared;
  private final long seed;
  private final boolean shortRun;
  private final Random random;
  private final Consumer<String> progress;
  private final Ledger ledger = new Ledger();
  private final List<String> problems = new ArrayList<>();
  private int incarnations;
  private int kills;
  private int earlyKills;

  KillLoop(String url, Path errors, long seed, boolean shortRun, Consumer<String> progress) {
    this.url = url;
    this.errors = errors;
    this.shared = !url.startsWith("jdbc:sqlite:");
    this.seed = seed;
    this.shortRun = shortRun;
    this.random = new Random(seed);
    this.progress = progress;
  }

  /** Kills that many children under load, then drains. */
  void run(int rounds) throws InterruptedException {
    for (int round = 1; round <= rounds && problems.isEmpty(); round++) {
      if (random.nextInt(6) == 0) {
        killEarly();
      }
      killUnderLoad(round, rounds);
    }
    if (problems.isEmpty()) {
      drain();
    }
  }

  private Child start(boolean drain) {
    int incarnation = ++incarnations;
    List<String> arguments = new ArrayList<>();
    arguments.add(url);
    arguments.add("--node=killed");
    arguments.add("--seed=" + seed);
    if (!drain) {
      arguments.add("--schedulers=" + Load.MANY);
      if (!shortRun && incarnation <= EXHAUSTING) {
        arguments.add("--exhausting");
      }
    }
    return Child.start(incarnation, errors, ledger, arguments);
  }

  private void killUnderLoad(int round, int rounds) throws InterruptedException {
    List<String> cancelled = liveFromBefore();
    Child child = start(false);
    if (!child.awaitLoading(START_MILLIS)) {
      problems.add("incarnation " + incarnations + " did not begin to work");
    }
    child.order(cancelled.stream().map(Order.Cancel::new).toArray(Order[]::new));
    int most = shortRun ? MOST_LOAD_MILLIS / 2 : MOST_LOAD_MILLIS;
    int least = LEAST_LOAD_MILLIS + (shared ? REJOIN_MILLIS : 0);
    TimeUnit.MILLISECONDS.sleep(least + random.nextInt(most - LEAST_LOAD_MILLIS));
    kill(child);
    kills++;
    progress.accept("round %d of %d: %,d notes".formatted(round, rounds, ledger.told()));
  }

  private void killEarly() throws InterruptedException {
    Child child = start(false);
    TimeUnit.MILLISECONDS.sleep(random.nextInt(MOST_EARLY_MILLIS));
    kill(child);
    earlyKills++;
  }

  private void kill(Child child) throws InterruptedException {
    int exit = child.kill();
    ledger.killed(incarnations);
    if (exit != Child.KILLED) {
      problems.add(
          "incarnation %d: exit code %d (expected: %d, killed by signal 9)"
              .formatted(incarnations, exit, Child.KILLED));
    }
  }

  /** Some jobs that may still wait, for the next child to cancel. */
  private List<String> liveFromBefore() {
    List<String> jobs = new ArrayList<>();
    for (Line line : ledger.lines()) {
      if (line.created() && line.end == null) {
        jobs.add(line.acknowledged == null ? "" : line.acknowledged.job());
      }
    }
    Collections.shuffle(jobs, random);
    return jobs.subList(0, Math.min(CANCELS_FROM_BEFORE, jobs.size()));
  }

  private void drain() throws InterruptedException {
    progress.accept("draining");
    Child child = start(true);
    child.order(new Order.Drain());
    if (child.await(Note.Drained.class, DRAIN_MILLIS) == null) {
      problems.add("jobs are left after " + DRAIN_MILLIS / 1000 + " s without a kill");
      kill(child);
      return;
    }
    child.order(new Order.Stop());
    int exit = child.await();
    if (exit != 0) {
      problems.add("the last child: exit code " + exit + " (expected: 0)");
    }
  }

  Ledger ledger() {
    return ledger;
  }

  Path errors() {
    return errors;
  }

  List<String> problems() {
    return problems;
  }

  int kills() {
    return kills;
  }

  int earlyKills() {
    return earlyKills;
  }
}
