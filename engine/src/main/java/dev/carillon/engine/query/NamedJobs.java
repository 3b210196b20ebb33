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
   * The job that the record of a name points at. Whether it lives and has the name its own shard
   * says: after a crash while scheduling there may be no such job, and a replayed one has no name.
   */
  public static Outcome<Optional<JobRef>> find(Store store, String namespace, String name) {
    return store
        .records()
        .get(Names.recordKey(namespace, name, null))
        .map(found -> found.map(record -> Names.Value.decode(record.value()).job()));
  }
}
