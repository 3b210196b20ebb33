package dev.carillon.bench;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/** Connections that schedule as fast as they are answered, and one that looks at a job. */
final class ApiLoad {
  static final int BATCH = 1_000;
  static final String JOB =
      "{\"type\": \"order\", \"input\": {\"order\": 4711, \"cents\": 1999}, \"in\": \"2h\"}";

  private static final long LOOK_NANOS = TimeUnit.MILLISECONDS.toNanos(10);
  private static final String ID = "\"id\":\"";

  private final Kind kind;
  private final InetSocketAddress server;
  private final int connections;
  private final LongAdder scheduled = new LongAdder();
  private final AtomicReference<@Nullable String> anId = new AtomicReference<>();
  private final AtomicReference<@Nullable Throwable> broken = new AtomicReference<>();
  private volatile boolean measuring;
  private volatile boolean over;

  /** What is scheduled. */
  enum Kind {
    /** Job by job. */
    SINGLE,
    /** Job by job, each under a key of its own. */
    KEYED,
    /** By the thousand. */
    BATCH;

    String word() {
      return name().toLowerCase(Locale.ROOT);
    }
  }

  /** What was measured; times of looks in nanoseconds. */
  record Result(double jobsPerSecond, Samples gets) {}

  ApiLoad(Kind kind, InetSocketAddress server, int connections) {
    this.kind = kind;
    this.server = server;
    this.connections = connections;
  }

  Result run(int warmupSeconds, int seconds) throws InterruptedException {
    List<Thread> threads = new ArrayList<>();
    for (int i = 0; i < connections; i++) {
      int number = i;
      threads.add(Thread.ofPlatform().start(() -> guarded(() -> schedule(number))));
    }
    Samples gets = new Samples();
    threads.add(Thread.ofPlatform().start(() -> guarded(() -> look(gets))));
    TimeUnit.SECONDS.sleep(warmupSeconds);
    long before = scheduled.sum();
    long begun = System.nanoTime();
    measuring = true;
    TimeUnit.SECONDS.sleep(seconds);
    measuring = false;
    double rate = (scheduled.sum() - before) * 1e9 / (System.nanoTime() - begun);
    over = true;
    for (Thread thread : threads) {
      thread.join();
    }
    Throwable problem = broken.get();
    if (problem != null) {
      throw new IllegalStateException("a connection broke", problem);
    }
    return new Result(rate, gets);
  }

  private interface Body {
    void run() throws IOException;
  }

  private void guarded(Body body) {
    try {
      body.run();
    } catch (IOException | RuntimeException e) {
      broken.compareAndSet(null, e);
    }
  }

  private void schedule(int number) throws IOException {
    try (ApiConnection connection = new ApiConnection(server)) {
      byte[] request = kind == Kind.BATCH ? batch() : ApiConnection.post(ApiConnection.JOBS, JOB);
      int jobs = kind == Kind.BATCH ? BATCH : 1;
      for (long i = 0; !over; i++) {
        if (kind == Kind.KEYED) {
          request =
              ApiConnection.post(
                  ApiConnection.JOBS, JOB, "Idempotency-Key", "key-" + number + "-" + i);
        }
        byte[] answer = connection.send(request, 201);
        scheduled.add(jobs);
        if (number == 0) {
          anId.setPlain(firstId(answer));
        }
      }
    }
  }

  private static byte[] batch() {
    StringBuilder body = new StringBuilder("{\"jobs\": [").append(JOB);
    for (int i = 1; i < BATCH; i++) {
      body.append(", ").append(JOB);
    }
    return ApiConnection.post(ApiConnection.JOBS + "/batch", body.append("]}").toString());
  }

  private static String firstId(byte[] answer) {
    String text = new String(answer, 0, Math.min(answer.length, 2_000), StandardCharsets.UTF_8);
    int start = text.indexOf(ID) + ID.length();
    return text.substring(start, text.indexOf('"', start));
  }

  /** A job that was made a moment ago. */
  private void look(Samples gets) throws IOException {
    try (ApiConnection connection = new ApiConnection(server)) {
      while (!over) {
        String id = anId.get();
        if (id != null) {
          byte[] request = ApiConnection.get(ApiConnection.JOBS + "/" + id);
          long begun = System.nanoTime();
          byte[] unused = connection.send(request, 200);
          if (measuring) {
            gets.add(System.nanoTime() - begun);
          }
        }
        LockSupport.parkNanos(LOOK_NANOS);
      }
    }
  }
}
