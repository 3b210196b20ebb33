package dev.carillon.prove;

import dev.carillon.Carillon;
import dev.carillon.api.JobId;
import dev.carillon.api.error.CarillonException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;

/**
 * Makes this node the owner of many shards that all have something to do: a job goes into each
 * slice of the coming years and is then moved near. It stays in the shard it went to, so that many
 * shards have work at the same time, which takes a million jobs otherwise.
 */
final class Spread {
  private static final int HOURS = 20;
  private static final int DAYS = 25;
  private static final Duration SLICE = Duration.ofDays(30);

  /** Near enough to be in memory, too far to start. */
  private static final Duration NEAR = Duration.ofSeconds(100);

  private final Carillon carillon;
  private final Pipe pipe;
  private final int incarnation;
  private final AtomicLong requests = new AtomicLong();
  private List<Placed> placed = List.of();

  private record Placed(String request, JobId job) {}

  Spread(Carillon carillon, Pipe pipe, int incarnation) {
    this.carillon = carillon;
    this.pipe = pipe;
    this.incarnation = incarnation;
  }

  /** Puts a job into each of so many shards. */
  void spread(int shards) throws InterruptedException {
    List<Integer> slices = new ArrayList<>();
    for (int slice = 0; slice < shards; slice++) {
      slices.add(slice);
    }
    List<Placed> all = Collections.synchronizedList(new ArrayList<>());
    atOnce(slices, slice -> place(slice, all));
    placed = List.copyOf(all);
    atOnce(placed, one -> move(one, Instant.now().plus(NEAR)));
    pipe.tell(new Note.Spread(placed.size(), carillon.node().stats().shards()));
  }

  /** Moves those jobs to a span of time. */
  void gather(long dueMicros, long spanMicros) throws InterruptedException {
    ThreadLocalRandom random = ThreadLocalRandom.current();
    List<Placed> all = placed;
    placed = List.of();
    atOnce(all, one -> move(one, Note.instant(dueMicros + random.nextLong(spanMicros))));
    pipe.tell(new Note.Gathered());
  }

  private static <T> void atOnce(List<T> all, Consumer<T> action) throws InterruptedException {
    List<Thread> threads = new ArrayList<>();
    for (T one : all) {
      threads.add(Thread.ofVirtual().start(() -> action.accept(one)));
    }
    for (Thread thread : threads) {
      thread.join();
    }
  }

  /** Hours first, then days, then months: as wide as the slices are at that distance. */
  private static Duration ahead(int slice) {
    if (slice < HOURS) {
      return Duration.ofHours(3 + slice);
    }
    if (slice < HOURS + DAYS) {
      return Duration.ofDays(3 + slice - HOURS);
    }
    return SLICE.multipliedBy(2 + slice - HOURS - DAYS);
  }

  private void place(int slice, List<Placed> all) {
    String request = incarnation + "s" + requests.incrementAndGet();
    long due = Note.micros(Instant.now().plus(ahead(slice)));
    Note.Requested note =
        new Note.Requested(request, Note.Way.PLAIN, Note.Behaviour.QUICK, due, "-", "-");
    pipe.tell(note);
    try {
      JobId job =
          carillon
              .schedule(
                  Work.TYPE
                      .job(new Work(request, note.behaviour()))
                      .meta(Work.REQUEST, request)
                      .at(Note.instant(due)))
              .id();
      pipe.tell(new Note.Acknowledged(request, job.value(), true, Note.micros(Instant.now())));
      all.add(new Placed(request, job));
    } catch (CarillonException e) {
      pipe.tell(Note.Refused.of(request, e));
    }
  }

  private void move(Placed one, Instant due) {
    pipe.tell(new Note.Moved(one.request(), Note.micros(due)));
    try {
      carillon.reschedule(one.job(), Note.instant(Note.micros(due)));
    } catch (CarillonException e) {
      // It may have been moved: what was told before says that it may be due then.
      pipe.tell(new Note.NotMoved(one.request(), Note.Refused.of(one.request(), e).why()));
    }
  }
}
