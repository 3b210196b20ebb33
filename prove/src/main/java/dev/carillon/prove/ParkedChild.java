package dev.carillon.prove;

import dev.carillon.Carillon;
import dev.carillon.api.Job;
import dev.carillon.api.JobHandle;
import dev.carillon.api.JobId;
import dev.carillon.api.TaskType;
import dev.carillon.api.workflow.SignalResult;
import dev.carillon.api.workflow.SignalType;
import dev.carillon.api.workflow.Workflow;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.BooleanSupplier;
import java.util.stream.IntStream;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/**
 * The process of the proof of parked workflows: many wait, few of their threads are kept. Then most
 * are signalled, which leaves shards of which the greater part is history; steps are committed
 * while those are compacted; and the rest is signalled. Tells what it counted, a line each.
 */
@Command(name = "parked-child", hidden = true, description = "The process that prove parked runs.")
final class ParkedChild implements Callable<Integer> {
  private static final TaskType<Integer> WAITING = TaskType.of("waiting", Integer.class);
  private static final TaskType<Integer> STEPS = TaskType.of("steps", Integer.class);
  private static final SignalType<Integer> GO = SignalType.of("go", Integer.class);

  private static final int BATCH = 1_000;
  private static final int MOST_SIGNALS = 2_000;
  private static final long MOST_PROBE_NANOS = TimeUnit.SECONDS.toNanos(120);
  private static final long QUIET_NANOS = TimeUnit.SECONDS.toNanos(10);
  private static final int PROBES = 10;
  private static final int STEPS_EACH = 50;
  private static final int POLL_MILLIS = 20;

  @Parameters(index = "0", paramLabel = "FILE")
  private Path file = Path.of("");

  @Option(names = "--count", description = "How many wait.")
  private int count = BATCH;

  @Option(names = "--budget", description = "How many threads are kept.")
  private int budget = 1;

  @Option(names = "--bytes", description = "What the history of each takes.")
  private int bytes = 1;

  @Option(
      names = "--no-compaction",
      description = "Whether steps are timed and no shard need be compacted meanwhile.")
  private boolean noCompaction;

  @Option(names = "--seconds", description = "How long each part may take.")
  private int seconds = 60;

  private final LongAdder waiting = new LongAdder();
  private final LongAdder again = new LongAdder();
  private final LongAdder caught = new LongAdder();
  private final LongAdder unwound = new LongAdder();
  private final LongAdder wrong = new LongAdder();
  private final LongAdder passed = new LongAdder();
  private final ConcurrentLinkedQueue<Long> stepNanos = new ConcurrentLinkedQueue<>();
  private final Counters counters = new Counters();

  @Override
  public Integer call() throws InterruptedException {
    try (Carillon carillon =
        Carillon.builder()
            .url("jdbc:sqlite:" + file)
            .metrics(counters)
            .advanced(advanced -> advanced.parkedWorkflows(budget))
            .open()) {
      carillon.workflow(WAITING, this::waits);
      carillon.workflow(STEPS, (number, wf) -> steps(wf));
      List<JobId> ids = schedule(carillon);
      await("waits", () -> waiting.sum() >= count && carillon.node().stats().running() == 0);
      tell("evicted", counters.of("workflows.evicted"));
      int[] first = IntStream.range(0, count).filter(i -> !isLast(i)).toArray();
      int most = first.length;
      long before = counters.of("shards.compacted");
      long began = System.nanoTime();
      signal(carillon, ids, first);
      await("signalled ones", () -> passed.sum() >= most);
      tell("passed", most);
      tell("passed nanos", System.nanoTime() - began);
      tell("compacted", probe(carillon, before));
      signal(carillon, ids, IntStream.range(0, count).filter(ParkedChild::isLast).toArray());
      await("the rest", () -> passed.sum() >= count && carillon.node().stats().running() == 0);
    }
    tell("ran again", again.sum());
    tell("caught", caught.sum());
    tell("unwound", unwound.sum());
    tell("wrong", wrong.sum());
    tell("step commits", stepNanos.size());
    tell("step nanos p99", percentile99());
    return 0;
  }

  private static void tell(String what, long value) {
    System.out.println(what + "=" + value);
    System.out.flush();
  }

  private void await(String what, BooleanSupplier done) throws InterruptedException {
    long until = System.nanoTime() + TimeUnit.SECONDS.toNanos(seconds);
    while (!done.getAsBoolean()) {
      if (System.nanoTime() > until) {
        throw new IllegalStateException(
            "%s: not after %d s; %d of %d wait, %d are through"
                .formatted(what, seconds, waiting.sum(), count, passed.sum()));
      }
      TimeUnit.MILLISECONDS.sleep(POLL_MILLIS);
    }
  }

  private void waits(int number, Workflow wf) {
    boolean replaying = wf.replaying();
    if (replaying) {
      again.increment();
    }
    String data = wf.step("load", String.class, () -> data(number));
    if (!replaying) {
      waiting.increment();
    }
    boolean[] through = new boolean[1];
    try {
      int told = wf.await(GO);
      through[0] = true;
      if (told != number || !data.equals(data(number))) {
        wrong.increment();
      }
    } catch (Exception e) {
      caught.increment();
      throw e;
    } finally {
      if (!through[0]) {
        unwound.increment();
      }
    }
    passed.increment();
  }

  private String data(int number) {
    char[] text = new char[bytes];
    Arrays.fill(text, (char) ('a' + number % 26));
    return new String(text);
  }

  private List<JobId> schedule(Carillon carillon) {
    List<JobId> ids = new ArrayList<>(count);
    for (int from = 0; from < count; from += BATCH) {
      List<Job<?>> jobs = new ArrayList<>();
      for (int i = from; i < Math.min(count, from + BATCH); i++) {
        jobs.add(WAITING.job(i));
      }
      for (JobHandle<?> handle : carillon.scheduleAll(jobs)) {
        ids.add(handle.id());
      }
    }
    return ids;
  }

  /** Every eighth, so that a part of each shard stays. */
  private static boolean isLast(int number) {
    return number % 8 == 7;
  }

  private static void signal(Carillon carillon, List<JobId> ids, int[] numbers)
      throws InterruptedException {
    Semaphore room = new Semaphore(MOST_SIGNALS);
    Map<JobId, String> refused = new LinkedHashMap<>();
    for (int number : numbers) {
      JobId id = ids.get(number);
      room.acquire();
      Thread.startVirtualThread(
          () -> {
            try {
              SignalResult result = carillon.signal(id, GO, number);
              if (result != SignalResult.DONE) {
                refuse(refused, id, result.toString());
              }
            } catch (RuntimeException e) {
              refuse(refused, id, e.toString());
            } finally {
              room.release();
            }
          });
    }
    room.acquire(MOST_SIGNALS);
    if (!refused.isEmpty()) {
      throw new IllegalStateException("signals refused: " + refused);
    }
  }

  private static void refuse(Map<JobId, String> refused, JobId id, String why) {
    synchronized (refused) {
      refused.put(id, why);
    }
  }

  /**
   * Workflows, one after the other, of which each step is timed, until a shard has been compacted
   * and none for a while; says how many were.
   */
  private long probe(Carillon carillon, long before) {
    long compacted = before;
    long began = System.nanoTime();
    long changed = began;
    int made = 0;
    while (System.nanoTime() - began < MOST_PROBE_NANOS
        && (noCompaction
            ? made < PROBES
            : compacted == before || System.nanoTime() - changed < QUIET_NANOS)) {
      var unused = carillon.schedule(STEPS.job(made++)).result(Duration.ofSeconds(seconds));
      long now = counters.of("shards.compacted");
      changed = now > compacted ? System.nanoTime() : changed;
      compacted = now;
    }
    return compacted - before;
  }

  private void steps(Workflow wf) {
    for (int i = 0; i < STEPS_EACH; i++) {
      long began = System.nanoTime();
      wf.step("step", () -> {});
      stepNanos.add(System.nanoTime() - began);
    }
  }

  private long percentile99() {
    long[] sorted = stepNanos.stream().mapToLong(Long::longValue).sorted().toArray();
    return sorted.length == 0 ? 0 : sorted[(int) Math.ceil(sorted.length * 0.99) - 1];
  }
}
