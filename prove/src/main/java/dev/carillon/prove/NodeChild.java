package dev.carillon.prove;

import dev.carillon.Carillon;
import dev.carillon.CarillonBuilder;
import dev.carillon.api.JobContext;
import dev.carillon.api.JobInfo;
import dev.carillon.api.JobListener;
import dev.carillon.api.JobQuery;
import dev.carillon.api.JobState;
import dev.carillon.api.OccurrenceInfo;
import dev.carillon.api.error.NotRetryableException;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.logging.Handler;
import java.util.logging.Level;
import java.util.logging.Logger;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/**
 * The process that is killed, stopped and continued: a Carillon on the store, under load until the
 * end comes. It tells its parent everything over its standard output, and does what comes in over
 * its standard input, an {@link Order} a line.
 */
@Command(name = "node-child", hidden = true, description = "A node that a proof puts under stress.")
final class NodeChild implements Callable<Integer> {
  private static final int DRAIN_POLL_MILLIS = 100;
  private static final Logger CARILLON_LOG = Logger.getLogger("dev.carillon.node");

  @Parameters(index = "0", paramLabel = "URL")
  private String url = "";

  @Option(names = "--node")
  private @Nullable String node;

  @Option(names = "--incarnation")
  private int incarnation;

  @Option(names = "--seed")
  private long seed;

  @Option(names = "--exhausting")
  private boolean exhausting;

  /** Threads that schedule; none, and the child only works. */
  @Option(names = "--schedulers")
  private int schedulers;

  /** Attempts at once; 0 for the default. */
  @Option(names = "--slots")
  private int slots;

  /** Whether it leaves its jobs to others. */
  @Option(names = "--without-handler")
  private boolean withoutHandler;

  @Option(names = "--pause-micros")
  private int pauseMicros = Load.SHORT_PAUSE_MICROS;

  private final Pipe pipe = new Pipe();
  private final Counters counters = new Counters();

  @Override
  public Integer call() throws Exception {
    logDetails();
    CarillonBuilder builder = Carillon.builder().url(url).listen(new EndTeller()).metrics(counters);
    if (node != null) {
      builder.nodeId(node);
    }
    if (slots > 0) {
      builder.slots(slots);
    }
    try (Carillon carillon = builder.open()) {
      if (!withoutHandler) {
        carillon.handle(Work.TYPE, this::run);
        carillon.handle(Tick.TYPE, this::tick);
      }
      Load load =
          new Load(
              carillon,
              pipe,
              new Load.Plan(incarnation, seed, schedulers, pauseMicros, exhausting));
      load.start();
      pipe.tell(new Note.Loading());
      obey(carillon, load);
    }
    return 0;
  }

  /** What it logs is kept with the other files of the run. */
  private static void logDetails() {
    CARILLON_LOG.setLevel(Level.FINE);
    for (Handler handler : Logger.getLogger("").getHandlers()) {
      handler.setLevel(Level.FINE);
    }
  }

  /** Until it is told to stop, or nobody is there to tell it anything. */
  private void obey(Carillon carillon, Load load) throws IOException, InterruptedException {
    Cancels cancels = new Cancels(carillon, pipe);
    Spread spread = new Spread(carillon, pipe, incarnation);
    Rhythms rhythms = new Rhythms(carillon, pipe, incarnation);
    BufferedReader in =
        new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    for (String line = in.readLine(); line != null; line = in.readLine()) {
      switch (Order.parse(line)) {
        case Order.Cancel(String job) -> Thread.ofVirtual().start(() -> cancels.cancel(job));
        case Order.Spread(int shards) -> spread.spread(shards);
        case Order.Gather(long dueMicros, long spanMicros) -> spread.gather(dueMicros, spanMicros);
        case Order.Recur(int each) -> rhythms.begin(each);
        case Order.Halt(String job) -> Thread.ofVirtual().start(() -> rhythms.halt(job));
        case Order.Count count ->
            pipe.tell(new Note.Counted(carillon.node().stats().shards(), counters.line()));
        case Order.Rest rest -> load.rest();
        case Order.Drain drain -> {
          awaitNothingLeft(carillon);
          pipe.tell(new Note.Drained());
        }
        case Order.Stop stop -> {
          load.rest();
          int shards = carillon.node().stats().shards();
          long from = System.nanoTime();
          carillon.close();
          pipe.tell(new Note.Closed((System.nanoTime() - from) / 1000, shards));
          return;
        }
      }
    }
  }

  /** The handler. Nothing comes before the note that it starts. */
  private void run(Work work, JobContext job) throws InterruptedException {
    pipe.tell(
        new Note.Started(
            work.request(),
            job.id().value(),
            job.attempt(),
            Note.micros(job.scheduledTime()),
            Note.micros(Instant.now())));
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

  /** The handler of recurring jobs. */
  private void tick(Tick tick, JobContext job) {
    OccurrenceInfo occurrence = job.occurrence();
    if (occurrence == null) {
      throw new IllegalStateException("occurrence: none (expected: a recurring job's)");
    }
    pipe.tell(
        new Note.Ticked(
            tick.schedule(),
            Note.micros(occurrence.time()),
            job.attempt(),
            Note.micros(Instant.now())));
  }

  private RuntimeException failure(Work work, RuntimeException thrown) {
    pipe.tell(new Note.Finished(work.request(), false));
    return thrown;
  }

  private static void awaitNothingLeft(Carillon carillon) throws InterruptedException {
    List<JobState> live = Arrays.stream(JobState.values()).filter(s -> !s.ended()).toList();
    JobQuery left = JobQuery.all().states(live).limit(1);
    while (true) {
      TimeUnit.MILLISECONDS.sleep(DRAIN_POLL_MILLIS);
      if (carillon.node().stats().loadedJobs() == 0 && isEmpty(carillon, left)) {
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
      if (job.type().equals(Tick.TYPE.name())) {
        return; // whether it took place says its start
      }
      String request = job.metadata().get(Work.REQUEST);
      pipe.tell(
          new Note.Ended(
              request == null ? "?" : request, job.state().name(), Note.micros(Instant.now())));
    }
  }
}
