package dev.carillon.store;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The journals of all shards. A shard has one writer: whoever made the newest claim. Every write
 * names its epoch and is refused with {@link Outcome.Fenced} once a newer claim has taken effect;
 * comparison and write are one atomic step.
 *
 * <p><b>Unknown outcomes.</b> {@link #append} is settled by {@link #resolve}. Every other write is
 * idempotent and settled by making the same call again until it is answered: it either finds its
 * effect, or has it now, or is refused for good.
 *
 * <p><b>Refusals</b> are looked for in this order, each before anything is written: limits ({@link
 * Outcome.TooLarge}: data and summaries over {@link StoreInfo#maxEntryBytes()}, a home over {@link
 * StoreInfo#maxKeyBytes()}), then whether the shard is there and the epoch is its own ({@link
 * Outcome.Fenced}), then the rest ({@link Outcome.Conflict}).
 */
public interface Journals {

  /**
   * Makes an empty, open shard owned by {@code shard.incarnation()} under epoch 1, generation 1.
   *
   * <p>Repeating it answers the head as long as the shard exists and nobody else has claimed it. A
   * sequence at or below the highest one created by that incarnation is otherwise refused with
   * {@link Outcome.Conflict}, also when its shard is long dropped.
   */
  Outcome<Head> create(ShardId shard, String home, long wakeMicros, byte[] summary);

  /**
   * Raises the epoch from {@code expectedEpoch} to the next and makes {@code owner} its owner. One
   * claimer at most succeeds for an epoch; the others get {@link Outcome.Fenced} with the epoch
   * they missed. Repeating a successful claim answers the same, until the next claim or release.
   *
   * @param owner the claimer's incarnation, not zero
   */
  Outcome<Claim> claim(ShardId shard, long expectedEpoch, long owner);

  /** What a claimer learns: the head as it is now, and the number of the last entry. */
  record Claim(Head head, long tail) {}

  /**
   * Appends a group, each journal with its own outcome, in the order of {@code group}: the entry's
   * number where it is in. Entries of one journal follow each other in number. With {@code
   * allOrNothing} (needs {@link StoreInfo.Capability#ATOMIC_ACROSS_JOURNALS}) one refusal leaves
   * all of them out; those that were not at fault answer {@link Outcome.Unavailable}.
   *
   * <p>Limits are checked before writing; a group over {@link StoreInfo#maxGroupBytes()} is {@link
   * Outcome.TooLarge} for all.
   */
  List<Outcome<Long>> append(List<Append> group, boolean allOrNothing);

  /**
   * Settles an append whose outcome was unknown, in one atomic step: finds its entry, or puts an
   * empty one in its place so that it can never appear. Until this is answered nothing else may be
   * appended to that journal.
   */
  Outcome<Resolution> resolve(Append unknown);

  /** The fate of an append. */
  enum Resolution {
    /** It is in the journal. */
    COMMITTED,
    /** It is not and never will be; its number is taken. */
    ABSENT
  }

  /**
   * Lowers the wake time to {@code wakeMicros} unless it is lower already. Acknowledged before the
   * append that makes it necessary is sent.
   */
  Outcome<Head> lowerWake(ShardId shard, long epoch, long wakeMicros);

  /**
   * Closes the shard to new jobs for good. Where it is sealed already nothing changes, its summary
   * neither, so a late repeat cannot bring old words back.
   */
  Outcome<Head> seal(ShardId shard, long epoch, byte[] summary);

  /**
   * Gives the shard back: no owner, the same epoch, free to be claimed at once. Only with every
   * append answered.
   */
  Outcome<Head> release(ShardId shard, long epoch, long expectedTail, byte[] summary);

  /**
   * Gives several shards back, in one step where the store can: a node that stops has hundreds.
   *
   * @return an outcome for each, in order, as if each had been released by itself
   */
  default List<Outcome<Head>> releaseAll(List<Release> releases) {
    return releases.stream()
        .map(one -> release(one.shard(), one.epoch(), one.expectedTail(), one.summary()))
        .toList();
  }

  /** What {@link #release} is told of a shard. */
  record Release(ShardId shard, long epoch, long expectedTail, byte[] summary) {}

  /**
   * Reads entries of one generation in order, from number {@code from}, as many as fit {@code
   * maxBytes} but at least one. Needs no claim. Not part of a snapshot being staged. A generation
   * that is not, or no longer, there is {@link Outcome.Conflict}.
   */
  Outcome<ReadPage> read(ShardId shard, int generation, long from, int maxBytes);

  /**
   * Entries in order.
   *
   * @param entries without gaps
   * @param complete whether the generation held no more when it was read
   */
  record ReadPage(List<Entry> entries, boolean complete) {
    public ReadPage {
      entries = List.copyOf(entries);
    }
  }

  /**
   * Puts one entry of a snapshot aside, for {@link #publish}: number {@code number}, from 1, of the
   * generation after {@code generation}. Number 1 discards what another snapshot left there; a
   * number that is there already is left as it is. Invisible until published.
   *
   * @param snapshot names this snapshot; random, not zero
   */
  Outcome<Long> stage(
      ShardId shard, long epoch, int generation, long snapshot, long number, byte[] data);

  /**
   * Makes the staged entries 1 to {@code count} of {@code snapshot} the next generation, if {@code
   * generation} is current, its tail is {@code expectedTail} and all of them are there. Appends
   * continue at {@code count + 1} of the new generation; the old one refuses them for ever and
   * stays readable. Repeating it answers the head until the next publish.
   */
  Outcome<Head> publish(Publication publication);

  /**
   * What is to be published.
   *
   * @param wakeMicros the wake time of the new generation
   */
  @SuppressWarnings("ArrayRecordComponent") // bytes are handed over, never compared or copied
  record Publication(
      ShardId shard,
      long epoch,
      int generation,
      long expectedTail,
      long snapshot,
      long count,
      long wakeMicros,
      byte[] summary) {}

  /** Forgets the generations before {@code oldest}; never the current one. */
  Outcome<Head> dropGenerations(ShardId shard, long epoch, int oldest);

  /**
   * Ends the shard: gone from listings and closed to everybody when it is answered, its bytes freed
   * afterwards. Final: a repeat answers ok, anything else {@link Outcome.Fenced} with {@link
   * Head#DROPPED}.
   */
  Outcome<Boolean> drop(ShardId shard, long epoch);

  /**
   * The head of one shard; {@link Outcome.Fenced} with {@link Head#DROPPED} where there is none.
   */
  Outcome<Head> head(ShardId shard);

  /**
   * Shards whose wake time is before {@code beforeMicros}, by wake time, then id; at most {@code
   * limit} after {@code after}. May show extra, never misses one that was acknowledged before the
   * call and whose wake time did not move.
   *
   * @param after the last head of the page before, null for the first page
   */
  Outcome<List<Head>> listByWake(long beforeMicros, @Nullable Head after, int limit);

  /** All shards by id; at most {@code limit} after {@code after}. */
  Outcome<List<Head>> listById(@Nullable ShardId after, int limit);
}
