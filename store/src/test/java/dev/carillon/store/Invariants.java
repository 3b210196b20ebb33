package dev.carillon.store;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.carillon.store.Journals.ReadPage;
import dev.carillon.store.Records.Stamp;
import dev.carillon.store.Records.Stored;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.stream.Collectors;

/**
 * What holds of every store at any time: listings agree with heads and stand in order, entries are
 * contiguous, their epochs do not decrease, nothing staged can be seen, records stand in the order
 * of their bytes.
 */
final class Invariants {

  private static final int LIST_PAGE = 97;
  private static final int READ_PAGE_BYTES = 1 << 20;
  private static final int SMALL_PAGE_BYTES = 64;

  /** More than any case makes. */
  static final int MAX_LISTED = 300_000;

  /** Shards beyond these are listed, but not read. */
  private static final int MAX_SHARDS_READ = 1_000;

  /** Entries up to these are also read by small pages. */
  private static final int MAX_ENTRIES_READ_TWICE = 300;

  private static final String WAKE = "wake of ";

  private final Store store;
  private final Map<String, String> found = new TreeMap<>();

  private Invariants(Store store) {
    this.store = store;
  }

  /** Fails where an invariant is broken; answers all that the store holds, as text. */
  static Map<String, String> inspect(Store store) {
    Invariants invariants = new Invariants(store);
    invariants.inspectShards();
    invariants.inspectRecords();
    return invariants.found;
  }

  /** What {@link #inspect} found, but for wake times. */
  static Map<String, String> withoutWakes(Map<String, String> found) {
    return found.entrySet().stream()
        .filter(entry -> !entry.getKey().startsWith(WAKE))
        .collect(Collectors.toMap(Map.Entry::getKey, Map.Entry::getValue));
  }

  private void inspectShards() {
    List<Head> heads =
        pages(last -> store.journals().listById(last == null ? null : last.shard(), LIST_PAGE));
    assertThat(heads.stream().map(Head::shard)).isSorted().doesNotHaveDuplicates();
    inspectWakes(heads);
    for (int i = 0; i < heads.size(); i++) {
      Head head = heads.get(i);
      found.put("head of " + head.shard(), text(head));
      found.put(WAKE + head.shard(), Long.toString(head.wakeMicros()));
      inspectHead(head);
      if (i < MAX_SHARDS_READ) {
        inspectEntries(head);
      }
    }
  }

  private void inspectWakes(List<Head> byId) {
    List<Head> byWake = pages(last -> store.journals().listByWake(Long.MAX_VALUE, last, LIST_PAGE));
    for (int i = 1; i < byWake.size(); i++) {
      Head before = byWake.get(i - 1);
      Head after = byWake.get(i);
      boolean ordered =
          before.wakeMicros() < after.wakeMicros()
              || (before.wakeMicros() == after.wakeMicros()
                  && before.shard().compareTo(after.shard()) < 0);
      assertThat(ordered).as("%s before %s by wake time", before, after).isTrue();
    }
    assertThat(byWake.stream().map(Invariants::text).sorted())
        .as("the listing by wake time, beside that by id")
        .containsExactlyElementsOf(byId.stream().map(Invariants::text).sorted().toList());
  }

  private void inspectHead(Head head) {
    assertThat(text(store.journals().head(head.shard()).orThrow()))
        .as("head, beside the listing")
        .isEqualTo(text(head));
    assertThat(head.epoch()).isPositive();
    assertThat(head.oldestGeneration()).isBetween(1, head.generation());
    assertThat(store.journals().read(head.shard(), head.generation() + 1, 1, 1))
        .as("generation after the current one of %s", head.shard())
        .isInstanceOf(Outcome.Conflict.class);
    assertThat(store.journals().read(head.shard(), head.oldestGeneration() - 1, 1, 1))
        .as("generation before the oldest of %s", head.shard())
        .isInstanceOf(Outcome.Conflict.class);
  }

  private void inspectEntries(Head head) {
    for (int generation = head.oldestGeneration(); generation <= head.generation(); generation++) {
      List<Entry> entries = read(head.shard(), generation, READ_PAGE_BYTES);
      if (entries.size() <= MAX_ENTRIES_READ_TWICE) {
        assertThat(read(head.shard(), generation, SMALL_PAGE_BYTES).stream().map(Invariants::text))
            .as("small pages of %s", head.shard())
            .containsExactlyElementsOf(entries.stream().map(Invariants::text).toList());
      }
      String where = head.shard() + "/" + generation;
      inspectEntries(where, head.epoch(), entries);
      entries.forEach(entry -> found.put(where + "/" + entry.number(), text(entry)));
    }
  }

  private static void inspectEntries(String where, long epochOfHead, List<Entry> entries) {
    long number = 0;
    long epoch = 0;
    Set<Long> batches = new HashSet<>();
    for (Entry entry : entries) {
      assertThat(entry.number()).as("number in %s", where).isEqualTo(++number);
      assertThat(entry.epoch())
          .as("epoch of entry %s of %s", number, where)
          .isBetween(epoch, epochOfHead);
      epoch = entry.epoch();
      if (entry.batch() == 0 && epoch > 0) {
        assertThat(entry.data()).as("a resolution's entry in %s", where).isEmpty();
      } else if (epoch > 0) {
        assertThat(batches.add(entry.batch())).as("batch once in %s", where).isTrue();
      }
    }
  }

  private List<Entry> read(ShardId shard, int generation, int maxBytes) {
    List<Entry> entries = new ArrayList<>();
    boolean complete = false;
    while (!complete) {
      ReadPage page =
          store.journals().read(shard, generation, entries.size() + 1, maxBytes).orThrow();
      long bytes = page.entries().stream().mapToLong(entry -> entry.data().length).sum();
      assertThat(bytes <= maxBytes || page.entries().size() == 1).as("page in bounds").isTrue();
      entries.addAll(page.entries());
      complete = page.complete();
      assertThat(complete || !page.entries().isEmpty()).as("page goes on").isTrue();
    }
    return entries;
  }

  private void inspectRecords() {
    List<Stored> records =
        pages(last -> store.records().list("", last == null ? null : last.key(), LIST_PAGE));
    for (int i = 0; i < records.size(); i++) {
      Stored stored = records.get(i);
      if (i > 0) {
        assertThat(Arrays.compareUnsigned(utf8(records.get(i - 1)), utf8(stored)))
            .as("order of '%s' and '%s'", records.get(i - 1).key(), stored.key())
            .isNegative();
      }
      assertThat(stored.version()).isNotEqualTo(Stamp.ABSENT);
      assertThat(text(store.records().get(stored.key()).orThrow().orElseThrow()))
          .isEqualTo(text(stored));
      found.put("record " + stored.key(), text(stored));
    }
  }

  private static byte[] utf8(Stored stored) {
    return stored.key().getBytes(UTF_8);
  }

  private static <T> List<T> pages(Function<T, Outcome<List<T>>> next) {
    List<T> all = new ArrayList<>();
    List<T> page = next.apply(null).orThrow();
    while (!page.isEmpty()) {
      assertThat(page.size()).as("a page within its limit").isLessThanOrEqualTo(LIST_PAGE);
      all.addAll(page);
      assertThat(all.size()).as("a listing that ends").isLessThan(MAX_LISTED);
      page = next.apply(page.getLast()).orThrow();
    }
    return all;
  }

  /** All of a head but its wake time. */
  static String text(Head head) {
    return String.join(
        " ",
        head.shard().toString(),
        "epoch " + head.epoch(),
        "owner " + head.owner(),
        "suspect " + head.suspect(),
        head.status().toString(),
        "generations " + head.oldestGeneration() + "-" + head.generation(),
        "home '" + head.home() + "'",
        "summary " + Arrays.hashCode(head.summary()));
  }

  /** The batch that a snapshot's entry carries is the store's own affair. */
  static String text(Entry entry) {
    return String.join(
        " ",
        "number " + entry.number(),
        "epoch " + entry.epoch(),
        "batch " + (entry.epoch() == 0 ? 0 : entry.batch()),
        entry.data().length + " bytes " + Arrays.hashCode(entry.data()));
  }

  static String text(Stored stored) {
    return stored.key() + " " + stored.version() + " " + Arrays.hashCode(stored.value());
  }
}
