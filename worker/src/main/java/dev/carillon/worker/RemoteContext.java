package dev.carillon.worker;

import dev.carillon.api.AttemptToken;
import dev.carillon.api.Dependency;
import dev.carillon.api.DependencyInfo;
import dev.carillon.api.JobContext;
import dev.carillon.api.JobId;
import dev.carillon.api.JobState;
import dev.carillon.api.Limits;
import dev.carillon.api.OccurrenceInfo;
import dev.carillon.api.TypeToken;
import dev.carillon.api.error.InvalidArgumentException;
import dev.carillon.api.error.OutcomeUnknownException;
import dev.carillon.api.error.StaleAttemptException;
import dev.carillon.api.error.StoreUnavailableException;
import dev.carillon.protocol.Attempt;
import dev.carillon.protocol.Occurrence;
import dev.carillon.protocol.Payload;
import dev.carillon.protocol.Progress;
import dev.carillon.protocol.Saved;
import dev.carillon.protocol.Token;
import java.sql.Connection;
import java.time.Instant;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** An attempt as its handler sees it. */
final class RemoteContext implements JobContext {
  private static final long SAVE_SECONDS = 30;

  private final Run run;
  private final Attempt given;
  private final WorkerPayloads payloads;
  private final Ways ways;
  private final BooleanSupplier interrupted;
  private volatile @Nullable Payload saved;
  private @Nullable Progress unsaid;

  /**
   * How a handler reaches its worker, from any thread.
   *
   * @param save keeps a position
   * @param report tells that there is something to report
   */
  record Ways(Consumer<Saving> save, Consumer<RemoteContext> report) {}

  RemoteContext(Run run, WorkerPayloads payloads, Ways ways, BooleanSupplier interrupted) {
    this.run = run;
    this.given = run.given;
    this.payloads = payloads;
    this.ways = ways;
    this.interrupted = interrupted;
    this.saved = given.hasSaved() ? given.getSaved() : null;
  }

  Run run() {
    return run;
  }

  @Override
  public JobId id() {
    return new JobId(run.token().getJob());
  }

  @Override
  public AttemptToken token() {
    Token token = run.token();
    return new AttemptToken(id(), token.getEpoch(), token.getAttempt(), token.getNonce());
  }

  @Override
  public String type() {
    return given.getType();
  }

  @Override
  public String namespace() {
    return given.getNamespace();
  }

  @Override
  public String queue() {
    return given.getQueue();
  }

  @Override
  public @Nullable String name() {
    return given.hasName() ? given.getName() : null;
  }

  @Override
  public int attempt() {
    return run.token().getAttempt();
  }

  @Override
  public Instant scheduledTime() {
    return instant(given.getScheduledMicros());
  }

  private static Instant instant(long micros) {
    return Instant.ofEpochSecond(
        Math.floorDiv(micros, 1_000_000), Math.floorMod(micros, 1_000_000) * 1000L);
  }

  @Override
  public @Nullable OccurrenceInfo occurrence() {
    if (!given.hasOccurrence()) {
      return null;
    }
    Occurrence of = given.getOccurrence();
    return new OccurrenceInfo(
        new JobId(of.getSchedule()), of.getNumber(), instant(of.getTimeMicros()));
  }

  @Override
  public List<DependencyInfo> dependencies() {
    return given.getDependenciesList().stream()
        .map(
            each ->
                new DependencyInfo(
                    new JobId(each.getJob()),
                    Dependency.Condition.valueOf(each.getCondition()),
                    each.getMet(),
                    each.getState().isEmpty() ? null : JobState.valueOf(each.getState())))
        .toList();
  }

  @Override
  public Map<String, String> metadata() {
    return Collections.unmodifiableMap(new TreeMap<>(given.getMetadataMap()));
  }

  @Override
  public boolean cancellationRequested() {
    return run.cancelled || interrupted.getAsBoolean();
  }

  @Override
  public boolean pauseRequested() {
    return run.paused;
  }

  @Override
  public void progress(long done, long total, String message) {
    Limits.checkProgress(done, total);
    report(
        Progress.newBuilder()
            .setToken(run.token())
            .setDone(done)
            .setTotal(total)
            .setMessage(Limits.checkMessage(message))
            .build());
  }

  @Override
  public void progress(String message) {
    report(
        Progress.newBuilder()
            .setToken(run.token())
            .setMessage(Limits.checkMessage(message))
            .build());
  }

  private void report(Progress report) {
    if (add(report)) {
      ways.report().accept(this);
    }
  }

  /** Whether the worker is to be told that there is something. */
  private synchronized boolean add(Progress report) {
    Progress before = unsaid;
    Progress.Builder merged = report.toBuilder();
    if (before != null && !report.hasTotal() && before.hasTotal()) {
      merged.setDone(before.getDone()).setTotal(before.getTotal());
    }
    unsaid = merged.build();
    return before == null;
  }

  /** What was reported since it was asked for last. */
  synchronized Progress take() {
    Progress taken = unsaid;
    unsaid = null;
    return taken != null ? taken : Progress.getDefaultInstance();
  }

  @Override
  public void save(Object state) {
    Limits.checkPresent("state", state);
    Payload encoded = payloads.encode(state, state.getClass());
    Saving saving = new Saving(run, encoded);
    ways.save().accept(saving);
    Saved.Result result;
    try {
      result = saving.answer.get(SAVE_SECONDS, TimeUnit.SECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw OutcomeUnknownException.ofRepeatable("saving of job " + id() + ": interrupted");
    } catch (ExecutionException | TimeoutException e) {
      throw OutcomeUnknownException.ofRepeatable(
          "saving of job " + id() + ": no answer from a server after " + SAVE_SECONDS + " s");
    }
    saved =
        switch (result) {
          case DURABLE -> encoded;
          case STALE -> throw new StaleAttemptException(token());
          case NOT_SAVED ->
              throw new StoreUnavailableException(
                  "saving of job " + id() + ": the store could not be reached; nothing was saved");
          case NOT_KNOWN, RESULT_UNKNOWN, UNRECOGNIZED ->
              throw OutcomeUnknownException.ofRepeatable(
                  "saving of job " + id() + ": it is not known whether it was saved");
        };
  }

  @Override
  public <T> Optional<T> saved(TypeToken<T> type) {
    Payload kept = saved;
    if (kept == null) {
      return Optional.empty();
    }
    @SuppressWarnings("unchecked") // the codec decodes to the token's type
    T decoded = (T) payloads.decode(kept, type.type());
    return Optional.ofNullable(decoded);
  }

  @Override
  public void completeIn(Connection connection, @Nullable Object result) {
    throw new InvalidArgumentException(
        "completeIn: in a worker (expected: a handler on a node, whose store shares the"
            + " transaction; a worker has no store)");
  }
}
