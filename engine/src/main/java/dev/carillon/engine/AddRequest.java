package dev.carillon.engine;

import dev.carillon.api.CarillonException;
import dev.carillon.api.IfExists;
import org.jspecify.annotations.Nullable;

/**
 * A job to be added, as the node receives it. Everything that can be made outside the loop is made:
 * the body is encoded.
 */
public final class AddRequest {
  final JobSpec spec;
  final byte[] body;
  final IfExists ifExists;
  final Answer answer;

  boolean answered;
  boolean abandoned;

  /** Whether it keeps its shard from settling until the rest of its batch is placed. */
  boolean holding;

  /** Whether its operation exchanges a live job's input. */
  boolean replacing;

  int rounds;
  @Nullable Shard shard;
  @Nullable Operation operation;
  @Nullable AddBatch batch;
  long number;

  /** Who asked. Exactly one of the two is called, on the loop. */
  public interface Answer {
    /** The job is durable as {@code job}; not {@code created} where the name or key had one. */
    void added(JobRef job, boolean created);

    /** It is not, or nobody can say: the exception tells. */
    void refused(CarillonException why);
  }

  /** A request for {@code spec}. */
  public AddRequest(JobSpec spec, IfExists ifExists, Answer answer) {
    this.spec = spec;
    this.body = spec.encode();
    this.ifExists = ifExists;
    this.answer = answer;
  }

  /** Its size in a journal. */
  public int bytes() {
    return body.length + Frame.HEADER_BYTES;
  }

  /** It goes on as a replace of a job in {@code existing}, or no longer does. */
  void replaces(@Nullable Shard existing, @Nullable Operation replace) {
    replacing = replace != null;
    shard = existing;
    operation = replace;
  }

  boolean named() {
    return spec.name() != null || spec.key() != null;
  }

  void added(JobRef job, boolean created) {
    if (!answered) {
      answered = true;
      answer.added(job, created);
    }
  }

  void refused(CarillonException why) {
    if (!answered) {
      answered = true;
      answer.refused(why);
    }
  }
}
