package dev.carillon.store;

import java.util.Set;

/**
 * What a store declares about itself.
 *
 * @param kind a short word for people: {@code memory}, {@code sqlite}, {@code postgres}
 * @param durability what an acknowledged write survives
 * @param capabilities what it can do beyond the contract's minimum
 * @param maxEntryBytes the largest data of one {@link Append}
 * @param maxGroupBytes the largest sum of data in one group of appends
 * @param maxValueBytes the largest value of a record
 * @param maxKeyBytes the longest record key, in UTF-8
 */
public record StoreInfo(
    String kind,
    Durability durability,
    Set<Capability> capabilities,
    int maxEntryBytes,
    int maxGroupBytes,
    int maxValueBytes,
    int maxKeyBytes) {

  /** What an acknowledged write survives. */
  public enum Durability {
    /** Nothing is promised: a crash may take acknowledged writes. */
    LOSSY,
    /** The death of this process. */
    PROCESS,
    /** Loss of power. */
    HOST,
    /** Loss of a machine or a zone. */
    QUORUM
  }

  /** What a store can do beyond the minimum; each has conformance cases of its own. */
  public enum Capability {
    /** A group of appends can be all or nothing across journals. */
    ATOMIC_ACROSS_JOURNALS,
    /** Groups of appends that have no journal in common do not wait for each other. */
    CONCURRENT_APPENDS,
    /** Several appends to one journal may be under way at once. */
    PIPELINING,
    /** Only one process at a time can open it, so nobody else can take over. */
    SINGLE_PROCESS,
    /** {@link Doorbells} are heard by all that have the store open. */
    PUSH,
    /** {@link Transactions} of users' own can add jobs and complete attempts. */
    TRANSACTIONS
  }

  public StoreInfo {
    capabilities = Set.copyOf(capabilities);
  }

  /** Whether the store declares {@code capability}. */
  public boolean can(Capability capability) {
    return capabilities.contains(capability);
  }
}
