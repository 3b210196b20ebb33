package dev.carillon.engine;

/**
 * What an owner leaves in a shard's head for the next one: enough to go on adding to it without
 * reading it, and to know when a drained one may go.
 *
 * @param widthSeconds of its bucket
 * @param added jobs ever added
 * @param addedBytes their size
 * @param drained whether all of them have ended
 * @param deadOrFailed how many ended as evidence that is kept longer
 * @param lastEndMicros when the last one ended
 */
record Summary(
    int widthSeconds,
    long added,
    long addedBytes,
    boolean drained,
    int deadOrFailed,
    long lastEndMicros) {
  private static final int VERSION = 1;

  static Summary fresh(Bucket bucket) {
    return new Summary(bucket.widthSeconds(), 0, 0, false, 0, 0);
  }

  byte[] encode() {
    return new ByteWriter(32)
        .u8(VERSION)
        .varint(widthSeconds)
        .varint(added)
        .varint(addedBytes)
        .u8(drained ? 1 : 0)
        .varint(deadOrFailed)
        .i64(lastEndMicros)
        .toBytes();
  }

  static Summary decode(byte[] bytes) {
    ByteReader in = new ByteReader(bytes, 0, bytes.length);
    int version = in.u8();
    if (version != VERSION) {
      throw new UnknownFormatException("summary: version " + version + " (expected: 1)");
    }
    return new Summary(
        (int) in.varint(), in.varint(), in.varint(), in.u8() == 1, (int) in.varint(), in.i64());
  }
}
