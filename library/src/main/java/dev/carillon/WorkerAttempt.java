package dev.carillon;

import dev.carillon.api.AttemptToken;
import dev.carillon.api.DependencyInfo;
import dev.carillon.api.OccurrenceInfo;
import dev.carillon.engine.attempt.Attempt;
import dev.carillon.engine.format.Micros;
import dev.carillon.engine.job.JobSpec;
import dev.carillon.gateway.GivenAttempt;
import java.time.Duration;
import java.time.Instant;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** An attempt as a worker sees it. Its job is decoded by whoever asks first, off the loop. */
final class WorkerAttempt implements GivenAttempt {
  private final Attempt attempt;
  private final long sequence;
  private final Payloads payloads;
  private volatile @Nullable JobSpec decoded;

  WorkerAttempt(Attempt attempt, long sequence, Payloads payloads) {
    this.attempt = attempt;
    this.sequence = sequence;
    this.payloads = payloads;
  }

  private JobSpec spec() {
    JobSpec known = decoded;
    if (known == null) {
      known = attempt.spec();
      decoded = known;
    }
    return known;
  }

  @Override
  public long sequence() {
    return sequence;
  }

  @Override
  public AttemptToken token() {
    return attempt.token();
  }

  @Override
  public String type() {
    return attempt.type();
  }

  @Override
  public int typeVersion() {
    return spec().typeVersion();
  }

  @Override
  public String namespace() {
    return spec().namespace();
  }

  @Override
  public String queue() {
    return spec().queue();
  }

  @Override
  public @Nullable String name() {
    return spec().name();
  }

  @Override
  public Map<String, String> metadata() {
    return Collections.unmodifiableMap(spec().metadata());
  }

  @Override
  public Instant scheduledTime() {
    return attempt.scheduledTime();
  }

  @Override
  public @Nullable OccurrenceInfo occurrence() {
    return AttemptContext.occurrence(attempt, spec());
  }

  @Override
  public List<DependencyInfo> dependencies() {
    return attempt.dependencies();
  }

  @Override
  public @Nullable Duration timeout() {
    long micros = spec().timeoutMicros();
    return micros == 0 ? null : Duration.ofNanos(micros * 1000);
  }

  @Override
  public @Nullable Instant deadline() {
    long micros = spec().deadlineMicros();
    return micros == 0 ? null : Micros.toInstant(micros);
  }

  @Override
  public RawPayload input() {
    return payloads.raw(spec().payload());
  }

  @Override
  public @Nullable RawPayload saved() {
    byte[] saved = attempt.saved();
    return saved == null ? null : payloads.raw(saved);
  }

  @Override
  public List<String> except() {
    return attempt.policy().except();
  }
}
