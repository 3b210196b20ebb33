package dev.carillon.engine.message;

import dev.carillon.engine.format.ByteReader;
import dev.carillon.engine.format.ByteWriter;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * How a job that has not ended stands on the node that has its shard, and what keeps it from
 * starting.
 *
 * <pre>
 * known       byte
 * run         byte 0, or 1 and: string node, varint attempt, long started, byte
 * hindrances  varint, each
 * </pre>
 *
 * @param run its attempt that is under way; null where none is
 */
public record JobStand(Known known, @Nullable Run run, List<Hindrance> hindrances) {

  /** What a node knows of the job. */
  public enum Known {
    /** Its shard is not this node's. */
    ELSEWHERE(1),
    /** Its shard is this node's and not in memory. */
    ASLEEP(2),
    /** It is in memory. */
    HERE(3),
    /** It has ended. */
    GONE(4);

    private final int code;

    Known(int code) {
      this.code = code;
    }

    static Known ofCode(int code) {
      for (Known each : values()) {
        if (each.code == code) {
          return each;
        }
      }
      throw new IllegalArgumentException("known: " + code + " (expected: 1 to 4)");
    }
  }

  /**
   * An attempt whose handler was called.
   *
   * @param node the id of the node that runs it; empty where that is not known
   * @param number 1 for the first
   * @param returned whether the handler has returned and its outcome is on its way to the store
   */
  public record Run(String node, int number, long startedMicros, boolean returned) {}

  public JobStand {
    hindrances = List.copyOf(hindrances);
  }

  /** It stands so and nothing is known of what keeps it. */
  public static JobStand of(Known known) {
    return new JobStand(known, null, List.of());
  }

  public byte[] encode() {
    ByteWriter out = new ByteWriter(256).u8(known.code).u8(run != null ? 1 : 0);
    if (run != null) {
      out.string(run.node()).varint(run.number()).i64(run.startedMicros());
      out.u8(run.returned() ? 1 : 0);
    }
    out.varint(hindrances.size());
    hindrances.forEach(each -> each.write(out));
    return out.toBytes();
  }

  public static JobStand decode(byte[] bytes) {
    ByteReader in = new ByteReader(bytes);
    Known known = Known.ofCode(in.u8());
    Run run = null;
    if (in.u8() == 1) {
      run = new Run(in.string(), (int) in.varint(), in.i64(), in.u8() == 1);
    }
    List<Hindrance> hindrances = new ArrayList<>();
    for (int left = in.length(); left > 0; left--) {
      hindrances.add(Hindrance.read(in));
    }
    return new JobStand(known, run, hindrances);
  }
}
