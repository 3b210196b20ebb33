package dev.carillon.engine.query;

import dev.carillon.api.JobError;
import dev.carillon.api.JobEvent;
import dev.carillon.api.JobInfo;
import dev.carillon.api.JobState;
import dev.carillon.api.OccurrenceInfo;
import dev.carillon.api.RecurringInfo;
import dev.carillon.engine.fold.FoldedJob;
import dev.carillon.engine.fold.OperationBody;
import dev.carillon.engine.fold.Reported;
import dev.carillon.engine.fold.ShardFold;
import dev.carillon.engine.format.DamagedException;
import dev.carillon.engine.format.Frame;
import dev.carillon.engine.format.Kind;
import dev.carillon.engine.format.Micros;
import dev.carillon.engine.format.UnknownFormatException;
import dev.carillon.engine.history.EventPage;
import dev.carillon.engine.history.JobEvents;
import dev.carillon.engine.history.PastAttempts;
import dev.carillon.engine.history.Selection;
import dev.carillon.engine.history.Summary;
import dev.carillon.engine.job.JobRef;
import dev.carillon.engine.job.JobSpec;
import dev.carillon.engine.job.JobView;
import dev.carillon.engine.job.OccurrenceSpec;
import dev.carillon.engine.job.OptionalSpec;
import dev.carillon.engine.job.Ran;
import dev.carillon.engine.job.Report;
import dev.carillon.engine.job.ScheduleFormat;
import dev.carillon.engine.job.ScheduleState;
import dev.carillon.engine.job.Ticket;
import dev.carillon.store.Entry;
import dev.carillon.store.Head;
import dev.carillon.store.Journals.ReadPage;
import dev.carillon.store.Outcome;
import dev.carillon.store.ShardId;
import dev.carillon.store.Store;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.LongPredicate;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Reads jobs from journals, ended ones too, through the fold that runs them. Claims nothing and
 * changes nothing: {@code get}, {@code list}, history and export go through here, beside the loop
 * or with no node at all.
 */
public final class JobReader {
  /** The place of a job that has none. */
  private static final JobRef NOWHERE = new JobRef(new ShardId(0, 1, 1), 0);

  private static final int PAGE_BYTES = 4 << 20;

  /** As many jobs of a shard are looked up one by one. */
  private static final int MOST_BY_FOOTER = 8;

  /** How often a read is begun anew because a publish came in between. */
  private static final int MOST_READS = 4;

  private final Store store;
  private final ShardFold.Maker<FoldedJob> maker;

  /** Reads from {@code store}. */
  public JobReader(Store store) {
    this(store, FoldedJob::new);
  }

  /** The same, with jobs of a type of the caller's. */
  public JobReader(Store store, ShardFold.Maker<FoldedJob> maker) {
    this.store = store;
    this.maker = maker;
  }

  /**
   * What a journal tells of one job: how it is now, its input and what happened to it.
   *
   * @param older how many events are older than these
   * @param published what it published last, encoded; null for nothing
   */
  @SuppressWarnings("ArrayRecordComponent") // bytes are handed over, never compared or copied
  public record Story(
      JobRef ref,
      JobView view,
      List<JobEvent> events,
      int older,
      byte[] payload,
      byte @Nullable [] published) {}

  /** One job with its newest events, if its shard is there and has it. */
  public Outcome<Optional<Story>> find(JobRef ref) {
    return find(ref, Integer.MAX_VALUE);
  }

  /** One job with the newest of its first {@code before} events. */
  public Outcome<Optional<Story>> find(JobRef ref, int before) {
    return tell(ref, EventPage.Range.before(before))
        .map(told -> told.stories().stream().findFirst());
  }

  /** The job, if it has not ended. */
  public Outcome<Optional<FoldedJob>> live(JobRef ref) {
    return tell(ref, EventPage.Range.NEWEST)
        .map(telling -> Optional.ofNullable(telling.fold.job(ref.number())));
  }

  /**
   * Those of some jobs of a shard that have not ended, by number: where they are many, the shard is
   * read once for all of them.
   */
  public Outcome<Map<Long, FoldedJob>> live(ShardId shard, long... numbers) {
    Map<Long, FoldedJob> live = new LinkedHashMap<>();
    if (numbers.length > MOST_BY_FOOTER) {
      Set<Long> wanted = new LinkedHashSet<>();
      for (long number : numbers) {
        wanted.add(number);
      }
      return unlessReplaced(() -> tell(shard, wanted::contains, EventPage.Range.NEWEST))
          .map(
              telling -> {
                wanted.forEach(number -> note(live, number, telling.fold.job(number)));
                return live;
              });
    }
    for (long number : numbers) {
      Outcome<Optional<FoldedJob>> one = live(new JobRef(shard, number));
      if (!(one instanceof Outcome.Ok<Optional<FoldedJob>>(Optional<FoldedJob> job))) {
        return one.map(none -> live);
      }
      note(live, number, job.orElse(null));
    }
    return Outcome.ok(live);
  }

  private static void note(Map<Long, FoldedJob> live, long number, @Nullable FoldedJob job) {
    if (job != null) {
      live.put(number, job);
    }
  }

  /**
   * A job that has ended.
   *
   * @param body its spec, encoded
   * @param isWorkflow whether it is a workflow that remembers something: entries of its history, or
   *     that it began anew
   */
  @SuppressWarnings("ArrayRecordComponent") // bytes are handed over, never compared or copied
  public record Ended(byte[] body, boolean isWorkflow) {}

  /** How a job ended; also a dead letter that was discarded since. Empty for one that has not. */
  public Outcome<Optional<JobInfo>> end(JobRef ref) {
    return tell(ref, EventPage.Range.NEWEST)
        .map(
            telling -> {
              JobView end = telling.ended.get(ref.number());
              return Optional.ofNullable(end != null ? end : telling.discarded.get(ref.number()))
                  .map(JobView::info);
            });
  }

  /** The spec of a job that has ended, and what it was. */
  public Outcome<Optional<Ended>> ended(JobRef ref) {
    return tell(ref, EventPage.Range.NEWEST)
        .map(
            telling ->
                Optional.ofNullable(telling.bodies.get(ref.number()))
                    .map(body -> new Ended(body, telling.workflows.contains(ref.number()))));
  }

  /** Those of some jobs of a shard that have not ended, by number, as its journal tells them. */
  public Outcome<Map<Long, JobInfo>> infos(ShardId shard, Set<Long> numbers) {
    return tell(shard, numbers, EventPage.Range.NEWEST)
        .map(
            telling -> {
              Map<Long, JobInfo> infos = new LinkedHashMap<>();
              telling
                  .fold
                  .live()
                  .forEach(
                      job -> {
                        if (numbers.contains(job.number)) {
                          JobRef ref = new JobRef(shard, job.number);
                          infos.put(job.number, live(ref, job, telling.errors.get(job.number)));
                        }
                      });
              return infos;
            });
  }

  /**
   * The jobs of a shard whose number {@code wanted} takes, with all of their events, in the order
   * in which they came.
   */
  public Outcome<List<Story>> stories(ShardId shard, LongPredicate wanted) {
    return unlessReplaced(() -> tell(shard, wanted, EventPage.Range.ALL)).map(Telling::stories);
  }

  /** Reads again where what was to be read has been replaced by another generation meanwhile. */
  static <T> Outcome<T> unlessReplaced(Supplier<Outcome<T>> read) {
    Outcome<T> outcome = read.get();
    for (int i = 1; i < MOST_READS && outcome instanceof Outcome.Conflict<T>; i++) {
      outcome = read.get();
    }
    return outcome;
  }

  /** One job: by the footer where its shard is packed, else by reading the shard. */
  private Outcome<Telling> tell(JobRef ref, EventPage.Range range) {
    return tell(ref.shard(), Set.of(ref.number()), range);
  }

  /** Some jobs of a shard: by its footer where it is packed, else in one reading of the shard. */
  private Outcome<Telling> tell(ShardId shard, Set<Long> numbers, EventPage.Range range) {
    return unlessReplaced(
        () -> {
          PackedReader packed =
              store.journals().head(shard) instanceof Outcome.Ok<Head>(Head head)
                  ? PackedReader.of(store, head)
                  : null;
          if (packed != null) {
            Outcome<Optional<Telling>> told =
                packed.reading(() -> tell(packed, shard, numbers, range));
            if (!(told instanceof Outcome.Ok<Optional<Telling>>(Optional<Telling> telling))
                || telling.isPresent()) {
              return told.map(Optional::orElseThrow);
            }
          }
          return tell(shard, numbers::contains, range);
        });
  }

  /** Empty where the footer is not enough. */
  private Optional<Telling> tell(
      PackedReader packed, ShardId shard, Set<Long> numbers, EventPage.Range range) {
    int[] known = packed.blocksOf(numbers);
    if (known == null) {
      return Optional.empty();
    }
    Telling telling = new Telling(maker, shard, new Selection(numbers::contains), range);
    telling.home = packed.home();
    packed.each(known, telling::apply);
    packed.tail().forEach(telling::apply);
    return telling.selection.cameTooLate() ? Optional.empty() : Optional.of(telling);
  }

  /** A job of a packed shard, from the blocks that tell of it; empty where they do not. */
  static Optional<JobInfo> told(PackedReader packed, JobRef ref, int[] blocks) {
    Telling own =
        new Telling(
            FoldedJob::new,
            ref.shard(),
            new Selection(number -> number == ref.number()),
            EventPage.Range.NEWEST);
    own.home = packed.home();
    packed.eachOf(ref.number(), blocks, own::apply);
    List<Story> stories = own.stories();
    if (stories.isEmpty()) {
      // An occurrence, which began with an operation of its recurring job.
      Telling all =
          new Telling(
              FoldedJob::new,
              ref.shard(),
              new Selection(number -> number == ref.number()),
              EventPage.Range.NEWEST);
      all.home = packed.home();
      packed.each(blocks, all::apply);
      if (all.selection.cameTooLate()) {
        all =
            new Telling(FoldedJob::new, ref.shard(), all.selection.again(), EventPage.Range.NEWEST);
        all.home = packed.home();
        packed.each(blocks, all::apply);
      }
      stories = all.stories();
    }
    return stories.stream().findFirst().map(story -> story.view().info());
  }

  private Outcome<Telling> tell(ShardId shard, LongPredicate wanted, EventPage.Range range) {
    Telling telling = new Telling(maker, shard, new Selection(wanted), range);
    Outcome<Boolean> read = each(shard, head -> telling.home = head.home(), telling::apply);
    if (telling.selection.cameTooLate()) {
      Telling again = new Telling(maker, shard, telling.selection.again(), range);
      again.home = telling.home;
      return each(shard, head -> {}, again::apply).map(all -> again);
    }
    return read.map(all -> telling);
  }

  /**
   * Shows {@code begin} the head of a shard and then {@code use} every operation of it, oldest
   * generation first; nothing if it is gone.
   */
  Outcome<Boolean> each(ShardId shard, Consumer<Head> begin, Consumer<Frame> use) {
    Outcome<Head> found = store.journals().head(shard);
    if (found instanceof Outcome.Fenced<Head>) {
      return Outcome.ok(true);
    }
    if (!(found instanceof Outcome.Ok<Head>(Head head))) {
      return found.map(h -> true);
    }
    begin.accept(head);
    // A packed generation holds all of the one it replaced, which may not have gone yet.
    boolean packed = Summary.read(head).map(Summary::packed).isPresent();
    int oldest = packed ? head.generation() : head.oldestGeneration();
    for (int generation = oldest; generation <= head.generation(); generation++) {
      Outcome<Boolean> read = read(shard, generation, use);
      if (!read.isOk()) {
        return read;
      }
    }
    return Outcome.ok(true);
  }

  private Outcome<Boolean> read(ShardId shard, int generation, Consumer<Frame> use) {
    long next = 1;
    while (true) {
      Outcome<ReadPage> outcome = store.journals().read(shard, generation, next, PAGE_BYTES);
      if (!(outcome instanceof Outcome.Ok<ReadPage>(ReadPage page))) {
        return outcome.map(p -> true);
      }
      for (Entry entry : page.entries()) {
        try {
          for (Frame frame : Frame.decode(entry.data())) {
            if (frame.kind() != Kind.FOOTER) {
              use.accept(frame);
            }
          }
        } catch (DamagedException | UnknownFormatException | IllegalArgumentException e) {
          return new Outcome.Damaged<>(
              "shard " + shard + ", entry " + entry.number() + ": " + e.getMessage());
        }
      }
      if (page.complete() || page.entries().isEmpty()) {
        return Outcome.ok(true);
      }
      next = page.entries().getLast().number() + 1;
    }
  }

  /** Folds a shard and keeps what is told of the wanted jobs. */
  private static final class Telling {
    private final ShardId shard;
    private final Selection selection;
    private final EventPage.Range range;
    private final Map<Long, EventPage> events = new LinkedHashMap<>();
    private final Map<Long, JobView> ended = new LinkedHashMap<>();

    /** Dead letters that were discarded, as they were. */
    private final Map<Long, JobView> discarded = new LinkedHashMap<>();

    private final Map<Long, byte[]> bodies = new LinkedHashMap<>();
    private final Map<Long, JobError> errors = new LinkedHashMap<>();

    /** Workflows that have ended, and remember something. */
    private final Set<Long> workflows = new LinkedHashSet<>();

    /** What each published last; it counts where the fold says that there is such a value. */
    private final Map<Long, byte[]> published = new LinkedHashMap<>();

    /** How many of a recurring job's events are of earlier occurrences. */
    private final Map<Long, Integer> eventsBefore = new LinkedHashMap<>();

    /** How many events were told of a job before the generation that told of it last. */
    private final Map<Long, Integer> begun = new LinkedHashMap<>();

    private final PastAttempts past = new PastAttempts();
    private final ShardFold<FoldedJob> fold;

    /** Where attempts ran that do not say. */
    private String home = "";

    Telling(
        ShardFold.Maker<FoldedJob> maker,
        ShardId shard,
        Selection selection,
        EventPage.Range range) {
      this.shard = shard;
      this.selection = selection;
      this.range = range;
      this.fold =
          new ShardFold<>(
              maker,
              (job, end) -> {
                if (!hasPublished(job)) {
                  published.remove(job.number);
                }
                ended.put(job.number, ended(new JobRef(shard, job.number), home, job, end));
                bodies.put(job.number, job.body());
                if (job.workflow() != null) {
                  workflows.add(job.number);
                }
              });
    }

    void apply(Frame any) {
      Frame frame = selection.of(any);
      if (frame == null) {
        return;
      }
      if (frame.kind() == Kind.PAYLOAD) {
        var unused = fold.apply(frame);
        return;
      }
      if (frame.kind() == Kind.STATE) {
        toldFromHere(frame.job());
      }
      if (frame.kind() == Kind.ADD && ended.remove(frame.job()) != null) {
        events.remove(frame.job()); // a newer generation tells the whole story again
        eventsBefore.remove(frame.job());
        begun.remove(frame.job());
      }
      ShardFold.Answer answer = fold.apply(frame);
      boolean tellsAttempt = past.note(frame, answer, fold);
      if (answer != ShardFold.Answer.APPLIED) {
        if (tellsAttempt) {
          tellAgain(frame);
        }
        return;
      }
      if (frame.kind() == Kind.REPORT && selection.wants(frame.job())) {
        byte[] value = Report.Recorded.decode(frame.reader()).report().published();
        if (value != null) {
          published.put(frame.job(), value);
        }
      }
      if (frame.kind() == Kind.REPLAY) {
        ended.remove(frame.job());
        bodies.remove(frame.job());
      }
      if (frame.kind() == Kind.DISCARD) {
        discard(frame.job());
        return;
      }
      EventPage told = tell(frame);
      if (frame.kind() == Kind.NEXT) {
        OperationBody.Next next = OperationBody.Next.decode(frame.reader());
        tellChildren(next, told.since(before(frame.job())));
        if (!next.stays()) {
          eventsBefore.put(frame.job(), told.total());
          forgetUnlessWanted(frame.job());
        }
      } else if (beginsAnew(frame)) {
        eventsBefore.put(frame.job(), told.total());
      }
    }

    private void discard(long job) {
      JobView end = ended.remove(job);
      if (end != null && selection.wants(job)) {
        discarded.put(job, end);
      }
      bodies.remove(job);
      events.remove(job);
    }

    private EventPage tell(Frame frame) {
      List<JobEvent> fresh = new ArrayList<>(2);
      JobEvents.of(frame, home, fresh);
      noteError(frame.job(), fresh);
      EventPage told = eventsOf(frame.job());
      if (frame.kind() == Kind.HISTORY) {
        fresh.removeIf(told::has); // the generation that it comes from may be there too
      }
      told.addAll(fresh);
      return told;
    }

    private void noteError(long number, List<JobEvent> fresh) {
      JobError error = fresh.isEmpty() ? null : fresh.getLast().error();
      if (error != null) {
        errors.put(number, error);
      }
    }

    /**
     * A generation tells of a job from its state on. If it has ended, an older generation told the
     * same from there on, and it is told again.
     */
    private void toldFromHere(long number) {
      EventPage told = eventsOf(number);
      if (ended.remove(number) != null) {
        bodies.remove(number);
        int from = Math.min(begun.getOrDefault(number, 0), told.total());
        told.cut(from);
        eventsBefore.computeIfPresent(number, (n, before) -> Math.min(before, from));
      }
      begun.put(number, told.total());
    }

    /** An attempt from before a compaction, unless the generation it comes from is there too. */
    private void tellAgain(Frame frame) {
      List<JobEvent> attempt = new ArrayList<>(1);
      JobEvents.of(frame, home, attempt);
      EventPage told = eventsOf(frame.job());
      if (!attempt.stream().allMatch(told::has)) {
        told.addAll(attempt);
      }
      noteError(frame.job(), attempt);
    }

    /** Whether what is told of the job from here on is of another occurrence. */
    private static boolean beginsAnew(Frame frame) {
      return frame.kind() == Kind.REPLACE
          || (frame.kind() == Kind.CHANGE && OperationBody.Change.decode(frame.reader()).anew());
    }

    /** Of a job that is not wanted, only what an occurrence may take along has to be known. */
    private void forgetUnlessWanted(long number) {
      if (!selection.wants(number)) {
        events.remove(number);
        eventsBefore.remove(number);
        begun.remove(number);
      }
    }

    private int before(long number) {
      return eventsBefore.getOrDefault(number, 0);
    }

    /** Of a job that is only read for the sake of its occurrences the newest are enough. */
    private EventPage eventsOf(long number) {
      return events.computeIfAbsent(
          number, n -> new EventPage(selection.wants(n) ? range : EventPage.Range.NEWEST));
    }

    /** An occurrence that became a dead letter takes the attempts of its recurring job along. */
    private void tellChildren(OperationBody.Next next, List<JobEvent> occurrence) {
      for (OperationBody.Next.Child child : next.children()) {
        if (selection.wants(child.number())) {
          List<JobEvent> fresh = new ArrayList<>();
          JobEvents.ofChild(next, home, occurrence, fresh);
          eventsOf(child.number()).addAll(fresh);
        }
      }
    }

    List<Story> stories() {
      List<Story> stories = new ArrayList<>(events.size());
      events.forEach(
          (number, told) -> {
            if (!selection.wants(number)) {
              return;
            }
            JobRef ref = new JobRef(shard, number);
            JobView view = ended.get(number);
            byte[] body = bodies.get(number);
            FoldedJob live = fold.job(number);
            if (view == null && live != null) {
              view = new JobView(live(ref, live, errors.get(number)), null);
              body = live.body();
            }
            if (view != null && body != null) {
              byte[] payload = JobSpec.decode(body).payload();
              byte[] value = live == null || hasPublished(live) ? published.get(number) : null;
              stories.add(new Story(ref, view, told.events(), told.older(), payload, value));
            }
          });
      return stories;
    }

    private static boolean hasPublished(FoldedJob job) {
      Reported reported = job.reported();
      return reported != null && reported.hasPublished();
    }
  }

  /** A job that has ended, in a shard with that home. */
  public static JobView ended(JobRef ref, String home, FoldedJob job, OperationBody.End end) {
    Now now = new Now(end.state(), null, end.at(), end.error(), end.reason()).with(job.rare);
    JobInfo info =
        info(
            ref,
            job,
            now,
            Run.of(ref, job, job.attempts, end.attempt() != 0 ? end.ran() : null, home));
    return new JobView(info, end.state() == JobState.SUCCEEDED ? end.result() : null);
  }

  /** An occurrence that its recurring job, which still stands at it, has run itself. */
  public static JobInfo occurred(JobRef ref, String home, FoldedJob job, OperationBody.Next next) {
    JobState outcome = Objects.requireNonNull(next.outcome(), "outcome");
    ScheduleState move = Objects.requireNonNull(job.move(), "move");
    JobError error = next.error();
    if (error == null && next.attempt() > 1) {
      error = remembered(job.rare);
    }
    OccurrenceInfo which =
        new OccurrenceInfo(ref.id(), move.count() + 1, Micros.toInstant(move.timeMicros()));
    return info(
        ref,
        job,
        new Now(outcome, null, next.at(), error, next.reason()),
        new Run(next.attempt(), next.ran(), home, null, which));
  }

  /**
   * A job that was written in a user's transaction and has no place yet, by the body of its row.
   */
  public static JobInfo placeless(byte[] body) {
    FoldedJob job = new FoldedJob(0, JobSpec.decode(body), body, text -> text);
    return live(NOWHERE, job, null);
  }

  static JobInfo live(JobRef ref, FoldedJob job, @Nullable JobError error) {
    JobState waits = job.isWaiting() ? JobState.WAITING : JobState.SCHEDULED;
    JobState state = job.isPaused() ? JobState.PAUSED : waits;
    return info(ref, job, new Now(state, null, 0, error, null));
  }

  /** What is not in a job's fold: where it stands now. */
  public record Now(
      JobState state,
      dev.carillon.api.@Nullable BlockReason blocked,
      long endedMicros,
      @Nullable JobError error,
      @Nullable String reason) {

    /** The same with the error that the fold remembers, where it has none. */
    Now with(FoldedJob.@Nullable UncommonState rare) {
      return error != null ? this : new Now(state, blocked, endedMicros, remembered(rare), reason);
    }
  }

  /**
   * What is told of a job, or of one occurrence of it.
   *
   * @param ran null where no attempt ended it
   * @param home where attempts ran that do not say
   */
  private record Run(
      int attempts,
      @Nullable Ran ran,
      String home,
      @Nullable RecurringInfo recurring,
      @Nullable OccurrenceInfo occurrence) {

    static Run of(JobRef ref, FoldedJob job, int attempts, @Nullable Ran ran, String home) {
      JobSpec spec = job.facts();
      return new Run(
          attempts, ran, home, JobReader.recurring(job, spec), JobReader.occurrence(ref, spec));
    }
  }

  /** A snapshot; its cost does not grow with the number of jobs that this one waits for. */
  public static JobInfo info(JobRef ref, FoldedJob job, Now now) {
    int attempts = job.attempts + (now.state() == JobState.RUNNING ? 1 : 0);
    return info(ref, job, now.with(job.rare), Run.of(ref, job, attempts, null, ""));
  }

  private static @Nullable JobError remembered(FoldedJob.@Nullable UncommonState rare) {
    if (rare == null || rare.lastErrorType == null) {
      return null;
    }
    String message = rare.lastErrorMessage;
    return new JobError(rare.lastErrorType, message != null ? message : "", "");
  }

  private static JobInfo info(JobRef ref, FoldedJob job, Now now, Run run) {
    JobSpec spec = job.facts();
    return new JobInfo(
        Ticket.id(ref, spec.key()),
        spec.type(),
        spec.typeVersion(),
        spec.namespace(),
        spec.queue(),
        job.priority,
        spec.name(),
        spec.key(),
        spec.metadata(),
        now.state(),
        now.blocked(),
        Micros.toInstant(spec.acceptedMicros()),
        Micros.toInstant(job.dueMicros),
        run.attempts(),
        run.ran() == null ? null : Micros.toInstant(run.ran().startedAt()),
        now.endedMicros() == 0 ? null : Micros.toInstant(now.endedMicros()),
        run.ran() == null ? null : run.ran().nodeAt(run.home()),
        now.error(),
        reason(now, job.rare),
        spec.timeoutMicros() == 0 ? null : micros(spec.timeoutMicros()),
        spec.deadlineMicros() == 0 ? null : Micros.toInstant(spec.deadlineMicros()),
        job.cancelRequested(),
        run.recurring(),
        run.occurrence(),
        job.awaited() != null ? job.awaited().infos() : List.of(),
        job.reported() != null ? job.reported().progress() : null);
  }

  private static @Nullable String reason(Now now, FoldedJob.@Nullable UncommonState rare) {
    if (now.reason() != null || rare == null) {
      return now.reason();
    }
    return rare.cancelReason != null ? rare.cancelReason : rare.pauseReason;
  }

  private static @Nullable RecurringInfo recurring(FoldedJob job, JobSpec spec) {
    OptionalSpec.Recurring recurring = spec.more().recurring();
    ScheduleState move = job.move();
    if (recurring == null || move == null) {
      return null;
    }
    try {
      return new RecurringInfo(
          ScheduleFormat.decode(recurring.schedule()),
          move.count(),
          Micros.toInstant(move.timeMicros()),
          job.version());
    } catch (DamagedException | UnknownFormatException e) {
      return null; // in a time zone that this JVM does not know, say: the job is blocked when due
    }
  }

  private static @Nullable OccurrenceInfo occurrence(JobRef ref, JobSpec spec) {
    OccurrenceSpec occurrence = spec.more().occurrence();
    return occurrence == null
        ? null
        : new OccurrenceInfo(
            new JobRef(ref.shard(), occurrence.schedule()).id(),
            occurrence.number(),
            Micros.toInstant(occurrence.timeMicros()));
  }

  private static Duration micros(long micros) {
    return Duration.of(micros, java.time.temporal.ChronoUnit.MICROS);
  }
}
