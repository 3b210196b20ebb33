package dev.carillon.store.sql;

import dev.carillon.store.Append;
import dev.carillon.store.Entry;
import dev.carillon.store.Head;
import dev.carillon.store.ShardId;
import java.sql.SQLException;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The rows of the journals, inside one transaction. A row that is damaged ends a call with {@link
 * DamageException}.
 *
 * @param <R> the rows of the heads
 */
public interface JournalTables<R extends StoredHead<R>> {

  /** The head of a shard, if any. */
  @Nullable R head(ShardId shard) throws SQLException;

  /** The same, which nobody else can change, or append under, until this transaction ends. */
  @Nullable R lockHead(ShardId shard) throws SQLException;

  /** A page of heads, as {@code Journals.listByWake} has it. */
  List<R> headsByWake(long beforeMicros, @Nullable Head after, int limit) throws SQLException;

  /** A page of heads, as {@code Journals.listById} has it. */
  List<R> headsById(@Nullable ShardId after, int limit) throws SQLException;

  /** The number of the last entry of the current generation, 0 for none. */
  long tail(R row) throws SQLException;

  /** Whether the entry of this number, up to the tail, was written by {@code append}'s batch. */
  boolean holds(R row, Append append) throws SQLException;

  /** Puts an entry behind the tail of a locked head. */
  void addEntry(R row, Entry entry) throws SQLException;

  /** Writes a locked head. */
  void update(R row) throws SQLException;

  /** Removes the entries of the generations before {@code oldest}. */
  void removeGenerations(R row, int oldest) throws SQLException;

  /** Removes a locked head; all its entries go first. */
  void removeHead(R row) throws SQLException;
}
