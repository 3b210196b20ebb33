package dev.carillon.prove;

import dev.carillon.prove.ApiRequests.Reply;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import tools.jackson.databind.JsonNode;

/** Clients that schedule, cancel and look until they are told to rest. */
final class ApiLoad {
  private static final int CLIENTS = 6;
  private static final int BATCH = 10;
  private static final int PAUSE_MILLIS = 2;

  private final ApiRequests requests;
  private final ApiLedger ledger;
  private final String hook;
  private final AtomicBoolean resting = new AtomicBoolean();
  private final AtomicInteger batches = new AtomicInteger();
  private final List<Thread> threads = new ArrayList<>();

  /**
   * A load that has not begun.
   *
   * @param hook where webhooks go
   */
  ApiLoad(ApiRequests requests, ApiLedger ledger, String hook) {
    this.requests = requests;
    this.ledger = ledger;
    this.hook = hook;
  }

  void begin(long seed) {
    for (int i = 0; i < CLIENTS; i++) {
      Client client = new Client(i, new Random(seed + i));
      threads.add(Thread.ofVirtual().name("client-" + i).start(client::run));
    }
  }

  /** Lets each client have its answer and stop; whether all did. */
  boolean rest(long millis) throws InterruptedException {
    resting.set(true);
    long deadline = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(millis);
    for (Thread thread : threads) {
      long left = TimeUnit.NANOSECONDS.toMillis(deadline - System.nanoTime());
      thread.join(Math.max(1, left));
    }
    return threads.stream().noneMatch(Thread::isAlive);
  }

  /** One of them, with jobs of its own. */
  private final class Client {
    private static final int MOST_KNOWN = 200;

    private final int number;
    private final Random random;
    private final List<String[]> known = new ArrayList<>();
    private int next;

    Client(int number, Random random) {
      this.number = number;
      this.random = random;
    }

    void run() {
      try {
        eachOnce();
        while (!resting.get()) {
          switch (random.nextInt(10)) {
            case 0, 1 -> batch();
            case 2 -> cancel();
            case 3 -> look();
            default -> schedule(random.nextInt(3) == 0);
          }
          TimeUnit.MILLISECONDS.sleep(PAUSE_MILLIS);
        }
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      } catch (RuntimeException e) {
        ledger.strange("client " + number + ": " + e);
      }
    }

    /** So that each promise is tried, however slow the machine is. */
    private void eachOnce() throws InterruptedException {
      schedule(false);
      look();
      cancel();
      schedule(true);
      batch();
    }

    private String key() {
      return "client-%d-%d".formatted(number, ++next);
    }

    private void schedule(boolean webhook) throws InterruptedException {
      String key = key();
      ledger.asks(key, 0, webhook);
      String body =
          webhook
              ? "{\"webhook\": {\"url\": \"%s\", \"body\": \"%s\"}}".formatted(hook, key)
              : "{\"type\": \"far\", \"in\": \"2h\"}";
      Reply reply = requests.ask(ApiRequests.JOBS, body, "Idempotency-Key", key);
      if (reply.status() != 201 && reply.status() != 200) {
        ledger.strange(key + ": answered " + reply);
        return;
      }
      if (reply.times() == 1 && !reply.body().path("created").asBoolean()) {
        ledger.strange(key + ": asked for once and not made: " + reply);
      }
      acknowledged(key, reply.body(), reply.times(), !webhook);
    }

    private void acknowledged(String key, JsonNode job, int times, boolean keep) {
      String id = job.path("id").asString();
      ledger.acknowledged(key, id, times);
      if (keep) {
        if (known.size() == MOST_KNOWN) {
          known.removeFirst();
        }
        known.add(new String[] {key, id});
      }
    }

    private void batch() throws InterruptedException {
      int batch = batches.incrementAndGet();
      List<String> keys = new ArrayList<>();
      StringBuilder body = new StringBuilder("{\"jobs\": [");
      for (int i = 0; i < BATCH; i++) {
        String key = key();
        keys.add(key);
        ledger.asks(key, batch, false);
        body.append(i == 0 ? "" : ", ")
            .append("{\"type\": \"far\", \"in\": \"2h\", \"key\": \"%s\"}".formatted(key));
      }
      Reply reply = requests.ask(ApiRequests.JOBS + "/batch", body.append("]}").toString());
      if (reply.status() != 201) {
        ledger.strange("batch " + batch + ": answered " + reply);
        return;
      }
      for (int i = 0; i < BATCH; i++) {
        acknowledged(keys.get(i), reply.body().path("jobs").get(i), reply.times(), false);
      }
    }

    /** Asked again it may hear that the job has ended that way. */
    private void cancel() throws InterruptedException {
      if (known.isEmpty()) {
        return;
      }
      String[] job = known.remove(random.nextInt(known.size()));
      Reply reply = requests.ask(ApiRequests.JOBS + "/" + job[1] + "/cancel", "{}");
      String result = reply.body().path("result").asString();
      boolean done =
          result.equals("CANCELLED")
              || (reply.times() > 1 && reply.body().path("outcome").asString().equals("CANCELLED"));
      if (reply.status() == 200 && done) {
        ledger.cancelled(job[0]);
      } else {
        ledger.strange("cancel of " + job[0] + ": answered " + reply);
      }
    }

    private void look() throws InterruptedException {
      if (known.isEmpty()) {
        return;
      }
      String[] job = known.get(random.nextInt(known.size()));
      Reply reply = requests.ask(ApiRequests.JOBS + "/" + job[1], null);
      ledger.looked();
      if (reply.status() != 200 || !reply.body().path("key").asString().equals(job[0])) {
        ledger.strange("look at " + job[0] + ": answered " + reply);
      }
    }
  }
}
