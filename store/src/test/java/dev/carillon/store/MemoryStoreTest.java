package dev.carillon.store;

import static org.assertj.core.api.Assertions.assertThat;

import dev.carillon.store.Journals.Publication;
import dev.carillon.store.Records.Change;
import dev.carillon.store.Records.Stamp;
import dev.carillon.store.StoreInfo.Capability;
import dev.carillon.store.StoreInfo.Durability;
import java.util.List;
import org.junit.jupiter.api.Test;

/** What the memory store promises beyond the contract. */
class MemoryStoreTest {

  private static final ShardId SHARD = new ShardId(1, 2, 3);

  private final MemoryStore store = new MemoryStore();
  private final Journals journals = store.journals();
  private final Records records = store.records();

  private void append(int generation, long number, byte[] data) {
    Append append = new Append(SHARD, 1, generation, number, 100 + number, data);
    journals.append(List.of(append), false).getFirst().orThrow();
  }

  @Test
  void itCountsTheBytesItHoldsAndFreesThemAll() {
    assertThat(store.heldBytes()).isZero();
    journals.create(SHARD, "home", 0, new byte[10]).orThrow();
    assertThat(store.heldBytes()).isEqualTo(10);
    append(1, 1, new byte[100]);
    append(1, 2, new byte[200]);
    assertThat(store.heldBytes()).isEqualTo(310);
    journals.stage(SHARD, 1, 1, 7, 1, new byte[40]).orThrow();
    journals.stage(SHARD, 1, 1, 8, 1, new byte[30]).orThrow();
    journals.stage(SHARD, 1, 1, 8, 2, new byte[5]).orThrow();
    assertThat(store.heldBytes()).as("with a snapshot staged").isEqualTo(345);
    journals.publish(new Publication(SHARD, 1, 1, 2, 8, 1, 0, new byte[20])).orThrow();
    assertThat(store.heldBytes()).as("published without its last entry").isEqualTo(350);
    journals.dropGenerations(SHARD, 1, 2).orThrow();
    assertThat(store.heldBytes()).isEqualTo(50);
    journals.stage(SHARD, 1, 2, 9, 1, new byte[11]).orThrow();
    journals.drop(SHARD, 1).orThrow();
    assertThat(store.heldBytes()).isZero();
  }

  @Test
  void aGroupThatWasTakenBackHoldsNoBytes() {
    journals.create(SHARD, "home", 0, new byte[0]).orThrow();
    List<Append> group =
        List.of(
            new Append(SHARD, 1, 1, 1, 5, new byte[100]),
            new Append(SHARD, 1, 1, 3, 6, new byte[100]));
    assertThat(journals.append(group, true)).noneMatch(Outcome::isOk);
    assertThat(store.heldBytes()).isZero();
  }

  @Test
  void recordsCountWithKeyAndValue() {
    Stamp one = new Stamp(1, 1);
    Stamp two = new Stamp(1, 2);
    records.apply(List.of(new Change("kü", Stamp.ABSENT, new byte[10], one)));
    assertThat(store.heldBytes()).isEqualTo(13);
    records.apply(List.of(new Change("kü", one, new byte[4], two)));
    assertThat(store.heldBytes()).isEqualTo(7);
    records.apply(List.of(new Change("kü", two, null, new Stamp(1, 3))));
    assertThat(store.heldBytes()).isZero();
  }

  @Test
  void bytesAreKeptAsGiven() {
    journals.create(SHARD, "home", 0, new byte[0]).orThrow();
    byte[] data = {1, 2, 3};
    append(1, 1, data);
    assertThat(journals.read(SHARD, 1, 1, 100).orThrow().entries().getFirst().data())
        .isSameAs(data);
  }

  @Test
  void itStaysUsableWhenAnotherNodeClosesIt() {
    journals.create(SHARD, "home", 0, new byte[0]).orThrow();
    store.close();
    assertThat(journals.head(SHARD).isOk()).isTrue();
  }

  @Test
  void itDeclaresWhatItIs() {
    assertThat(store.info().kind()).isEqualTo("memory");
    assertThat(store.info().durability()).isEqualTo(Durability.LOSSY);
    assertThat(store.info().capabilities())
        .containsExactlyInAnyOrder(Capability.ATOMIC_ACROSS_JOURNALS, Capability.PUSH);
    assertThat(store.incarnation()).isNotEqualTo(new MemoryStore().incarnation());
  }
}
