package dev.carillon.engine.message;

import dev.carillon.api.JobId;
import dev.carillon.engine.format.ByteReader;
import dev.carillon.engine.format.ByteWriter;

/**
 * A job whose handler runs on a node, as that node tells.
 *
 * @param attempt 1 for the first
 * @param dueMicros when the attempt was due
 * @param startedMicros when its handler was called
 */
public record RunningJob(
    JobId id,
    String type,
    String namespace,
    String queue,
    int attempt,
    long dueMicros,
    long startedMicros) {

  public void write(ByteWriter out) {
    out.string(id.value()).string(type).string(namespace).string(queue);
    out.varint(attempt).i64(dueMicros).i64(startedMicros);
  }

  public static RunningJob read(ByteReader in) {
    return new RunningJob(
        new JobId(in.string()),
        in.string(),
        in.string(),
        in.string(),
        (int) in.varint(),
        in.i64(),
        in.i64());
  }
}
