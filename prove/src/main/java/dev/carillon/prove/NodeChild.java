package dev.carillon.prove;

import dev.carillon.Carillon;
import dev.carillon.api.JobContext;
import dev.carillon.api.JobInfo;
import dev.carillon.api.JobListener;
import dev.carillon.api.JobQuery;
import dev.carillon.api.JobState;
import dev.carillon.api.NotRetryableException;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Instant;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/**
 * The process that is killed: a Carillon on the file, under load until the end comes, or, to drain,
 * until no job is left. It tells its parent everything over its standard output; job ids to cancel
 * come in over its standard input, one a line.
 */
@Command(name = "kill-child", hidden = true, description = "The process that prove kill kills.")
final class KillChild implements Callable<Integer> {
  private static final int DRAIN_POLL_MILLIS = 100;

  @Parameters(index = "0", paramLabel = "FILE")
  private Path file = Path.of("");

  @Option(names = "--incarnation")
  private int incarnation;

  @Option(names = "--seed")
  private long seed;

  @Option(names = "--drain")
  private boolean drain;

  @Option(names = "--exhausting")
  private boolean exhausting;

  private final Pipe pipe = new Pipe();

  @Override
  public Integer call() throws Exception {
    try (Carillon carillon =
        Carillon.builder().url("jdbc:sqlite:" + file).listen(new EndTeller()).open()) {
      carillon.handle(Work.TYPE, this::run);
      Thread.ofPlatform().daemon().name("cancels").start(() -> cancelAsTold(carillon));
      if (drain) {
        awaitNothingLeft(carillon);
        pipe.tell(new Note.Drained());
      } else {
        pipe.tell(new Note.Loading());
        new Load(carillon, pipe, incarnation, seed, exhausting).run();
      }
    }
    return 0;
  }

  private void cancelAsTold(Carillon carillon) {
    Cancels cancels = new Cancels(carillon, pipe);
    new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8))
        .lines()
        .forEach(cancels::cancel);
  }

  /** The handler. Nothing comes before the note that it starts. */
  private void run(Work work, JobContext job) throws InterruptedException {
    pipe.tell(
        new Note.Started(
            work.request(),
            job.id().value(),
            job.attempt(),
            micros(job.scheduledTime()),
            micros(Instant.now())));
    switch (work.behaviour()) {
      case QUICK -> {}
      case SLOW -> TimeUnit.MILLISECONDS.sleep(ThreadLocalRandom.current().nextInt(1, 150));
      case FAILS_ONCE -> {
        if (job.attempt() == 1) {
          throw failure(work, new IllegalStateException("fails once"));
        }
      }
      case DIES -> throw failure(work, new NotRetryableException("dies"));
      case EXHAUSTS -> throw failure(work, new IllegalStateException("fails always"));
    }
    pipe.tell(new Note.Finished(work.request(), true));
  }

  private RuntimeException failure(Work work, RuntimeException thrown) {
    pipe.tell(new Note.Finished(work.request(), false));
    return thrown;
  }

  /** Microseconds since 1970, rounded down as the engine does. */
  static long micros(Instant instant) {
    return instant.getEpochSecond() * 1_000_000 + instant.getNano() / 1000;
  }

  private static void awaitNothingLeft(Carillon carillon) throws InterruptedException {
    List<JobState> live = Arrays.stream(JobState.values()).filter(s -> !s.ended()).toList();
    JobQuery left = JobQuery.all().states(live).limit(1);
    while (true) {
      TimeUnit.MILLISECONDS.sleep(DRAIN_POLL_MILLIS);
      if (carillon.stats().loadedJobs() == 0 && isEmpty(carillon, left)) {
        return;
      }
    }
  }

  private static boolean isEmpty(Carillon carillon, JobQuery query) {
    JobQuery next = query;
    while (true) {
      var page = carillon.list(next);
      if (!page.items().isEmpty()) {
        return false;
      }
      if (page.next() == null) {
        return true;
      }
      next = query.cursor(page.next());
    }
  }

  private final class EndTeller implements JobListener {
    @Override
    public void ended(JobInfo job) {
      String request = job.metadata().get(Work.REQUEST);
      pipe.tell(new Note.Ended(request == null ? "?" : request, job.state().name()));
    }
  }
}
