package dev.carillon;

import dev.carillon.api.Job;
import dev.carillon.api.JobId;
import dev.carillon.api.JobInfo;
import dev.carillon.api.Limits;
import dev.carillon.api.error.InvalidArgumentException;
import dev.carillon.api.error.InvalidJobException;
import dev.carillon.api.error.JobNotFoundException;
import dev.carillon.api.error.StoreUnavailableException;
import dev.carillon.api.error.WaitInterruptedException;
import dev.carillon.engine.Node;
import dev.carillon.engine.job.JobRef;
import dev.carillon.engine.job.JobSpec;
import dev.carillon.engine.job.Ticket;
import dev.carillon.engine.query.JobReader;
import dev.carillon.store.Records.Stored;
import dev.carillon.store.Store;
import dev.carillon.store.StoreInfo.Capability;
import dev.carillon.store.Transactions;
import dev.carillon.store.Transactions.Draft;
import dev.carillon.store.Transactions.Row;
import java.security.SecureRandom;
import java.sql.Connection;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Jobs that users' transactions write, and where they are. Until a node has taken it such a job is
 * a row of the inbox: it can be looked at, and whoever wants to change or watch it waits for the
 * moment until it is taken. Blocks its caller; thread-safe.
 */
final class Tickets {
  private static final Duration PAUSE = Duration.ofMillis(10);

  private final Store store;
  private final NodeLoop loop;
  private final SecureRandom random = new SecureRandom();

  Tickets(Store store, NodeLoop loop) {
    this.store = store;
    this.loop = loop;
  }

  private boolean hasInbox() {
    return store.info().can(Capability.TRANSACTIONS);
  }

  // ---- writing

  /** Writes jobs in the transaction of the connection; returns their ids. */
  List<JobId> write(Connection connection, List<JobSpec> specs) {
    Limits.checkPresent("connection", connection);
    Transactions transactions = transactions(store);
    List<Draft> drafts = new ArrayList<>(specs.size());
    for (JobSpec spec : specs) {
      String ticket = Ticket.of(random.nextLong(), random.nextLong());
      drafts.add(new Draft(ticket, spec.withTicket(ticket).encode()));
    }
    transactions.write(connection, drafts);
    return drafts.stream().map(draft -> new JobId(draft.ticket())).toList();
  }

  /**
   * What users' transactions share with the store.
   *
   * @throws InvalidArgumentException if that is nothing
   */
  static Transactions transactions(Store store) {
    if (!store.info().can(Capability.TRANSACTIONS)) {
      throw new InvalidArgumentException(
          "store: "
              + store.info().kind()
              + " (expected: one in the database of the connection, such as PostgreSQL)");
    }
    return store.transactions();
  }

  /** Refuses what can only be known when the job is taken, after its caller was answered. */
  static void check(Job<?> job) {
    String name = job.name();
    String key = job.key();
    if (name != null) {
      throw refused("name", name);
    }
    if (key != null) {
      throw refused("key", key);
    }
    if (!job.dependencies().isEmpty()) {
      throw refused("dependencies", job.dependencies().size());
    }
  }

  private static InvalidJobException refused(String what, Object value) {
    return new InvalidJobException(
        what + ": " + value + " (expected: none for a job in a transaction)");
  }

  static void checkBytes(List<JobSpec> specs, int most) {
    long bytes = specs.stream().mapToLong(spec -> spec.payload().length).sum();
    if (bytes > most) {
      throw new dev.carillon.api.error.BatchTooLargeException("bytes", bytes, most);
    }
    Limits.checkBatch(specs.size());
  }

  // ---- finding

  /**
   * Where a job is. One that is not taken yet is waited for, until the time for answers is over.
   *
   * @return its place, or null where there is no such job
   * @throws StoreUnavailableException if the store could not be read, or nobody has taken the job
   */
  @Nullable JobRef place(JobId id) {
    Limits.checkPresent("id", id);
    if (!Ticket.is(id.value())) {
      return JobRef.parse(id);
    }
    long deadline = System.nanoTime() + loop.answerTimeout().toNanos();
    while (true) {
      JobRef taken = taken(id);
      if (taken != null || row(id).isEmpty()) {
        return taken != null ? taken : taken(id); // it may have been taken in between
      }
      if (System.nanoTime() - deadline >= 0) {
        throw new StoreUnavailableException(
            "job %s: committed, and taken by no node within %s"
                .formatted(id, loop.answerTimeout()));
      }
      loop.post(new OnNode(loop, Node::lookInInbox));
      pause(id);
    }
  }

  /**
   * Where a job is, as {@link #place} tells it.
   *
   * @throws JobNotFoundException if there is no such job
   */
  JobRef existing(JobId id) {
    JobRef ref = place(id);
    if (ref == null) {
      throw new JobNotFoundException(id);
    }
    return ref;
  }

  private static void pause(JobId id) {
    try {
      Thread.sleep(PAUSE);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new WaitInterruptedException(
          "waiting for job " + id + " to be taken: interrupted; nothing was changed", e);
    }
  }

  /** A job that was committed and that no node has taken yet. */
  Optional<JobInfo> untaken(JobId id) {
    return Ticket.is(id.value()) && taken(id) == null
        ? row(id).map(row -> JobReader.placeless(row.body()))
        : Optional.empty();
  }

  private @Nullable JobRef taken(JobId id) {
    Optional<Stored> record = StoreAnswers.get(store.records().get(Ticket.recordKey(id.value())));
    return record.map(stored -> Ticket.place(stored.value())).orElse(null);
  }

  private Optional<Row> row(JobId id) {
    return hasInbox() ? StoreAnswers.get(store.transactions().find(id.value())) : Optional.empty();
  }
}
