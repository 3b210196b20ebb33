package dev.carillon.engine.request;

import dev.carillon.api.IfExists;
import dev.carillon.api.JobError;
import dev.carillon.api.error.CarillonException;
import dev.carillon.api.error.InvalidJobException;
import dev.carillon.api.error.NameTakenException;
import dev.carillon.engine.attempt.Attempt;
import dev.carillon.engine.job.JobRef;
import dev.carillon.engine.job.JobSpec;
import dev.carillon.engine.job.Names;
import dev.carillon.engine.job.WorkflowTurn;
import dev.carillon.engine.job.WorkflowTurn.ChildStart;
import dev.carillon.engine.job.WorkflowTurn.Found;
import dev.carillon.engine.life.Workflows;
import dev.carillon.engine.shard.Shard;
import dev.carillon.store.Outcome;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Writes turns of workflows that start children with names or keys. Each name is looked up first,
 * as {@link Adds} does for a job: it is free, or a job has it, which takes the place of the child,
 * or there is no child. What came of that is in the history.
 *
 * <p>The names of a turn are taken one after the other in the order of their records: two turns
 * that want each other's names would wait for ever otherwise.
 *
 * <table>
 * <caption>what if the process dies</caption>
 * <tr><td>after a name is reserved, before the turn is durable</td><td>the record points at a job
 * that never was, so the name is free; the code starts the child again</td></tr>
 * <tr><td>after that</td><td>the child is there and has its name</td></tr>
 * <tr><td>before the job that takes the place of a child knows who waits</td><td>the shard of the
 * workflow is awake; whoever loads it says so again</td></tr>
 * </table>
 */
public final class NamedChildren {
  private final Adds adds;
  private final Workflows workflows;

  public NamedChildren(Adds adds, Workflows workflows) {
    this.adds = adds;
    this.workflows = workflows;
  }

  /** {@link Workflows#checkpoint}, also of children with names. */
  public void checkpoint(Attempt attempt, WorkflowTurn turn, Consumer<Outcome<Boolean>> answer) {
    if (hasNames(turn)) {
      new Turn(attempt, turn, answer).next();
    } else {
      workflows.checkpoint(attempt, turn, answer);
    }
  }

  private static boolean hasNames(WorkflowTurn turn) {
    for (ChildStart child : turn.children()) {
      if (child.isNamed()) {
        return true;
      }
    }
    return false;
  }

  /** A turn whose names are being found. */
  private final class Turn {
    private final Attempt attempt;
    private final WorkflowTurn turn;
    private final Consumer<Outcome<Boolean>> answer;
    private final Shard shard;
    private final JobRef parent;
    private final List<ChildStart> children;

    /** Those with names that are to be found yet. */
    private final ArrayDeque<Integer> open = new ArrayDeque<>();

    private final Map<String, AddRequest> free = new LinkedHashMap<>();
    private boolean running;
    private boolean goesOn;

    Turn(Attempt attempt, WorkflowTurn turn, Consumer<Outcome<Boolean>> answer) {
      this.attempt = attempt;
      this.turn = turn;
      this.answer = answer;
      this.shard = attempt.job().shard();
      this.parent = shard.ref(attempt.job().number);
      this.children = new ArrayList<>(turn.children());
      List<Integer> named = new ArrayList<>();
      for (int i = 0; i < children.size(); i++) {
        if (children.get(i).isNamed()) {
          named.add(i);
        }
      }
      named.sort(Comparator.comparing(i -> Names.recordKey(children.get(i).spec())));
      open.addAll(named);
      shard.hold();
    }

    /** The next name; some are found at once, and many of those must not stand on the stack. */
    void next() {
      goesOn = true;
      if (running) {
        return;
      }
      running = true;
      while (goesOn) {
        goesOn = false;
        Integer child = open.poll();
        if (child == null) {
          write();
        } else {
          find(child);
        }
      }
      running = false;
    }

    private void find(int i) {
      ChildStart child = children.get(i);
      JobSpec spec = child.spec();
      AddRequest twin = free.get(Names.recordKey(spec));
      if (attempt.over || !shard.owned()) {
        giveUp(Outcome.ok(false));
      } else if (twin != null) {
        JobRef other = shard.ref(twin.number);
        boolean same = spec.key() != null && spec.key().equals(twin.spec.key());
        found(i, same || child.keeps() ? new Found.Joins(other) : taken(spec, other));
      } else {
        Answer found = new Answer(i);
        AddRequest request =
            new AddRequest(
                spec.withMore(spec.more().childOf(parent)),
                child.keeps() ? IfExists.KEEP : IfExists.FAIL,
                found);
        found.request = request;
        request.within = new AddRequest.Within(shard, () -> isFree(i, request));
        adds.findName(request);
      }
    }

    private void isFree(int i, AddRequest request) {
      free.put(Names.recordKey(request.spec), request);
      found(i, new Found.Free(request.number, request.body));
    }

    private void found(int i, Found what) {
      children.set(i, children.get(i).with(what));
      next();
    }

    private static Found taken(JobSpec spec, JobRef by) {
      String name = spec.name() != null ? spec.name() : String.valueOf(spec.key());
      return new Found.Taken(by, JobError.of(new NameTakenException(name, by.id())));
    }

    /** What became of a name that is not free. */
    private final class Answer implements AddRequest.Answer {
      private final int child;
      private @Nullable AddRequest request;

      Answer(int child) {
        this.child = child;
      }

      @Override
      public void added(JobRef job, boolean created) {
        found(child, job.equals(parent) ? itself() : new Found.Joins(job));
      }

      private Found itself() {
        String problem =
            "name: that of the workflow itself (expected: another job for it to wait for)";
        return new Found.Taken(parent, JobError.of(new InvalidJobException(problem)));
      }

      @Override
      public void refused(CarillonException why) {
        JobRef by = request != null ? request.takenBy : null;
        if (by != null) {
          found(child, taken(children.get(child).spec(), by));
        } else {
          giveUp(new Outcome.Unavailable<>(String.valueOf(why.getMessage())));
        }
      }
    }

    private void giveUp(Outcome<Boolean> outcome) {
      open.clear();
      shard.unhold();
      free.values().forEach(adds::gaveUp);
      answer.accept(outcome);
    }

    private void write() {
      workflows.checkpoint(
          attempt,
          new WorkflowTurn(turn.entries(), children),
          outcome -> {
            shard.unhold();
            free.values().forEach(child -> settle(child, outcome));
            answer.accept(outcome);
          });
    }

    private void settle(AddRequest child, Outcome<Boolean> outcome) {
      boolean there = shard.job(child.number) != null;
      boolean unknown = outcome instanceof Outcome.Unknown<Boolean>;
      if (there || unknown || (outcome instanceof Outcome.Ok<Boolean>(Boolean all) && all)) {
        adds.settledName(child);
      } else {
        adds.gaveUp(child);
      }
    }
  }
}
