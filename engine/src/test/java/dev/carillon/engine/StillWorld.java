package dev.carillon.engine;

import dev.carillon.api.CancelResult;
import dev.carillon.api.Concurrency;
import dev.carillon.api.ControlResult;
import dev.carillon.api.Dependency;
import dev.carillon.api.IfExists;
import dev.carillon.api.JobListener;
import dev.carillon.api.JobState;
import dev.carillon.api.Metrics;
import dev.carillon.api.schedule.Schedule;
import dev.carillon.engine.attempt.Attempt;
import dev.carillon.engine.attempt.AttemptRunner;
import dev.carillon.engine.commit.Basics;
import dev.carillon.engine.commit.RecordChanges;
import dev.carillon.engine.dispatch.Dispatcher;
import dev.carillon.engine.dispatch.Grant;
import dev.carillon.engine.dispatch.Keys;
import dev.carillon.engine.dispatch.Lane;
import dev.carillon.engine.dispatch.PayloadMemory;
import dev.carillon.engine.environment.AttemptOutcome;
import dev.carillon.engine.environment.NodeEnvironment;
import dev.carillon.engine.environment.NodeEvent;
import dev.carillon.engine.environment.NodeOptions;
import dev.carillon.engine.environment.Timers;
import dev.carillon.engine.format.Micros;
import dev.carillon.engine.job.After;
import dev.carillon.engine.job.HistoryEntry;
import dev.carillon.engine.job.JobRef;
import dev.carillon.engine.job.JobSpec;
import dev.carillon.engine.job.OptionalSpec;
import dev.carillon.engine.job.ScheduleFormat;
import dev.carillon.engine.limit.Rates;
import dev.carillon.engine.limit.Shares;
import dev.carillon.engine.member.Formats;
import dev.carillon.engine.member.MemberStatus;
import dev.carillon.engine.request.AddRequest;
import dev.carillon.engine.shard.NodeJob;
import dev.carillon.engine.shard.Shard;
import dev.carillon.store.MemoryStore;
import dev.carillon.store.Outcome;
import dev.carillon.store.Store;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * A node in a world without threads: a store in memory, clocks that are moved by hand, handlers
 * that return when told to, and store calls that are answered in order.
 */
final class StillWorld implements NodeEnvironment, AttemptRunner {
  static final String TYPE = "note";
  private static final int MOST_TURNS = 1_000_000;
  static final long FIRST_MICROS = Micros.ceil(Instant.parse("2026-03-01T00:00:00Z"));

  private final Store store;
  private final Formats formats;
  private final ArrayDeque<Runnable> calls = new ArrayDeque<>();
  private final ArrayDeque<Attempt> running = new ArrayDeque<>();
  private final List<String> reports = new ArrayList<>();
  private final List<HistoryEntry> told = new ArrayList<>();
  private final List<NodeEvent> news = new ArrayList<>();
  private final List<JobRef> forgotten = new ArrayList<>();
  private long micros = FIRST_MICROS;
  private long skewMicros;
  private final SplittableRandom random;
  private final Set<Channel> held = EnumSet.noneOf(Channel.class);
  private final Set<Channel> slow = EnumSet.noneOf(Channel.class);
  private final List<Runnable> heldCalls = new ArrayList<>();
  private final Set<Attempt> interrupted = new HashSet<>();
  private final boolean handles;
  private final boolean commitsBeside;
  private int reads;
  private int recordCalls;
  private Node node;

  StillWorld(NodeOptions options) {
    this(options, new MemoryStore());
  }

  /** One of several nodes on a store, each in a world of its own. */
  StillWorld(NodeOptions options, Store store) {
    this(options, store, true);
  }

  /** The same where its node may have no handler at first. */
  StillWorld(NodeOptions options, Store store, boolean handles) {
    this(options, store, handles, Formats.shipped());
  }

  /** The same, of a version of the code that reads these formats. */
  StillWorld(NodeOptions options, Store store, Formats formats) {
    this(options, store, true, formats);
  }

  private StillWorld(NodeOptions options, Store store, boolean handles, Formats formats) {
    this(options, store, handles, formats, false);
  }

  private StillWorld(
      NodeOptions options, Store store, boolean handles, Formats formats, boolean commitsBeside) {
    this.commitsBeside = commitsBeside;
    this.handles = handles;
    this.store = formats.over(store);
    this.formats = formats;
    this.random = new SplittableRandom(options.incarnation());
    node = open(options);
  }

  /** A node whose store takes two commits at once. */
  static StillWorld committingBeside(NodeOptions options, Store store) {
    return new StillWorld(options, store, true, Formats.shipped(), true);
  }

  /** A dispatcher without a node, that starts nothing. */
  static Dispatcher dispatcher() {
    NodeOptions options = NodeOptions.of("node", 1);
    StillWorld world = new StillWorld(options);
    Timers timers = new Timers();
    RecordChanges records = new RecordChanges(world, 1, timers);
    Basics basics = new Basics(world, options, timers, records);
    MemberStatus alone = new MemberStatus(world, options, null);
    Shares shares = new Shares(basics, alone, (incarnation, record) -> {});
    Keys keys = new Keys(new Rates(world, records, timers), shares, new NoHost());
    return new Dispatcher(
        1,
        new NoStarter(),
        keys,
        job -> {},
        new PayloadMemory(world, options, timers, new NoHost()));
  }

  private static final class NoHost implements PayloadMemory.Host, Keys.Host {
    @Override
    public void blocked(NodeJob job) {}

    @Override
    public void refuse(NodeJob job, JobState state, String reason) {}

    @Override
    public void cancel(NodeJob job, String reason) {}

    @Override
    public void paused(NodeJob job) {}

    @Override
    public void ready(NodeJob job) {}

    @Override
    public void refill(Lane lane) {}

    @Override
    public void doubt(Shard shard) {}
  }

  private static final class NoStarter implements Dispatcher.Starter {
    @Override
    public boolean mayStart() {
      return false;
    }

    @Override
    public boolean mayStart(Lane lane) {
      return false;
    }

    @Override
    public boolean mayStartAlone() {
      return false;
    }

    @Override
    public void start(Grant grant) {
      throw new IllegalStateException("job " + grant.job().number + ": started (expected: none)");
    }

    @Override
    public void lend(Grant grant, long borrower) {
      throw new IllegalStateException("job " + grant.job().number + ": lent (expected: none)");
    }
  }

  private Node open(NodeOptions options) {
    Node opened = new Node(this, this, formats, options);
    opened.start();
    if (handles) {
      opened.register(TYPE, Integer.MAX_VALUE, null);
    }
    return opened;
  }

  Node node() {
    return node;
  }

  void cancel(JobRef ref, String reason, Consumer<Outcome<CancelResult>> answer) {
    node.cancel(ref, node.why(reason), answer);
  }

  void pause(JobRef ref, String reason, Consumer<Outcome<ControlResult>> answer) {
    node.pause(ref, node.why(reason), answer);
  }

  void resume(JobRef ref, Consumer<Outcome<ControlResult>> answer) {
    node.resume(ref, node.id(), answer);
  }

  void reschedule(JobRef ref, long dueMicros, Consumer<Outcome<ControlResult>> answer) {
    node.reschedule(ref, node.id(), dueMicros, answer);
  }

  void reschedule(JobRef ref, Schedule schedule, Consumer<Outcome<ControlResult>> answer) {
    node.reschedule(ref, node.id(), schedule, answer);
  }

  void prioritise(JobRef ref, int priority, Consumer<Outcome<ControlResult>> answer) {
    node.prioritise(ref, node.id(), priority, answer);
  }

  long nowMicros() {
    return wallMicros();
  }

  /** Its wall clock is wrong by so much from now on. */
  void skew(Duration skew) {
    skewMicros = Micros.ceil(skew);
  }

  /** From now on the store does not answer on that channel. */
  void hold(Channel channel) {
    held.add(channel);
  }

  /** From now on the store acts on that channel and its answers are on their way. */
  void holdAnswers(Channel channel) {
    slow.add(channel);
  }

  /** The store answers to everything again. */
  void letGo() {
    held.clear();
    slow.clear();
    calls.addAll(heldCalls);
    heldCalls.clear();
  }

  /** Time passes and nobody notices until something happens. */
  void pass(Duration duration) {
    micros += Micros.ceil(duration);
  }

  /** Stops in order and goes on as another incarnation. */
  void restart(NodeOptions options) {
    restart(options, Duration.ZERO);
  }

  /** The same with a pause between. */
  void restart(NodeOptions options, Duration pause) {
    node.beginStop();
    settle();
    node.release(() -> {});
    settle();
    pass(pause);
    node = open(options);
    settle();
  }

  /** Does everything that can be done now. */
  void settle() {
    long nanos;
    int turns = 0;
    do {
      if (turns++ == MOST_TURNS) {
        throw new AssertionError("turns: " + MOST_TURNS + " (expected: the node settles)");
      }
      nanos = node.turn();
      for (Runnable call = calls.poll(); call != null; call = calls.poll()) {
        call.run();
        nanos = 0;
      }
    } while (nanos == 0);
  }

  /** Does what can be done now, but for so many calls of the store at the most; says how many. */
  int settleWithin(int mostCalls) {
    int done = 0;
    long nanos;
    do {
      nanos = node.turn();
      while (done < mostCalls && !calls.isEmpty()) {
        calls.remove().run();
        done++;
        nanos = Math.min(nanos, node.turn());
      }
    } while (nanos == 0);
    return done;
  }

  JobRef add(JobSpec spec) {
    List<JobRef> added = ask(spec);
    settle();
    return added.getFirst();
  }

  /** Where the job will stand once it is there, which may take time. */
  List<JobRef> ask(JobSpec spec) {
    List<JobRef> added = new ArrayList<>();
    node.add(
        new AddRequest(
            spec,
            IfExists.REPLACE,
            new AddRequest.Answer() {
              @Override
              public void added(JobRef job, boolean created) {
                added.add(job);
              }

              @Override
              public void refused(dev.carillon.api.error.CarillonException why) {
                throw why;
              }
            }));
    return added;
  }

  JobSpec spec(long dueMicros, int priority, long deadlineMicros, byte[] payload) {
    return spec(JobSpec.DEFAULT, dueMicros, priority, deadlineMicros, payload);
  }

  JobSpec spec(
      String namespace, long dueMicros, int priority, long deadlineMicros, byte[] payload) {
    return spec(namespace, dueMicros, priority, deadlineMicros, payload, OptionalSpec.NONE);
  }

  /** A recurring job of which nothing is due yet. */
  JobSpec recurring(Schedule schedule, long firstMicros) {
    byte[] encoded = ScheduleFormat.encode(schedule);
    OptionalSpec more = OptionalSpec.NONE.with(new OptionalSpec.Recurring(firstMicros, encoded));
    return spec(JobSpec.DEFAULT, firstMicros, 0, 0, new byte[0], more);
  }

  private JobSpec spec(
      String namespace,
      long dueMicros,
      int priority,
      long deadlineMicros,
      byte[] payload,
      OptionalSpec more) {
    return spec(namespace, null, dueMicros, priority, deadlineMicros, payload, more);
  }

  JobSpec named(String name, long dueMicros, byte[] payload) {
    return spec(JobSpec.DEFAULT, name, dueMicros, 0, 0, payload, OptionalSpec.NONE);
  }

  /** One under a concurrency key, due now. */
  JobSpec under(Concurrency concurrency) {
    return under(concurrency, micros);
  }

  JobSpec under(Concurrency concurrency, long dueMicros) {
    OptionalSpec more = new OptionalSpec(null, null, null, concurrency, List.of(), List.of());
    return spec(JobSpec.DEFAULT, null, dueMicros, 0, 0, new byte[0], more);
  }

  /** One that waits for another. */
  JobSpec after(JobRef other) {
    return after(other, micros);
  }

  JobSpec after(JobRef other, long dueMicros) {
    OptionalSpec more =
        OptionalSpec.NONE.with(
            List.of(new After(other, Dependency.Condition.SUCCEEDED)), List.of());
    return spec(JobSpec.DEFAULT, null, dueMicros, 0, 0, new byte[0], more);
  }

  private JobSpec spec(
      String namespace,
      @Nullable String name,
      long dueMicros,
      int priority,
      long deadlineMicros,
      byte[] payload,
      OptionalSpec more) {
    return spec(TYPE, namespace, name, dueMicros, priority, deadlineMicros, payload, more);
  }

  /** One under an idempotency key. */
  JobSpec keyed(String key, Duration delay) {
    JobSpec spec = spec(micros + Micros.ceil(delay), 0, 0, new byte[0]);
    return new JobSpec(
        spec.dueMicros(),
        spec.acceptedMicros(),
        spec.priority(),
        spec.stamp(),
        spec.type(),
        spec.typeVersion(),
        spec.namespace(),
        spec.queue(),
        null,
        key,
        spec.metadata(),
        spec.timeoutMicros(),
        spec.deadlineMicros(),
        spec.more(),
        spec.payload());
  }

  /** One of another type, due now. */
  JobSpec ofType(String type, int priority) {
    return spec(type, JobSpec.DEFAULT, null, micros, priority, 0, new byte[0], OptionalSpec.NONE);
  }

  private JobSpec spec(
      String type,
      String namespace,
      @Nullable String name,
      long dueMicros,
      int priority,
      long deadlineMicros,
      byte[] payload,
      OptionalSpec more) {
    return new JobSpec(
        dueMicros,
        micros,
        priority,
        dev.carillon.store.Records.Stamp.ABSENT,
        type,
        1,
        namespace,
        JobSpec.DEFAULT,
        name,
        null,
        java.util.Map.of(),
        0,
        deadlineMicros,
        more,
        payload);
  }

  /** The attempt that was started first of those that run, which ends well; null where none is. */
  @Nullable Attempt finishOne() {
    Attempt attempt = running.poll();
    if (attempt != null) {
      node.finished(attempt, new AttemptOutcome.Succeeded(new byte[0]));
      settle();
    }
    return attempt;
  }

  /** The attempt that was started first of those that run fails, and no other can succeed. */
  void giveUpOne() {
    node.finished(
        running.remove(),
        new AttemptOutcome.Failed(
            new dev.carillon.api.JobError("type", "message", ""),
            new AttemptOutcome.Verdict.NotRetryable()));
    settle();
  }

  /** The attempt that was started first of those that run goes so. */
  void finishOne(AttemptOutcome outcome) {
    node.finished(running.remove(), outcome);
    settle();
  }

  /** What runs is over for this world, its outcome never told: its node was killed. */
  List<Attempt> running() {
    return List.copyOf(running);
  }

  /** How often something was read from the store. */
  int reads() {
    return reads;
  }

  /** How often records were read or changed. */
  int recordCalls() {
    return recordCalls;
  }

  List<String> reports() {
    return reports;
  }

  // ---- as its node sees it

  @Override
  public long wallMicros() {
    return micros + skewMicros;
  }

  @Override
  public long monotonicNanos() {
    return micros * 1000;
  }

  @Override
  public long random() {
    return random.nextLong();
  }

  @Override
  public <T> void submit(Channel channel, Function<Store, T> work, Consumer<T> done) {
    reads += channel == Channel.READ ? 1 : 0;
    recordCalls += channel == Channel.RECORDS ? 1 : 0;
    Runnable call = () -> done.accept(work.apply(store));
    if (held.contains(channel)) {
      heldCalls.add(call);
    } else if (slow.contains(channel)) {
      calls.add(
          () -> {
            T answer = work.apply(store);
            heldCalls.add(() -> done.accept(answer));
          });
    } else {
      calls.add(call);
    }
  }

  @Override
  public boolean commitsBeside() {
    return commitsBeside;
  }

  @Override
  public String firstCopy() {
    String copy = store.incarnation();
    store.adopt(copy);
    return copy;
  }

  @Override
  public Metrics metrics() {
    return Metrics.none();
  }

  @Override
  public @Nullable JobListener listener() {
    return null;
  }

  @Override
  public void report(String problem, @Nullable Throwable cause) {
    reports.add(problem);
  }

  @Override
  public void tell(NodeEvent event) {
    news.add(event);
  }

  /** What its node told the people who run it. */
  List<NodeEvent> news() {
    return news;
  }

  @Override
  public void start(Attempt attempt) {
    running.add(attempt);
  }

  @Override
  public void interrupt(Attempt attempt) {
    interrupted.add(attempt);
  }

  @Override
  public void told(JobRef job, int count, HistoryEntry entry) {
    told.add(entry);
  }

  @Override
  public void forget(JobRef job) {
    forgotten.add(job);
  }

  /** The workflows of which its node said that nothing need be kept. */
  List<JobRef> forgotten() {
    return forgotten;
  }

  /** The entries of workflows' histories that its node told of. */
  List<HistoryEntry> told() {
    return told;
  }

  /** Whether the handler's thread of an attempt was interrupted. */
  boolean isInterrupted(Attempt attempt) {
    return interrupted.contains(attempt);
  }
}
