package dev.carillon.store;

import dev.carillon.store.StoreInfo.Durability;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.TestInfo;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.Parameter;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;
import org.opentest4j.TestAbortedException;

/**
 * The conformance suite: every store has a subclass and passes all of it, bare and behind {@link
 * FaultyStore}, where the callers settle unknown outcomes exactly as the contract says and every
 * case must still hold. After each case {@link Invariants} inspects the whole store.
 *
 * <p>A subclass says how to open its store and overrides the hooks that its store can serve. A case
 * that cannot apply is reported as such with the reason, never left out; {@link TckTable} prints
 * them all. With the system property {@code carillon.tck.full=true} the counts are the contract's,
 * else a tenth of them, or the part that {@code carillon.tck.reduction} says.
 */
@ParameterizedClass(name = "{0}")
@EnumSource(StoreTck.Mode.class)
@ExtendWith(TckReport.class)
@Timeout(value = 30, unit = TimeUnit.MINUTES)
public abstract class StoreTck
    implements ClaimCases,
        AppendCases,
        UnknownCases,
        DurabilityCases,
        ReadAndListCases,
        LifecycleCases,
        MixCases,
        RecordsCases,
        CapabilityCases,
        TransactionCases,
        ElsewhereCases {

  /** Whether faults are injected throughout. */
  public enum Mode {
    BARE,
    FAULTY
  }

  private static final boolean FULL = Boolean.getBoolean("carillon.tck.full");
  private static final int REDUCTION = Integer.getInteger("carillon.tck.reduction", 10);

  @Parameter Mode mode;
  @TempDir Path folder;

  private Workbench bench;
  private int count;
  private long startNanos;

  /** How the store is opened. */
  protected abstract StoreOpener opener();

  /**
   * What a new process finds in {@code folder} after the death of the one that had {@code store}.
   * Closes and opens it, unless a subclass knows better.
   */
  protected Store reopen(Store store, Path folder) {
    store.close();
    return opener().open(folder);
  }

  /** The same data through another connection; {@code store} itself where there is only one. */
  protected Store another(Store store) {
    return store;
  }

  /**
   * Runs {@code work}, then makes a folder for each of its writes to disk, left as a crash right
   * after that write would have left it. Each is opened before the next is made.
   */
  protected Stream<Path> cuts(Store store, Path folder, Runnable work) {
    throw notApplicable("no way to stop " + store.info().kind() + " between two of its writes");
  }

  /** Flips one bit, somewhere that matters, of the closed store in {@code folder}. */
  protected void flipBit(Path folder, Random random) {
    throw notApplicable("nothing on disk");
  }

  /** Opens an empty store in {@code folder} that has room for a few megabytes only. */
  protected Store openSmall(Path folder) {
    throw notApplicable("no limit of its own: as large as the heap");
  }

  /** T22: a tail torn at every byte is cut off; for stores with files of their own format. */
  protected void tornTails() {
    throw notApplicable("no file format of its own");
  }

  /** T24: where syncing fails nothing is acknowledged, and nothing is written afterwards. */
  protected void failingSync() {
    throw notApplicable("no way to make its syncing fail here");
  }

  /** T40: fixtures of every released format replay to their recorded state. */
  protected void fixtures() {
    throw notApplicable(
        bench.store().info().durability() == Durability.LOSSY
            ? "keeps no format: nothing outlives the process"
            : "no format was released yet");
  }

  /** T42: how many random mixes the contract asks for; fewer where each step is a network away. */
  protected int mixes() {
    return 3_000;
  }

  /** How a user of the same database connects to it; for stores that declare TRANSACTIONS. */
  protected Connection connect() throws SQLException {
    throw new AssertionError("a store that declares TRANSACTIONS says how its users connect");
  }

  /** Ends the case; the table will show it as not applicable, with {@code reason}. */
  protected static RuntimeException notApplicable(String reason) {
    throw new TestAbortedException(reason);
  }

  /** The store under test, as the case's callers see it, and their tools. */
  @Override
  public final Workbench bench() {
    return bench;
  }

  @Override
  public final StoreTck tck() {
    return this;
  }

  /** How often to do what the contract asks for {@code full} times; the table shows it. */
  protected final int times(int full) {
    return times(full, Math.max(1, full / REDUCTION));
  }

  final int times(int full, int reduced) {
    count = FULL ? full : reduced;
    return count;
  }

  /** What the table shows as the number of repetitions. */
  final void counted(int repetitions) {
    count = repetitions;
  }

  final int count() {
    return count;
  }

  /** How long the case has taken. */
  final long elapsedMillis() {
    return TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - startNanos);
  }

  final Mode mode() {
    return mode;
  }

  /** A folder of its own below the case's. */
  final Path folder(String name) {
    return folder.resolve(name);
  }

  @BeforeEach
  final void openStore(TestInfo test) {
    count = 1;
    startNanos = System.nanoTime();
    long seed = test.getTestMethod().orElseThrow().getName().hashCode();
    bench = new Workbench(this, folder("store"), seed);
  }

  @AfterEach
  final void inspectAndCloseStore() {
    try (Workbench closing = bench) {
      closing.settleAndInspect();
    }
  }
}
