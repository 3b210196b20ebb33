package dev.carillon.server.gateway;

import dev.carillon.api.AttemptToken;
import dev.carillon.api.error.CarillonException;
import dev.carillon.api.error.InvalidJobException;
import dev.carillon.gateway.GivenAttempt;
import dev.carillon.gateway.WorkerConnection;
import dev.carillon.gateway.WorkerHello;
import dev.carillon.gateway.WorkerListener;
import dev.carillon.protocol.Beat;
import dev.carillon.protocol.Drain;
import dev.carillon.protocol.FromServer;
import dev.carillon.protocol.FromWorker;
import dev.carillon.protocol.Hello;
import dev.carillon.protocol.Lease;
import dev.carillon.protocol.Members;
import dev.carillon.protocol.Moved;
import dev.carillon.protocol.Outcome;
import dev.carillon.protocol.Save;
import dev.carillon.protocol.Saved;
import dev.carillon.protocol.Stop;
import dev.carillon.protocol.Token;
import io.grpc.Metadata;
import io.grpc.ServerCall;
import io.grpc.Status;
import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/**
 * The stream of a worker. Its words are checked and passed on to the node, in order; the node's go
 * through the outbox to a writer, which writes while the worker reads. Thread-safe.
 *
 * <p>A wrong message ends the stream with a status that says what is wrong. The end of a stream
 * changes nothing for attempts: the worker comes back, or their leases end.
 */
final class WorkerSession extends ServerCall.Listener<FromWorker> implements WorkerListener {
  /** So many messages are read before the node has heard those before. */
  static final int WINDOW = 128;

  private final ServerCall<FromWorker, FromServer> call;
  private final Desk desk;
  private final Executor writers;
  private final Outbox outbox;
  private final AtomicBoolean writing = new AtomicBoolean();
  private final AtomicBoolean over = new AtomicBoolean();
  private final long openedNanos;
  private volatile @Nullable WorkerConnection node;
  private volatile String worker = "";
  private volatile @Nullable WorkerHello hellos;
  private volatile boolean saidHello;

  /** When a message was written last, or there was none to write. */
  private volatile long wroteNanos;

  private int unheard;

  /** What sessions have done for them. */
  interface Desk {
    /** Checks the hello and connects; slow. Throws {@link Refused}. */
    WorkerConnection connect(WorkerSession session, WorkerHello hello, Hello said);

    /** Checks the hello once more; slow. Throws {@link Refused}. */
    void checkAgain(WorkerHello hello);

    /** The message that answers hello. */
    FromServer welcome();

    /** The session has ended. */
    void ended(WorkerSession session, String why);
  }

  /** A worker is not let in. */
  static final class Refused extends RuntimeException {
    private static final long serialVersionUID = 1L;
    private final transient Status status;

    Refused(Status status) {
      super(status.toString(), null, false, false);
      this.status = status;
    }
  }

  WorkerSession(
      ServerCall<FromWorker, FromServer> call, Desk desk, Executor writers, GatewayLimits limits) {
    this.call = call;
    this.desk = desk;
    this.writers = writers;
    this.outbox = new Outbox(limits.queued());
    this.openedNanos = System.nanoTime();
    this.wroteNanos = openedNanos;
  }

  String worker() {
    return worker;
  }

  // ---- the worker speaks, on the connection's thread

  @Override
  public void onMessage(FromWorker message) {
    if (over.get()) {
      return;
    }
    try {
      heard(message);
    } catch (CarillonException | IllegalArgumentException e) {
      end(Status.INVALID_ARGUMENT.withDescription(e.getMessage()));
    } catch (RuntimeException e) {
      end(Status.INTERNAL.withDescription("the server failed at a message").withCause(e));
    }
  }

  private void heard(FromWorker message) {
    WorkerConnection to = node;
    if (message.hasHello()) {
      if (saidHello) {
        throw new IllegalArgumentException("hello: a second one (expected: one a stream)");
      }
      saidHello = true;
      Hello hello = message.getHello();
      WorkerHello checked = Words.hello(hello);
      Words.tokens(hello.getRunningList());
      Thread.ofVirtual().name("carillon-hello").start(() -> hello(checked, hello));
      return;
    }
    if (to == null) {
      throw new IllegalArgumentException(
          message.getMessageCase() + ": before hello was answered (expected: hello first)");
    }
    pass(message, to);
    if (++unheard >= WINDOW / 2) {
      unheard = 0;
      to.whenHeard(() -> request(WINDOW / 2));
    }
  }

  private void request(int messages) {
    if (!over.get()) {
      call.request(messages);
    }
  }

  /** On a thread of its own: who asks is looked up in the store. */
  private void hello(WorkerHello hello, Hello said) {
    try {
      WorkerConnection connected = desk.connect(this, hello, said);
      worker = hello.worker();
      hellos = hello;
      node = connected;
      put(new Outbox.Said(desk.welcome()));
      if (said.getRunningCount() > 0) {
        connected.resume(Words.tokens(said.getRunningList()));
      }
      if (over.get()) {
        connected.gone(); // the stream ended meanwhile
      } else {
        call.request(WINDOW);
      }
    } catch (Refused e) {
      end(e.status);
    } catch (CarillonException | IllegalArgumentException e) {
      end(Status.INVALID_ARGUMENT.withDescription(e.getMessage()));
    } catch (RuntimeException e) {
      end(Status.UNAVAILABLE.withDescription("not ready: " + e.getMessage()));
    }
  }

  private void pass(FromWorker message, WorkerConnection to) {
    switch (message.getMessageCase()) {
      case FREE -> {
        int slots = message.getFree().getSlots();
        if (slots < 0) {
          throw new IllegalArgumentException(
              "free.slots: %s (expected: 0 to 2147483647)"
                  .formatted(Integer.toUnsignedString(slots)));
        }
        to.free(slots, message.getFree().getLastSeen());
      }
      case ACCEPTED -> Words.tokens(message.getAccepted().getTokensList()).forEach(to::accepted);
      case REFUSED -> Words.tokens(message.getRefused().getTokensList()).forEach(to::refuse);
      case RESUME -> to.resume(Words.tokens(message.getResume().getTokensList()));
      case OUTCOMES -> {
        Instant now = Instant.now();
        for (Outcome outcome : message.getOutcomes().getOutcomesList()) {
          to.outcome(Words.token(outcome.getToken()), Words.outcome(outcome, now));
        }
      }
      case BEAT -> to.beat(message.getBeat().getNumber());
      case SAVE -> save(message.getSave(), to);
      case PROGRESS ->
          to.progress(
              Words.token(message.getProgress().getToken()), Words.progress(message.getProgress()));
      case DRAINING -> to.drain();
      case LOG, HELLO, MESSAGE_NOT_SET -> {} // of a later version
    }
  }

  private void save(Save save, WorkerConnection to) {
    long request = save.getRequest();
    AttemptToken token = Words.token(save.getToken());
    try {
      to.save(token, Words.payload(save.getState()), answer -> saved(request, answer));
    } catch (InvalidJobException e) {
      put(new Outbox.Said(saved(request, Saved.Result.NOT_SAVED, e.getMessage())));
    }
  }

  private void saved(long request, WorkerConnection.SaveAnswer answer) {
    Saved.Result result =
        switch (answer) {
          case SAVED -> Saved.Result.DURABLE;
          case STALE -> Saved.Result.STALE;
          case UNAVAILABLE -> Saved.Result.NOT_SAVED;
          case UNKNOWN -> Saved.Result.NOT_KNOWN;
        };
    put(new Outbox.Said(saved(request, result, "")));
  }

  private static FromServer saved(long request, Saved.Result result, @Nullable String detail) {
    return FromServer.newBuilder()
        .setSaved(
            Saved.newBuilder()
                .setRequest(request)
                .setResult(result)
                .setDetail(detail != null ? detail : ""))
        .build();
  }

  @Override
  public void onHalfClose() {
    end(Status.OK);
  }

  @Override
  public void onCancel() {
    ended("the connection ended");
  }

  @Override
  public void onReady() {
    write();
  }

  // ---- the node speaks, on its loop

  private void put(Outbox.Word word) {
    if (over.get()) {
      return;
    }
    if (outbox.put(word)) {
      write();
    } else {
      end(
          Status.RESOURCE_EXHAUSTED.withDescription(
              "the worker reads too slowly: too many words wait for it"));
    }
  }

  @Override
  public void given(GivenAttempt attempt) {
    put(new Outbox.Given(attempt));
  }

  @Override
  public void leased(AttemptToken token, Duration length) {
    put(
        new Outbox.Held(
            Lease.newBuilder()
                .setToken(Words.token(token))
                .setLengthMillis(length.toMillis())
                .build()));
  }

  @Override
  public void stop(AttemptToken token, StopReason why) {
    put(
        new Outbox.Said(
            FromServer.newBuilder()
                .setStop(Stop.newBuilder().setToken(Words.token(token)).setWhy(Words.why(why)))
                .build()));
  }

  @Override
  public void settled(AttemptToken token) {
    put(new Outbox.Done(Words.token(token)));
  }

  @Override
  public void stale(AttemptToken token) {
    put(new Outbox.Old(Words.token(token)));
  }

  @Override
  public void moved(AttemptToken token) {
    Token of = Words.token(token);
    put(
        new Outbox.Said(
            FromServer.newBuilder().setMoved(Moved.newBuilder().addTokens(of)).build()));
  }

  @Override
  public void beat(long number) {
    put(
        new Outbox.Said(
            FromServer.newBuilder().setBeat(Beat.newBuilder().setNumber(number)).build()));
  }

  @Override
  public void drain() {
    put(new Outbox.Said(FromServer.newBuilder().setDrain(Drain.getDefaultInstance()).build()));
  }

  /** The servers have changed. */
  void members(Members members) {
    if (node != null) {
      put(new Outbox.Said(FromServer.newBuilder().setMembers(members).build()));
    }
  }

  @Override
  public void close(String why) {
    end(Status.ABORTED.withDescription(why));
  }

  // ---- the writer

  private void write() {
    if (writing.compareAndSet(false, true)) {
      try {
        writers.execute(this::writeAll);
      } catch (RejectedExecutionException e) {
        writing.set(false); // the listener stops
      }
    }
  }

  private void writeAll() {
    boolean more = true;
    while (more) {
      try {
        writeWhileRead();
      } catch (RuntimeException e) {
        end(Status.INTERNAL.withDescription("the server failed at a message").withCause(e));
      }
      writing.set(false);
      // What came, or was read, before the flag fell has nobody else to write it.
      more = canWrite() && writing.compareAndSet(false, true);
    }
  }

  private boolean canWrite() {
    return !over.get() && !outbox.isEmpty() && call.isReady();
  }

  private void writeWhileRead() {
    while (canWrite()) {
      FromServer message = outbox.take();
      if (message != null) {
        synchronized (call) {
          if (!over.get()) {
            call.sendMessage(message);
          }
        }
        wroteNanos = System.nanoTime();
      }
    }
  }

  // ---- time and end

  /** Ends the stream if the worker has not said hello, or reads nothing. */
  void look(long nowNanos, GatewayLimits limits) {
    if (node == null) {
      if (nowNanos - openedNanos >= limits.hello().toNanos()) {
        end(Status.DEADLINE_EXCEEDED.withDescription("no hello in time"));
      }
    } else if (outbox.isEmpty()) {
      wroteNanos = nowNanos;
    } else if (nowNanos - wroteNanos >= limits.stalled().toNanos()) {
      end(
          Status.RESOURCE_EXHAUSTED.withDescription(
              "the worker has read nothing for " + limits.stalled().toSeconds() + " s"));
    }
  }

  /** Ends the stream if the worker may not be here any more. */
  void checkAgain() {
    WorkerHello said = hellos;
    if (said == null || over.get()) {
      return;
    }
    try {
      desk.checkAgain(said);
    } catch (Refused e) {
      end(e.status);
    } catch (RuntimeException e) {
      end(Status.UNAVAILABLE.withDescription("not ready: " + e.getMessage()));
    }
  }

  /** Ends the stream; the status says why. */
  void end(Status status) {
    if (over.compareAndSet(false, true)) {
      synchronized (call) {
        call.close(status, new Metadata());
      }
      leave(
          status.getCode()
              + (status.getDescription() == null ? "" : ": " + status.getDescription()));
    }
  }

  private void ended(String why) {
    if (over.compareAndSet(false, true)) {
      leave(why);
    }
  }

  private void leave(String why) {
    outbox.clear();
    WorkerConnection to = node;
    if (to != null) {
      to.gone();
    }
    desk.ended(this, why);
  }
}
