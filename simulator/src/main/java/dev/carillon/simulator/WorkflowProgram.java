package dev.carillon.simulator;

import dev.carillon.api.FailurePolicy;
import dev.carillon.api.Job;
import dev.carillon.api.JobType;
import dev.carillon.api.error.ChildFailedException;
import dev.carillon.api.error.StepFailedException;
import dev.carillon.api.error.WorkflowCancelledException;
import dev.carillon.api.workflow.Promise;
import dev.carillon.api.workflow.SignalType;
import dev.carillon.api.workflow.StepBody;
import dev.carillon.api.workflow.StepOptions;
import dev.carillon.api.workflow.Workflow;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The code of a simulated workflow: a few calls that a seed decides. */
final class WorkflowProgram {
  /** Of children that are workflows themselves. */
  static final JobType<String, String> SUB = JobType.of("wf-sub", String.class, String.class);

  /** Of children that are plain jobs. */
  static final JobType<String, String> UNIT = JobType.of("wf-unit", String.class, String.class);

  private static final int MOST_CALLS = 12;
  private static final int MOST_CALLS_OF_CHILDREN = 4;
  private static final int DETAILS = 8;
  private static final int FLIPS_ONE_IN = 6;

  final WorkflowInput input;
  final List<Op> ops = new ArrayList<>();

  /** The call at which the code once does something else than it did before; -1 for none. */
  final int flip;

  /** What the code calls. */
  enum Kind {
    STEP("step"),
    STEP_ONCE("step at most once"),
    STEP_BESIDE("step beside"),
    SLEEP("sleep"),
    TIMER("timer"),
    AWAIT("await signal"),
    AWAIT_WITHIN("await signal within"),
    SIGNAL("signal promise"),
    START("start child"),
    CALL("call child"),
    UNDO("compensation"),
    VERSION("version"),
    NOW("now"),
    RANDOM("random"),
    UUID("uuid"),
    FIRST("first"),
    ALL("all"),
    WITHIN("join within"),
    BUG("throw once"),
    SHOW("progress and publish");

    private final String text;

    Kind(String text) {
      this.text = text;
    }

    @Override
    public String toString() {
      return text;
    }
  }

  /**
   * A call.
   *
   * @param a and b decide its details
   */
  record Op(Kind kind, int a, int b) {

    String signal() {
      return a % 2 == 0 ? "even" : "odd";
    }

    /** How long it waits at most, or how long its timer runs. */
    Duration wait(int scale) {
      return Duration.ofMillis((long) (a + 1) * (a + 1) * (a + 1) * (b + 1) * scale / 16);
    }

    /** Whether what was recorded as a failure is to leave the code. */
    boolean letsFailuresOut() {
      return b == 0;
    }

    /** Whether the code goes on, as it should not, after it was told that it is cancelled. */
    boolean swallowsCancels() {
      return b == 1;
    }
  }

  /** The program of an input. */
  WorkflowProgram(WorkflowInput input) {
    this.input = input;
    Chance chance = new Chance(input.seed());
    int most = input.isChild() ? MOST_CALLS_OF_CHILDREN : MOST_CALLS;
    Kind[] kinds = Kind.values();
    for (long i = chance.between(1, most); i > 0; i--) {
      Kind kind = kinds[chance.below(kinds.length)];
      boolean tooDeep = input.isChild() && (kind == Kind.START || kind == Kind.CALL);
      ops.add(new Op(tooDeep ? Kind.STEP : kind, chance.below(DETAILS), chance.below(DETAILS)));
    }
    flip = chance.oneIn(FLIPS_ONE_IN) ? chance.below(ops.size()) : -1;
  }

  /** Whether it begins anew when it is through. */
  boolean renews() {
    return input.rounds() > 0;
  }

  /** What the code needs beside its context, and to whom it says what it saw. */
  interface Play {
    /** The code has seen this at the call of that number in the program. */
    void saw(int at, String what);

    /** It makes so many calls that take a number. */
    void calls(int at, Kind kind, int count);

    /** Whether the code is to do something else than before, now. */
    boolean flips(int at);

    /** Whether it is to throw what is mended afterwards. */
    boolean breaks(int at);

    StepBody<String> body(int at, Op op);

    void undo(int at, Op op) throws Exception;
  }

  /** How long waits are: the scale of a seed. */
  String run(Workflow wf, Play play, int scale) throws Exception {
    List<Promise<?>> open = new ArrayList<>();
    for (int i = 0; i < ops.size(); i++) {
      Op op = ops.get(i);
      try {
        run(op, i, new On(wf, play, open, scale));
      } catch (StepFailedException e) {
        play.saw(i, "failed " + e.error().message());
        if (op.letsFailuresOut()) {
          throw e;
        }
      } catch (ChildFailedException e) {
        play.saw(i, "child " + e.state());
        if (op.letsFailuresOut()) {
          throw e;
        }
      } catch (WorkflowCancelledException e) {
        play.saw(i, "cancelled");
        if (!op.swallowsCancels()) {
          throw e;
        }
      }
    }
    if (renews()) {
      return wf.continueAsNew(input.next().text());
    }
    return result(input);
  }

  /** What it returns. */
  static String result(WorkflowInput input) {
    return "done " + input.id() + " " + input.rounds();
  }

  /** What an op runs on. */
  private record On(Workflow wf, Play play, List<Promise<?>> open, int scale) {}

  private void run(Op op, int i, On on) throws Exception {
    Workflow wf = on.wf;
    Play play = on.play;
    if (i == flip && play.flips(i)) {
      play.saw(i, "other " + wf.step("other", String.class, play.body(i, op)));
      return;
    }
    play.calls(i, op.kind, calls(op.kind));
    switch (op.kind) {
      case STEP -> play.saw(i, wf.step("s" + i, String.class, retried(op), play.body(i, op)));
      case STEP_ONCE ->
          play.saw(i, wf.step("o" + i, String.class, retried(op).atMostOnce(), play.body(i, op)));
      case STEP_BESIDE ->
          on.open.add(wf.startStep("b" + i, String.class, retried(op), play.body(i, op)));
      case SLEEP -> {
        wf.sleep(op.wait(on.scale));
        play.saw(i, "slept");
      }
      case TIMER -> on.open.add(wf.timer(op.wait(on.scale)));
      case AWAIT -> play.saw(i, wf.await(signal(op)));
      case AWAIT_WITHIN -> play.saw(i, wf.await(signal(op), op.wait(on.scale)).orElse("no signal"));
      case SIGNAL -> on.open.add(wf.signal(signal(op)));
      case START -> on.open.add(wf.start(child(i, op)));
      case CALL -> play.saw(i, wf.call(child(i, op)));
      case UNDO -> wf.onFailure("u" + i, () -> play.undo(i, op));
      case VERSION -> play.saw(i, "version " + wf.version("v" + i, 1 + op.b));
      case NOW -> play.saw(i, "now " + wf.now().toEpochMilli());
      case RANDOM -> play.saw(i, "random " + wf.random().nextLong());
      case UUID -> play.saw(i, "uuid " + wf.uuid());
      case FIRST -> {
        if (!on.open.isEmpty()) {
          Promise<?> first = wf.first(on.open);
          int place = on.open.indexOf(first);
          on.open.remove(first);
          play.saw(i, place + " first");
          play.saw(i, text(first.join()));
        }
      }
      case ALL -> {
        List<Promise<?>> all = List.copyOf(on.open);
        on.open.clear();
        List<String> values = new ArrayList<>();
        wf.all(all).forEach(value -> values.add(text(value)));
        play.saw(i, "all " + values);
      }
      case WITHIN -> {
        if (!on.open.isEmpty()) {
          Promise<?> one = on.open.get(op.a % on.open.size());
          play.calls(i, op.kind, 1);
          var value = one.join(op.wait(on.scale));
          play.saw(i, "within " + (value.isPresent() ? text(value.get()) : "nothing"));
        }
      }
      case BUG -> {
        if (play.breaks(i)) {
          throw new IllegalStateException("a bug that is mended after once");
        }
      }
      case SHOW -> {
        wf.progress(i, ops.size(), "at " + i);
        wf.publish("at " + i);
      }
    }
  }

  /** How many calls that take a number an op makes in any case. */
  static int calls(Kind kind) {
    return switch (kind) {
      case STEP, STEP_ONCE, STEP_BESIDE, SLEEP, TIMER, AWAIT, SIGNAL, START, CALL, UNDO, VERSION ->
          1;
      case AWAIT_WITHIN -> 2;
      case NOW, RANDOM, UUID, FIRST, ALL, WITHIN, BUG, SHOW -> 0;
    };
  }

  static String text(@Nullable Object value) {
    return value == null ? "nothing" : value.toString();
  }

  private static StepOptions retried(Op op) {
    return StepOptions.retry(FailurePolicy.constant(Duration.ofMillis(200L * (1 + op.b)), 2));
  }

  /** How many tries of a step fail: of those with all three it fails for good. */
  static int failingTries(Op op) {
    return Math.max(0, op.a - 4);
  }

  private Job<String> child(int i, Op op) {
    WorkflowInput its = input.child(i);
    return (op.a % 2 == 0 ? UNIT : SUB).job(its.text());
  }

  private static SignalType<String> signal(Op op) {
    return SignalType.of(op.signal(), String.class);
  }
}
