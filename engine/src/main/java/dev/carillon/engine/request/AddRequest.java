package dev.carillon.engine.request;

import dev.carillon.api.Dependency;
import dev.carillon.api.IfExists;
import dev.carillon.api.error.CarillonException;
import dev.carillon.engine.commit.Operation;
import dev.carillon.engine.commit.RecordChanges;
import dev.carillon.engine.format.Frame;
import dev.carillon.engine.job.After;
import dev.carillon.engine.job.JobRef;
import dev.carillon.engine.job.JobSpec;
import dev.carillon.engine.shard.Shard;
import dev.carillon.store.Records.Stamp;
import dev.carillon.store.Transactions.Row;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A job to be added, as the node receives it. Everything that can be made outside the loop is made:
 * the body is encoded.
 */
public final class AddRequest {
  JobSpec spec;
  byte[] body;
  final IfExists ifExists;
  final Answer answer;

  /** Named jobs that it waits for, which are not of its batch. */
  private List<Named> named = List.of();

  /** Jobs of its batch that it waits for. */
  List<InBatch> inBatch = List.of();

  /** Who asks, where it exchanges a job; null for the node itself. */
  private @Nullable String by;

  /** The job, and its version, that it is to change; null for whichever has its name. */
  private @Nullable Expected expected;

  /** A version of a recurring job. */
  public record Expected(JobRef job, int version) {}

  /** The job that it became, or that had its name or key. */
  @Nullable JobRef job;

  /**
   * A job that goes into a certain shard, and whose add others write.
   *
   * @param free runs once its name is its own
   */
  record Within(Shard shard, Runnable free) {}

  record Named(String name, Dependency.Condition condition) {}

  record InBatch(AddRequest other, Dependency.Condition condition) {}

  boolean answered;
  boolean abandoned;

  /** Whether it keeps its shard from settling until the rest of its batch is placed. */
  boolean holding;

  /** Whether its operation exchanges a live job's input. */
  boolean replacing;

  /** Whether another node was asked to exchange a live job's input, and has not answered. */
  boolean askedElsewhere;

  /** Of which copy of the store its name was looked up last, as {@link RecordChanges} counts. */
  int copies;

  /** Where it goes as the child of a workflow; null for any other. */
  @Nullable Within within;

  /** Who has the name that it asked for, if that is why it was refused. */
  @Nullable JobRef takenBy;

  int rounds;
  @Nullable Shard shard;
  @Nullable Operation operation;
  @Nullable AddBatch batch;
  long number;

  /** The row of the inbox that it came in, if so. */
  final @Nullable Row row;

  /** Who asked. Exactly one of the two is called, on the loop. */
  public interface Answer {
    /** The job is durable as {@code job}; not {@code created} where the name or key had one. */
    void added(JobRef job, boolean created);

    /** It is not, or nobody can say: the exception tells. */
    void refused(CarillonException why);
  }

  /** A request for {@code spec}. */
  public AddRequest(JobSpec spec, IfExists ifExists, Answer answer) {
    this(spec, ifExists, answer, null);
  }

  /** A request that came in a row of the inbox. */
  AddRequest(JobSpec spec, IfExists ifExists, Answer answer, @Nullable Row row) {
    this.row = row;
    this.spec = spec;
    this.body = spec.encode();
    this.ifExists = ifExists;
    this.answer = answer;
  }

  /** Somebody asks for it. */
  public void askedBy(String who) {
    by = who;
  }

  /** It is about that version of the job and no other, and adds none. */
  public void expecting(Expected version) {
    expected = version;
  }

  @Nullable String by() {
    return by;
  }

  @Nullable Expected expected() {
    return expected;
  }

  /** Whether it may exchange a job that has its name. */
  boolean exchanges() {
    return ifExists == IfExists.REPLACE || ifExists == IfExists.UPDATE;
  }

  /** It waits for the job of a name, which exists. */
  public void afterNamed(String name, Dependency.Condition condition) {
    named = named.isEmpty() ? new ArrayList<>() : named;
    named.add(new Named(name, condition));
  }

  /** It waits for another job of its batch. */
  public void after(AddRequest other, Dependency.Condition condition) {
    inBatch = inBatch.isEmpty() ? new ArrayList<>() : inBatch;
    inBatch.add(new InBatch(other, condition));
  }

  /** The named jobs that it waits for, once. */
  List<Named> takeNamed() {
    List<Named> taken = named;
    named = List.of();
    return taken;
  }

  boolean hasDependencies() {
    return !named.isEmpty() || !inBatch.isEmpty() || !spec.more().after().isEmpty();
  }

  /** It waits for these jobs, and these wait for it. */
  void dependencies(List<After> after, List<JobRef> waiters) {
    Stamp stamp = JobSpec.decodeHead(body).stamp();
    spec = spec.withMore(spec.more().with(after, waiters));
    body = spec.encode();
    if (named()) {
      JobSpec.setStamp(body, stamp);
    }
  }

  /** Its size in a journal, about. */
  public int bytes() {
    return body.length + Frame.HEADER_BYTES + inBatch.size() * 2 * JobRef.MAX_BYTES;
  }

  /** It goes on as a replace of a job in {@code existing}, or no longer does. */
  void replaces(@Nullable Shard existing, @Nullable Operation replace) {
    replacing = replace != null;
    shard = existing;
    operation = replace;
  }

  /** Whether its record is to be put first; that of a ticket goes with the add. */
  boolean named() {
    return row == null && (spec.name() != null || spec.key() != null);
  }

  void added(JobRef added, boolean created) {
    job = added;
    if (!answered) {
      answered = true;
      answer.added(added, created);
    }
  }

  public void refused(CarillonException why) {
    if (!answered) {
      answered = true;
      answer.refused(why);
    }
  }
}
