package dev.carillon.api;

import dev.carillon.api.internal.Check;
import java.time.Instant;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * How far a job is, by what its handler, the code of its workflow or its children reported last.
 * What is done never falls: a report of a smaller part changes the message alone.
 *
 * @param done how much is done; null where the job has not said
 * @param total of how much; null exactly where {@code done} is
 * @param message what is going on; may be empty
 * @param perSecond how much was done a second since the first report with numbers; 0 where there
 *     was one such report only
 * @param at when it was recorded, by the clock of the node that has the job
 */
public record JobProgress(
    @Nullable Long done, @Nullable Long total, String message, double perSecond, Instant at) {

  /**
   * Checks that the parts fit each other.
   *
   * @throws IllegalArgumentException if there is one of {@code done} and {@code total} without the
   *     other, or a number is out of range
   */
  public JobProgress {
    Objects.requireNonNull(message, "message");
    Objects.requireNonNull(at, "at");
    if ((done == null) != (total == null)) {
      throw new IllegalArgumentException(
          Check.problem("total", total, "a number exactly if done is one, is " + done));
    }
    if (done != null && (done < 0 || total < done)) {
      throw new IllegalArgumentException(Check.problem("done", done, "0 to the total, " + total));
    }
    if (!(perSecond >= 0)) {
      throw new IllegalArgumentException(Check.problem("perSecond", perSecond, "at least 0"));
    }
  }

  /**
   * Which part of it is done.
   *
   * @return 0 to 1; null where that is not known. Nothing of nothing is all
   */
  public @Nullable Double fraction() {
    if (done == null || total == null) {
      return null;
    }
    return total == 0 ? 1.0 : (double) done / total;
  }
}
