package dev.carillon;

import dev.carillon.api.AttemptToken;
import dev.carillon.api.DependencyInfo;
import dev.carillon.api.JobContext;
import dev.carillon.api.JobId;
import dev.carillon.api.OccurrenceInfo;
import dev.carillon.api.TypeToken;
import java.sql.Connection;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * A workflow as interceptors and rules see it: the attempt that it is in now, of which there are
 * several in one run of its code. It keeps its position by itself, so nothing can be saved.
 */
final class ActivationContext implements JobContext {
  private final Supplier<AttemptContext> current;

  ActivationContext(Supplier<AttemptContext> current) {
    this.current = current;
  }

  @Override
  public JobId id() {
    return current.get().id();
  }

  @Override
  public AttemptToken token() {
    return current.get().token();
  }

  @Override
  public String type() {
    return current.get().type();
  }

  @Override
  public String namespace() {
    return current.get().namespace();
  }

  @Override
  public String queue() {
    return current.get().queue();
  }

  @Override
  public @Nullable String name() {
    return current.get().name();
  }

  @Override
  public int attempt() {
    return current.get().attempt();
  }

  @Override
  public Instant scheduledTime() {
    return current.get().scheduledTime();
  }

  @Override
  public @Nullable OccurrenceInfo occurrence() {
    return current.get().occurrence();
  }

  @Override
  public List<DependencyInfo> dependencies() {
    return current.get().dependencies();
  }

  @Override
  public Map<String, String> metadata() {
    return current.get().metadata();
  }

  @Override
  public boolean cancellationRequested() {
    return current.get().cancellationRequested();
  }

  @Override
  public boolean pauseRequested() {
    return current.get().pauseRequested();
  }

  @Override
  public void progress(long done, long total, String message) {
    current.get().progress(done, total, message);
  }

  @Override
  public void progress(String message) {
    current.get().progress(message);
  }

  @Override
  public void save(Object state) {
    throw refused("save");
  }

  @Override
  public void completeIn(Connection connection, @Nullable Object result) {
    throw refused("completeIn");
  }

  @Override
  public <T> Optional<T> saved(TypeToken<T> type) {
    return Optional.empty();
  }

  private IllegalStateException refused(String what) {
    return new IllegalStateException(
        what + ": of workflow " + id() + " (expected: a handler's job; a workflow has steps)");
  }
}
