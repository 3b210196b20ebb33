package dev.carillon.engine.job;

import dev.carillon.engine.format.ByteReader;
import dev.carillon.engine.format.ByteWriter;

/**
 * When and where an attempt ran, as the operation that its outcome caused tells.
 *
 * <pre>
 * before  varint  micros from the start to the time of the operation; zigzag, since clocks go back
 * node    string  empty for the home of the shard, which is the usual case
 * </pre>
 *
 * @param startedAt when its handler was called, microseconds since 1970, by the clock of its node
 * @param node the id of the node that ran it; empty for the home of the shard
 */
public record Ran(long startedAt, String node) {
  /** No attempt ran. */
  public static final Ran NOT = new Ran(0, "");

  /** At a node, of a job in a shard with that home. */
  public static Ran at(long startedAt, String node, String home) {
    return new Ran(startedAt, node.equals(home) ? "" : node);
  }

  /** The id of the node, of a job in a shard with that home. */
  public String nodeAt(String home) {
    return node.isEmpty() ? home : node;
  }

  public void write(ByteWriter out, long at) {
    long before = at - startedAt;
    out.varint(before << 1 ^ before >> 63).string(node);
  }

  public static Ran read(ByteReader in, long at) {
    long zigzag = in.varint();
    return new Ran(at - (zigzag >>> 1 ^ -(zigzag & 1)), in.string());
  }
}
