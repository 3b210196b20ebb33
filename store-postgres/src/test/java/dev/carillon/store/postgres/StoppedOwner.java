package dev.carillon.store.postgres;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.carillon.store.Append;
import dev.carillon.store.Entry;
import dev.carillon.store.Journals.Claim;
import dev.carillon.store.Outcome;
import dev.carillon.store.ShardId;
import dev.carillon.store.Store;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.awaitility.Awaitility;

/**
 * A process that owns a shard and appends as fast as it can, to be stopped by a signal wherever it
 * is, taken over, and continued: what it then sends has no effect, and it is told so.
 */
final class StoppedOwner {

  private static final int ACKNOWLEDGED = 100;
  private static final String FENCED = "fenced ";

  private StoppedOwner() {}

  /** The owner. Says each number that was acknowledged, then by which epoch it was fenced. */
  public static void main(String[] arguments) {
    ShardId shard = ShardId.parse(arguments[1]);
    try (Store store = new PostgresStoreTckTest.Opener().open(Path.of(arguments[0]))) {
      store.journals().create(shard, "home", 0, new byte[0]).orThrow();
      for (long number = 1; ; number++) {
        Append append = new Append(shard, 1, 1, number, number, new byte[50]);
        Outcome<Long> outcome = store.journals().append(List.of(append), false).getFirst();
        while (!outcome.isOk() && !(outcome instanceof Outcome.Fenced)) {
          // Unknown or unavailable after the pause: the same batch again is the same entry.
          outcome = store.journals().append(List.of(append), false).getFirst();
        }
        if (outcome instanceof Outcome.Fenced<Long> fenced) {
          System.out.println(FENCED + fenced.epoch());
          return;
        }
        System.out.println(number);
      }
    }
  }

  static void stopTakeOverAndContinue(Store store, Path folder) {
    ShardId shard = new ShardId(1, new Random().nextLong() | 1, 1);
    try {
      Process owner =
          new ProcessBuilder(
                  Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                  "-XX:TieredStopAtLevel=1",
                  "-cp",
                  System.getProperty(
                      "surefire.test.class.path", System.getProperty("java.class.path")),
                  StoppedOwner.class.getName(),
                  folder.toString(),
                  shard.toString())
              .redirectError(ProcessBuilder.Redirect.DISCARD)
              .start();
      try (BufferedReader lines =
          new BufferedReader(new InputStreamReader(owner.getInputStream(), UTF_8))) {
        takeOver(store, shard, owner, lines);
      } finally {
        owner.destroyForcibly();
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static void takeOver(Store store, ShardId shard, Process owner, BufferedReader lines)
      throws IOException {
    long acknowledged = 0;
    for (int i = 0; i < ACKNOWLEDGED; i++) {
      acknowledged = Long.parseLong(lines.readLine());
    }
    signal(owner, "STOP");
    Claim claim =
        Awaitility.await()
            .atMost(Duration.ofSeconds(30))
            .until(() -> store.journals().claim(shard, 1, 7), Outcome::isOk)
            .orThrow();
    Append next = new Append(shard, 2, 1, claim.tail() + 1, 9_999_999, new byte[1]);
    assertThat(store.journals().append(List.of(next), false).getFirst().isOk()).isTrue();
    signal(owner, "CONT");
    List<String> rest = new ArrayList<>();
    lines.lines().forEach(rest::add);
    assertThat(rest).last().isEqualTo(FENCED + "2");
    if (rest.size() > 1) {
      acknowledged = Long.parseLong(rest.get(rest.size() - 2));
    }
    assertThat(claim.tail()).as("what the new owner found").isGreaterThanOrEqualTo(acknowledged);
    List<Entry> entries =
        store.journals().read(shard, 1, claim.tail(), 1 << 20).orThrow().entries();
    assertThat(entries.stream().map(Entry::epoch)).containsExactly(1L, 2L);
  }

  private static void signal(Process process, String signal) throws IOException {
    try {
      new ProcessBuilder("kill", "-" + signal, Long.toString(process.pid())).start().waitFor();
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }
}
