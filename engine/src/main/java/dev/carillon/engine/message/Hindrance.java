package dev.carillon.engine.message;

import dev.carillon.api.WaitReason;
import dev.carillon.engine.format.ByteReader;
import dev.carillon.engine.format.ByteWriter;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * One thing that keeps a job from starting, as its node tells.
 *
 * @param detail the evidence, for people
 * @param facts the evidence, for programs
 * @param sinceMicros since when, at the earliest; 0 where that is not known
 * @param untilMicros when it goes by itself; 0 where it does not, or nobody knows
 * @param ends what would end it
 */
public record Hindrance(
    WaitReason reason,
    String detail,
    Map<String, String> facts,
    long sinceMicros,
    long untilMicros,
    String ends) {

  public Hindrance {
    facts = Collections.unmodifiableMap(new LinkedHashMap<>(facts));
  }

  /** One without further facts. */
  public static Hindrance of(WaitReason reason, String detail, String ends) {
    return new Hindrance(reason, detail, Map.of(), 0, 0, ends);
  }

  /** With a fact. */
  public Hindrance with(String name, Object value) {
    Map<String, String> more = new LinkedHashMap<>(facts);
    more.put(name, String.valueOf(value));
    return new Hindrance(reason, detail, more, sinceMicros, untilMicros, ends);
  }

  /** It has been so since then, at the earliest. */
  public Hindrance since(long micros) {
    return new Hindrance(reason, detail, facts, micros, untilMicros, ends);
  }

  /** It is so until then. */
  public Hindrance until(long micros) {
    return new Hindrance(reason, detail, facts, sinceMicros, micros, ends);
  }

  void write(ByteWriter out) {
    out.u8(reason.code()).string(detail).varint(facts.size());
    facts.forEach((name, value) -> out.string(name).string(value));
    out.i64(sinceMicros).i64(untilMicros).string(ends);
  }

  static Hindrance read(ByteReader in) {
    WaitReason reason = WaitReason.ofCode(in.u8());
    String detail = in.string();
    Map<String, String> facts = new LinkedHashMap<>();
    for (int left = in.length(); left > 0; left--) {
      facts.put(in.string(), in.string());
    }
    return new Hindrance(reason, detail, facts, in.i64(), in.i64(), in.string());
  }
}
