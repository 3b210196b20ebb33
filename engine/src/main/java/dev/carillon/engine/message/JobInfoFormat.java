package dev.carillon.engine.message;

import dev.carillon.api.BlockReason;
import dev.carillon.api.JobError;
import dev.carillon.api.JobId;
import dev.carillon.api.JobInfo;
import dev.carillon.api.JobState;
import dev.carillon.api.OccurrenceInfo;
import dev.carillon.api.RecurringInfo;
import dev.carillon.engine.format.ByteReader;
import dev.carillon.engine.format.ByteWriter;
import dev.carillon.engine.format.Micros;
import dev.carillon.engine.job.ScheduleFormat;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** Jobs as nodes tell each other of them: all but the jobs that they wait for, and progress. */
public final class JobInfoFormat {
  private JobInfoFormat() {}

  /** Writes a job. */
  public static void write(JobInfo job, ByteWriter out) {
    out.string(job.id().value()).string(job.type()).varint(job.typeVersion());
    out.string(job.namespace()).string(job.queue()).i64(job.priority());
    text(job.name(), out);
    text(job.key(), out);
    out.varint(job.metadata().size());
    job.metadata().forEach((key, value) -> out.string(key).string(value));
    BlockReason blocked = job.blockReason();
    out.u8(job.state().code()).u8(blocked != null ? blocked.code() : 0);
    time(job.scheduledAt(), out);
    time(job.dueAt(), out);
    out.varint(job.attempt());
    time(job.startedAt(), out);
    time(job.endedAt(), out);
    text(job.node(), out);
    JobError error = job.lastError();
    out.u8(error != null ? 1 : 0);
    if (error != null) {
      out.string(error.type()).string(error.message()).string(error.node());
    }
    text(job.reason(), out);
    Duration timeout = job.timeout();
    out.i64(timeout != null ? timeout.toNanos() / 1_000 : 0);
    time(job.deadline(), out);
    out.u8(job.cancelRequested() ? 1 : 0);
    RecurringInfo recurring = job.recurring();
    out.u8(recurring != null ? 1 : 0);
    if (recurring != null) {
      out.bytes(ScheduleFormat.encode(recurring.schedule())).varint(recurring.count());
      time(recurring.nextTime(), out);
      out.varint(recurring.version());
    }
    OccurrenceInfo occurrence = job.occurrence();
    out.u8(occurrence != null ? 1 : 0);
    if (occurrence != null) {
      out.string(occurrence.schedule().value()).varint(occurrence.number());
      time(occurrence.time(), out);
    }
  }

  /** Reads a job. */
  public static JobInfo read(ByteReader in) {
    return new JobInfo(
        new JobId(in.string()),
        in.string(),
        (int) in.varint(),
        in.string(),
        in.string(),
        (int) in.i64(),
        text(in),
        text(in),
        metadata(in),
        JobState.ofCode(in.u8()),
        blocked(in.u8()),
        needed(in),
        needed(in),
        (int) in.varint(),
        time(in),
        time(in),
        text(in),
        in.u8() == 1 ? new JobError(in.string(), in.string(), "").on(in.string()) : null,
        text(in),
        duration(in.i64()),
        time(in),
        in.u8() == 1,
        in.u8() == 1
            ? new RecurringInfo(
                ScheduleFormat.decode(in.bytes()), in.varint(), needed(in), (int) in.varint())
            : null,
        in.u8() == 1 ? new OccurrenceInfo(new JobId(in.string()), in.varint(), needed(in)) : null,
        List.of(),
        null);
  }

  private static @Nullable BlockReason blocked(int code) {
    return code == 0 ? null : BlockReason.ofCode(code);
  }

  private static @Nullable Duration duration(long micros) {
    return micros == 0 ? null : Duration.of(micros, java.time.temporal.ChronoUnit.MICROS);
  }

  private static Map<String, String> metadata(ByteReader in) {
    Map<String, String> metadata = new TreeMap<>();
    for (int left = in.length(); left > 0; left--) {
      metadata.put(in.string(), in.string());
    }
    return metadata;
  }

  private static void text(@Nullable String text, ByteWriter out) {
    out.u8(text != null ? 1 : 0);
    if (text != null) {
      out.string(text);
    }
  }

  private static @Nullable String text(ByteReader in) {
    return in.u8() == 1 ? in.string() : null;
  }

  private static void time(@Nullable Instant time, ByteWriter out) {
    out.i64(time != null ? Micros.ceil(time) : Long.MIN_VALUE);
  }

  private static @Nullable Instant time(ByteReader in) {
    long micros = in.i64();
    return micros == Long.MIN_VALUE ? null : Micros.toInstant(micros);
  }

  private static Instant needed(ByteReader in) {
    return Micros.toInstant(in.i64());
  }
}
