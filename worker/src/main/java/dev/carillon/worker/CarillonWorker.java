package dev.carillon.worker;

import dev.carillon.protocol.FromServer;
import dev.carillon.protocol.FromWorker;
import dev.carillon.protocol.Outcome;
import java.time.Duration;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Runs jobs of servers in this process, which needs no database:
 *
 * <pre>{@code
 * CarillonWorker worker =
 *     CarillonWorker.builder()
 *         .server("localhost:8471")
 *         .handle(SEND, (mail, job) -> mailer.send(mail))
 *         .start();
 * }</pre>
 *
 * <p>Handlers are those of the library: each attempt has a virtual thread of its own, runs at least
 * once per job, and may be interrupted. {@code completeIn} is refused, because there is no store
 * here. What a worker of this process has begun goes on while its server is away, restarts or dies:
 * once an attempt has lasted a second the server has <i>leased</i> it. When this process dies, each
 * of its attempts counts as failed once its lease has ended in silence.
 *
 * <p>The worker connects to its servers, and to those that they name, for as long as it lives, and
 * keeps what handlers return until a server has it. It ends by {@link #close}, also when the
 * process is told to stop (SIGTERM). Thread-safe.
 */
public final class CarillonWorker implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(CarillonWorker.class);
  private static final Duration LAST_WORDS = Duration.ofSeconds(5);

  private final WorkerBuilder settings;
  private final String name;
  private final Map<String, Registered> handlers;
  private final HandlerRun.Parts parts;
  private final GrpcStreams streams;
  private final WorkerLoop loop;
  private final WorkerCore core;
  private final AtomicBoolean closing = new AtomicBoolean();
  private final CountDownLatch closed = new CountDownLatch(1);
  private final CompletableFuture<Boolean> idle = new CompletableFuture<>();

  // The loop's own.
  private boolean draining;

  private CarillonWorker(WorkerBuilder settings) {
    this.settings = settings;
    this.name = settings.fullName();
    this.handlers = settings.handlers();
    this.streams = new GrpcStreams(settings.streams(), new Heard());
    this.loop = new WorkerLoop("carillon-worker", settings.isDaemon(), this::turn);
    this.core =
        new WorkerCore(new Reality(), settings.hello(name), settings.servers(), System.nanoTime());
    RemoteContext.Ways ways =
        new RemoteContext.Ways(
            saving -> loop.post(now -> core.save(saving)),
            job -> loop.post(now -> core.report(job.run(), job::take)));
    this.parts = new HandlerRun.Parts(settings.payloads(), settings.interceptors(), ways);
  }

  /**
   * A worker to be set up.
   *
   * @return its settings
   */
  public static WorkerBuilder builder() {
    return new WorkerBuilder();
  }

  static CarillonWorker start(WorkerBuilder settings) {
    CarillonWorker worker = new CarillonWorker(settings);
    worker.loop.start();
    if (settings.closesAtExit()) {
      Runtime.getRuntime().addShutdownHook(new Thread(worker::close, "carillon-worker-stop"));
    }
    return worker;
  }

  /**
   * What the worker is called: unique for each start.
   *
   * @return the name that servers and histories have
   */
  public String name() {
    return name;
  }

  /**
   * What the worker does now.
   *
   * @return as of this moment
   */
  public WorkerInfo info() {
    CompletableFuture<WorkerInfo> answer = new CompletableFuture<>();
    loop.post(now -> answer.complete(look()));
    try {
      return answer.get(LAST_WORDS.toMillis(), TimeUnit.MILLISECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("worker: interrupted while it was asked", e);
    } catch (ExecutionException | TimeoutException e) {
      return new WorkerInfo(name, settings.slots(), 0, 0, 0, 0, 0, 0, 0, java.util.List.of());
    }
  }

  private WorkerInfo look() {
    return new WorkerInfo(
        name,
        settings.slots(),
        core.occupied(),
        core.unsettled(),
        core.counts.given,
        core.counts.refused,
        core.counts.settled,
        core.counts.stale,
        core.counts.abandoned,
        core.servers().stream()
            .map(
                server ->
                    new WorkerInfo.Server(
                        server.address,
                        server.isOpen(),
                        server.node,
                        Objects.requireNonNullElse(server.problem, "")))
            .toList());
  }

  /**
   * Stops in order: takes nothing more, lets handlers end and their outcomes be settled. A handler
   * that asks is told to pause. Those that still run after the builder's {@code drainTime} are
   * interrupted; their attempts are as if they had not been made. Closing again waits for the
   * first.
   */
  @Override
  public void close() {
    if (closing.compareAndSet(false, true)) {
      try {
        closeOnce();
      } finally {
        closed.countDown();
      }
      return;
    }
    try {
      closed.await();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private void closeOnce() {
    loop.post(
        now -> {
          core.drain();
          draining = true;
        });
    if (!awaitIdle(settings.drainTime())) {
      loop.post(now -> core.interruptAll());
      if (!awaitIdle(LAST_WORDS)) {
        LOG.warn("worker {} ends with attempts whose outcomes no server has settled", name);
      }
    }
    loop.post(now -> core.end(now));
    loop.stop();
  }

  /** Waits for the end of all attempts; an interrupt ends the wait. */
  private boolean awaitIdle(Duration limit) {
    try {
      return idle.get(limit.toMillis(), TimeUnit.MILLISECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return false;
    } catch (ExecutionException | TimeoutException e) {
      return false;
    }
  }

  // ---- on the loop

  private long turn(long now) {
    long sleep = core.turn(now);
    if (draining && core.isIdle()) {
      idle.complete(true);
    }
    return sleep;
  }

  /** From the connections' threads. */
  private final class Heard implements GrpcStreams.Heard {
    @Override
    public void message(ServerLink server, long stream, FromServer message) {
      loop.post(now -> core.heard(server, stream, message, now));
    }

    @Override
    public void ended(ServerLink server, long stream, WorkerCore.Ending ending) {
      loop.post(
          now -> {
            if (server.stream == stream) {
              streams.close(server, "ended");
              core.closed(server, stream, ending, now);
            }
          });
    }
  }

  private final class Reality implements Surroundings {
    @Override
    public void open(ServerLink server) {
      streams.open(server);
    }

    @Override
    public void send(ServerLink server, FromWorker message) {
      streams.send(server, message);
    }

    @Override
    public void close(ServerLink server, String why) {
      streams.close(server, why);
    }

    @Override
    public void start(Run run) {
      @Nullable Registered handler = handlers.get(run.given.getType());
      HandlerRun running =
          new HandlerRun(
              run,
              handler != null ? handler : Registered.missing(run.given.getType()),
              parts,
              CarillonWorker.this::ended);
      run.running = running;
      try {
        Thread.ofVirtual()
            .name("carillon-job " + run.given.getType())
            .inheritInheritableThreadLocals(false)
            .start(running);
      } catch (Throwable e) {
        running.failedToStart(e);
      }
    }

    @Override
    public void interrupt(Run run) {
      HandlerRun running = run.running;
      if (running != null) {
        // Not here: interrupting a thread may close the channel that it is blocked on.
        Thread.ofVirtual().name("carillon-interrupter").start(running::interrupt);
      }
    }

    @Override
    public long random(long bound) {
      return ThreadLocalRandom.current().nextLong(Math.max(1, bound));
    }

    @Override
    public void log(boolean warning, String text) {
      if (warning) {
        LOG.warn("worker {}: {}", name, text);
      } else {
        LOG.info("worker {}: {}", name, text);
      }
    }
  }

  private void ended(Run run, Outcome outcome) {
    loop.post(now -> core.finished(run, outcome, now));
  }
}
