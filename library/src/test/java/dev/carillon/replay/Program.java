package dev.carillon.replay;

import dev.carillon.api.FailurePolicy;
import dev.carillon.api.JobType;
import dev.carillon.api.error.ChildFailedException;
import dev.carillon.api.error.NotRetryableException;
import dev.carillon.api.error.StepFailedException;
import dev.carillon.api.error.WorkflowCancelledException;
import dev.carillon.api.workflow.Promise;
import dev.carillon.api.workflow.SignalType;
import dev.carillon.api.workflow.StepOptions;
import dev.carillon.api.workflow.Workflow;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/** A workflow made from a seed: its code notes everything that it sees. */
final class Program implements Journal.Code {
  private static final JobType<Void, String> CHILD = JobType.of("child", String.class);
  private static final int KINDS = 17;

  private final List<Op> ops = new ArrayList<>();
  private final AtomicBoolean broken = new AtomicBoolean(true);

  /**
   * A call.
   *
   * @param a and b decide its details
   */
  private record Op(int kind, int a, int b) {}

  /**
   * A program.
   *
   * @param beside whether steps run beside the code, which end when they end
   */
  Program(long seed, boolean beside) {
    SplittableRandom random = new SplittableRandom(seed);
    int size = 1 + random.nextInt(12);
    for (int i = 0; i < size; i++) {
      int kind = random.nextInt(KINDS);
      ops.add(new Op(kind == 2 && !beside ? 0 : kind, random.nextInt(8), random.nextInt(8)));
    }
  }

  @Override
  public String toString() {
    return ops.toString();
  }

  @Override
  public @Nullable Object run(Workflow wf, List<String> seen) throws Exception {
    List<Promise<?>> open = new ArrayList<>();
    for (int i = 0; i < ops.size(); i++) {
      try {
        run(ops.get(i), i, wf, seen, open);
      } catch (StepFailedException | ChildFailedException e) {
        seen.add(i + " " + e.getMessage());
        if (ops.get(i).b == 0) {
          throw e;
        }
      } catch (WorkflowCancelledException e) {
        seen.add(i + " " + e.getMessage());
        if (ops.get(i).b != 0) {
          throw e;
        }
      }
    }
    return "done";
  }

  private void run(Op op, int i, Workflow wf, List<String> seen, List<Promise<?>> open)
      throws Exception {
    switch (op.kind) {
      case 0, 1 ->
          seen.add(i + " step " + wf.step("s" + i, String.class, options(op), body(op, i)));
      case 2 -> open.add(wf.startStep("b" + i, String.class, options(op), body(op, i)));
      case 3 -> wf.sleep(Duration.ofSeconds(op.a));
      case 4 -> open.add(wf.timer(Duration.ofSeconds(op.a)));
      case 5 -> seen.add(i + " signal " + wf.await(signal(op)));
      case 6 -> seen.add(i + " signal " + wf.await(signal(op), Duration.ofSeconds(op.b)));
      case 7 -> open.add(wf.signal(signal(op)));
      case 8 -> open.add(wf.start(CHILD.job()));
      case 9 -> wf.onFailure("undo" + i, () -> undo(op));
      case 10 -> seen.add(i + " version " + wf.version("v" + op.a, 1 + op.b));
      case 11 -> seen.add(i + " now " + wf.now() + " " + wf.random().nextInt(1000));
      case 12 -> {
        if (!open.isEmpty()) {
          Promise<?> first = wf.first(open);
          open.remove(first);
          seen.add(i + " first of " + (open.size() + 1) + " " + first.join());
        }
      }
      case 13 -> {
        List<Promise<?>> all = List.copyOf(open);
        open.clear();
        seen.add(i + " all " + wf.all(all));
      }
      case 14 -> {
        if (!open.isEmpty()) {
          Promise<?> one = open.get(op.a % open.size());
          seen.add(i + " within " + one.join(Duration.ofSeconds(op.b)));
        }
      }
      case 15 -> {
        if (op.a == 0 && broken.getAndSet(false)) {
          throw new IllegalStateException("a bug that is mended after once");
        }
      }
      default -> seen.add(i + " at most once " + wf.step("o" + i, String.class, ONCE, body(op, i)));
    }
  }

  private static final StepOptions ONCE = StepOptions.defaults().atMostOnce();

  private static StepOptions options(Op op) {
    return StepOptions.retry(FailurePolicy.constant(Duration.ofSeconds(1 + op.b), 2));
  }

  private static dev.carillon.api.workflow.StepBody<String> body(Op op, int i) {
    return step -> {
      // The first tries of some fail, those of a few to the end.
      if (step.attempt() <= op.a - 3) {
        throw new IOException("try " + step.attempt() + " of " + i);
      }
      return "value " + i + " at try " + step.attempt();
    };
  }

  private static void undo(Op op) {
    if (op.a == 0) {
      throw new NotRetryableException("cannot be undone");
    }
  }

  private static SignalType<String> signal(Op op) {
    return SignalType.of(op.a % 2 == 0 ? "even" : "odd", String.class);
  }
}
