package dev.carillon.engine.shard;

import dev.carillon.store.Head;
import dev.carillon.store.ShardId;
import org.jspecify.annotations.Nullable;

/** Whose the shards are, as far as this node can tell. A claim decides where nodes differ. */
public interface Directory {

  /** Of a node that has the store to itself: whoever else had a shard is over. */
  Directory ALONE =
      new Directory() {
        @Override
        public boolean isAlone() {
          return true;
        }

        @Override
        public boolean isFree(Head head) {
          return true;
        }

        @Override
        public boolean isMine(String home, ShardId shard) {
          return true;
        }

        @Override
        public boolean isForgotten(String nodeId) {
          return false;
        }

        @Override
        public boolean isProven() {
          return true;
        }

        @Override
        public boolean isNamesake(long incarnation) {
          return false;
        }

        @Override
        public long era() {
          return 0;
        }
      };

  /** Whether nobody has the shard who lives: it may be claimed. */
  boolean isFree(Head head);

  /** Whether this node is to look after the shard: as its home, or as the stand-in of that. */
  boolean isMine(String home, ShardId shard);

  /** Whether no node of this id is there, nor expected back. */
  boolean isForgotten(String nodeId);

  /** Whether this node has seen who else is there. */
  default boolean hasLooked() {
    return true;
  }

  /** Whether this node has the store to itself. */
  default boolean isAlone() {
    return false;
  }

  /** Whether another node is there that takes what this one gives back. */
  default boolean hasTakers() {
    return false;
  }

  /** Whether what this node has is its own for certain. */
  boolean isProven();

  /** The id of the node of that incarnation; null where this node does not know it. */
  default @Nullable String nodeOf(long incarnation) {
    return null;
  }

  /** Whether that incarnation has the same node id as this one. */
  boolean isNamesake(long incarnation);

  /**
   * Another number whenever this node may have been taken for dead: what it was given in an earlier
   * era may be another's since.
   */
  long era();

  /** Whether an operator wants the shard to be with another node, which is there. */
  default boolean isMovedAway(ShardId shard) {
    return false;
  }

  /** Whether the shard, which this node has, is to go to another that is there. */
  default boolean isAnothers(String home, ShardId shard) {
    return !isMine(home, shard) && (!isForgotten(home) || isMovedAway(shard));
  }
}
