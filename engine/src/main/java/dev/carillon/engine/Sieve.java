package dev.carillon.engine;

import dev.carillon.api.JobState;
import dev.carillon.store.Head;
import dev.carillon.store.Outcome;
import dev.carillon.store.Store;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * What a list asks of every job, as far as heads and footers know it: enough to pass over shards
 * that have no such job, without reading them.
 *
 * @param states none for any
 */
public record Sieve(
    @Nullable String type,
    @Nullable String namespace,
    @Nullable String queue,
    Set<JobState> states) {

  /** Bit 0. */
  private static final int LIVE = 1;

  /** The states asked for, a bit each by code, those of jobs that have not ended as bit 0. */
  private int mask() {
    if (states.isEmpty()) {
      return -1;
    }
    int mask = 0;
    for (JobState state : states) {
      mask |= state.ended() ? 1 << state.code() : LIVE;
    }
    return mask;
  }

  boolean takes(int stateCode) {
    return (mask() & 1 << stateCode) != 0;
  }

  boolean takes(Footer.Part part) {
    return (mask() & part.states()) != 0;
  }

  /** Whether the shard may hold such a job, by what its head and footer say; false is certain. */
  public Outcome<Boolean> mayHold(Store store, Head head) {
    if (!mayHoldBySummary(head)) {
      return Outcome.ok(false);
    }
    PackedReader packed = PackedReader.of(store, head);
    return packed == null
        ? Outcome.ok(true)
        : packed.reading(() -> !packed.tail().isEmpty() || mayHold(packed.catalogue()));
  }

  /** Whether it may by what its head alone says. */
  boolean mayHoldBySummary(Head head) {
    return !head.released() || Summary.read(head).map(this::mayHold).orElse(true);
  }

  private boolean mayHold(Summary summary) {
    Packed packed = summary.packed();
    boolean known = packed != null && packed.clean();
    int there = known && packed != null ? packed.states() : summary.drained() ? ~LIVE : -1;
    return (mask() & there) != 0
        && (packed == null
            || !known
            || (mayHold(packed, WordFilter.Of.TYPE, type)
                && mayHold(packed, WordFilter.Of.NAMESPACE, namespace)
                && mayHold(packed, WordFilter.Of.QUEUE, queue)));
  }

  private static boolean mayHold(Packed packed, WordFilter.Of of, @Nullable String word) {
    return word == null || packed.words().mayHold(of, word);
  }

  /** Whether a packed generation holds such a job, as far as its counts tell. */
  boolean mayHold(Footer.Catalogue catalogue) {
    boolean state = false;
    for (int code = 0; code < catalogue.states().length; code++) {
      state |= catalogue.states()[code] > 0 && takes(code);
    }
    return state
        && mayHold(catalogue.types(), type)
        && mayHold(catalogue.namespaces(), namespace)
        && mayHold(catalogue.queues(), queue);
  }

  private static boolean mayHold(Footer.Counts counts, @Nullable String word) {
    if (word == null) {
      return true;
    }
    int code = counts.code(word);
    return code == Footer.OTHERS || (code >= 0 && counts.counts()[code] > 0);
  }
}
