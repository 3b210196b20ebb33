package dev.carillon.bench;

import dev.carillon.worker.CarillonWorker;
import dev.carillon.worker.WorkerInfo;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** The workers that are measured, in a process of their own, until their standard input ends. */
@Command(name = "remote-worker", hidden = true, description = "Workers that are measured.")
final class RemoteWorkerCommand implements Callable<Integer> {
  @Option(names = "--server")
  private String server = "";

  @Option(names = "--workers")
  private int count = 1;

  @Option(names = "--slots")
  private int slots = 1_000;

  @Option(names = "--http")
  private int connections;

  @Override
  public Integer call() throws Exception {
    if (connections > 0) {
      HttpWorkerLoad.run(server, connections);
      return 0;
    }
    Samples lateness = new Samples();
    List<CarillonWorker> workers = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      workers.add(
          CarillonWorker.builder()
              .server(server)
              .slots(slots)
              .drainTime(Duration.ZERO)
              .handle(RemoteRun.ORDER, (order, job) -> {})
              .handle(
                  RemoteRun.DUE,
                  (nothing, job) -> {
                    long late = ChronoUnit.MICROS.between(job.scheduledTime(), Instant.now());
                    synchronized (lateness) {
                      lateness.add(late * 1_000);
                    }
                  })
              .handle(RemoteRun.LASTS, (nothing, job) -> TimeUnit.DAYS.sleep(1))
              .start());
    }
    try (BufferedReader in =
        new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8))) {
      String line;
      while ((line = in.readLine()) != null) {
        switch (line) {
          case "lateness" -> {
            synchronized (lateness) {
              System.out.printf(
                  "%d %d %d%n", lateness.percentile(50), lateness.percentile(99), lateness.size());
            }
          }
          case "running" ->
              System.out.println(
                  workers.stream().map(CarillonWorker::info).mapToInt(WorkerInfo::running).sum());
          default -> throw new IllegalArgumentException(line);
        }
      }
    }
    Runtime.getRuntime().halt(0);
    return 0;
  }
}
