package dev.carillon.store;

import java.sql.Connection;
import java.util.List;
import java.util.Optional;
import java.util.function.LongPredicate;
import org.jspecify.annotations.Nullable;

/**
 * What transactions of users' own share with the store, which is in the same database: jobs that
 * come to be with a commit (the <i>inbox</i>), and attempts that are done with one
 * (<i>completions</i>). Of a store that declares {@link StoreInfo.Capability#TRANSACTIONS}.
 *
 * <p>Neither touches a journal in the user's transaction: that writes a row, and the row leaves in
 * the same transaction in which the journal gets the entry that takes its place, as the entry's
 * {@link Rider}. So a row and its entry are never both there, and never both gone.
 *
 * <p><b>What if the process dies, or an answer is lost …</b>
 *
 * <table>
 * <caption>the inbox</caption>
 * <tr><th>where</th><th>then</th></tr>
 * <tr><td>before the user's commit</td><td>the server rolls back: no row, no job, no id</td></tr>
 * <tr><td>the answer to the user's commit is lost</td><td>the id is known beforehand: whoever asks
 * for it finds the row, the job, or neither</td></tr>
 * <tr><td>after it, before a node has seen the row</td><td>any node finds it: rows are taken as
 * seen, not by a mark of how far one has read</td></tr>
 * <tr><td>after {@link #take}, before the append</td><td>the row has the stamp of a taker that is
 * gone: whoever knows that takes it again</td></tr>
 * <tr><td>the answer to {@link #take} is lost</td><td>the taker takes again what has its own stamp
 * </td></tr>
 * <tr><td>in the append</td><td>entry, row and record change together or not at all</td></tr>
 * <tr><td>the answer to the append is lost</td><td>its entry is resolved as any other; where it is
 * in, the row is out</td></tr>
 * <tr><td>the taker is paused and another takes the row</td><td>the first append has it; the other
 * finds the row gone and is refused, without effect</td></tr>
 * </table>
 *
 * <table>
 * <caption>completions</caption>
 * <tr><th>where</th><th>then</th></tr>
 * <tr><td>before the user's commit</td><td>no row; the attempt is made again</td></tr>
 * <tr><td>after it, before the owner's append</td><td>the next owner finds the row before it starts
 * the job, and appends its outcome instead</td></tr>
 * <tr><td>in that append</td><td>the outcome is in the journal and the row gone, or neither</td>
 * </tr>
 * <tr><td>the owner is paused before {@link #complete}, and its shard claimed</td><td>the row is put
 * before the epoch is read: it reads the new one, takes its row back and is refused</td></tr>
 * <tr><td>paused after it, its transaction open</td><td>{@link #settle} by the new owner waits for
 * that transaction, for this job alone</td></tr>
 * </table>
 *
 * <p>Thread-safe.
 */
public interface Transactions {

  /** The doorbell that rings with the commit of a row in the inbox. */
  String BELL = "inbox";

  /** The most rows that one call writes or takes. */
  int MAX_ROWS = 10_000;

  // ---- in a transaction of the user's

  /**
   * Writes rows into the inbox, to be seen when the connection commits.
   *
   * @throws dev.carillon.api.error.InvalidArgumentException if the connection commits each
   *     statement by itself
   * @throws dev.carillon.api.error.StoreUnavailableException if it leads to another database, or
   *     the database refuses; the transaction cannot be committed then
   */
  void write(Connection connection, List<Draft> drafts);

  /**
   * A job to be.
   *
   * @param ticket its name, random and never used again
   * @param body the job, in the engine's words
   */
  @SuppressWarnings("ArrayRecordComponent") // bytes are handed over, never compared or copied
  record Draft(String ticket, byte[] body) {}

  /**
   * Notes that an attempt is done, to count when the connection commits. To be called by the one
   * attempt that runs of the job, under the epoch of its shard.
   *
   * @param permit a record that must be there after the row was written; null for none. Whoever
   *     deletes it and settles the job afterwards has either refused this or sees the row
   * @throws dev.carillon.api.error.InvalidArgumentException if the connection commits each
   *     statement by itself
   * @throws dev.carillon.api.error.StoreUnavailableException if it leads to another database, or
   *     the database refuses; the transaction cannot be committed then
   */
  Answer complete(Connection connection, Completion completion, @Nullable Permit permit);

  /** What came of a completion. */
  enum Answer {
    /** It counts if the transaction commits. */
    NOTED,
    /**
     * The shard has another epoch, or the permit is gone: nothing was written, and the transaction
     * must not commit.
     */
    STALE,
    /** The job has a completion already: nothing was written. */
    COMPLETED
  }

  /**
   * A record that lets a node complete jobs of others.
   *
   * @param key of the record
   * @param version that it must have
   */
  record Permit(String key, Records.Stamp version) {}

  /** Which job. */
  record Place(ShardId shard, long job) {}

  /**
   * An attempt that is done.
   *
   * @param epoch under which it ran
   * @param nonce tells it from others
   * @param outcome how it ended, in the engine's words
   */
  @SuppressWarnings("ArrayRecordComponent") // bytes are handed over, never compared or copied
  record Completion(Place place, long epoch, long nonce, byte[] outcome) {}

  // ---- by the node

  /** A row of the inbox. */
  @SuppressWarnings("ArrayRecordComponent") // bytes are handed over, never compared or copied
  record Row(long id, String ticket, byte[] body) {}

  /**
   * Stamps rows, oldest first, that nobody has taken or of whose taker {@code free} holds, and
   * returns them. Taking again is safe, also what was taken and appended by others meanwhile: an
   * append finds that out.
   *
   * @param taker the incarnation of the node
   * @param free whose rows may be taken; called on this thread
   * @param maxRows at least 1, at most {@link #MAX_ROWS}
   * @param maxBytes at which sum of bodies no further row is taken; the first one always is
   */
  Outcome<List<Row>> take(long taker, LongPredicate free, int maxRows, long maxBytes);

  /** The row of a ticket, if it was committed and is not yet a job. */
  Outcome<Optional<Row>> find(String ticket);

  /**
   * {@link Journals#append}, with what rides along each entry. An append whose rows are not all
   * there is refused as unavailable, without effect. An unknown outcome is resolved by {@link
   * Journals#resolve}: the riders are in effect where the entry is in.
   *
   * @param riders as many as appends
   */
  List<Outcome<Long>> append(List<Append> group, List<Rider> riders, boolean allOrNothing);

  /**
   * What happens in the transaction that adds an entry.
   *
   * @param rows of the inbox that leave it
   * @param pointers records that come to be: puts of keys that are absent
   * @param done jobs whose completions go
   */
  record Rider(List<Long> rows, List<Records.Change> pointers, List<Place> done) {
    /** Nothing rides along. */
    public static final Rider NONE = new Rider(List.of(), List.of(), List.of());

    /** Whether nothing rides along. */
    public boolean isNone() {
      return rows.isEmpty() && pointers.isEmpty() && done.isEmpty();
    }
  }

  /**
   * Says of each job whether it has a completion. Where the answer is none, no transaction that is
   * open now will leave one: it waits for those, a little, and says so where it waited in vain.
   */
  Outcome<List<Settled>> settle(List<Place> jobs);

  /**
   * What is known of a job's completion.
   *
   * @param completion it, or null where there is none
   * @param open whether that is still in the hands of a transaction
   */
  record Settled(@Nullable Completion completion, boolean open) {}
}
