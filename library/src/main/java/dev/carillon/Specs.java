package dev.carillon;

import dev.carillon.api.Dependency;
import dev.carillon.api.FailurePolicy;
import dev.carillon.api.IfExists;
import dev.carillon.api.Job;
import dev.carillon.api.JobId;
import dev.carillon.api.Limits;
import dev.carillon.api.error.InvalidJobException;
import dev.carillon.api.error.InvalidScheduleException;
import dev.carillon.api.schedule.Due;
import dev.carillon.api.schedule.Schedule;
import dev.carillon.engine.format.Micros;
import dev.carillon.engine.job.After;
import dev.carillon.engine.job.JobRef;
import dev.carillon.engine.job.JobSpec;
import dev.carillon.engine.job.OptionalSpec;
import dev.carillon.engine.job.PolicyFormat;
import dev.carillon.engine.job.ScheduleFormat;
import dev.carillon.engine.job.Ticket;
import dev.carillon.engine.request.AddRequest;
import dev.carillon.store.Records.Stamp;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.LongSupplier;

/** Turns requests into what the engine stores, on the caller's thread. */
final class Specs {
  private final Payloads payloads;
  private final LongSupplier nowMicros;
  private final Tickets tickets;

  /**
   * What requests are turned into.
   *
   * @param nowMicros when a request is accepted, and by what its due time counts; thread-safe
   */
  Specs(Payloads payloads, LongSupplier nowMicros, Tickets tickets) {
    this.payloads = payloads;
    this.nowMicros = nowMicros;
    this.tickets = tickets;
  }

  JobSpec of(Job<?> job) {
    if (Ticket.is(job.key())) {
      throw new InvalidJobException(
          "key: " + job.key() + " (expected: not what may be the id of another job)");
    }
    if (job.ifExists() == IfExists.UPDATE && job.schedule() == null) {
      throw new InvalidJobException("ifExists: UPDATE (expected: a job with a schedule)");
    }
    byte[] payload = payloads.encodeInput(job.input(), job.inputType().type());
    Limits.checkPayload(payload.length);
    long accepted = nowMicros.getAsLong();
    Duration timeout = job.timeout();
    Instant deadline = job.deadline();
    Schedule schedule = job.schedule();
    long first = schedule != null ? first(schedule, job.due(), accepted) : 0;
    long due = schedule != null ? first + jitter(schedule) : due(job.due(), accepted);
    if (deadline != null && due > accepted && Micros.ceil(deadline) < due) {
      throw new InvalidJobException(
          "deadline: " + deadline + " (expected: not before the due time " + job.due() + ")");
    }
    return new JobSpec(
        due,
        accepted,
        job.priority(),
        Stamp.ABSENT,
        job.typeName(),
        job.typeVersion(),
        job.namespace(),
        job.queue(),
        job.name(),
        job.key(),
        job.metadata(),
        timeout == null ? 0 : Micros.ceil(timeout),
        deadline == null ? 0 : Math.max(1, Micros.ceil(deadline)),
        more(job, first),
        payload);
  }

  private OptionalSpec more(Job<?> job, long first) {
    Schedule schedule = job.schedule();
    FailurePolicy policy = job.failurePolicy();
    if (schedule == null
        && policy == null
        && job.concurrency() == null
        && job.dependencies().isEmpty()) {
      return OptionalSpec.NONE;
    }
    return new OptionalSpec(
        schedule != null
            ? new OptionalSpec.Recurring(first, ScheduleFormat.encode(schedule))
            : null,
        policy != null ? PolicyFormat.encode(policy) : null,
        null,
        job.concurrency(),
        after(job),
        List.of());
  }

  /** The jobs that it waits for by id; those by name are found by the node. */
  private List<After> after(Job<?> job) {
    List<After> after = new ArrayList<>();
    for (Dependency dependency : job.dependencies()) {
      JobId id = dependency.job();
      if (id != null) {
        JobRef ref = tickets.place(id);
        if (ref == null) {
          throw new InvalidJobException(
              "dependency: job " + id.value() + " (expected: an id that Carillon gave)");
        }
        after.add(new After(ref, dependency.condition()));
      }
    }
    return after;
  }

  /** The first occurrence: at the job's due time if it has one, else the schedule's first. */
  private static long first(Schedule schedule, Due due, long accepted) {
    if (due instanceof Due.Now) {
      Instant first = schedule.first(Micros.toInstant(accepted));
      if (first == null) {
        throw noTimeLeft(schedule);
      }
      return Micros.ceil(first);
    }
    long first = due(due, accepted);
    Instant until = schedule.until();
    if (until != null && first > Micros.ceil(until)) {
      throw noTimeLeft(schedule);
    }
    return first;
  }

  private static InvalidScheduleException noTimeLeft(Schedule schedule) {
    return new InvalidScheduleException(
        "until: " + schedule.until() + " (expected: not before the first occurrence)");
  }

  private static long jitter(Schedule schedule) {
    long most = Micros.ceil(schedule.jitter());
    return most == 0 ? 0 : ThreadLocalRandom.current().nextLong(most + 1);
  }

  private static long due(Due due, long acceptedMicros) {
    return due instanceof Due.Now
        ? acceptedMicros
        : Micros.ceil(due.from(Micros.toInstant(acceptedMicros)));
  }

  /** Refuses what a batch cannot do atomically. */
  static void checkBatch(List<? extends Job<?>> jobs) {
    Set<List<String>> seen = new HashSet<>();
    for (Job<?> job : jobs) {
      Limits.checkPresent("job", job);
      String name = job.name();
      String key = job.key();
      boolean exchanges = job.ifExists() == IfExists.REPLACE || job.ifExists() == IfExists.UPDATE;
      if (name != null && exchanges) {
        throw new InvalidJobException(
            "ifExists: "
                + job.ifExists()
                + " of \""
                + name
                + "\" (expected: FAIL or KEEP in a batch)");
      }
      if (name != null && !seen.add(List.of("name", job.namespace(), name))) {
        throw twice("name", name);
      }
      if (key != null && !seen.add(List.of("key", job.namespace(), key))) {
        throw twice("key", key);
      }
    }
  }

  /**
   * The requests of a batch, each with the others that it waits for.
   *
   * @throws InvalidJobException if they wait for each other in a circle
   */
  static void tie(List<? extends Job<?>> jobs, List<AddRequest> requests) {
    if (jobs.stream().allMatch(job -> job.dependencies().isEmpty())) {
      return;
    }
    Map<List<String>, Integer> byName = new HashMap<>();
    for (int i = 0; i < jobs.size(); i++) {
      String name = jobs.get(i).name();
      if (name != null) {
        byName.put(List.of(jobs.get(i).namespace(), name), i);
      }
    }
    Circles circles = new Circles(jobs);
    for (int i = 0; i < jobs.size(); i++) {
      for (Dependency dependency : jobs.get(i).dependencies()) {
        String name = dependency.name();
        Integer other = name != null ? byName.get(List.of(jobs.get(i).namespace(), name)) : null;
        if (other != null) {
          circles.add(i, other);
          requests.get(i).after(requests.get(other), dependency.condition());
        } else if (name != null) {
          requests.get(i).afterNamed(name, dependency.condition());
        }
      }
    }
    circles.refuse();
  }

  private static InvalidJobException twice(String what, String value) {
    return new InvalidJobException(
        what + ": \"" + value + "\" twice in one batch (expected: at most once)");
  }
}
