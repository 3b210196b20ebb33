package dev.carillon.engine.history;

import dev.carillon.engine.fold.FoldedJob;
import dev.carillon.engine.format.Frame;
import dev.carillon.engine.format.Kind;
import dev.carillon.engine.job.JobSpec;
import java.nio.ByteBuffer;
import java.util.IdentityHashMap;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.Consumer;

/**
 * The payloads of recurring jobs and their occurrences in a generation that is being written: each
 * stands in it once, before the first job that has it.
 */
public final class SharedPayloads {
  private final Consumer<Frame> write;
  private final Map<ByteBuffer, Long> numbers = new LinkedHashMap<>();

  /** The same by where they were seen, so that each array is looked at once. */
  private final IdentityHashMap<byte[], Long> seen = new IdentityHashMap<>();

  public SharedPayloads(Consumer<Frame> write) {
    this.write = write;
  }

  /** The spec of a job as it is to be written. */
  public byte[] spec(FoldedJob job) {
    return job.isRecurring() || job.isOccurrence()
        ? spec(job.payload(), job.ownHead())
        : job.body();
  }

  /** A spec of this payload and, without one, {@code head}. */
  byte[] spec(FoldedJob.Payload payload, byte[] head) {
    return payload.length() < Long.BYTES // no larger than what would stand in its place
        ? payload.behind(head)
        : JobSpec.sharing(head, number(payload));
  }

  private long number(FoldedJob.Payload payload) {
    return seen.computeIfAbsent(
        payload.bytes(),
        bytes ->
            numbers.computeIfAbsent(
                ByteBuffer.wrap(bytes, payload.offset(), payload.length()), this::write));
  }

  private long write(ByteBuffer payload) {
    long number = numbers.size() + 1L;
    byte[] bytes = new byte[payload.remaining()];
    payload.duplicate().get(bytes);
    write.accept(Frame.of(Kind.PAYLOAD, number, bytes));
    return number;
  }
}
