package dev.carillon.api.error;

import dev.carillon.api.JobError;
import dev.carillon.api.JobId;
import dev.carillon.api.JobState;
import dev.carillon.api.internal.Check;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * A child of a workflow ended otherwise than succeeded. Made from what is recorded, so it is the
 * same when the code is run again. Where it leaves the handler the job has failed.
 */
public final class ChildFailedException extends CarillonException {
  private final String type;
  private final JobId id;
  private final JobState state;
  private final @Nullable JobError error;

  /**
   * For a child that ended; made by Carillon.
   *
   * @param type the name of its type
   * @param id the child
   * @param state how it ended
   * @param error what its last attempt failed with; null where none failed
   */
  public ChildFailedException(String type, JobId id, JobState state, @Nullable JobError error) {
    super(message(type, id, state, error), null);
    this.type = Objects.requireNonNull(type, "type");
    this.id = Objects.requireNonNull(id, "id");
    this.state = Objects.requireNonNull(state, "state");
    this.error = error;
  }

  /**
   * The type of the child.
   *
   * @return the name of the type
   */
  public String type() {
    return type;
  }

  /**
   * The child.
   *
   * @return its id
   */
  public JobId id() {
    return id;
  }

  /**
   * How the child ended.
   *
   * @return an ended state other than {@link JobState#SUCCEEDED}
   */
  public JobState state() {
    return state;
  }

  /**
   * What its last attempt failed with.
   *
   * @return the error as it was recorded; null where no attempt failed
   */
  public @Nullable JobError error() {
    return error;
  }

  /**
   * Whether the child failed with an exception of exactly this class. The name that was recorded is
   * compared; of children superclasses are not recorded.
   *
   * @param type the class
   * @return true if it did
   */
  public boolean is(Class<? extends Throwable> type) {
    return error != null && error.type().equals(Check.argument("type", type).getName());
  }

  private static String message(String type, JobId id, JobState state, @Nullable JobError error) {
    String cause = error == null ? "" : ", " + error.type() + ": " + error.message();
    return "child %s, job %s: %s%s (expected: SUCCEEDED)"
        .formatted(Check.shown(type), id, state, cause);
  }
}
