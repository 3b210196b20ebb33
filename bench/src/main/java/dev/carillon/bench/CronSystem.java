package dev.carillon.bench;

import com.cronutils.model.CronType;
import com.cronutils.model.definition.CronDefinitionBuilder;
import com.cronutils.model.time.ExecutionTime;
import com.cronutils.parser.CronParser;
import dev.carillon.api.schedule.Schedule;
import java.text.ParseException;
import java.time.Instant;
import java.time.ZoneId;
import java.util.Date;
import java.util.Objects;
import java.util.TimeZone;
import java.util.function.Function;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;
import org.quartz.CronExpression;

/** Libraries that compute times from a cron expression, each in its own types. */
enum CronSystem {
  CARILLON("carillon") {
    @Override
    Times times(String expression, ZoneId zone, Instant start) {
      Schedule schedule = Schedule.cron(expression, zone);
      return new Chain<>(start, time -> found(schedule.next(time)), time -> time);
    }
  },
  CRON_UTILS("cronutils") {
    @Override
    Times times(String expression, ZoneId zone, Instant start) {
      var parser = new CronParser(CronDefinitionBuilder.instanceDefinitionFor(CronType.QUARTZ));
      ExecutionTime times = ExecutionTime.forCron(parser.parse(expression));
      return new Chain<>(
          start.atZone(zone),
          time -> times.nextExecution(time).orElseThrow(),
          time -> time.toInstant());
    }
  },
  QUARTZ("quartz") {
    @Override
    Times times(String expression, ZoneId zone, Instant start) {
      CronExpression cron = quartz(expression);
      cron.setTimeZone(TimeZone.getTimeZone(zone));
      return new Chain<>(
          Date.from(start), time -> found(cron.getNextValidTimeAfter(time)), Date::toInstant);
    }
  },
  SPRING("spring") {
    @Override
    Times times(String expression, ZoneId zone, Instant start) {
      var cron = org.springframework.scheduling.support.CronExpression.parse(expression);
      return new Chain<>(
          start.atZone(zone), time -> found(cron.next(time)), time -> time.toInstant());
    }
  };

  private final String title;

  CronSystem(String title) {
    this.title = title;
  }

  String title() {
    return title;
  }

  /** The times of an expression in a zone, from a start on. */
  abstract Times times(String expression, ZoneId zone, Instant start);

  /** Times, each computed from the one before. */
  interface Times {
    /** Computes so many, from the start on, and returns the last. */
    Instant walk(int count);
  }

  /** Times in the type of a library, so that no conversion is measured. */
  private static final class Chain<T> implements Times {
    private final T start;
    private final UnaryOperator<T> next;
    private final Function<T, Instant> instant;

    Chain(T start, UnaryOperator<T> next, Function<T, Instant> instant) {
      this.start = start;
      this.next = next;
      this.instant = instant;
    }

    @Override
    public Instant walk(int count) {
      T time = start;
      for (int i = 0; i < count; i++) {
        time = next.apply(time);
      }
      return instant.apply(time);
    }
  }

  private static <T> T found(@Nullable T time) {
    return Objects.requireNonNull(time, "no next time");
  }

  private static CronExpression quartz(String expression) {
    try {
      return new CronExpression(expression);
    } catch (ParseException e) {
      throw new IllegalArgumentException(expression, e);
    }
  }
}
