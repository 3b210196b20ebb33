package dev.carillon.bench;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.lang.management.ManagementFactory;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** Jobs that are scheduled over HTTP a second, and how long a look at one takes meanwhile. */
@Command(
    name = "api",
    description =
        "Schedules jobs over HTTP, one by one and in batches, from a process beside the server's,"
            + " and looks at one now and then.")
final class ApiCommand implements Callable<Integer> {
  private static final double LEAST_SINGLES = 5_000;
  private static final double LEAST_BATCHED = 60_000;
  private static final double MOST_GET_MILLIS = 50;
  private static final String COMPILER = "-XX:TieredStopAtLevel";

  @Mixin private RunOptions options = new RunOptions();

  @Option(
      names = "--scenario",
      split = ",",
      paramLabel = "NAME",
      description = "single, keyed, batch (default: all).")
  private Set<ApiLoad.Kind> scenarios = EnumSet.allOf(ApiLoad.Kind.class);

  @Option(
      names = "--connections",
      paramLabel = "N",
      description = "Of single requests; batches have a quarter (default: ${DEFAULT-VALUE}).",
      defaultValue = "16")
  private int connections;

  @Override
  public Integer call() throws Exception {
    options.knows(RunOptions.Kind.SQLITE, RunOptions.Kind.POSTGRES, RunOptions.Kind.MEMORY);
    options.positive("--connections", connections / 4);
    Report report = options.report();
    report.title("api");
    report.setting(
        "connections", connections + " for single jobs, " + connections / 4 + " for batches");
    report.setting("batch", ApiLoad.BATCH + " jobs");
    report.setting("job", ApiLoad.JOB);
    report.setting("server", "a process of its own, beside the client's on the same cores");
    report.setting("window", options.seconds + " s after " + options.warmup + " s");
    try (StorePlace place = StorePlace.of(options)) {
      report.setting(options.store.word(), place.settings());
      for (ApiLoad.Kind kind : scenarios) {
        measure(kind, place, report);
      }
    }
    return report.verdict();
  }

  private void measure(ApiLoad.Kind kind, StorePlace place, Report report) throws Exception {
    List<Double> rates = new ArrayList<>();
    List<Double> gets = new ArrayList<>();
    for (int round = 1; round <= options.rounds; round++) {
      String address = place.newAddress("api");
      try (Served server = new Served(address)) {
        int most = kind == ApiLoad.Kind.BATCH ? connections / 4 : connections;
        ApiLoad load = new ApiLoad(kind, server.address(), most);
        ApiLoad.Result result = load.run(options.warmup, options.seconds);
        rates.add(result.jobsPerSecond());
        gets.add(result.gets().percentile(99) / 1e6);
        report.progress(
            "%s, round %d: %,.0f jobs/s, %d looks"
                .formatted(kind.word(), round, result.jobsPerSecond(), result.gets().size()));
      }
      place.remove(address);
    }
    Figure rate = Figure.of(kind.word(), "jobs scheduled", median(rates), "jobs/s");
    Figure get = Figure.of(kind.word(), "get of a job meanwhile, p99", median(gets), "ms");
    boolean held = options.store == RunOptions.Kind.SQLITE;
    report.figure(held ? held(kind, rate) : rate);
    report.figure(held ? get.held(Bound.atMost(MOST_GET_MILLIS)) : get);
  }

  private static Figure held(ApiLoad.Kind kind, Figure rate) {
    return switch (kind) {
      case SINGLE -> rate.held(Bound.atLeast(LEAST_SINGLES));
      case KEYED -> rate;
      case BATCH -> rate.held(Bound.atLeast(LEAST_BATCHED));
    };
  }

  private static double median(List<Double> values) {
    return values.stream().sorted().toList().get(values.size() / 2);
  }

  /** The server's process. */
  private static final class Served implements AutoCloseable {
    private static final int END_SECONDS = 60;

    private final Process process;
    private final InetSocketAddress address;

    Served(String url) {
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
              "api-server",
              url));
      try {
        this.process =
            new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start();
        BufferedReader out =
            new BufferedReader(
                new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8));
        String port = out.readLine();
        if (port == null) {
          throw new IllegalStateException("the server ended (expected: its port)");
        }
        this.address =
            new InetSocketAddress(InetAddress.getLoopbackAddress(), Integer.parseInt(port));
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }

    InetSocketAddress address() {
      return address;
    }

    @Override
    public void close() throws IOException {
      process.getOutputStream().close();
      try {
        if (!process.waitFor(END_SECONDS, TimeUnit.SECONDS)) {
          process.destroyForcibly();
        }
      } catch (InterruptedException e) {
        process.destroyForcibly();
        Thread.currentThread().interrupt();
      }
    }
  }
}
