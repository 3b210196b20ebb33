package dev.carillon.store.jdbc;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.carillon.store.Append;
import dev.carillon.store.Entry;
import dev.carillon.store.Head;
import dev.carillon.store.Journals.Publication;
import dev.carillon.store.Outcome;
import dev.carillon.store.Records.Change;
import dev.carillon.store.Records.Stamp;
import dev.carillon.store.Records.Stored;
import dev.carillon.store.ShardId;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Objects;

/**
 * A file of every format there was, with what it holds as text: {@code format-N.sqlite} and {@code
 * format-N.txt}. They are never written again; {@link #main} makes those of the current format.
 */
final class Fixture {

  private static final int PAGE_BYTES = 1024;

  private Fixture() {}

  /** Opens a copy of each file and compares what it holds. */
  static void checkAll(Path folder) {
    for (int format = 1; format <= Schema.FORMAT; format++) {
      Path copy = folder.resolve("format-" + format + ".db");
      try (InputStream in = resource("format-" + format + ".sqlite");
          InputStream text = resource("format-" + format + ".txt")) {
        Files.copy(in, copy);
        String expected = new String(text.readAllBytes(), UTF_8);
        try (SqliteStore store = SqliteStore.open(copy)) {
          assertThat(String.join("\n", describe(store)) + "\n").isEqualTo(expected);
        }
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }
  }

  private static InputStream resource(String name) {
    return Objects.requireNonNull(Fixture.class.getResourceAsStream("/" + name), name);
  }

  /** Makes the files of the current format in the folder that is the argument. */
  public static void main(String[] arguments) throws IOException {
    Path folder = Path.of(arguments[0]);
    Path file = folder.resolve("format-" + Schema.FORMAT + ".sqlite");
    Files.deleteIfExists(file);
    SqliteOptions options = SqliteOptions.builder().pageBytes(PAGE_BYTES).reserveBytes(0).build();
    try (SqliteStore store = SqliteStore.open(file, options)) {
      fill(store);
      Files.writeString(
          folder.resolve("format-" + Schema.FORMAT + ".txt"),
          String.join("\n", describe(store)) + "\n");
    }
    Files.deleteIfExists(Sidecar.LOCK.of(file));
    Files.deleteIfExists(Sidecar.RESERVE.of(file));
  }

  private static void fill(SqliteStore store) {
    var journals = store.journals();
    ShardId open = Shards.create(store, 1);
    Shards.fill(store, open, 1, 3, 50);
    Shards.append(store, Shards.entry(open, 4, 2_500)).orThrow();
    journals.lowerWake(open, 1, -7).orThrow();
    journals.resolve(new Append(open, 1, 1, 5, 5_555, new byte[9])).orThrow();

    ShardId sealed = Shards.create(store, 2);
    journals.seal(sealed, 1, "sealed".getBytes(UTF_8)).orThrow();

    ShardId claimed = Shards.create(store, 3);
    journals.claim(claimed, 1, -3).orThrow();
    journals.claim(claimed, 2, Long.MIN_VALUE).orThrow();

    ShardId released = Shards.create(store, 4);
    Shards.fill(store, released, 1, 1, 0);
    journals.release(released, 1, 1, "released".getBytes(UTF_8)).orThrow();

    ShardId published = Shards.create(store, 5);
    Shards.fill(store, published, 1, 10, 20);
    publish(store, published, 1, 10);
    journals.append(List.of(new Append(published, 1, 2, 3, 33, new byte[3])), false);
    publish(store, published, 2, 3);
    journals.dropGenerations(published, 1, 2).orThrow();
    journals.stage(published, 1, 3, 777, 1, new byte[4]).orThrow();

    ShardId dropped = Shards.create(store, 6);
    journals.drop(dropped, 1).orThrow();

    List<Change> changes = new ArrayList<>();
    List<String> keys = List.of("", "a", "a/b", "a\0b", "ä", "￿", "😀", "'; --", "../x");
    for (int i = 0; i < keys.size(); i++) {
      changes.add(new Change(keys.get(i), Stamp.ABSENT, new byte[i], new Stamp(-9, i + 1)));
    }
    changes.add(new Change("a", new Stamp(-9, 2), null, new Stamp(-9, 100)));
    store.records().apply(changes).forEach(Outcome::orThrow);
    store.records().resolve(new Change("x", Stamp.ABSENT, null, new Stamp(-9, 200))).orThrow();
  }

  private static void publish(SqliteStore store, ShardId shard, int generation, long tail) {
    for (int number = 1; number <= 2; number++) {
      store
          .journals()
          .stage(shard, 1, generation, 600 + generation, number, new byte[number])
          .orThrow();
    }
    store
        .journals()
        .publish(
            new Publication(
                shard, 1, generation, tail, 600 + generation, 2, 90, new byte[] {1, 0, -1}))
        .orThrow();
  }

  private static List<String> describe(SqliteStore store) {
    List<String> lines = new ArrayList<>();
    lines.add("incarnation " + store.incarnation());
    for (Head head : store.journals().listById(null, 1_000).orThrow()) {
      lines.add(describe(head));
      for (int generation = head.oldestGeneration();
          generation <= head.generation();
          generation++) {
        for (Entry entry : entries(store, head.shard(), generation)) {
          lines.add("  " + generation + " " + describe(entry));
        }
      }
    }
    for (Head head : store.journals().listByWake(Long.MAX_VALUE, null, 1_000).orThrow()) {
      lines.add("wake " + head.wakeMicros() + " " + head.shard());
    }
    for (Stored stored : store.records().list("", null, 1_000).orThrow()) {
      lines.add(
          "record "
              + HexFormat.of().formatHex(stored.key().getBytes(UTF_8))
              + " "
              + stored.version()
              + " "
              + HexFormat.of().formatHex(stored.value()));
    }
    lines.add("late create " + store.journals().create(Shards.id(6), "home", 0, new byte[0]));
    Change late = new Change("late", Stamp.ABSENT, new byte[0], new Stamp(-9, 200));
    lines.add("late change " + store.records().apply(List.of(late)));
    return lines;
  }

  private static List<Entry> entries(SqliteStore store, ShardId shard, int generation) {
    return store.journals().read(shard, generation, 1, 1 << 20).orThrow().entries();
  }

  private static String describe(Head head) {
    return String.join(
        " ",
        "head",
        head.shard().toString(),
        Long.toString(head.epoch()),
        Long.toString(head.owner()),
        Boolean.toString(head.suspect()),
        head.status().toString(),
        Integer.toString(head.generation()),
        Integer.toString(head.oldestGeneration()),
        Long.toString(head.wakeMicros()),
        head.home(),
        HexFormat.of().formatHex(head.summary()));
  }

  private static String describe(Entry entry) {
    return entry.number()
        + " "
        + entry.epoch()
        + " "
        + entry.batch()
        + " "
        + HexFormat.of().formatHex(entry.data());
  }
}
