package dev.carillon.engine.member;

import dev.carillon.store.Head;
import java.util.List;

/**
 * How many shards a node has, as their heads say.
 *
 * @param home that it, or an earlier start of it, made
 * @param owned that it has
 * @param standsIn of those, how many are at home elsewhere
 */
public record Holdings(int home, int owned, int standsIn) {

  /** Those of one start of a node. */
  public static Holdings of(String nodeId, long incarnation, List<Head> heads) {
    int home = 0;
    int owned = 0;
    int standsIn = 0;
    for (Head head : heads) {
      boolean own = head.home().equals(nodeId);
      boolean has = head.owner() == incarnation;
      home += own ? 1 : 0;
      owned += has ? 1 : 0;
      standsIn += has && !own ? 1 : 0;
    }
    return new Holdings(home, owned, standsIn);
  }
}
