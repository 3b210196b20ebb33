package dev.carillon.simulator;

import static dev.carillon.simulator.Violation.check;

import dev.carillon.api.Concurrency;
import dev.carillon.api.IfExists;
import dev.carillon.api.error.CarillonException;
import dev.carillon.engine.job.JobRef;
import dev.carillon.engine.job.JobSpec;
import dev.carillon.engine.job.OptionalSpec;
import dev.carillon.engine.request.AddRequest;
import dev.carillon.store.Records.Stamp;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.LongSupplier;

/** Users of jobs that only workers run, and the workers. */
final class WorkerUsers {
  private static final int CANCELLED_ONE_IN = 10;
  private static final int KEYED_ONE_IN = 3;

  /** Their namespace and queue: the limits of others are not used up by what workers run. */
  private static final String LANE = "workers";

  private final World world;
  private final List<JobRef> known = new ArrayList<>();
  private final List<SimWorker> workers = new ArrayList<>();
  private long made;

  WorkerUsers(World world) {
    this.world = world;
  }

  void plan(WorkflowUsers.Planner planner, LongSupplier moment) {
    if (world.climate.workerJobs == 0) {
      return;
    }
    for (int i = 0; i < world.seed.workers(); i++) {
      SimWorker worker = new SimWorker(world, i);
      workers.add(worker);
      worker.start();
    }
    for (int i = 0; i < world.climate.workerJobs; i++) {
      planner.at(moment.getAsLong(), this::schedule);
    }
    for (int i = 0; i < world.climate.workerJobs / CANCELLED_ONE_IN; i++) {
      planner.at(moment.getAsLong(), this::cancel);
    }
  }

  private void schedule(Life life) {
    Chance chance = world.chance;
    long now = world.clock.wallMicros();
    long due = chance.oneIn(2) ? now : now + chance.spread(1_000, 10_000_000);
    OptionalSpec more =
        chance.oneIn(KEYED_ONE_IN)
            ? new OptionalSpec(null, null, null, Concurrency.of("workers"), List.of(), List.of())
            : OptionalSpec.NONE;
    long id = ++made;
    JobSpec spec =
        new JobSpec(
            due,
            now,
            0,
            Stamp.ABSENT,
            SimWorker.TYPE,
            1,
            LANE,
            LANE,
            null,
            null,
            Map.of(),
            0,
            0,
            more,
            ByteBuffer.allocate(8).putLong(id).array());
    world.trace.note("schedule worker job", id);
    life.node.add(
        new AddRequest(
            spec,
            IfExists.FAIL,
            new AddRequest.Answer() {
              @Override
              public void added(JobRef ref, boolean created) {
                check(
                    world.workers.find(ref) != null,
                    Guarantee.ACKNOWLEDGED_IS_DURABLE,
                    () -> "worker job " + id + " is acknowledged and is in no journal");
                known.add(ref);
              }

              @Override
              public void refused(CarillonException why) {
                world.trace.note("worker job refused", id);
              }
            }));
  }

  private void cancel(Life life) {
    if (!known.isEmpty()) {
      JobRef ref = world.chance.pick(known);
      world.trace.note("cancel worker job");
      life.node.cancel(ref, life.node.why("no longer wanted"), outcome -> {});
    }
  }

  /** Nothing goes wrong any more. */
  void heal() {
    workers.forEach(SimWorker::heal);
  }
}
