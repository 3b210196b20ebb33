package dev.carillon.engine.query;

import dev.carillon.api.JobInfo;
import dev.carillon.api.JobState;
import dev.carillon.engine.format.WordFilter;
import dev.carillon.engine.history.Footer;
import dev.carillon.engine.history.MetadataFilter;
import dev.carillon.engine.history.Packed;
import dev.carillon.engine.history.Summary;
import dev.carillon.store.Head;
import dev.carillon.store.Outcome;
import dev.carillon.store.Store;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * What a list asks of every job, as far as heads and footers know it: enough to pass over shards
 * that have no such job, without reading them.
 *
 * @param metadata entries that the job's metadata has
 * @param states none for any
 */
public record JobFilter(
    @Nullable String type,
    @Nullable String namespace,
    @Nullable String queue,
    Map<String, String> metadata,
    Set<JobState> states) {

  /** Takes every job. */
  public static final JobFilter ALL = new JobFilter(null, null, null, Map.of(), Set.of());

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

  /** Whether the job is one of those asked for; where it stands on its node may say otherwise. */
  boolean takes(JobInfo info) {
    return (type == null || type.equals(info.type()))
        && (namespace == null || namespace.equals(info.namespace()))
        && (queue == null || queue.equals(info.queue()))
        && info.metadata().entrySet().containsAll(metadata.entrySet())
        && takes(info.state().ended() ? info.state().code() : 0);
  }

  /** Whether it passes over nothing. */
  boolean isAll() {
    return type == null
        && namespace == null
        && queue == null
        && metadata.isEmpty()
        && states.isEmpty();
  }

  private boolean takes(int stateCode) {
    return (mask() & 1 << stateCode) != 0;
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
        && mayHold(catalogue.queues(), queue)
        && (metadata.isEmpty() || catalogue.parts().stream().anyMatch(codes(catalogue)::take));
  }

  private static boolean mayHold(Footer.Counts counts, @Nullable String word) {
    if (word == null) {
      return true;
    }
    int code = counts.code(word);
    return code == Footer.OTHERS || (code >= 0 && counts.counts()[code] > 0);
  }

  /** The same in the words' codes of a footer. */
  Codes codes(Footer.Catalogue catalogue) {
    return new Codes(catalogue, this);
  }

  /** Which jobs of a footer are taken, as far as it tells. */
  static final class Codes {
    private static final int ANY = -2;

    private final int states;
    private final int type;
    private final int namespace;
    private final int queue;

    /** Hashes of the metadata asked for, as far as the footer knows the key. */
    private final List<Long> metadata = new ArrayList<>();

    private Codes(Footer.Catalogue catalogue, JobFilter filter) {
      this.states = filter.mask();
      this.type = code(catalogue.types(), filter.type());
      this.namespace = code(catalogue.namespaces(), filter.namespace());
      this.queue = code(catalogue.queues(), filter.queue());
      filter
          .metadata()
          .forEach(
              (key, value) -> {
                if (catalogue.metadataKeys().contains(key)) {
                  metadata.add(MetadataFilter.hash(key, value));
                }
              });
    }

    private static int code(Footer.Counts counts, @Nullable String word) {
      return word == null ? ANY : counts.code(word);
    }

    boolean take(Footer.Jobs job) {
      return (states & 1 << job.state) != 0
          && take(type, job.type)
          && take(namespace, job.namespace)
          && take(queue, job.queue);
    }

    private static boolean take(int wanted, int code) {
      return wanted == ANY || wanted == code;
    }

    /** Whether one of the part's jobs may be taken. */
    boolean take(Footer.Part part) {
      return (states & part.states()) != 0
          && take(type, part.types())
          && take(namespace, part.namespaces())
          && take(queue, part.queues())
          && metadata.stream().allMatch(part.metadata()::mayHold);
    }

    private static boolean take(int wanted, BitSet codes) {
      return wanted == ANY || (wanted >= 0 && codes.get(wanted));
    }
  }
}
