package dev.carillon.engine;

/**
 * Who asked for something, and why.
 *
 * @param by a person, a program or the id of a node
 * @param reason may be empty
 */
public record Why(String by, String reason) {

  void write(ByteWriter out) {
    out.string(by).string(reason);
  }

  static Why read(ByteReader in) {
    return new Why(in.string(), in.string());
  }
}
