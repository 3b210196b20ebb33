package dev.carillon.store.postgres;

import static org.assertj.core.api.Assertions.assertThat;

import dev.carillon.fixture.PostgresServer;
import dev.carillon.store.Append;
import dev.carillon.store.Head;
import dev.carillon.store.Journals;
import dev.carillon.store.Outcome;
import dev.carillon.store.ShardId;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A group is written by one of two statements, as it has few entries or many: both do the same. */
class AppendGroupTest {

  private final PostgresStore store =
      PostgresStore.open(
          PostgresOptions.at(PostgresServer.shared().url()).schema("groups").build());
  private final Journals journals = store.journals();
  private final long incarnation = new Random().nextLong() | 1;

  @AfterEach
  void close() {
    store.close();
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, FewEntries.MAX, FewEntries.MAX + 1, 30})
  void eachJournalOfAGroupHasItsOwnOutcome(int shards) {
    List<Head> heads = create(shards);
    assertThat(journals.append(group(heads, 1, 1), false)).allMatch(Outcome::isOk);
    Head first = heads.getFirst();
    long epoch = journals.claim(first.shard(), 1, 99).orThrow().head().epoch();
    List<Outcome<Long>> second = journals.append(group(heads, 1, 2), false);
    assertThat(second.getFirst()).isEqualTo(new Outcome.Fenced<>(epoch));
    assertThat(second.subList(1, shards)).allMatch(Outcome::isOk);
    assertThat(tail(first)).isEqualTo(1);
    heads.subList(1, shards).forEach(head -> assertThat(tail(head)).isEqualTo(2));
  }

  @ParameterizedTest
  @ValueSource(ints = {2, FewEntries.MAX, FewEntries.MAX + 1})
  void oneRefusedEntryRefusesAGroupThatGoesTogether(int shards) {
    List<Head> heads = create(shards);
    List<Append> gap = new ArrayList<>(group(heads.subList(1, shards), 1, 1));
    gap.add(append(heads.getFirst(), 1, 2));
    List<Outcome<Long>> refused = journals.append(gap, true);
    assertThat(refused.getLast()).isEqualTo(new Outcome.Conflict<>(0));
    assertThat(refused).noneMatch(Outcome::isOk);
    heads.forEach(head -> assertThat(tail(head)).isZero());
    assertThat(journals.append(group(heads, 1, 1), true)).allMatch(Outcome::isOk);
  }

  @ParameterizedTest
  @ValueSource(ints = {1, FewEntries.MAX, FewEntries.MAX + 1})
  void theSameBatchAgainIsOneCopy(int shards) {
    List<Head> heads = create(shards);
    List<Append> group = group(heads, 1, 1);
    assertThat(journals.append(group, false)).allMatch(Outcome::isOk);
    assertThat(journals.append(group, false)).allMatch(Outcome::isOk);
    heads.forEach(head -> assertThat(tail(head)).isEqualTo(1));
  }

  private List<Head> create(int shards) {
    return Stream.iterate(1, i -> i + 1)
        .limit(shards)
        .map(i -> new ShardId(1_700_000_000L, incarnation, i))
        .map(shard -> journals.create(shard, "home", 0, new byte[0]).orThrow())
        .toList();
  }

  private static List<Append> group(List<Head> heads, long epoch, long number) {
    return heads.stream().map(head -> append(head, epoch, number)).toList();
  }

  private static Append append(Head head, long epoch, long number) {
    return new Append(head.shard(), epoch, 1, number, 7 * number, new byte[] {1, 2, 3});
  }

  private long tail(Head head) {
    return journals.read(head.shard(), 1, 1, 1 << 20).orThrow().entries().size();
  }
}
