package dev.carillon.store;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;

/**
 * Starts processes that write to one store, kills each with SIGKILL, and compares what a new
 * process finds with what was acknowledged. Acknowledgements come over a pipe; the ledger is kept
 * here, where nobody is killed.
 */
final class KillLoop implements AutoCloseable {

  private final StoreOpener opener;
  private final Path folder;
  private final Path errors;
  private final Random random;

  private final Map<String, TreeMap<Long, Long>> batches = new HashMap<>();
  private final Map<ShardId, Long> epochs = new HashMap<>();
  private final Map<ShardId, Long> wakes = new HashMap<>();
  private final Set<ShardId> dropping = new HashSet<>();
  private final Set<ShardId> dropped = new HashSet<>();
  private final Map<String, Integer> records = new HashMap<>();
  private Process child;

  KillLoop(StoreOpener opener, Path folder, Random random) throws IOException {
    this.opener = opener;
    this.folder = Files.createDirectories(folder.resolve("store"));
    this.errors = folder.resolve("errors.txt");
    this.random = random;
  }

  /** One round: start, write, kill, check. */
  void killOnce() throws IOException {
    start();
    int acknowledgements = 10 + random.nextInt(300);
    try (BufferedReader lines =
        new BufferedReader(new InputStreamReader(child.getInputStream(), UTF_8))) {
      int read = 0;
      for (String line = lines.readLine(); line != null; line = lines.readLine()) {
        // The last line of a killed process may be cut short.
        if (line.endsWith(KillChild.END)) {
          note(line.substring(0, line.length() - KillChild.END.length()).split(" "));
        }
        if (++read == acknowledgements) {
          // Not by the process itself: that would close the pipe and lose what is in it.
          child.toHandle().destroyForcibly();
        }
      }
      assertThat(read)
          .as("lines of a child that ended by itself: %s", Files.readString(errors))
          .isGreaterThanOrEqualTo(acknowledgements);
    }
    waitForEnd();
    check();
  }

  private void start() throws IOException {
    String classPath =
        System.getProperty("surefire.test.class.path", System.getProperty("java.class.path"));
    child =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-Xshare:auto",
                "-XX:TieredStopAtLevel=1",
                "-XX:+UseSerialGC",
                "--enable-native-access=ALL-UNNAMED",
                "-cp",
                classPath,
                KillChild.class.getName(),
                opener.getClass().getName(),
                folder.toString(),
                Long.toString(random.nextLong()))
            .redirectError(ProcessBuilder.Redirect.to(new File(errors.toString())))
            .start();
  }

  private void waitForEnd() {
    try {
      child.waitFor();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException(e);
    }
  }

  private void note(String[] words) {
    switch (words[0]) {
      case KillChild.APPENDED ->
          batches
              .computeIfAbsent(words[1] + "/" + words[2], key -> new TreeMap<>())
              .put(Long.parseLong(words[3]), Long.parseLong(words[4]));
      case KillChild.OWNED ->
          epochs.merge(ShardId.parse(words[1]), Long.parseLong(words[2]), Math::max);
      case KillChild.LOWERED ->
          wakes.merge(ShardId.parse(words[1]), Long.parseLong(words[2]), Math::min);
      case KillChild.DROPPING -> dropping.add(ShardId.parse(words[1]));
      case KillChild.DROPPED -> dropped.add(ShardId.parse(words[1]));
      case KillChild.PUT -> records.merge(words[1], Integer.parseInt(words[2]), Math::max);
      default -> throw new AssertionError("line: " + List.of(words));
    }
  }

  private void check() {
    try (Store store = opener.open(folder)) {
      Invariants.inspect(store);
      for (ShardId shard : epochs.keySet()) {
        Outcome<Head> head = store.journals().head(shard);
        if (dropped.contains(shard)) {
          assertThat(head).isEqualTo(new Outcome.Fenced<>(Head.DROPPED));
        } else if (head.isOk() || !dropping.contains(shard)) {
          check(store, head.orThrow());
        }
      }
      records.forEach(
          (key, value) ->
              assertThat(KillChild.decode(store.records().get(key).orThrow().orElseThrow().value()))
                  .as("record %s", key)
                  .isGreaterThanOrEqualTo(value));
    }
  }

  private void check(Store store, Head head) {
    ShardId shard = head.shard();
    assertThat(head.epoch()).isGreaterThanOrEqualTo(epochs.getOrDefault(shard, 0L));
    assertThat(head.wakeMicros()).isLessThanOrEqualTo(wakes.getOrDefault(shard, Long.MAX_VALUE));
    for (int generation = 1; generation <= head.generation(); generation++) {
      Map<Long, Long> acknowledged =
          batches.getOrDefault(shard + "/" + generation, new TreeMap<>());
      List<Entry> entries =
          store.journals().read(shard, generation, 1, Integer.MAX_VALUE).orThrow().entries();
      acknowledged.forEach(
          (number, batch) -> {
            assertThat((long) entries.size()).isGreaterThanOrEqualTo(number);
            Entry entry = entries.get((int) (number - 1));
            assertThat(entry.data()).isEqualTo(JournalWriter.data(batch));
            assertThat(entry.epoch() == 0 || entry.batch() == batch).isTrue();
          });
    }
    batches.keySet().stream()
        .filter(key -> key.startsWith(shard + "/"))
        .forEach(
            key ->
                assertThat(Integer.parseInt(key.substring(key.indexOf('/') + 1)))
                    .as("an acknowledged generation of %s", shard)
                    .isLessThanOrEqualTo(head.generation()));
  }

  @Override
  public void close() {
    if (child != null) {
      child.destroyForcibly();
      try {
        child.getInputStream().close();
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }
  }
}
