package dev.carillon;

import dev.carillon.api.JobListener;
import dev.carillon.api.Metrics;
import dev.carillon.api.error.CarillonException;
import dev.carillon.api.error.StoreUnavailableException;
import dev.carillon.engine.Node;
import dev.carillon.engine.environment.NodeEnvironment;
import dev.carillon.engine.environment.NodeEvent;
import dev.carillon.engine.environment.NodeOptions;
import dev.carillon.engine.member.Formats;
import dev.carillon.store.Store;
import dev.carillon.store.StoreInfo.Capability;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * The thread that owns a {@link Node}. It takes events from its mailbox in bounded rounds, lets the
 * node do its turn, and sleeps until the next event or for as long as the node says.
 *
 * <p>It never blocks and never dies: what an event throws is reported and the loop goes on. No code
 * of users runs here: handlers run on threads of {@link HandlerRunner}, futures are completed by
 * another thread, blocked callers are only woken.
 *
 * <p>The clocks are read once per round; the engine sees a time that is at most one round old. Only
 * a clock that goes back meanwhile makes it later than the real one: hence the second look on the
 * attempt's own thread.
 */
final class NodeLoop {
  private static final int EVENTS_A_ROUND = 2048;
  private static final long LONGEST_SLEEP_NANOS = 1_000_000_000;
  private static final long SLEEP_AFTER_FAILURE_NANOS = 10_000_000;
  private static final int REFUSED_NAMED = 3;
  private static final long AWAY_LOOK_NANOS = 100_000_000;

  private final Settings settings;
  private final Reports reports;
  private final Admission admission;
  private final Thread thread;
  private final Mailbox mailbox;
  private final WorkerLoop completer;
  private final StoreDriver driver;
  private final HandlerRunner runner;
  private final StorePresence presence;
  private final boolean hasTransactions;
  private final boolean commitsBeside;
  private final String firstCopy;
  private final Node node;

  // The loop's own.
  private final Unanswered unanswered = new Unanswered();
  private int refusedShards;
  private volatile String refused = "";
  private volatile String held = "";
  private volatile String troubles = "";
  private long awayLookNanos = System.nanoTime();
  private final List<CompletableFuture<LoopControl.Quiet>> awaitingQuiet = new ArrayList<>();
  private final List<Awaited> awaited = new ArrayList<>();
  private List<Pending<?>> completions = new ArrayList<>();
  private long leaving;
  private boolean refusing;
  private long wallMicros;
  private long monotonicNanos;
  private long clocksReadAtNanos;

  private final AtomicInteger outside = new AtomicInteger();
  private volatile boolean quietAwaited;
  private volatile long lastTurnNanos = System.nanoTime();
  private volatile boolean stopping;
  private volatile boolean ended;

  /**
   * What a loop needs to know.
   *
   * @param formats that it reads
   * @param answerTimeout after which a question is given up
   * @param daemon whether the process may end while the loop runs
   * @param listener told of jobs while somebody listens
   * @param news told what people who run the node want to know
   * @param past remembers its figures, once somebody asks for them
   */
  record Settings(
      NodeOptions node,
      Formats formats,
      TimeSource time,
      Duration answerTimeout,
      boolean daemon,
      Metrics metrics,
      ListenerRelay listener,
      Consumer<NodeEvent> news,
      Past past,
      long seed) {}

  NodeLoop(
      Settings settings,
      GuardedStore store,
      Admission admission,
      HandlerRunner runner,
      Reports reports) {
    this.settings = settings;
    this.reports = reports;
    this.admission = admission;
    this.thread =
        Thread.ofPlatform().daemon(settings.daemon()).name("carillon-loop").unstarted(this::run);
    this.mailbox = new Mailbox(thread);
    this.completer = new WorkerLoop("carillon-completer", reports);
    this.driver = new StoreDriver(store, this, reports);
    this.runner = runner;
    this.presence = store.presence();
    this.hasTransactions = store.info().can(Capability.TRANSACTIONS);
    this.commitsBeside = store.info().can(Capability.CONCURRENT_APPENDS);
    this.firstCopy = store.incarnation();
    store.adopt(firstCopy); // nothing was learnt from another
    readClocks();
    this.node = new Node(new Environment(), runner, settings.formats(), settings.node());
  }

  void start() {
    driver.start();
    completer.start();
    thread.start();
    post(
        new Event() {
          @Override
          void happen() {
            node.start();
          }
        });
    settings.time().attached(new Control());
  }

  // ---- from any thread

  /** When something is asked for that is asked for now; see {@link Node#nowMicros}. */
  long nowMicros() {
    TimeSource time = settings.time();
    return node.nowMicros(time.wallMicros(), time.monotonicNanos());
  }

  void post(Event event) {
    mailbox.post(event);
  }

  /** Posts a question; where the loop has ended it is answered at once. */
  <P extends Pending<?>> P post(P pending) {
    mailbox.post(pending);
    if (ended) {
      pending.closed();
    }
    return pending;
  }

  /** The shards that could not be read, as of the last round; empty without any; any thread. */
  String refused() {
    return refused;
  }

  /** Why nothing starts, as of the last round; empty where what is due does; any thread. */
  String held() {
    return held;
  }

  /**
   * What else is wrong with this node, as of the last round; empty without anything; any thread.
   */
  String troubles() {
    return troubles;
  }

  /** Whether the caller is the loop. */
  boolean isOnLoop() {
    return thread.equals(Thread.currentThread());
  }

  /** The id of the node; any thread. */
  String nodeId() {
    return settings.node().nodeId();
  }

  Duration answerTimeout() {
    return settings.answerTimeout();
  }

  /** Whether there will be no further turn. */
  boolean isEnded() {
    return ended;
  }

  /** How long ago the last turn was. */
  long sinceLastTurnNanos() {
    return System.nanoTime() - lastTurnNanos;
  }

  /** How long the slowest call to the store that is under way has taken. */
  long slowestStoreCallNanos() {
    return driver.slowestNanos();
  }

  /**
   * Something that was caused here begins on another thread: the node is not quiet until it ends.
   */
  void outsideBegins() {
    outside.incrementAndGet();
  }

  void outsideEnds() {
    outside.decrementAndGet();
    if (quietAwaited) {
      mailbox.wake();
    }
  }

  /** Ends the loop after what was posted before; questions left are answered with what is known. */
  void stop() {
    stopping = true;
    mailbox.wake();
  }

  /**
   * Waits for the thread to end and for what it asked of the store, so that nothing is under way
   * when that is closed; at most for the limit each.
   */
  void awaitEnd(Duration limit) {
    try {
      if (thread.join(limit)) {
        driver.awaitEnd(limit);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /** Runs {@code then} on the loop after the first turn at which {@code condition} holds. */
  void when(Predicate<Node> condition, Runnable then) {
    post(
        new Event() {
          @Override
          void happen() {
            awaited.add(new Awaited(condition, then));
          }
        });
  }

  private record Awaited(Predicate<Node> condition, Runnable then) {}

  /** Runs code of users', off the loop; called on it, or once it has ended. */
  void outside(Runnable action) {
    if (ended) {
      action.run();
      return;
    }
    outsideBegins();
    completer.post(
        new Event() {
          @Override
          void happen() {
            try {
              action.run();
            } finally {
              outsideEnds();
            }
          }
        });
  }

  // ---- the thread

  private void run() {
    try {
      while (!stopping || !mailbox.isEmpty()) {
        turnOnce();
      }
    } finally {
      end();
    }
  }

  private void turnOnce() {
    try {
      long sleep = round();
      if (sleep > 0 && !stopping) {
        mailbox.sleep(sleep);
      }
    } catch (Throwable e) {
      reports.report("the loop failed and goes on", e);
    }
  }

  /** Takes a bounded number of events and does a turn; returns how long the loop may sleep. */
  private long round() {
    boolean more = false;
    long nanos = SLEEP_AFTER_FAILURE_NANOS;
    try {
      readClocks();
      more = takeEvents();
      readClocks();
      nanos = node.turn();
      lookAtRefused();
    } catch (Throwable e) {
      reports.report("a turn of the loop failed", e);
    }
    try {
      runner.startGathered();
      giveUpOld();
      giveUpUnsent();
      handOver();
      tellAwaited();
      lastTurnNanos = System.nanoTime();
      return more ? 0 : sleepFor(nanos);
    } catch (Throwable e) {
      reports.report("a round of the loop failed", e);
      return SLEEP_AFTER_FAILURE_NANOS;
    }
  }

  private void lookAtRefused() {
    String why = node.held();
    held = why == null ? "" : why;
    String fenced = node.fenced();
    String unwritten = node.unwritten();
    troubles =
        (fenced == null ? "" : fenced)
            + (fenced == null || unwritten == null ? "" : "; ")
            + (unwritten == null ? "" : "journals that cannot be written: " + unwritten);
    int now = node.refusedShards();
    if (now != refusedShards) {
      refusedShards = now;
      String more = now > REFUSED_NAMED ? ", …" : "";
      refused = now + " (" + String.join(", ", node.refusals(REFUSED_NAMED)) + more + ")";
    }
  }

  private void readClocks() {
    wallMicros = settings.time().wallMicros();
    monotonicNanos = settings.time().monotonicNanos();
    clocksReadAtNanos = System.nanoTime();
  }

  private boolean takeEvents() {
    for (int i = 0; i < EVENTS_A_ROUND; i++) {
      Event event = mailbox.poll();
      if (event == null) {
        return false;
      }
      try {
        event.happen();
      } catch (Throwable e) {
        reports.report("an event of the loop failed: " + event.getClass().getSimpleName(), e);
      }
    }
    return true;
  }

  private long sleepFor(long nanos) {
    if (nanos <= 0) {
      return 0;
    }
    if (!awaitingQuiet.isEmpty() && isQuiet()) {
      var quiet = new LoopControl.Quiet(node.nextDueMicros(), node.nanosToNextTimer());
      List<CompletableFuture<LoopControl.Quiet>> told = List.copyOf(awaitingQuiet);
      awaitingQuiet.clear();
      quietAwaited = false;
      completer.post(
          new Event() {
            @Override
            void happen() {
              told.forEach(future -> future.complete(quiet));
            }
          });
    }
    Pending<?> oldest = unanswered.oldest();
    // The node counts from when the clocks were read; the turn itself has taken some of that.
    long left = nanos - (System.nanoTime() - clocksReadAtNanos);
    long sleep = Math.min(Math.max(left, 1), LONGEST_SLEEP_NANOS);
    return oldest == null
        ? sleep
        : Math.max(1, Math.min(sleep, oldest.deadlineNanos - System.nanoTime()));
  }

  /** Whether nothing can happen before time passes or somebody asks. */
  private boolean isQuiet() {
    return mailbox.isEmpty()
        && driver.inFlight() == 0
        && runner.running() == 0
        && outside.get() == 0;
  }

  private void giveUpOld() {
    Pending<?> oldest = unanswered.oldest();
    if (oldest == null) {
      return;
    }
    long now = System.nanoTime();
    while (oldest != null && oldest.deadlineNanos - now <= 0) {
      giveUp(oldest, settings.answerTimeout().toString());
      oldest = unanswered.oldest();
    }
  }

  /** What was not sent to a store that is away is refused: it was not done. */
  private void giveUpUnsent() {
    String away = presence.refusal();
    if (away == null || System.nanoTime() - awayLookNanos < AWAY_LOOK_NANOS) {
      return;
    }
    awayLookNanos = System.nanoTime();
    for (Pending<?> pending : unanswered.all()) {
      pending.giveUpUnsent(node, away);
    }
  }

  private void tellAwaited() {
    if (!awaited.isEmpty()) {
      awaited.removeIf(
          one -> {
            boolean holds = one.condition().test(node);
            if (holds) {
              one.then().run();
            }
            return holds;
          });
    }
  }

  /** Tells those who waited: room first, then their answers. */
  private void handOver() {
    if (leaving != 0) {
      admission.leave(leaving);
      leaving = 0;
    }
    if (!completions.isEmpty()) {
      outsideBegins();
      completer.post(new Completion(completions));
      completions = new ArrayList<>(completions.size());
    }
  }

  private final class Completion extends Event {
    private final List<Pending<?>> answered;

    Completion(List<Pending<?>> answered) {
      this.answered = answered;
    }

    @Override
    void happen() {
      try {
        for (Pending<?> pending : answered) {
          pending.completeFuture();
        }
      } finally {
        outsideEnds();
      }
    }
  }

  private void end() {
    ended = true;
    runner.stop();
    for (Event event = mailbox.poll(); event != null; event = mailbox.poll()) {
      if (event instanceof Pending<?> pending) {
        pending.closed();
      }
    }
    for (Pending<?> left = unanswered.oldest(); left != null; left = unanswered.oldest()) {
      giveUp(left, "Carillon was closed");
    }
    handOver();
    awaitingQuiet.forEach(future -> future.cancel(false));
    driver.stop();
    completer.stop();
  }

  // ---- on the loop

  Node node() {
    return node;
  }

  /** Whether no question waits for its answer. */
  boolean isAnswered() {
    return unanswered.size() == 0;
  }

  void finished(RunningAttempt run) {
    runner.finished(node, run);
  }

  /** Asks the node no more: who passed the gate before it closed, and comes late, is told so. */
  void refuseQuestions() {
    refusing = true;
  }

  void asked(Pending<?> pending) {
    if (refusing) {
      pending.closed();
      return;
    }
    pending.asked = true;
    unanswered.add(pending);
    try {
      String away = pending.isRefusedWhileAway() ? presence.refusalOfNew() : null;
      if (away != null) {
        throw new StoreUnavailableException(
            pending.what() + ": the store is away: " + away + "; nothing was scheduled");
      }
      pending.ask(node);
    } catch (CarillonException e) {
      pending.fail(e);
    }
  }

  void giveUp(Pending<?> pending, String waited) {
    unanswered.remove(pending);
    if (!pending.isAnswered()) {
      String away = presence.refusal();
      pending.giveUp(node, away == null ? waited : waited + " (store: " + away + ")");
    }
  }

  void leave(long weight) {
    admission.leave(weight);
  }

  private boolean isLoop(Thread caller) {
    return caller.equals(thread);
  }

  /** Called by a question that has its answer; nearly always on the loop. */
  void answered(Pending<?> pending) {
    if (isLoop(Thread.currentThread())) {
      unanswered.remove(pending);
      leaving += pending.isBlocking() ? 0 : pending.weight();
    } else {
      leave(pending.isBlocking() ? 0 : pending.weight());
      post(
          new Event() {
            @Override
            void happen() {
              unanswered.remove(pending);
            }
          });
    }
  }

  /** Has the future of a question completed, off the loop. */
  void complete(Pending<?> pending) {
    if (isLoop(Thread.currentThread())) {
      completions.add(pending);
    } else {
      pending.completeFuture();
    }
  }

  private final class Control implements LoopControl {
    @Override
    public void clockMoved() {
      mailbox.wake(); // being awake is enough: every round reads the clocks
    }

    @Override
    public CompletableFuture<Quiet> whenQuiet() {
      var future = new CompletableFuture<Quiet>();
      post(
          new Event() {
            @Override
            void happen() {
              awaitingQuiet.add(future);
              quietAwaited = true;
            }
          });
      if (ended) {
        future.cancel(false);
      }
      return future;
    }
  }

  private final class Environment implements NodeEnvironment {
    private final SplittableRandom random = new SplittableRandom(settings.seed());

    @Override
    public long wallMicros() {
      return wallMicros;
    }

    @Override
    public long monotonicNanos() {
      return monotonicNanos;
    }

    @Override
    public long random() {
      return random.nextLong();
    }

    @Override
    public <T> void submit(Channel channel, Function<Store, T> work, Consumer<T> done) {
      driver.submit(channel, work, done);
    }

    @Override
    public boolean hasTransactions() {
      return hasTransactions;
    }

    @Override
    public boolean commitsBeside() {
      return commitsBeside;
    }

    @Override
    public String firstCopy() {
      return firstCopy;
    }

    @Override
    public Metrics metrics() {
      return settings.metrics();
    }

    @Override
    public @Nullable JobListener listener() {
      return settings.listener().ifListened();
    }

    @Override
    public void tell(NodeEvent event) {
      settings.news().accept(event);
    }

    @Override
    public byte[] past(int ring, long afterSeconds) {
      return settings.past().told(ring, afterSeconds);
    }

    @Override
    public void report(String problem, @Nullable Throwable cause) {
      reports.report(problem, cause);
    }
  }
}
