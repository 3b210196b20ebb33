package dev.carillon.engine.message;

import dev.carillon.engine.format.ByteReader;
import dev.carillon.engine.format.ByteWriter;
import dev.carillon.engine.format.UnknownFormatException;
import dev.carillon.engine.job.JobRef;
import dev.carillon.store.ShardId;
import org.jspecify.annotations.Nullable;

/**
 * What a node asks of another that answers at once from memory and changes nothing. Unlike a {@link
 * RemoteRequest} it is addressed to a node and not to a shard, and whoever asks goes on without an
 * answer after a while.
 *
 * <pre>
 * kind     byte
 * …        by kind
 * </pre>
 */
public sealed interface Question {
  int MOST_ITEMS = 10_000;

  /**
   * Which handlers run there, those first that began first.
   *
   * @param namespace of the jobs; null for all
   * @param most how many are told, at most {@link #MOST_ITEMS}; all are counted
   */
  record Running(@Nullable String namespace, int most) implements Question {}

  /**
   * How live jobs of a shard stand there that do not simply wait for their time.
   *
   * @param number of the job; 0 for all jobs of the shard, up to {@link #MOST_ITEMS}
   */
  record Phases(ShardId shard, long number) implements Question {}

  /**
   * How a job stands there, and what keeps it from starting.
   *
   * @param type of the job, and so on: for one that is not in memory there
   */
  record Why(JobRef job, String type, String namespace, String queue) implements Question {}

  /**
   * Which due jobs do not run there, counted by namespace, queue and reason.
   *
   * @param namespace of the jobs; null for all
   * @param queue of the jobs; null for all
   */
  record Waiting(@Nullable String namespace, @Nullable String queue) implements Question {}

  /**
   * What happened to the jobs there after an event that is known.
   *
   * @param known the last event that the asker knows
   */
  record News(JobNews.Place known) implements Question {}

  /**
   * What was measured there of late, see {@link
   * dev.carillon.engine.environment.NodeEnvironment#past}.
   *
   * @param ring which of its rings
   * @param afterSeconds the last interval that the asker knows
   */
  record Past(int ring, long afterSeconds) implements Question {}

  /** Which shards are there, counted by the time of their jobs. */
  record Shards() implements Question {}

  private static void write(@Nullable String text, ByteWriter out) {
    out.u8(text != null ? 1 : 0);
    if (text != null) {
      out.string(text);
    }
  }

  private static @Nullable String optional(ByteReader in) {
    return in.u8() == 1 ? in.string() : null;
  }

  static void write(Question question, ByteWriter out) {
    switch (question) {
      case Running(String namespace, int most) -> {
        write(namespace, out.u8(1));
        out.varint(most);
      }
      case Phases(ShardId shard, long number) -> out.u8(2).string(shard.toString()).varint(number);
      case Why why -> {
        why.job().write(out.u8(3));
        out.string(why.type()).string(why.namespace()).string(why.queue());
      }
      case News(JobNews.Place known) -> out.u8(5).i64(known.incarnation()).varint(known.number());
      case Past(int ring, long after) -> out.u8(6).u8(ring).varint(after);
      case Shards all -> out.u8(7);
      case Waiting(String namespace, String queue) -> {
        write(namespace, out.u8(4));
        write(queue, out);
      }
    }
  }

  static Question read(ByteReader in) {
    int kind = in.u8();
    return switch (kind) {
      case 1 -> new Running(optional(in), (int) in.varint());
      case 2 -> new Phases(ShardId.parse(in.string()), in.varint());
      case 3 -> new Why(JobRef.read(in), in.string(), in.string(), in.string());
      case 5 -> new News(new JobNews.Place(in.i64(), in.varint()));
      case 4 -> new Waiting(optional(in), optional(in));
      case 6 -> new Past(in.u8(), in.varint());
      case 7 -> new Shards();
      default -> throw new UnknownFormatException("question: " + kind + " (expected: 1 to 7)");
    };
  }
}
