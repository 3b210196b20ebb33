package dev.carillon.engine.request;

import dev.carillon.api.error.CarillonException;
import dev.carillon.api.error.InvalidJobException;
import dev.carillon.engine.commit.Operation;
import dev.carillon.engine.commit.RecordChanges;
import dev.carillon.engine.fold.Awaited;
import dev.carillon.engine.format.Frame;
import dev.carillon.engine.format.Kind;
import dev.carillon.engine.job.After;
import dev.carillon.engine.job.JobRef;
import dev.carillon.engine.job.Names;
import dev.carillon.engine.life.JobLookup;
import dev.carillon.engine.shard.Shard;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.function.Consumer;

/** Finds the jobs that a new job waits for, each of which must be there. Changes nothing. */
final class Prerequisites {
  private static final String EXPECTED_BY_ID = " (expected: one that exists)";
  private static final String EXPECTED_BY_NAME =
      " (expected: one that has not ended, since a name is free afterwards;"
          + " a job that may have ended is waited for by its id)";
  private static final String EXPECTED_BEFORE_A_BATCH =
      " (expected: one that is scheduled already; a batch does not wait for one on its way)";

  private final RecordChanges records;
  private final JobLookup lookup;

  /** Named adds on their way to the journal, with whoever waits to know their fate. */
  private final Map<JobRef, List<Runnable>> namedOnTheirWay;

  private final Refusal refusal;

  /** Says no to a request. */
  interface Refusal {
    void refuse(AddRequest request, CarillonException why);
  }

  Prerequisites(
      RecordChanges records,
      JobLookup lookup,
      Map<JobRef, List<Runnable>> namedOnTheirWay,
      Refusal refusal) {
    this.records = records;
    this.lookup = lookup;
    this.namedOnTheirWay = namedOnTheirWay;
    this.refusal = refusal;
  }

  /** Finds the jobs that it waits for, each of which must be there. */
  void resolve(AddRequest request, Runnable then) {
    List<AddRequest.Named> named = request.takeNamed();
    List<After> after = new ArrayList<>(request.spec.more().after());
    int[] open = {1 + named.size() + after.size()};
    Runnable one =
        () -> {
          if (--open[0] == 0) {
            if (!named.isEmpty()) {
              request.dependencies(after, List.of());
            }
            then.run();
          }
        };
    for (After each : List.copyOf(after)) {
      lookup.exists(
          each.job(), there -> found(request, there, each.job().id() + EXPECTED_BY_ID, one));
    }
    for (AddRequest.Named each : named) {
      resolve(
          request,
          each.name(),
          job -> {
            after.add(new After(job, each.condition()));
            one.run();
          });
    }
    one.run();
  }

  /** Finds the job of a name; one that is on its way is waited for, for it may never be. */
  private void resolve(AddRequest request, String name, Consumer<JobRef> then) {
    records.get(
        Names.recordKey(request.spec.namespace(), name, null),
        record -> {
          JobRef job = record.map(stored -> Names.Value.decode(stored.value()).job()).orElse(null);
          List<Runnable> waiting = job != null ? namedOnTheirWay.get(job) : null;
          String which = "named \"" + name + '"';
          if (waiting != null && request.batch != null) {
            found(request, false, which + EXPECTED_BEFORE_A_BATCH, () -> {});
          } else if (waiting != null) {
            waiting.add(() -> resolve(request, name, then));
          } else if (job == null) {
            found(request, false, which + EXPECTED_BY_NAME, () -> {});
          } else {
            // The record of a job with a key outlives it, and then tells of the job that ended.
            String problem = which + EXPECTED_BY_NAME;
            lookup.exists(job, there -> found(request, there, problem, () -> then.accept(job)));
          }
        });
  }

  private void found(AddRequest request, boolean there, String problem, Runnable one) {
    if (there) {
      one.run();
    } else if (!request.answered) {
      refusal.refuse(request, new InvalidJobException("dependency: job " + problem));
    }
  }

  /** Everything of the batch has its number: who waits for whom can be written. */
  static void tieTogether(AddBatch batch) {
    Map<AddRequest, List<JobRef>> waiters = new LinkedHashMap<>();
    Set<AddRequest> tied = new LinkedHashSet<>();
    for (AddRequest request : batch.requests) {
      if (request.operation == null) {
        continue; // it had its job already, which waits for what it waits for
      }
      for (AddRequest.InBatch each : request.inBatch) {
        tied.add(request);
        if (each.other().operation != null) {
          tied.add(each.other());
          waiters
              .computeIfAbsent(each.other(), other -> new ArrayList<>())
              .add(placeOf(request).ref(request.number));
        }
      }
    }
    for (AddRequest request : tied) {
      Operation operation = request.operation;
      if (operation != null) {
        List<After> after = new ArrayList<>(request.spec.more().after());
        for (AddRequest.InBatch each : request.inBatch) {
          after.add(new After(jobOf(each.other()), each.condition()));
        }
        request.dependencies(after, waiters.getOrDefault(request, List.of()));
        request.operation =
            new Operation(
                Frame.of(Kind.ADD, request.number, request.body), request.spec, operation.listener);
      }
    }
  }

  private static JobRef jobOf(AddRequest request) {
    JobRef had = request.job;
    return had != null ? had : placeOf(request).ref(request.number);
  }

  /** What was added together with it knows who waits. */
  static void arranged(Awaited awaited, AddRequest other) {
    if (other.operation != null) {
      awaited.arranged(jobOf(other));
    }
  }

  private static Shard placeOf(AddRequest request) {
    return Objects.requireNonNull(request.shard, "the request was placed");
  }
}
