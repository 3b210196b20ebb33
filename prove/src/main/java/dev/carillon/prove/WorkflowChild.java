package dev.carillon.prove;

import dev.carillon.Carillon;
import dev.carillon.api.FailurePolicy;
import dev.carillon.api.JobHandle;
import dev.carillon.api.JobType;
import dev.carillon.api.TypeToken;
import dev.carillon.api.error.NotRetryableException;
import dev.carillon.api.error.StepFailedException;
import dev.carillon.api.workflow.SignalType;
import dev.carillon.api.workflow.StepOptions;
import dev.carillon.api.workflow.Workflow;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.UUID;
import java.util.concurrent.Callable;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/**
 * The process of the workflow proof: runs workflows and tells its parent of each step as it begins
 * and of each value as the code sees it. A line is written at once and whole.
 *
 * <pre>
 * S workflow step t the body of a step begins, or the child does, at that time
 * P workflow t      a pause of the workflow was answered before then
 * R workflow t      a resume is asked for after then
 * V workflow step v the code goes on behind the step, which is recorded, and sees v
 * E workflow state  the workflow has ended, and its result
 * </pre>
 */
@Command(
    name = "workflow-child",
    hidden = true,
    description = "The process that prove workflow runs.")
final class WorkflowChild implements Callable<Integer> {
  static final JobType<Integer, String> ORDER =
      JobType.of("prove-order", Integer.class, String.class);
  static final JobType<Integer, String> PART =
      JobType.of("prove-part", Integer.class, String.class);
  static final SignalType<String> GO = SignalType.of("go", String.class);

  private static final Duration RESULT_WITHIN = Duration.ofSeconds(260);

  /** Workflows begin one after the other, so a kill meets them in every part of their code. */
  private static final int PACE_MILLIS = 40;

  private static final int DRAINED_AT_ONCE = 256;

  private static final FailurePolicy AT_ONCE = FailurePolicy.constant(Duration.ofMillis(20), 5);

  private final FileOutputStream out = new FileOutputStream(FileDescriptor.out);

  @Parameters(index = "0", paramLabel = "URL")
  private String url = "";

  @Option(names = "--node", description = "The id of the node.")
  private String node = "proved";

  @Option(names = "--first", description = "The number of the first workflow.")
  private int first;

  @Option(names = "--count", description = "How many are scheduled.")
  private int count;

  @Option(names = "--drain", description = "Ends once all up to the last have ended.")
  private boolean drain;

  @Override
  public Integer call() throws InterruptedException {
    try (Carillon carillon = Carillon.builder().url(url).nodeId(node).slots(32).open()) {
      carillon.handle(
          PART,
          (number, job) -> {
            begins(number.toString(), "part");
            return "part " + number;
          });
      carillon.workflow(ORDER, this::order);
      PauseStorm storm = new PauseStorm(carillon, this::tell);
      tell("L");
      storm.start();
      if (drain) {
        return drain(carillon) ? 0 : 1;
      }
      for (int number = first; number < first + count; number++) {
        TimeUnit.MILLISECONDS.sleep(PACE_MILLIS);
        storm.add(number, scheduled(carillon, number).id());
      }
      while (true) {
        TimeUnit.SECONDS.sleep(1); // until it is killed
      }
    }
  }

  private static JobHandle<String> scheduled(Carillon carillon, int number) {
    JobHandle<String> handle = carillon.schedule(ORDER.job(number).key("order-" + number));
    var unused = carillon.signal(handle.id(), GO, "signal " + number, "go-" + number);
    return handle;
  }

  /** Many at once: one after the other, each would wait for some commits of its own. */
  private boolean drain(Carillon carillon) throws InterruptedException {
    Semaphore room = new Semaphore(DRAINED_AT_ONCE);
    long end = System.nanoTime() + RESULT_WITHIN.toNanos();
    for (int number = 0; number < count; number++) {
      int each = number;
      if (!room.tryAcquire(end - System.nanoTime(), TimeUnit.NANOSECONDS)) {
        return false;
      }
      Thread.startVirtualThread(() -> end(carillon, each, room::release));
    }
    return room.tryAcquire(DRAINED_AT_ONCE, end - System.nanoTime(), TimeUnit.NANOSECONDS);
  }

  private void end(Carillon carillon, int number, Runnable then) {
    try {
      JobHandle<String> handle = scheduled(carillon, number);
      var unusedState = PauseStorm.resume(carillon, this::tell, number, handle.id());
      var unusedEnd =
          handle
              .resultAsync()
              .whenComplete(
                  (result, error) -> {
                    tell("E " + number + " " + (error == null ? result : "failed"));
                    then.run();
                  });
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private String order(Integer number, Workflow wf) {
    String name = number.toString();
    wf.onFailure("undo-last", () -> begins(name, "undo-last"));
    wf.onFailure("undo-first", () -> begins(name, "undo-first"));
    String token = see(name, "draw", wf.step("draw", String.class, () -> drawn(name, "draw")));
    String tried =
        see(
            name,
            "retried",
            wf.step(
                "retried",
                TypeToken.of(String.class),
                StepOptions.retry(AT_ONCE),
                step -> secondTry(name, step.attempt())));
    String once = see(name, "once", once(name, wf));
    var part = wf.start(PART.job(number));
    wf.sleep(Duration.ofMillis(50 + number % 200));
    String signal = see(name, "signal", wf.await(GO));
    String child = see(name, "child", part.join());
    if (number % 5 == 0) {
      throw new NotRetryableException("every fifth fails");
    }
    String last = see(name, "last", wf.step("last", String.class, () -> drawn(name, "last")));
    return String.join("|", token, tried, once, signal, child, last);
  }

  /** A step that a crash makes fail rather than run a second time. */
  private String once(String name, Workflow wf) {
    try {
      return wf.step(
          "once",
          TypeToken.of(String.class),
          StepOptions.defaults().atMostOnce(),
          step -> drawn(name, "once"));
    } catch (StepFailedException e) {
      return "lost";
    }
  }

  private String secondTry(String name, int attempt) {
    begins(name, "retried");
    if (attempt == 1) {
      throw new IllegalStateException("the first try fails");
    }
    return "try " + attempt;
  }

  private String drawn(String name, String step) {
    begins(name, step);
    return UUID.randomUUID().toString();
  }

  private void begins(String workflow, String step) {
    tell("S " + workflow + " " + step + " " + System.currentTimeMillis());
  }

  private String see(String workflow, String step, String value) {
    tell("V " + workflow + " " + step + " " + value);
    return value;
  }

  private void tell(String line) {
    try {
      out.write((line + "\n").getBytes(StandardCharsets.UTF_8));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
