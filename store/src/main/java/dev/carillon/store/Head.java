package dev.carillon.store;

/**
 * What a store knows of a shard besides its entries; the one place where claims, generations and
 * the end of a shard are compared and changed.
 *
 * @param shard which shard
 * @param epoch how often it was claimed, counting its creation; only raised
 * @param owner the incarnation that made or claimed this epoch; 0 once that owner released it
 * @param suspect whether this epoch was claimed while the one before it had an owner that had not
 *     released it: attempts may have been cut off
 * @param status whether it takes new jobs
 * @param generation the generation that takes appends, from 1; a publish raises it
 * @param oldestGeneration the oldest generation still kept for reading
 * @param wakeMicros a lower bound of the next due time of any job in it, microseconds since 1970
 * @param home the id of the node that made it
 * @param summary the owner's own words at its creation or last seal, release or publish; opaque to
 *     the store
 */
@SuppressWarnings("ArrayRecordComponent") // bytes are handed over, never compared or copied
public record Head(
    ShardId shard,
    long epoch,
    long owner,
    boolean suspect,
    Status status,
    int generation,
    int oldestGeneration,
    long wakeMicros,
    String home,
    byte[] summary) {

  /** The epoch that a {@link Outcome.Fenced} carries when the shard does not exist, or no more. */
  public static final long DROPPED = Long.MAX_VALUE;

  /** Whether a shard takes new jobs. Codes are persisted. */
  public enum Status {
    OPEN(1),
    SEALED(2);

    private final int code;

    Status(int code) {
      this.code = code;
    }

    /** The persisted code. */
    public int code() {
      return code;
    }

    /** The status of a persisted code. */
    public static Status ofCode(int code) {
      return switch (code) {
        case 1 -> OPEN;
        case 2 -> SEALED;
        default ->
            throw new IllegalArgumentException("status code: " + code + " (expected: 1 or 2)");
      };
    }
  }

  /** Whether its last owner gave it back in order. */
  public boolean released() {
    return owner == 0;
  }

  /** The head of a shard that its maker has just created. */
  public static Head created(ShardId shard, String home, long wakeMicros, byte[] summary) {
    return new Head(
        shard, 1, shard.incarnation(), false, Status.OPEN, 1, 1, wakeMicros, home, summary);
  }

  /** The head under the next epoch. */
  public Head claimedBy(long newOwner) {
    return with(epoch + 1, newOwner, owner != 0);
  }

  /** The head without an owner. */
  public Head releasedWith(byte[] newSummary) {
    return with(epoch, 0, suspect).withSummary(newSummary);
  }

  /** The head closed to new jobs. */
  public Head sealedWith(byte[] newSummary) {
    return with(Status.SEALED, wakeMicros, newSummary);
  }

  /** The head with another wake time. */
  public Head waking(long newWakeMicros) {
    return with(status, newWakeMicros, summary);
  }

  /** The head with another summary. */
  public Head withSummary(byte[] newSummary) {
    return with(status, wakeMicros, newSummary);
  }

  /** The head with the next generation. */
  public Head published(long newWakeMicros, byte[] newSummary) {
    return with(generation + 1, oldestGeneration).with(status, newWakeMicros, newSummary);
  }

  /** The head without the generations before {@code oldest}. */
  public Head keepingFrom(int oldest) {
    return with(generation, oldest);
  }

  private Head with(long newEpoch, long newOwner, boolean newSuspect) {
    return new Head(
        shard,
        newEpoch,
        newOwner,
        newSuspect,
        status,
        generation,
        oldestGeneration,
        wakeMicros,
        home,
        summary);
  }

  private Head with(Status newStatus, long newWakeMicros, byte[] newSummary) {
    return new Head(
        shard,
        epoch,
        owner,
        suspect,
        newStatus,
        generation,
        oldestGeneration,
        newWakeMicros,
        home,
        newSummary);
  }

  private Head with(int newGeneration, int newOldest) {
    return new Head(
        shard, epoch, owner, suspect, status, newGeneration, newOldest, wakeMicros, home, summary);
  }
}
