package dev.carillon.store.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import dev.carillon.store.Append;
import dev.carillon.store.Entry;
import dev.carillon.store.Journals.Resolution;
import dev.carillon.store.Outcome;
import dev.carillon.store.ShardId;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.awaitility.Awaitility;

/**
 * A process whose {@code fsync} can be made to fail: a small library in C, loaded before all
 * others. Needs a C compiler.
 */
final class FailingSync {

  private static final ShardId SHARD = new ShardId(1, 2, 3);

  private FailingSync() {}

  /** Runs {@link #main} in such a process. */
  static void run() {
    try {
      // Below the build's folder: libraries cannot be loaded from every temporary one.
      Path target = Files.createDirectories(Path.of("target"));
      Path folder = Files.createTempDirectory(target, "failing-sync").toAbsolutePath();
      Path library = folder.resolve("failing_sync.so");
      Shell.Result compiled =
          Shell.tryRun("cc", "-shared", "-fPIC", "-O1", "-o", library.toString(), source(), "-ldl");
      if (compiled.status() != 0) {
        throw Shell.skip("no C compiler to make fsync fail with: " + compiled.output().strip());
      }
      run(folder, library);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static String source() {
    return Path.of("src", "test", "c", "failing_sync.c").toAbsolutePath().toString();
  }

  private static void run(Path folder, Path library) throws IOException {
    Path output = folder.resolve("output.txt");
    ProcessBuilder builder =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-ea",
                "--enable-native-access=ALL-UNNAMED",
                "-XX:TieredStopAtLevel=1",
                "-cp",
                System.getProperty(
                    "surefire.test.class.path", System.getProperty("java.class.path")),
                FailingSync.class.getName(),
                folder.toString())
            .redirectErrorStream(true)
            .redirectOutput(output.toFile());
    builder
        .environment()
        .putAll(
            Map.of(
                "LD_PRELOAD", library.toString(),
                "FAIL_SYNC_WHILE", folder.resolve("failing").toString()));
    Process process = builder.start();
    int status = process.onExit().join().exitValue();
    assertThat(status).as("%s", Files.readString(output)).isZero();
  }

  /** The test itself; its argument is a folder. */
  public static void main(String[] arguments) throws IOException {
    Path folder = Path.of(arguments[0]);
    Path failing = folder.resolve("failing");
    Path file = folder.resolve("store.db");
    Append first = append(1);
    Append second = append(2);
    Append third = append(3);
    boolean committed;
    try (SqliteStore store = SqliteStore.open(file)) {
      store.journals().create(SHARD, "home", 0, new byte[0]).orThrow();
      assertThat(submit(store, first)).isEqualTo(Outcome.ok(1L));

      Files.createFile(failing);
      assertThat(submit(store, second)).isInstanceOf(Outcome.Unknown.class);
      // Whatever comes next finds out that nothing can be synced, and writes nothing.
      for (int i = 0; i < 5; i++) {
        assertThat(store.journals().resolve(second)).isInstanceOf(Outcome.Unavailable.class);
        assertThat(submit(store, third)).isInstanceOf(Outcome.Unavailable.class);
      }
      assertThat(batches(store)).startsWith(first.batch());

      Files.delete(failing);
      Awaitility.await().until(() -> store.journals().resolve(second).isOk());
      committed = store.journals().resolve(second).orThrow() == Resolution.COMMITTED;
      assertThat(submit(store, third)).isEqualTo(Outcome.ok(3L));
      assertThat(batches(store))
          .containsExactly(first.batch(), committed ? second.batch() : 0L, third.batch());
    }
    try (SqliteStore store = SqliteStore.open(file)) {
      assertThat(batches(store))
          .containsExactly(first.batch(), committed ? second.batch() : 0L, third.batch());
    }
  }

  private static Append append(long number) {
    return new Append(SHARD, 1, 1, number, number * 1_000, new byte[50_000]);
  }

  private static Outcome<Long> submit(SqliteStore store, Append append) {
    return store.journals().append(List.of(append), false).getFirst();
  }

  private static List<Long> batches(SqliteStore store) {
    return store.journals().read(SHARD, 1, 1, 1 << 30).orThrow().entries().stream()
        .map(Entry::batch)
        .toList();
  }
}
