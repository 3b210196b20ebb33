package dev.carillon.engine.history;

import dev.carillon.engine.format.ByteReader;
import dev.carillon.engine.format.ByteWriter;
import dev.carillon.engine.format.DamagedException;
import dev.carillon.engine.format.UnknownFormatException;
import dev.carillon.store.Head;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * What an owner leaves in a shard's head for the next one: enough to go on adding to it without
 * reading it, to know when a drained one may go, and what of it a list need not look at.
 *
 * @param widthSeconds of its bucket
 * @param added jobs ever added
 * @param addedBytes their size
 * @param drained whether all of them have ended
 * @param evidence whether only dead and failed jobs are left
 * @param dead jobs kept until they are discarded
 * @param failed jobs kept for the retention of failures
 * @param keyed ended jobs whose idempotency key may still be recorded
 * @param lastEndMicros when the last one ended
 * @param bytes what its current generation takes, as far as its owner knew; 0 where it did not
 * @param packed null where its current generation is not packed
 * @param replaced its older generations, as far as they are still kept, oldest first
 * @param suspected whether a job that may have killed an earlier owner has not been tried again:
 *     the shard is as suspect as if it had not been released
 */
public record Summary(
    int widthSeconds,
    long added,
    long addedBytes,
    boolean drained,
    boolean evidence,
    int dead,
    int failed,
    int keyed,
    long lastEndMicros,
    long bytes,
    @Nullable Packed packed,
    List<Replaced> replaced,
    boolean suspected) {
  private static final int VERSION = 1;
  private static final int DRAINED = 1;
  private static final int EVIDENCE = 2;
  private static final int PACKED = 4;
  private static final int SUSPECTED = 8;

  /** With more, the oldest are kept together, as long as the younger ones of them. */
  private static final int MOST_REPLACED = 64;

  /**
   * A generation that a compaction has replaced.
   *
   * @param untilMicros until when it is kept for reading
   * @param bytes what it takes; 0 where that is not known
   */
  public record Replaced(int generation, long untilMicros, long bytes) {}

  /** Stands for one that this code cannot read. */
  public static final Summary UNREADABLE =
      new Summary(1, 0, 0, false, false, 0, 0, 0, 0, 0, null, List.of(), false);

  public static Summary fresh(Bucket bucket) {
    return new Summary(
        bucket.widthSeconds(), 0, 0, false, false, 0, 0, 0, 0, 0, null, List.of(), false);
  }

  public byte[] encode() {
    ByteWriter out =
        new ByteWriter(128)
            .u8(VERSION)
            .u8(flags())
            .varint(widthSeconds)
            .varint(added)
            .varint(addedBytes)
            .varint(dead)
            .varint(failed)
            .varint(keyed)
            .i64(lastEndMicros)
            .varint(bytes)
            .varint(replaced.size());
    replaced.forEach(
        old -> out.varint(old.generation()).i64(old.untilMicros()).varint(old.bytes()));
    if (packed != null) {
      packed.write(out);
    }
    return out.toBytes();
  }

  private int flags() {
    return (drained ? DRAINED : 0)
        | (evidence ? EVIDENCE : 0)
        | (packed != null ? PACKED : 0)
        | (suspected ? SUSPECTED : 0);
  }

  /** The summary in a head, or empty where this code cannot read it. */
  public static Optional<Summary> read(Head head) {
    try {
      ByteReader in = new ByteReader(head.summary());
      in.requireVersion("summary", VERSION);
      int flags = in.u8();
      int widthSeconds = (int) in.varint();
      long added = in.varint();
      long addedBytes = in.varint();
      int dead = (int) in.varint();
      int failed = (int) in.varint();
      int keyed = (int) in.varint();
      long lastEndMicros = in.i64();
      long bytes = in.varint();
      List<Replaced> replaced = readReplaced(in);
      return Optional.of(
          new Summary(
              widthSeconds,
              added,
              addedBytes,
              (flags & DRAINED) != 0,
              (flags & EVIDENCE) != 0,
              dead,
              failed,
              keyed,
              lastEndMicros,
              bytes,
              (flags & PACKED) != 0 ? Packed.read(in) : null,
              replaced,
              (flags & SUSPECTED) != 0));
    } catch (DamagedException | UnknownFormatException e) {
      return Optional.empty();
    }
  }

  private static List<Replaced> readReplaced(ByteReader in) {
    List<Replaced> replaced = new ArrayList<>();
    for (int i = in.length(); i > 0; i--) {
      replaced.add(new Replaced((int) in.varint(), in.i64(), in.varint()));
    }
    return replaced;
  }

  /** The same shard while something may be on its way to it. */
  public Summary asOpen() {
    return new Summary(
        widthSeconds,
        added,
        addedBytes,
        false,
        false,
        dead,
        failed,
        keyed,
        lastEndMicros,
        bytes,
        packed,
        replaced,
        suspected);
  }

  /** The same shard with its idempotency keys forgotten. */
  public Summary withoutKeys() {
    return new Summary(
        widthSeconds,
        added,
        addedBytes,
        drained,
        evidence,
        dead,
        failed,
        0,
        lastEndMicros,
        bytes,
        packed,
        replaced,
        suspected);
  }

  /** The same shard after a compaction left only evidence. */
  public Summary asEvidence(int deadLeft, int failedLeft, long bytesLeft) {
    return new Summary(
        widthSeconds,
        added,
        addedBytes,
        true,
        true,
        deadLeft,
        failedLeft,
        0,
        lastEndMicros,
        bytesLeft,
        null,
        replaced,
        false);
  }

  /** The same shard in another generation. */
  public Summary rewritten(long newBytes, @Nullable Packed newPacked) {
    return new Summary(
        widthSeconds,
        added,
        addedBytes,
        drained,
        evidence,
        dead,
        failed,
        keyed,
        lastEndMicros,
        newBytes,
        newPacked,
        replaced,
        suspected);
  }

  /** The same shard where {@code old} is kept as an older generation. */
  public Summary replacing(Replaced old) {
    List<Replaced> more = new ArrayList<>(replaced);
    more.add(old);
    if (more.size() > MOST_REPLACED) {
      long first = more.removeFirst().bytes(); // it goes with the next one, whose time is later
      Replaced next = more.getFirst();
      more.set(0, new Replaced(next.generation(), next.untilMicros(), first + next.bytes()));
    }
    return new Summary(
        widthSeconds,
        added,
        addedBytes,
        drained,
        evidence,
        dead,
        failed,
        keyed,
        lastEndMicros,
        bytes,
        packed,
        List.copyOf(more),
        suspected);
  }
}
