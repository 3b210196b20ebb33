package dev.carillon.cli;

import dev.carillon.Carillon;
import dev.carillon.api.CancelResult;
import dev.carillon.api.JobContext;
import dev.carillon.api.JobHandle;
import dev.carillon.api.JobId;
import dev.carillon.api.JobInfo;
import dev.carillon.api.JobListener;
import dev.carillon.api.JobState;
import dev.carillon.api.TaskType;
import dev.carillon.api.TypeToken;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/** Bells that ring at their time: the jobs of the demo and what is said about them. */
final class DemoWorld implements AutoCloseable {
  private static final TaskType<Bell> RING = TaskType.of("ring", Bell.class);
  private static final TaskType<Bell> SLIPPING = TaskType.of("slipping-bell", Bell.class);
  private static final TypeToken<Void> NOTHING = TypeToken.of(Void.class);
  private static final String WRONG = "wrong-bell";

  /** When the command was given, in seconds since 1970: set where the launch script has built. */
  static final String COMMAND_START = "carillon.started";

  private static final int BELLS = 12;
  private static final int SLIPS = 2;

  private final PrintWriter out;
  private final DemoLedger ledger;
  private final Carillon carillon;
  private final Instant start;
  private final AtomicReference<@Nullable Instant> commandStart;

  record Bell(String label) {}

  DemoWorld(Path store, DemoLedger ledger, PrintWriter out) {
    this.out = out;
    this.ledger = ledger;
    this.carillon =
        Carillon.builder()
            .url("jdbc:sqlite:" + store)
            .closeGrace(Duration.ofSeconds(5))
            .listen(new Retries())
            .open();
    this.start = Instant.now();
    Long given = Long.getLong(COMMAND_START);
    this.commandStart = new AtomicReference<>(given == null ? null : Instant.ofEpochSecond(given));
  }

  // ---- what happens

  /** Bells from now on, one every {@code pause}, and the two special ones. */
  void schedule(Duration pause) {
    for (int i = 1; i <= BELLS; i++) {
      Bell bell = new Bell("bell " + i);
      keep(carillon.schedule(RING.job(bell).in(pause.multipliedBy(i))), bell.label());
    }
    say("scheduled %d bells, one every %s", BELLS, seconds(pause));
    Bell slipping = new Bell("slipping bell");
    keep(carillon.schedule(SLIPPING.job(slipping).in(pause.dividedBy(2))), slipping.label());
    say("scheduled a bell whose rope slips %d times: it fails and is tried again", SLIPS);
    Bell wrong = new Bell("wrong bell");
    keep(carillon.schedule(RING.job(wrong).named(WRONG).in(pause.multipliedBy(5))), wrong.label());
    say("scheduled a wrong bell, to be cancelled before its time");
  }

  private void keep(JobHandle<?> handle, String label) {
    ledger.scheduled(handle.id(), label);
  }

  /** Lets the bells ring; nothing rings before this. */
  void handle() {
    carillon.handle(RING, (bell, job) -> ring(bell, job));
    carillon.handle(
        SLIPPING,
        (bell, job) -> {
          if (job.attempt() <= SLIPS) {
            throw new IllegalStateException("the rope slipped");
          }
          ring(bell, job);
        });
  }

  private void ring(Bell bell, JobContext job) {
    Duration late = Duration.between(job.scheduledTime(), Instant.now());
    ledger.rang(job.id());
    say("%-14s rang, %s late%s", bell.label(), millis(late), remark(job));
    Instant command = commandStart.getAndSet(null);
    if (command != null) {
      long wait = Duration.between(command, Instant.now()).toSeconds();
      say("from the command to the first bell: %d s, with the build", wait);
    }
  }

  private String remark(JobContext job) {
    if (job.scheduledTime().isBefore(start)) {
      return " (it was due while nobody was here)";
    }
    return job.attempt() > 1 ? " (attempt " + job.attempt() + ")" : "";
  }

  /** Tells of attempts that failed. */
  private final class Retries implements JobListener {
    @Override
    public void retrying(JobInfo job) {
      String error = job.lastError() == null ? "?" : job.lastError().message();
      Duration next = Duration.between(Instant.now(), job.dueAt());
      say(
          "%-14s failed: %s; attempt %d follows in %s",
          labelOf(job.id()), error, job.attempt() + 1, seconds(next));
    }
  }

  private String labelOf(JobId id) {
    return ledger.jobs().getOrDefault(id, "a bell");
  }

  void cancelWrongBell() {
    for (Map.Entry<JobId, String> entry : ledger.jobs().entrySet()) {
      if (entry.getValue().equals("wrong bell") && !hasEnded(entry.getKey())) {
        CancelResult result = carillon.cancel(entry.getKey(), "nobody ordered it");
        say("%-14s cancelled: %s", entry.getValue(), result.getClass().getSimpleName());
      }
    }
  }

  private boolean hasEnded(JobId id) {
    return carillon.get(id).map(info -> info.state().ended()).orElse(true);
  }

  /** Waits until every job has ended, at most for a while; false if the time was too short. */
  boolean awaitEnd(Duration limit) throws InterruptedException {
    CompletableFuture<?>[] ends =
        ledger.jobs().keySet().stream()
            .map(id -> carillon.resultAsync(id, NOTHING).handle((result, failure) -> id))
            .toArray(CompletableFuture<?>[]::new);
    try {
      var unused = CompletableFuture.allOf(ends).get(limit.toMillis(), TimeUnit.MILLISECONDS);
      return true;
    } catch (TimeoutException e) {
      return false;
    } catch (ExecutionException e) {
      throw new IllegalStateException(e.getCause());
    }
  }

  // ---- how it stands

  /** The acknowledged jobs, as the store has them. */
  record Standing(Map<JobId, String> jobs, List<String> lost, List<JobInfo> found) {
    long in(JobState state) {
      return found.stream().filter(info -> info.state() == state).count();
    }

    List<JobInfo> pending() {
      return found.stream().filter(info -> !info.state().ended()).toList();
    }

    String labels(List<JobId> ids) {
      return String.join(", ", ids.stream().map(id -> jobs.getOrDefault(id, "?")).toList());
    }
  }

  Standing standing() {
    Map<JobId, String> jobs = ledger.jobs();
    List<String> lost = new ArrayList<>();
    List<JobInfo> found = new ArrayList<>();
    jobs.forEach(
        (id, label) -> {
          Optional<JobInfo> info = carillon.get(id);
          info.ifPresentOrElse(found::add, () -> lost.add(label));
        });
    return new Standing(jobs, lost, found);
  }

  /**
   * Prints the ledger.
   *
   * @param before how it stood when an earlier world was resumed, or null
   */
  Standing printLedger(@Nullable Standing before) {
    Standing now = standing();
    out.println();
    out.println("Ledger");
    row("scheduled (acknowledged)", now.jobs().size());
    row("rang", now.in(JobState.SUCCEEDED));
    row("cancelled", now.in(JobState.CANCELLED));
    row("given up", now.in(JobState.DEAD));
    row("pending", now.pending().size());
    row("lost", now.lost().size());
    if (before != null) {
      List<JobId> left = before.pending().stream().map(JobInfo::id).toList();
      List<JobId> done =
          now.found().stream()
              .filter(info -> info.state().ended() && left.contains(info.id()))
              .map(JobInfo::id)
              .toList();
      out.println("Left by the last process and finished now: " + now.labels(done));
    }
    if (!ledger.repeated().isEmpty()) {
      out.println(
          "Rang more than once, being cut off between the work and its record: "
              + String.join(", ", ledger.repeated()));
    }
    out.flush();
    return now;
  }

  private void row(String what, long count) {
    out.printf(Locale.ROOT, "  %-26s %4d%n", what, count);
  }

  private void say(String text, Object... arguments) {
    Duration since = Duration.between(start, Instant.now());
    synchronized (out) {
      out.printf(Locale.ROOT, "%6.1f s  ", since.toMillis() / 1000.0);
      out.printf(Locale.ROOT, text + "%n", arguments);
      out.flush();
    }
  }

  private static String seconds(Duration duration) {
    return String.format(Locale.ROOT, "%.1f s", duration.toMillis() / 1000.0);
  }

  private static String millis(Duration duration) {
    return String.format(Locale.ROOT, "%.1f ms", duration.toNanos() / 1e6);
  }

  @Override
  public void close() {
    carillon.close();
  }
}
