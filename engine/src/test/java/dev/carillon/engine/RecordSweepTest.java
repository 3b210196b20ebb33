package dev.carillon.engine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.carillon.engine.commit.RecordChanges;
import dev.carillon.engine.commit.RecordSweep;
import dev.carillon.engine.environment.NodeOptions;
import dev.carillon.engine.environment.Timers;
import dev.carillon.engine.format.DamagedException;
import dev.carillon.engine.loan.HandlerLists;
import dev.carillon.engine.loan.Permits;
import dev.carillon.store.MemoryStore;
import dev.carillon.store.Records.Change;
import dev.carillon.store.Records.Stamp;
import dev.carillon.store.Records.Stored;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** Records of dead nodes are deleted, however many records of living ones stand before them. */
class RecordSweepTest {
  private static final int LIVING = 2 * RecordSweep.PAGE + 100;
  private static final long FIRST_DEAD = 0x10_0000;
  private static final int DEAD = 50;

  private final MemoryStore store = new MemoryStore();
  private final StillWorld world = new StillWorld(NodeOptions.of("a", 1), store);
  private final RecordChanges changes = new RecordChanges(world, 99, new Timers());

  private static boolean isDead(long incarnation) {
    return incarnation >= FIRST_DEAD;
  }

  /** By key: living nodes first. */
  private void put(String prefix, String suffix) {
    List<Change> puts = new ArrayList<>();
    for (int i = 0; i < LIVING + DEAD; i++) {
      long incarnation = i < LIVING ? 0x1000 + i : 0x10_0000 + i;
      String key = prefix + (i < LIVING ? "0" : "1") + Long.toHexString(incarnation) + suffix;
      puts.add(new Change(key, Stamp.ABSENT, new byte[] {1}, new Stamp(7, i + 1)));
    }
    assertThat(store.records().apply(puts)).allMatch(outcome -> outcome.isOk());
  }

  private List<String> keys(String prefix) {
    return store.records().list(prefix, null, 10_000).orThrow().stream().map(Stored::key).toList();
  }

  private void settle() {
    for (int i = 0; i < 10; i++) {
      world.settle();
      changes.turn();
    }
  }

  @Test
  void permitsOfDeadNodesAreDeleted() {
    put("e\0", "");

    new Permits(world, changes, 1, RecordSweepTest::isDead).sweep();
    settle();

    assertThat(keys("e\0")).hasSize(LIVING).allMatch(key -> key.startsWith("e\0000"));
  }

  @Test
  void handlersOfDeadNodesAreDeleted() {
    put("h\0", ".0");

    new HandlerLists(world, changes, 1, new Knows()).sweep();
    settle();

    assertThat(keys("h\0")).hasSize(LIVING).allMatch(key -> key.startsWith("h\0000"));
  }

  @Test
  void recordThatCannotBeReadStays() {
    put("x\0", "");
    String unreadable = keys("x\0").get(RecordSweep.PAGE + 3);

    new RecordSweep(
            world,
            changes,
            "x\0",
            record -> {
              if (record.key().equals(unreadable)) {
                throw new DamagedException("damaged");
              }
              return true;
            })
        .begin();
    settle();

    assertThat(keys("x\0")).containsExactly(unreadable);
  }

  private static final class Knows implements HandlerLists.Host {
    @Override
    public void announce(long version) {}

    @Override
    public void learnt(Set<String> types) {}

    @Override
    public boolean isForgotten(long incarnation) {
      return isDead(incarnation);
    }
  }
}
