package dev.carillon.engine.query;

import dev.carillon.engine.format.DamagedException;
import dev.carillon.engine.format.UnknownFormatException;
import dev.carillon.engine.job.JobRef;
import dev.carillon.engine.job.Names;
import dev.carillon.store.Outcome;
import dev.carillon.store.Store;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Finds jobs by their names: one read of the name's record, no scan; or lists them by name. Blocks
 * its caller.
 */
public final class NamedJobs {

  private NamedJobs() {}

  /**
   * The job that the record of an idempotency key points at, of a job without a name. Whether it is
   * there and has the key its own shard says.
   */
  public static Outcome<Optional<JobRef>> ofKey(Store store, String namespace, String key) {
    return find(store, Names.recordKey(namespace, null, key));
  }

  /**
   * The job that the record of a name points at. Whether it lives and has the name its own shard
   * says: after a crash while scheduling there may be no such job, and a replayed one has no name.
   */
  public static Outcome<Optional<JobRef>> find(Store store, String namespace, String name) {
    return find(store, Names.recordKey(namespace, name, null));
  }

  /**
   * A name and its job.
   *
   * @param job where the record points; null where that job has ended or the record is damaged
   */
  public record Named(String name, @Nullable JobRef job, boolean damaged) {}

  /** Names of a namespace that begin so, in their order, with the jobs that may have them. */
  public static Outcome<List<Named>> list(
      Store store, String namespace, String prefix, @Nullable String after, int most) {
    String root = Names.recordKey(namespace, "", null);
    return store
        .records()
        .list(root + prefix, after != null ? root + after : null, most)
        .map(
            found ->
                found.stream()
                    .map(each -> named(each.key().substring(root.length()), each.value()))
                    .toList());
  }

  private static Named named(String name, byte[] record) {
    try {
      Names.Value value = Names.Value.decode(record);
      return new Named(name, value.outcome() == null ? value.job() : null, false);
    } catch (DamagedException | UnknownFormatException | IllegalArgumentException e) {
      return new Named(name, null, true);
    }
  }

  private static Outcome<Optional<JobRef>> find(Store store, String recordKey) {
    return store
        .records()
        .get(recordKey)
        .map(found -> found.map(record -> Names.Value.decode(record.value()).job()));
  }
}
