package dev.carillon.prove;

import dev.carillon.Carillon;
import dev.carillon.api.CancelResult;
import dev.carillon.api.JobId;
import dev.carillon.api.error.CarillonException;
import dev.carillon.api.schedule.Misfire;
import dev.carillon.api.schedule.Overlap;
import dev.carillon.api.schedule.Schedule;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;

/**
 * The recurring jobs of a child, each with an occurrence every second. What comes due while nobody
 * can run it is made up for, and what comes due while the last one runs waits or runs beside it, so
 * that every occurrence takes place.
 */
final class Rhythms {
  /** Until the first occurrence of a schedule. */
  private static final Duration AHEAD = Duration.ofSeconds(2);

  private static final Misfire ALL = Misfire.runAll(10_000);

  private final Carillon carillon;
  private final Pipe pipe;
  private final int incarnation;
  private int made;

  Rhythms(Carillon carillon, Pipe pipe, int incarnation) {
    this.carillon = carillon;
    this.pipe = pipe;
    this.incarnation = incarnation;
  }

  /** Schedules so many by a fixed rate and so many by cron. */
  void begin(int each) {
    for (int i = 0; i < each; i++) {
      schedule(
          Schedule.every(Duration.ofSeconds(1)).overlap(Overlap.BUFFER_ALL).misfire(ALL), "rate");
      schedule(Schedule.cron("* * * * * *", "UTC").overlap(Overlap.ALLOW).misfire(ALL), "cron");
    }
    pipe.tell(new Note.Recurs());
  }

  private void schedule(Schedule schedule, String kind) {
    String name = kind + "-" + incarnation + "-" + ++made;
    Instant first = Instant.now().plus(AHEAD).truncatedTo(ChronoUnit.SECONDS);
    JobId job =
        carillon.schedule(Tick.TYPE.job(new Tick(name)).named(name).at(first).on(schedule)).id();
    pipe.tell(new Note.Recurring(name, job.value(), Note.micros(first)));
  }

  /** Cancels a recurring job, whoever has it; its occurrences that are there already run. */
  void halt(String job) {
    long asked = Note.micros(Instant.now());
    try {
      CancelResult result = carillon.cancel(new JobId(job), "the proof is over");
      pipe.tell(new Note.Halted(job, asked, result instanceof CancelResult.Cancelled, result + ""));
    } catch (CarillonException e) {
      pipe.tell(new Note.Halted(job, asked, false, e + ""));
    }
  }
}
