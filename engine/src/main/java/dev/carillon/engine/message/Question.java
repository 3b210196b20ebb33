package dev.carillon.engine.message;

import dev.carillon.engine.format.ByteReader;
import dev.carillon.engine.format.ByteWriter;
import dev.carillon.engine.format.UnknownFormatException;
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

  static void write(Question question, ByteWriter out) {
    switch (question) {
      case Running(String namespace, int most) -> {
        out.u8(1).u8(namespace != null ? 1 : 0);
        if (namespace != null) {
          out.string(namespace);
        }
        out.varint(most);
      }
      case Phases(ShardId shard, long number) -> out.u8(2).string(shard.toString()).varint(number);
    }
  }

  static Question read(ByteReader in) {
    int kind = in.u8();
    return switch (kind) {
      case 1 -> new Running(in.u8() == 1 ? in.string() : null, (int) in.varint());
      case 2 -> new Phases(ShardId.parse(in.string()), in.varint());
      default -> throw new UnknownFormatException("question: " + kind + " (expected: 1 or 2)");
    };
  }
}
