package dev.carillon;

import dev.carillon.api.TypeToken;
import dev.carillon.api.error.JobNotFoundException;
import dev.carillon.engine.fold.FoldedJob;
import dev.carillon.engine.job.JobRef;
import dev.carillon.engine.query.JobReader;
import dev.carillon.store.Store;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Reads the inputs of jobs, and what their handlers saved, back from the store. Blocks its caller;
 * thread-safe.
 */
final class Inputs {
  private final Store store;
  private final Reads reads;
  private final Payloads payloads;

  Inputs(Store store, Reads reads, Payloads payloads) {
    this.store = store;
    this.reads = reads;
    this.payloads = payloads;
  }

  <I> @Nullable I decoded(JobRef job, TypeToken<I> type) {
    return payloads.decode(stored(job), type);
  }

  RawPayload raw(JobRef job) {
    return payloads.raw(stored(job));
  }

  <T> Optional<T> saved(JobRef job, TypeToken<T> type) {
    return reads
        .await(
            "position of job " + job.id(),
            () -> StoreAnswers.get(new JobReader(store).live(job)).map(Inputs::savedBy))
        .map(bytes -> payloads.decode(bytes, type));
  }

  private static byte @Nullable [] savedBy(FoldedJob job) {
    return job.rare != null ? job.rare.saved : null;
  }

  private byte[] stored(JobRef job) {
    return reads.await(
        "input of job " + job.id(),
        () ->
            StoreAnswers.get(new JobReader(store).find(job, 0))
                .map(JobReader.Story::payload)
                .orElseThrow(() -> new JobNotFoundException(job.id())));
  }
}
