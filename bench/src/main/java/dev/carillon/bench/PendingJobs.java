package dev.carillon.bench;

import dev.carillon.api.Job;
import dev.carillon.api.TaskType;
import java.time.Duration;
import java.time.Instant;
import java.util.SplittableRandom;
import java.util.function.LongFunction;

/** The jobs of the pending benchmark. */
final class PendingJobs {
  static final TaskType<Order> ORDER = TaskType.of("order", Order.class);

  /** One in ten, so that a list by type has something to leave out. */
  static final TaskType<Order> REMINDER = TaskType.of("reminder", Order.class);

  /** Only a restarted process handles it: its first dispatch. */
  static final TaskType<Order> FIRST = TaskType.of("first", Order.class);

  private static final Duration LEAST_AHEAD = Duration.ofMinutes(10);
  private static final Duration MOST_AHEAD = Duration.ofDays(30);

  private PendingJobs() {}

  /** Due over 30 days. */
  static LongFunction<Job<Void>> scattered(Instant from) {
    SplittableRandom random = new SplittableRandom(5);
    return number -> {
      long ahead = random.nextLong(LEAST_AHEAD.toMillis(), MOST_AHEAD.toMillis());
      TaskType<Order> type = number % 10 == 0 ? REMINDER : ORDER;
      return type.job(Order.of(number)).at(from.plusMillis(ahead));
    };
  }

  /** Due between {@code least} and {@code most} from a time. */
  static LongFunction<Job<Void>> near(Instant from, Duration least, Duration most) {
    SplittableRandom random = new SplittableRandom(6);
    return number ->
        ORDER
            .job(Order.of(number))
            .at(from.plusMillis(random.nextLong(least.toMillis(), most.toMillis())));
  }
}
