package dev.carillon.simulator;

import static dev.carillon.simulator.Violation.check;

import dev.carillon.api.CancelResult;
import dev.carillon.api.ControlResult;
import dev.carillon.api.IfExists;
import dev.carillon.api.JobState;
import dev.carillon.api.error.CarillonException;
import dev.carillon.api.error.OutcomeUnknownException;
import dev.carillon.api.workflow.SignalResult;
import dev.carillon.engine.job.JobRef;
import dev.carillon.engine.job.JobSpec;
import dev.carillon.engine.job.OptionalSpec;
import dev.carillon.engine.request.AddRequest;
import dev.carillon.simulator.UserOperations.Kind;
import dev.carillon.store.Outcome;
import dev.carillon.store.Records.Stamp;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/** Users of workflows: they schedule, signal, cancel, pause and terminate them. */
final class WorkflowUsers {
  /** The type of workflows that users schedule. */
  static final String MAIN = "wf-main";

  private static final int MOST_ROUNDS = 3;
  private static final long SECOND = 1_000_000;
  private static final long LONGEST_TIMEOUT_MICROS = 20 * SECOND;

  private final World world;
  private final UserOperations operations;
  private final List<JobRef> known = new ArrayList<>();
  private long made;
  private long signals;

  WorkflowUsers(World world, UserOperations operations) {
    this.world = world;
    this.operations = operations;
  }

  /** What a simulation does at a time, with a node. */
  @FunctionalInterface
  interface Planner {
    void at(long nanos, Consumer<Life> action);
  }

  /** Plans what happens to workflows. */
  void plan(Planner planner, LongSupplier moment) {
    Chance chance = world.chance;
    int workflows = world.climate.workflows;
    if (workflows == 0) {
      return;
    }
    for (int i = 0; i < workflows; i++) {
      planner.at(moment.getAsLong(), this::schedule);
    }
    for (int i = 0; i < 4 * workflows; i++) {
      planner.at(moment.getAsLong(), life -> signal(life, some()));
    }
    for (long i = chance.between(0, workflows); i > 0; i--) {
      planner.at(moment.getAsLong(), life -> cancel(life, some(), false));
    }
    for (long i = chance.between(0, workflows / 2); i > 0; i--) {
      planner.at(moment.getAsLong(), life -> cancel(life, someBegun(), true));
    }
    for (long i = chance.between(0, workflows); i > 0; i--) {
      planner.at(moment.getAsLong(), this::pause);
    }
    for (long i = chance.between(0, workflows); i > 0; i--) {
      planner.at(moment.getAsLong(), life -> resume(life, some()));
    }
    for (long i = chance.between(0, workflows); i > 0; i--) {
      planner.at(moment.getAsLong(), this::replay);
    }
  }

  private void schedule(Life life) {
    Chance chance = world.chance;
    long now = world.clock.wallMicros();
    long due = chance.oneIn(2) ? now : now + chance.spread(1_000, 30 * SECOND);
    long deadline = chance.oneIn(10) ? due + chance.spread(SECOND, 600 * SECOND) : 0;
    long timeout = chance.oneIn(6) ? chance.spread(10_000, LONGEST_TIMEOUT_MICROS) : 0;
    WorkflowInput input =
        new WorkflowInput(
            ++made, chance.next(), chance.oneIn(3) ? chance.below(MOST_ROUNDS) : 0, "");
    JobSpec spec =
        new JobSpec(
            due,
            now,
            0,
            Stamp.ABSENT,
            MAIN,
            1,
            "default",
            "default",
            null,
            null,
            Map.of(),
            timeout,
            deadline,
            OptionalSpec.NONE,
            input.bytes());
    int copy = life.opening.copy();
    operations.begins(life, Kind.WORKFLOW);
    world.trace.note("schedule workflow", input.id());
    life.node.add(
        new AddRequest(
            spec,
            IfExists.FAIL,
            new AddRequest.Answer() {
              @Override
              public void added(JobRef ref, boolean created) {
                operations.ends(life, Kind.WORKFLOW);
                check(
                    copy != world.copy || world.workflows.find(ref) != null,
                    Guarantee.ACKNOWLEDGED_IS_DURABLE,
                    () -> input + " is acknowledged and is in no journal");
                known.add(ref);
              }

              @Override
              public void refused(CarillonException why) {
                operations.ends(life, Kind.WORKFLOW);
                boolean unknown = why instanceof OutcomeUnknownException;
                world.trace.note("workflow refused", input.id(), unknown ? "unknown" : "");
              }
            }));
  }

  private @Nullable JobRef some() {
    if (known.isEmpty()) {
      return null;
    }
    JobRef ref = world.chance.pick(known);
    WorkflowRecord record = world.workflows.find(ref);
    if (record != null && !record.children.isEmpty() && world.chance.oneIn(4)) {
      return record.children.values().iterator().next();
    }
    return ref;
  }

  /** One that has done something and has not ended, if there is any. */
  private @Nullable JobRef someBegun() {
    List<JobRef> begun = new ArrayList<>();
    for (JobRef ref : known) {
      WorkflowRecord record = world.workflows.find(ref);
      if (record != null && record.live && record.hasBegun()) {
        begun.add(ref);
      }
    }
    return begun.isEmpty() ? some() : world.chance.pick(begun);
  }

  // ---- signals

  private void signal(Life life, @Nullable JobRef ref) {
    if (ref != null) {
      signal(life, ref, world.chance.oneIn(2) ? "even" : "odd");
    }
  }

  private void signal(Life life, JobRef ref, String type) {
    String payload = "signal " + ++signals;
    String key = world.chance.oneIn(3) ? "k" + world.chance.below(4) : "";
    WorkflowRecord record = world.workflows.find(ref);
    boolean keyIsFree = record == null || !record.keys.contains(key);
    int copy = life.opening.copy();
    operations.begins(life, Kind.SIGNAL);
    world.trace.note("signal", record == null ? -2 : record.id, payload);
    life.node.signal(
        ref,
        type,
        key,
        "user",
        payload.getBytes(StandardCharsets.UTF_8),
        outcome -> {
          operations.ends(life, Kind.SIGNAL);
          world.trace.note("signalled", -1, outcome.toString());
          if (copy == world.copy && outcome instanceof Outcome.Ok<SignalResult>(var result)) {
            signalled(ref, payload, result, keyIsFree);
          }
        });
  }

  private void signalled(JobRef ref, String payload, SignalResult result, boolean keyIsFree) {
    boolean there = world.workflows.judge().isKnown(payload);
    WorkflowRecord record = world.workflows.find(ref);
    switch (result) {
      case DONE ->
          check(
              there,
              Guarantee.SIGNALS,
              () -> payload + " is said to have reached " + record + " and is in no journal");
      case TAKEN_BEFORE, TOO_MANY ->
          check(
              !there || result == SignalResult.TAKEN_BEFORE,
              Guarantee.SIGNALS,
              () -> payload + " is refused by " + record + " and is in its journal");
      case ENDED ->
          check(
              record == null || !record.live || record.replays > 0,
              Guarantee.SIGNALS,
              () -> payload + " is refused since " + record + " has ended, which it has not");
      case NOT_FOUND ->
          check(
              record == null || !record.live,
              Guarantee.SIGNALS,
              () -> payload + " is refused since there is no " + record);
    }
    world.table.countCall("signal " + result + (keyIsFree ? "" : " with a known key"));
  }

  // ---- control

  private void cancel(Life life, @Nullable JobRef ref, boolean terminate) {
    WorkflowRecord record = ref == null ? null : world.workflows.find(ref);
    if (ref == null || record == null) {
      return;
    }
    record.cancelAsked |= !terminate;
    record.terminateAsked |= terminate;
    operations.begins(life, Kind.CANCEL);
    world.trace.note(terminate ? "terminate" : "cancel workflow", record.id);
    int copy = life.opening.copy();
    Consumer<Outcome<CancelResult>> answer =
        outcome -> {
          operations.ends(life, Kind.CANCEL);
          world.trace.note("cancelled", record.id, outcome.toString());
          if (copy == world.copy && outcome instanceof Outcome.Ok<CancelResult>(var result)) {
            cancelled(ref, result);
          }
        };
    if (terminate) {
      life.node.terminate(ref, life.node.why("enough of it"), answer);
    } else {
      life.node.cancel(ref, life.node.why("no longer wanted"), answer);
    }
  }

  private void cancelled(JobRef ref, CancelResult result) {
    WorkflowRecord record = world.workflows.find(ref);
    if (record == null) {
      return;
    }
    boolean fits =
        switch (result) {
          case CancelResult.Cancelled done -> !record.live;
          case CancelResult.Stopping stopping ->
              !record.live || record.cancelled || record.terminated || !record.isWorkflow();
          case CancelResult.Ended(var state) -> record.end == state;
          case CancelResult.NotFound none -> !record.live;
        };
    check(
        fits, Guarantee.CANCEL, () -> record + " is answered " + result + ", and is " + record.end);
  }

  private void pause(Life life) {
    JobRef ref = some();
    WorkflowRecord record = ref == null ? null : world.workflows.find(ref);
    if (ref == null || record == null) {
      return;
    }
    int copy = life.opening.copy();
    operations.begins(life, Kind.CONTROL_PAUSE);
    world.trace.note("pause workflow", record.id);
    life.node.pause(
        ref,
        life.node.why("wait a moment"),
        world.chance.oneIn(3),
        outcome -> {
          operations.ends(life, Kind.CONTROL_PAUSE);
          world.trace.note("paused", record.id, outcome.toString());
          boolean done = outcome.equals(Outcome.ok(ControlResult.DONE));
          WorkflowRecord now = copy == world.copy ? world.workflows.find(ref) : null;
          if (done && now != null && now.pauseReason != null && now.live) {
            answered(now);
          }
        });
  }

  /** Nothing of it begins any more, nor of the children that it has. */
  private void answered(WorkflowRecord paused) {
    paused.pauseAnswered = true;
    for (JobRef ref : paused.children.values()) {
      WorkflowRecord child = world.workflows.find(ref);
      if (child != null && child.live && child.pausedWithParent) {
        answered(child);
      }
    }
  }

  /** Tries a dead workflow again. */
  private void replay(Life life) {
    List<WorkflowRecord> dead = new ArrayList<>();
    for (JobRef ref : known) {
      WorkflowRecord record = world.workflows.find(ref);
      if (record != null && record.end == JobState.DEAD) {
        dead.add(record);
      }
    }
    if (dead.isEmpty()) {
      return;
    }
    WorkflowRecord record = world.chance.pick(dead);
    int before = record.replays;
    int copy = life.opening.copy();
    record.replayAsked = true;
    operations.begins(life, Kind.REPLAY);
    world.trace.note("replay workflow", record.id);
    life.node.replay(
        record.ref,
        "user",
        null,
        outcome -> {
          operations.ends(life, Kind.REPLAY);
          world.trace.note("replayed", record.id, outcome.toString());
          WorkflowRecord now = copy == world.copy ? world.workflows.find(record.ref) : null;
          check(
              now == null
                  || !outcome.equals(Outcome.ok(ControlResult.DONE))
                  || now.replays > before,
              Guarantee.CONTROL,
              () -> record + " is said to live again and does not");
          if (outcome instanceof Outcome.Ok<ControlResult>(var result)) {
            world.table.countCall("replay of a workflow " + result);
          }
        });
  }

  private void resume(Life life, @Nullable JobRef ref) {
    WorkflowRecord record = ref == null ? null : world.workflows.find(ref);
    if (ref == null || record == null) {
      return;
    }
    operations.begins(life, Kind.RESUME);
    life.node.resume(ref, "user", outcome -> operations.ends(life, Kind.RESUME));
  }

  // ---- good weather

  /**
   * Gives workflows what they wait for, in the shards that the node has or nobody; true if any
   * lives.
   */
  boolean tidy(Life life) {
    boolean any = false;
    for (WorkflowRecord record : world.workflows.all()) {
      ModelShard shard = record.shard;
      if (!record.live || (shard.owner != life.incarnation && world.lives(shard.owner))) {
        continue;
      }
      any = true;
      if (record.entries.size() >= world.climate.options().historyLimit().entries()
          && !record.isStopped()) {
        world.table.countCall("full histories");
        cancel(life, record.ref, false);
      } else if (record.pauseReason != null) {
        resume(life, record.ref);
      } else if (record.wait != null && !record.wait.signals().isEmpty()) {
        record.wait.signals().forEach(signal -> signal(life, record.ref, signal.type()));
      }
    }
    return any;
  }
}
