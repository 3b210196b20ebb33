package dev.carillon.prove;

import dev.carillon.Carillon;
import dev.carillon.api.IfExists;
import dev.carillon.api.Job;
import dev.carillon.api.JobHandle;
import dev.carillon.api.error.CarillonException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;

/**
 * The load of a child: some threads schedule jobs of all kinds, one schedules batches, one cancels.
 * Goes on until the process ends or it is told to rest. Names and keys are drawn from few, so that
 * they collide, also with those of earlier incarnations.
 */
final class Load {
  /** Of as many threads as {@link #MANY}, which keeps a node busy. */
  static final int SHORT_PAUSE_MICROS = 4_000;

  static final int MANY = 48;

  private static final int NAMES = 400;
  private static final int KEYS = 20_000;
  private static final int MOST_AHEAD_MILLIS = 6_000;
  private static final int MOST_IN_BATCH = 40;
  private static final int REMEMBERED = 2_000;

  private final Carillon carillon;
  private final Pipe pipe;
  private final Plan plan;
  private volatile boolean resting;
  private final AtomicLong requests = new AtomicLong();
  private final AtomicLong batches = new AtomicLong();
  private final ConcurrentLinkedQueue<String> cancellable = new ConcurrentLinkedQueue<>();

  /**
   * How much of it.
   *
   * @param schedulers threads that schedule; with none there is no load
   * @param pauseMicros the most that each waits between two jobs
   * @param exhausting whether some jobs fail in all their attempts, which takes minutes
   */
  record Plan(int incarnation, long seed, int schedulers, int pauseMicros, boolean exhausting) {}

  Load(Carillon carillon, Pipe pipe, Plan plan) {
    this.carillon = carillon;
    this.pipe = pipe;
    this.plan = plan;
  }

  void start() {
    if (plan.schedulers() == 0) {
      return;
    }
    SplittableRandom random = new SplittableRandom(plan.seed() * 31 + plan.incarnation());
    long pauseNanos = 1000L * plan.pauseMicros();
    for (int i = 0; i < plan.schedulers(); i++) {
      repeat(random.split(), pauseNanos, this::scheduleOne);
    }
    repeat(random.split(), 5 * pauseNanos, this::scheduleBatch);
    Cancels cancels = new Cancels(carillon, pipe);
    repeat(random.split(), 5 * pauseNanos / 2, any -> cancelOne(cancels));
  }

  /** Nothing more is begun. */
  void rest() {
    resting = true;
  }

  private interface Step {
    void take(SplittableRandom random);
  }

  private void repeat(SplittableRandom random, long pauseNanos, Step step) {
    Thread.ofVirtual()
        .start(
            () -> {
              while (!resting) {
                step.take(random);
                LockSupport.parkNanos(random.nextLong(pauseNanos));
              }
            });
  }

  private void cancelOne(Cancels cancels) {
    String job = cancellable.poll();
    if (job != null) {
      cancels.cancel(job);
    }
  }

  private void scheduleOne(SplittableRandom random) {
    Note.Way way =
        switch (random.nextInt(10)) {
          case 0, 1 -> Note.Way.NAMED;
          case 2 -> Note.Way.KEPT;
          case 3, 4 -> Note.Way.KEYED;
          default -> Note.Way.PLAIN;
        };
    Draft draft = draft(random, way, "-");
    pipe.tell(draft.note());
    try {
      acknowledged(draft.note(), carillon.schedule(draft.job()), random);
    } catch (CarillonException e) {
      refused(draft.note(), e);
    }
  }

  private void scheduleBatch(SplittableRandom random) {
    String batch = plan.incarnation() + "b" + batches.incrementAndGet();
    List<Draft> drafts = new ArrayList<>();
    int size = random.nextInt(2, MOST_IN_BATCH + 1);
    for (int i = 0; i < size; i++) {
      drafts.add(draft(random, Note.Way.BATCH, batch));
    }
    drafts.forEach(draft -> pipe.tell(draft.note()));
    try {
      List<JobHandle<?>> handles = carillon.scheduleAll(drafts.stream().map(Draft::job).toList());
      for (int i = 0; i < size; i++) {
        acknowledged(drafts.get(i).note(), handles.get(i), random);
      }
    } catch (CarillonException e) {
      drafts.forEach(draft -> refused(draft.note(), e));
    }
  }

  private record Draft(Note.Requested note, Job<Void> job) {}

  private Draft draft(SplittableRandom random, Note.Way way, String batch) {
    String request = plan.incarnation() + "r" + requests.incrementAndGet();
    Note.Behaviour behaviour = behaviour(random);
    boolean later = random.nextInt(3) == 0;
    Instant due = Instant.now().plusMillis(later ? random.nextInt(MOST_AHEAD_MILLIS) : 0);
    Job<Void> job = Work.TYPE.job(new Work(request, behaviour)).meta(Work.REQUEST, request);
    job = job.at(Note.instant(Note.micros(due)));
    String unique = unique(random, way);
    job =
        switch (way) {
          case NAMED -> job.named(unique);
          case KEPT -> job.named(unique).ifExists(IfExists.KEEP);
          case KEYED -> job.key(unique);
          case PLAIN, BATCH -> job;
        };
    return new Draft(
        new Note.Requested(request, way, behaviour, Note.micros(due), unique, batch), job);
  }

  private static String unique(SplittableRandom random, Note.Way way) {
    return switch (way) {
      case NAMED, KEPT -> "name-" + random.nextInt(NAMES);
      case KEYED -> "key-" + random.nextInt(KEYS);
      case PLAIN, BATCH -> "-";
    };
  }

  private Note.Behaviour behaviour(SplittableRandom random) {
    int dice = random.nextInt(1000);
    if (dice < 5) {
      return Note.Behaviour.DIES;
    }
    if (dice < 25) {
      return Note.Behaviour.FAILS_ONCE;
    }
    if (dice < 26 && plan.exhausting()) {
      return Note.Behaviour.EXHAUSTS;
    }
    return dice < 150 ? Note.Behaviour.SLOW : Note.Behaviour.QUICK;
  }

  private void acknowledged(Note.Requested note, JobHandle<?> handle, SplittableRandom random) {
    String job = handle.id().value();
    long now = Note.micros(Instant.now());
    pipe.tell(new Note.Acknowledged(note.request(), job, handle.created(), now));
    if (random.nextInt(12) == 0 && cancellable.size() < REMEMBERED) {
      cancellable.add(job);
    }
  }

  private void refused(Note.Requested note, CarillonException e) {
    pipe.tell(Note.Refused.of(note.request(), e));
  }
}
