package dev.carillon.engine.query;

import dev.carillon.engine.job.JobRef;
import dev.carillon.engine.job.Names;
import dev.carillon.store.Outcome;
import dev.carillon.store.Store;
import java.util.Optional;

/** Finds jobs by their names: one read of the name's record, no scan. Blocks its caller. */
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

  private static Outcome<Optional<JobRef>> find(Store store, String recordKey) {
    return store
        .records()
        .get(recordKey)
        .map(found -> found.map(record -> Names.Value.decode(record.value()).job()));
  }
}
