package dev.carillon.bench;

import dev.carillon.BytesCodec;
import dev.carillon.api.JobState;
import dev.carillon.api.PayloadCodec;
import dev.carillon.api.TaskType;
import dev.carillon.json.JacksonCodec;
import dev.carillon.store.MemoryStore;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.ThreadLocalRandom;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/**
 * One round in memory and its floor, in a process of its own: what a round leaves behind, a grown
 * heap and code compiled for another payload, is not the next one's to carry. Run by the throughput
 * benchmark.
 */
@Command(name = "memory-round", hidden = true, description = "One round in memory and its floor.")
final class MemoryRoundCommand implements Callable<Integer> {
  private static final TaskType<byte[]> BLOB = TaskType.of("blob", byte[].class);

  @Parameters(index = "0", paramLabel = "PAYLOAD")
  private Payload payload = Payload.JSON;

  @Mixin private RunOptions options = new RunOptions();

  @Option(names = "--mode")
  private Producers.Mode mode = Producers.Mode.ASYNC;

  @Option(names = "--producers")
  private int producers;

  @Option(names = "--in-flight")
  private int inFlight;

  @Option(names = "--backlog")
  private int backlog;

  @Option(names = "--slots")
  private int slots;

  /** What jobs carry. */
  enum Payload {
    JSON,
    BYTES;

    String word() {
      return name().toLowerCase(Locale.ROOT);
    }

    PayloadCodec codec() {
      return this == JSON ? new JacksonCodec() : BytesCodec.INSTANCE;
    }
  }

  /**
   * What a round found.
   *
   * @param perSecond jobs scheduled, run and ended
   * @param floorPerSecond the floor, measured right after
   * @param acknowledged jobs scheduled in all
   * @param ended jobs that the store held as ended afterwards
   */
  record Found(double perSecond, double floorPerSecond, long acknowledged, long ended) {}

  /** Measures in a fresh process. */
  static Found inFreshProcess(Payload payload, RunOptions options, Producers.Crowd crowd) {
    List<String> lines =
        FreshJvm.run(
            "memory-round",
            payload.word(),
            "--seconds=" + options.seconds,
            "--warmup=" + options.warmup,
            "--mode=" + crowd.mode(),
            "--producers=" + crowd.threads(),
            "--in-flight=" + crowd.inFlight(),
            "--backlog=" + crowd.backlog(),
            "--slots=" + crowd.slots());
    return new Found(
        Double.parseDouble(lines.get(0)),
        Double.parseDouble(lines.get(1)),
        Long.parseLong(lines.get(2)),
        Long.parseLong(lines.get(3)));
  }

  @Override
  public Integer call() throws InterruptedException {
    var crowd = new Producers.Crowd(mode, producers, inFlight, backlog, slots);
    Found found = payload == Payload.JSON ? json(crowd) : bytes(crowd);
    System.out.println(found.perSecond());
    System.out.println(found.floorPerSecond());
    System.out.println(found.acknowledged());
    System.out.println(found.ended());
    return 0;
  }

  private Found json(Producers.Crowd crowd) throws InterruptedException {
    TaskType<Order> type = StoreThroughput.ORDER;
    PayloadCodec codec = payload.codec();
    return measure(
        ThroughputRound.noOp(type, codec, number -> type.job(Order.of(number))),
        new Floor(codec, Order.class, Order::of),
        crowd);
  }

  private Found bytes(Producers.Crowd crowd) throws InterruptedException {
    byte[] blob = new byte[Order.bytes()];
    ThreadLocalRandom.current().nextBytes(blob);
    PayloadCodec codec = payload.codec();
    return measure(
        ThroughputRound.noOp(BLOB, codec, number -> BLOB.job(blob)),
        new Floor(codec, byte[].class, number -> blob),
        crowd);
  }

  private Found measure(ThroughputRound round, Floor floor, Producers.Crowd crowd)
      throws InterruptedException {
    MemoryStore store = new MemoryStore();
    ThroughputRound.Result result = round.run(store, crowd, options, carillon -> {});
    System.err.println("         " + result.text());
    Map<JobState, Long> counts = Census.of(store);
    double least = floor.perSecond(options);
    return new Found(result.perSecond(), least, result.acknowledged(), Census.ended(counts));
  }
}
