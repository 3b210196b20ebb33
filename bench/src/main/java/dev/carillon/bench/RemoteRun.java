package dev.carillon.bench;

import dev.carillon.Carillon;
import dev.carillon.api.Job;
import dev.carillon.api.TaskType;
import dev.carillon.server.CarillonServer;
import dev.carillon.server.ServerOptions;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.io.Writer;
import java.lang.management.ManagementFactory;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** A node with its server in this process, and workers in another. */
final class RemoteRun implements AutoCloseable {
  static final TaskType<Order> ORDER = TaskType.of("order", Order.class);
  static final TaskType<Void> DUE = TaskType.of("due");
  static final TaskType<Void> LASTS = TaskType.of("lasts");
  private static final int SECONDS_AT_MOST = 600;
  private static final String COMPILER = "-XX:TieredStopAtLevel";

  private final StorePlace place;
  private final String address;
  private final CountedStore store;
  private final Carillon carillon;
  private final CarillonServer server;
  private @Nullable Workers workers;

  RemoteRun(StorePlace place) throws IOException {
    this.place = place;
    this.address = place.newAddress("remote");
    this.store = new CountedStore(StorePlace.open(address));
    this.carillon =
        Carillon.builder()
            .store(store)
            .nodeId("measured")
            .slots(1_000)
            .advanced(options -> options.expectWorkers(true))
            .open();
    this.server = CarillonServer.start(carillon, ServerOptions.standard().port(0).workers(0));
  }

  /** Due jobs that wait for a handler. */
  void prepare(int jobs) {
    for (int from = 0; from < jobs; from += BurnDown.BATCH) {
      List<Job<?>> batch = new ArrayList<>(BurnDown.BATCH);
      for (int i = from; i < Math.min(jobs, from + BurnDown.BATCH); i++) {
        batch.add(ORDER.job(Order.of(i)));
      }
      var unused = carillon.scheduleAll(batch);
    }
  }

  /** Jobs a second until all have ended, from when a tenth of them had. */
  double drain(int jobs) throws InterruptedException {
    long before = carillon.node().stats().endedTotal();
    awaitEnded(before + jobs / 10);
    long first = carillon.node().stats().endedTotal();
    long start = System.nanoTime();
    awaitEnded(before + jobs);
    return (before + jobs - first) / ((System.nanoTime() - start) / 1e9);
  }

  private void awaitEnded(long jobs) throws InterruptedException {
    LatenessLog.await(
        jobs + " ended jobs", () -> carillon.node().stats().endedTotal() >= jobs, SECONDS_AT_MOST);
  }

  Carillon carillon() {
    return carillon;
  }

  CountedStore.Calls calls() {
    return store.calls();
  }

  /** Starts workers in a process of their own. */
  Workers work(int count, int slots) {
    InetSocketAddress at = Objects.requireNonNull(server.workerAddress());
    return started(
        new Workers("127.0.0.1:" + at.getPort(), "--workers=" + count, "--slots=" + slots));
  }

  /** The same of workers that speak HTTP, each over a connection of its own. */
  Workers workOverHttp(int connections) {
    return started(new Workers("127.0.0.1:" + server.address().getPort(), "--http=" + connections));
  }

  private Workers started(Workers started) {
    workers = started;
    return started;
  }

  /** Single jobs, one after the other, each due a little later. */
  void single(int jobs, long aheadMillis) throws InterruptedException {
    for (int i = 0; i < jobs; i++) {
      Instant due = Instant.now().plusMillis(aheadMillis + i % 10);
      var unused = carillon.schedule(DUE.job().at(due)).result(Duration.ofMinutes(1));
    }
  }

  void start(int jobs) {
    for (int from = 0; from < jobs; from += BurnDown.BATCH) {
      List<Job<?>> batch = new ArrayList<>(BurnDown.BATCH);
      for (int i = from; i < Math.min(jobs, from + BurnDown.BATCH); i++) {
        batch.add(LASTS.job());
      }
      var unused = carillon.scheduleAll(batch);
    }
  }

  @Override
  public void close() {
    if (workers != null) {
      workers.close();
    }
    server.stop();
    carillon.close();
    server.close();
    place.remove(address);
  }

  /** The workers' process. */
  static final class Workers implements AutoCloseable {
    private static final int END_SECONDS = 60;

    private final Process process;
    private final BufferedReader out;
    private final Writer in;

    Workers(String address, String... options) {
      List<String> command = new ArrayList<>();
      command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
      command.add("--enable-native-access=ALL-UNNAMED");
      command.add("-Djdk.trackAllThreads=false");
      ManagementFactory.getRuntimeMXBean().getInputArguments().stream()
          .filter(argument -> argument.startsWith(COMPILER))
          .forEach(command::add);
      command.addAll(
          List.of(
              "-cp",
              System.getProperty("java.class.path"),
              Main.class.getName(),
              "remote-worker",
              "--server=" + address));
      command.addAll(List.of(options));
      try {
        process =
            new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start();
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
      out =
          new BufferedReader(
              new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8));
      in = process.outputWriter(StandardCharsets.UTF_8);
    }

    /** What it answers to a word. */
    String ask(String word) {
      try {
        in.write(word + "\n");
        in.flush();
        return Objects.requireNonNull(out.readLine(), "the workers ended");
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }

    @Override
    public void close() {
      process.destroyForcibly();
      try {
        var unused = process.waitFor(END_SECONDS, TimeUnit.SECONDS);
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
    }
  }
}
