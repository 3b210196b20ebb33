package dev.carillon.prove;

import dev.carillon.Carillon;
import dev.carillon.api.Job;
import dev.carillon.api.JobQuery;
import dev.carillon.api.JobState;
import dev.carillon.api.TaskType;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** The process of the poison proof: dies by one of its jobs, or from outside. */
@Command(name = "poison-child", hidden = true, description = "The process that prove poison runs.")
final class PoisonChild implements Callable<Integer> {
  static final TaskType<Integer> QUICK = TaskType.of("quick", Integer.class);
  static final TaskType<Integer> LONG = TaskType.of("long", Integer.class);
  static final TaskType<Integer> POISON = TaskType.of("poison", Integer.class);
  static final int HALTED = 66;

  private static final int BATCH = 5_000;
  private static final int LONG_SECONDS = 60;
  private static final int POLL_MILLIS = 100;

  @Parameters(index = "0", paramLabel = "FILE")
  private Path file = Path.of("");

  @Option(names = "--quick", description = "Jobs of a millisecond to schedule.")
  private int quick;

  @Option(names = "--long", description = "Jobs of a minute to schedule.")
  private int lasting;

  @Option(names = "--poison", description = "Whether one among them kills this process.")
  private boolean poison;

  @Option(names = "--alone-millis", description = "How long a suspect runs alone.")
  private long aloneMillis = 10_000;

  @Option(names = "--drain", description = "End once no job is left.")
  private boolean drain;

  @Override
  public Integer call() throws InterruptedException {
    try (Carillon carillon =
        Carillon.builder()
            .url("jdbc:sqlite:" + file)
            .slots(16)
            .advanced(a -> a.aloneTime(Duration.ofMillis(aloneMillis)))
            .open()) {
      schedule(carillon);
      carillon.handle(QUICK, (number, job) -> TimeUnit.MILLISECONDS.sleep(1));
      carillon.handle(LONG, (number, job) -> TimeUnit.SECONDS.sleep(LONG_SECONDS));
      carillon.handle(POISON, (number, job) -> Runtime.getRuntime().halt(HALTED));
      System.out.println("running");
      System.out.flush();
      while (!drain || !isEmpty(carillon)) {
        TimeUnit.MILLISECONDS.sleep(POLL_MILLIS);
      }
    }
    return 0;
  }

  private void schedule(Carillon carillon) {
    Instant due = Instant.now().plusSeconds(1);
    List<Job<?>> jobs = new ArrayList<>();
    for (int i = 0; i < lasting; i++) {
      jobs.add(LONG.job(i).at(due));
    }
    for (int i = 0; i < quick; i++) {
      if (poison && i == quick / 2) {
        jobs.add(POISON.job(0).at(due));
      }
      jobs.add(QUICK.job(i).at(due));
    }
    for (int from = 0; from < jobs.size(); from += BATCH) {
      var unused = carillon.scheduleAll(jobs.subList(from, Math.min(jobs.size(), from + BATCH)));
    }
  }

  private static boolean isEmpty(Carillon carillon) {
    List<JobState> live = Arrays.stream(JobState.values()).filter(s -> !s.ended()).toList();
    return carillon.node().stats().loadedJobs() == 0
        && carillon.list(JobQuery.all().states(live).limit(1)).items().isEmpty();
  }
}
