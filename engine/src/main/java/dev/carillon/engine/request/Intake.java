package dev.carillon.engine.request;

import dev.carillon.api.IfExists;
import dev.carillon.api.error.CarillonException;
import dev.carillon.engine.environment.NodeEnvironment;
import dev.carillon.engine.environment.NodeOptions;
import dev.carillon.engine.job.JobRef;
import dev.carillon.engine.job.JobSpec;
import dev.carillon.store.Outcome;
import dev.carillon.store.Transactions.Row;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.function.LongPredicate;
import java.util.function.Supplier;

/**
 * Takes jobs out of the inbox, into which users' transactions write them, and adds them as any
 * others; their rows leave the inbox with the append that adds them. Looks when it is told to, by a
 * notification or a poll, and has a limited number of rows in its hands.
 *
 * <p>Crash table: see {@link dev.carillon.store.Transactions}. What was not added, for whatever
 * reason, is not kept here: the next look takes it again if it is still there, and an append that
 * did take effect has taken it away.
 */
public final class Intake {
  private static final int MAX_ROWS = 1_000;
  private static final long MAX_BYTES = 4 << 20;

  private final NodeEnvironment env;
  private final NodeOptions options;
  private final Adds adds;
  private final Supplier<LongPredicate> gone;
  private final Set<Long> held = new LinkedHashSet<>();
  private final Set<Long> unreadable = new LinkedHashSet<>();
  private boolean taking;
  private boolean lookAgain;
  private boolean takeOwn;
  private boolean stopping;

  /**
   * An intake.
   *
   * @param gone says, as of now and from any thread, which incarnations take no more rows: theirs
   *     are taken again. Being wrong costs a second try and never a second job
   */
  public Intake(NodeEnvironment env, NodeOptions options, Adds adds, Supplier<LongPredicate> gone) {
    this.env = env;
    this.options = options;
    this.adds = adds;
    this.gone = gone;
  }

  /** Whether nothing of the inbox is on its way. */
  public boolean idle() {
    return !taking && held.isEmpty();
  }

  /** From now on nothing is taken. */
  public void stop() {
    stopping = true;
  }

  /** There may be rows: takes some, unless enough are on their way. */
  public void look() {
    if (stopping) {
      return;
    }
    if (taking || held.size() >= MAX_ROWS) {
      lookAgain = true;
      return;
    }
    taking = true;
    lookAgain = false;
    LongPredicate others = gone.get();
    long own = options.incarnation();
    boolean ownToo = takeOwn;
    takeOwn = false;
    int most = MAX_ROWS + (ownToo ? held.size() + unreadable.size() : 0);
    env.submit(
        NodeEnvironment.Channel.INBOX,
        store ->
            store
                .transactions()
                .take(own, taker -> taker == own ? ownToo : others.test(taker), most, MAX_BYTES),
        this::taken);
  }

  private void taken(Outcome<List<Row>> outcome) {
    taking = false;
    if (!(outcome instanceof Outcome.Ok<List<Row>>(List<Row> rows))) {
      takeOwn = true; // some may have our stamp
      if (outcome instanceof Outcome.Damaged<List<Row>>(String where)) {
        env.report("the inbox is damaged, nothing is taken from it: " + where, null);
      }
      return;
    }
    for (Row row : rows) {
      if (!unreadable.contains(row.id()) && held.add(row.id())) {
        add(row);
      }
    }
    if ((!rows.isEmpty() && !takeOwn) || lookAgain) { // what was refused waits for the next look
      look();
    }
  }

  private void add(Row row) {
    JobSpec spec;
    try {
      spec = JobSpec.decode(row.body());
    } catch (RuntimeException e) {
      held.remove(row.id());
      unreadable.add(row.id());
      env.report("row " + row.id() + " of the inbox cannot be read and stays there", e);
      return;
    }
    adds.add(new AddRequest(spec, IfExists.FAIL, new Answer(row), row));
  }

  /** What becomes of a row. */
  private final class Answer implements AddRequest.Answer {
    private final Row row;

    Answer(Row row) {
      this.row = row;
    }

    @Override
    public void added(JobRef job, boolean created) {
      env.metrics().count("inbox.taken", 1);
      left();
    }

    @Override
    public void refused(CarillonException why) {
      env.metrics().count("inbox.refused", 1);
      takeOwn = true;
      left();
    }

    private void left() {
      held.remove(row.id());
      if (lookAgain && held.isEmpty()) {
        look();
      }
    }
  }
}
