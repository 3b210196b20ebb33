package dev.carillon.prove;

import dev.carillon.Carillon;
import dev.carillon.api.FailurePolicy;
import dev.carillon.api.Job;
import dev.carillon.api.TaskType;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.ConnectException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/**
 * A node of an order service whose night is logged: a process that does what it reads, a word a
 * line, and closes when there is no more to read. It answers each word with that word.
 */
final class NightChild {
  private static final TaskType<Integer> CHARGE = TaskType.of("charge", Integer.class);
  private static final TaskType<String> INVOICE = TaskType.of("invoice", String.class);
  private static final TaskType<String> FAX = TaskType.of("fax", String.class);
  private static final TaskType<String> OLD_REPORT = TaskType.of("report", String.class);
  private static final TaskType<Integer> REPORT = TaskType.of("report", Integer.class);
  private static final TaskType<Integer> EXPORT = TaskType.of("export", Integer.class);

  /** More than a second, so that each line is written when it happens. */
  private static final FailurePolicy TWICE = FailurePolicy.constant(Duration.ofMillis(1200), 2);

  private static final int CHARGES = 400;
  private static final Duration GOES_ON = Duration.ofSeconds(4);

  private final Carillon carillon;

  private NightChild(Carillon carillon) {
    this.carillon = carillon;
  }

  public static void main(String[] args) throws IOException {
    Carillon carillon = Carillon.builder().url(args[0]).nodeId(args[1]).open();
    try (carillon;
        BufferedReader words =
            new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8))) {
      NightChild node = new NightChild(carillon);
      node.handle();
      for (String word = words.readLine(); word != null; word = words.readLine()) {
        node.obey(word);
        System.out.println(word);
      }
    }
  }

  private void handle() {
    carillon.handle(
        CHARGE,
        (order, job) -> {
          if (job.attempt() == 1) {
            throw new ConnectException("payment service: connection refused");
          }
        });
    carillon.handle(
        INVOICE,
        (customer, job) -> {
          throw new IllegalStateException("no address for " + customer);
        });
    carillon.handle(REPORT, (month, job) -> {});
    carillon.handle(EXPORT, (month, job) -> goOn());
  }

  /** A loop that forgot interrupts. */
  private static void goOn() {
    long end = System.nanoTime() + GOES_ON.toNanos();
    while (System.nanoTime() < end) {
      Thread.onSpinWait();
    }
  }

  private void obey(String word) {
    switch (word) {
      case "orders" -> carillon.scheduleAll(orders());
      case "later" -> carillon.schedule(CHARGE.job(1).in(Duration.ofMillis(1500)).onFailure(TWICE));
      case "pause" -> carillon.queue("mail").pause("mail server moves");
      case "fax" -> carillon.handle(FAX, (number, job) -> {});
      default -> throw new IllegalArgumentException("word: " + word + " (expected: a known one)");
    }
  }

  private static List<Job<?>> orders() {
    List<Job<?>> jobs = new ArrayList<>();
    for (int i = 0; i < CHARGES; i++) {
      jobs.add(CHARGE.job(i).onFailure(TWICE));
    }
    jobs.add(INVOICE.job("customer 7").onFailure(TWICE));
    jobs.add(FAX.job("555-0100"));
    jobs.add(OLD_REPORT.job("2026-02"));
    jobs.add(EXPORT.job(2).timeout(Duration.ofMillis(500)).onFailure(FailurePolicy.drop()));
    return jobs;
  }
}
