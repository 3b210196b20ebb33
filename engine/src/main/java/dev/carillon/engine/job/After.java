package dev.carillon.engine.job;

import dev.carillon.api.Dependency;
import dev.carillon.engine.format.ByteReader;
import dev.carillon.engine.format.ByteWriter;
import dev.carillon.engine.format.UnknownFormatException;

/**
 * A job that another waits for: the job, then a byte for the condition.
 *
 * @param condition how it must have ended
 */
public record After(JobRef job, Dependency.Condition condition) {

  void write(ByteWriter out) {
    job.write(out);
    out.u8(condition.code());
  }

  static After read(ByteReader in) {
    JobRef job = JobRef.read(in);
    int code = in.u8();
    try {
      return new After(job, Dependency.Condition.ofCode(code));
    } catch (IllegalArgumentException e) {
      throw new UnknownFormatException("dependency: " + e.getMessage());
    }
  }
}
