package dev.carillon.engine.loan;

import dev.carillon.engine.commit.RecordChanges;
import dev.carillon.engine.commit.RecordSweep;
import dev.carillon.engine.environment.NodeEnvironment;
import dev.carillon.store.Records.Stamp;
import dev.carillon.store.Records.Stored;
import dev.carillon.store.Transactions.Permit;
import java.util.function.LongPredicate;
import org.jspecify.annotations.Nullable;

/**
 * What lets a node's transactions complete attempts of others' jobs: a record of its own, which is
 * looked at by each completion after it has written its row. Whoever takes attempts back from a
 * node that seems dead deletes the record first, and then asks for rows: a completion either finds
 * that its permit is gone, or its row is found.
 */
public final class Permits {
  private static final String PREFIX = "e\0";

  private final NodeEnvironment env;
  private final RecordChanges records;
  private final RecordSweep sweep;
  private final String own;
  private @Nullable Permit permit;
  private boolean asking;

  /**
   * Those of a node, and of the others.
   *
   * @param isForgotten whether nobody expects an incarnation back
   */
  public Permits(
      NodeEnvironment env, RecordChanges records, long incarnation, LongPredicate isForgotten) {
    this.env = env;
    this.records = records;
    this.sweep =
        new RecordSweep(env, records, PREFIX, record -> isForgotten.test(incarnation(record)));
    this.own = key(incarnation);
  }

  private static String key(long incarnation) {
    return PREFIX + Long.toHexString(incarnation);
  }

  /** This node's; null where it has none. */
  @Nullable Permit own() {
    return permit;
  }

  /** Whether attempts of others may run here. */
  boolean isReady() {
    return permit != null || !env.hasTransactions();
  }

  /** Makes sure that there is one: others may have deleted what was there. */
  public void renew() {
    if (!env.hasTransactions()) {
      return;
    }
    permit = null;
    if (!asking) {
      asking = true;
      ask();
    }
  }

  private void ask() {
    records.get(
        own,
        found -> {
          if (found.isPresent()) {
            asking = false;
            permit = new Permit(own, found.get().version());
          } else {
            var unused = records.change(own, Stamp.ABSENT, new byte[] {1}, inEffect -> ask());
          }
        });
  }

  /** Deletes this node's: nothing of others runs here any more. */
  public void end() {
    Permit last = permit;
    permit = null;
    if (last != null) {
      var unused = records.change(own, last.version(), null, inEffect -> {});
    }
  }

  /** Deletes those of nodes that do not come back. */
  public void sweep() {
    sweep.begin();
  }

  private static long incarnation(Stored record) {
    return Long.parseUnsignedLong(record.key().substring(PREFIX.length()), 16);
  }

  /** Deletes another node's; {@code then} runs when it has none. */
  void revoke(long incarnation, Runnable then) {
    if (!env.hasTransactions()) {
      then.run();
      return;
    }
    records.get(
        key(incarnation),
        found -> {
          if (found.isEmpty()) {
            then.run();
          } else {
            delete(found.get(), incarnation, then);
          }
        });
  }

  private void delete(Stored record, long incarnation, Runnable then) {
    var unused =
        records.change(record.key(), record.version(), null, inEffect -> revoke(incarnation, then));
  }
}
