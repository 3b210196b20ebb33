package dev.carillon.engine.job;

import dev.carillon.engine.format.ByteReader;
import dev.carillon.engine.format.ByteWriter;

/**
 * Who asked for something, and why.
 *
 * @param by a person, a program or the id of a node
 * @param reason may be empty
 */
public record Why(String by, String reason) {

  public void write(ByteWriter out) {
    out.string(by).string(reason);
  }

  public static Why read(ByteReader in) {
    return new Why(in.string(), in.string());
  }
}
