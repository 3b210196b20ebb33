package dev.carillon.store;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.carillon.store.FaultyStore.Fault;
import dev.carillon.store.ForwardingStore.Operation;
import dev.carillon.store.Journals.Resolution;
import dev.carillon.store.StoreInfo.Capability;
import dev.carillon.store.Transactions.Answer;
import dev.carillon.store.Transactions.Completion;
import dev.carillon.store.Transactions.Draft;
import dev.carillon.store.Transactions.Permit;
import dev.carillon.store.Transactions.Place;
import dev.carillon.store.Transactions.Rider;
import dev.carillon.store.Transactions.Row;
import dev.carillon.store.Transactions.Settled;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;

/** What a store shares with transactions of users' own: the inbox and completions. */
interface TransactionCases extends TckCases {

  private Transactions transactions() {
    return bench().store().transactions();
  }

  private Connection transaction() throws SQLException {
    Connection connection = tck().connect();
    connection.setAutoCommit(false);
    return connection;
  }

  // ---- the inbox

  @Case(id = "C05", title = "inbox: a row is there with its commit only, and becomes one entry")
  default void aCommittedRowBecomesOneEntry() throws SQLException {
    CapabilityCases.needs(this, Capability.TRANSACTIONS);
    Random random = bench().random();
    List<InboxTaker> takers = new ArrayList<>();
    for (int i = 0; i < 3; i++) {
      takers.add(new InboxTaker(bench()));
    }
    InboxTaker dead = new InboxTaker(bench());
    List<String> committed = new ArrayList<>();
    int rounds = tck().times(500);
    for (int round = 0; round < rounds; round++) {
      committed.addAll(writeByTwo("round " + round, random));
      dead.take();
      List<Callable<Integer>> tasks = new ArrayList<>();
      takers.forEach(taker -> tasks.add(taker::bringAll));
      bench().together(tasks);
      assertThat(dead.take()).isEmpty();
    }
    assertThat(takers.stream().flatMap(taker -> taker.tickets().stream()))
        .containsExactlyInAnyOrderElementsOf(committed);
    for (String ticket : committed) {
      assertThat(isWaiting(ticket)).isFalse();
      assertThat(hasPointer(ticket)).isEqualTo(InboxTaker.isPointedTo(ticket));
    }
  }

  /** Writes rows in two transactions, of which the first ends last; answers what was committed. */
  private List<String> writeByTwo(String name, Random random) throws SQLException {
    List<String> early = List.of(name + " a", name + " b");
    List<String> late = List.of(name + " c");
    List<String> committed = new ArrayList<>();
    try (Connection first = transaction();
        Connection second = transaction()) {
      transactions().write(first, drafts(early));
      transactions().write(second, drafts(late));
      committed.addAll(end(second, random.nextBoolean()) ? late : List.of());
      committed.addAll(end(first, random.nextBoolean()) ? early : List.of());
    }
    return committed;
  }

  private static boolean end(Connection connection, boolean well) throws SQLException {
    if (well) {
      connection.commit();
    } else {
      connection.rollback();
    }
    return well;
  }

  private static List<Draft> drafts(List<String> tickets) {
    return tickets.stream().map(ticket -> new Draft(ticket, ticket.getBytes(UTF_8))).toList();
  }

  private boolean isWaiting(String ticket) {
    return bench().ok(() -> transactions().find(ticket)).isPresent();
  }

  private boolean hasPointer(String ticket) {
    return bench().ok(() -> bench().records().get(InboxTaker.pointer(ticket))).isPresent();
  }

  /** Rows that are committed and taken. */
  private List<Row> taken(InboxTaker taker, String... tickets) throws SQLException {
    try (Connection connection = transaction()) {
      transactions().write(connection, drafts(List.of(tickets)));
      connection.commit();
    }
    List<Row> rows = taker.take();
    assertThat(rows).extracting(Row::ticket).containsExactly(tickets);
    return rows;
  }

  @Case(id = "C05", title = "inbox: an entry that is refused leaves its row, those beside it go")
  default void aRefusedEntryLeavesItsRow() throws SQLException {
    CapabilityCases.needs(this, Capability.TRANSACTIONS);
    InboxTaker taker = new InboxTaker(bench());
    List<Row> rows = taken(taker, "stale", "good");
    JournalWriter stale = bench().create();
    JournalWriter good = bench().create();
    bench().claim(stale.shard());
    List<Append> group = List.of(stale.next(), good.next());
    List<Rider> riders = rows.stream().map(taker::rider).toList();
    List<Outcome<Long>> together =
        bench().bare().transactions().append(group, riders, true); // its outcomes, not a fault's
    assertThat(together.getFirst()).isEqualTo(new Outcome.Fenced<>(2));
    assertThat(together.getLast()).isInstanceOf(Outcome.Unavailable.class);
    assertThat(isWaiting("stale") && isWaiting("good")).isTrue();
    assertThat(hasPointer("stale") || hasPointer("good")).isFalse();
    assertThat(bench().bare().transactions().append(group, riders, false))
        .containsExactly(new Outcome.Fenced<>(2), Outcome.ok(1L));
    good.accept(group.getLast());
    assertThat(isWaiting("stale")).isTrue();
    assertThat(hasPointer("stale")).isFalse();
    assertThat(isWaiting("good")).isFalse();
    assertThat(hasPointer("good")).isTrue();
    bench().assertHoldsExactly(stale);
    bench().assertHoldsExactly(good);
    assertThat(taker.bring(rows.getLast())).as("a row that has gone").isFalse();
    assertThat(taker.bring(rows.getFirst())).isTrue();
  }

  @Case(
      id = "C05",
      title = "inbox: an unknown append is resolved with its rows, late ones take none")
  default void anUnknownAppendIsResolvedWithItsRows() throws SQLException {
    CapabilityCases.needs(this, Capability.TRANSACTIONS);
    InboxTaker taker = new InboxTaker(bench());
    for (Fault fault : List.of(Fault.APPLY_THEN_TIMEOUT, Fault.TIMEOUT_THEN_APPLY)) {
      String ticket = fault.name();
      Row row = taken(taker, ticket).getFirst();
      JournalWriter writer = bench().create();
      Append append = writer.next(bench().id(), row.body());
      FaultyStore scripted = bench().scripted(Operation.APPEND, fault);
      Outcome<Long> unknown =
          scripted
              .transactions()
              .append(List.of(append), List.of(taker.rider(row)), false)
              .getFirst();
      assertThat(unknown).isInstanceOf(Outcome.Unknown.class);
      boolean in = bench().ok(() -> bench().journals().resolve(append)) == Resolution.COMMITTED;
      if (!bench().isFaulty()) {
        assertThat(in).isEqualTo(fault == Fault.APPLY_THEN_TIMEOUT);
      }
      scripted.deliverLate();
      assertThat(bench().batches(writer.shard(), 1)).hasSize(in ? 1 : 0);
      assertThat(isWaiting(ticket)).isEqualTo(!in);
      assertThat(hasPointer(ticket)).isEqualTo(in);
      assertThat(taker.bring(row)).as("what is left of it").isEqualTo(!in);
    }
  }

  // ---- completions

  @Case(id = "C05", title = "completion: counts with its commit, or a claim overtook it")
  default void aCompletionCountsOrWasOvertaken() throws SQLException {
    CapabilityCases.needs(this, Capability.TRANSACTIONS);
    raceCompletions(false);
  }

  @Case(id = "C05", title = "completion: counts with its commit, or its permit was gone")
  default void aCompletionCountsOrHadNoPermit() throws SQLException {
    CapabilityCases.needs(this, Capability.TRANSACTIONS);
    raceCompletions(true);
  }

  /**
   * One completes a job while another takes the right to do so away and looks: that one sees the
   * completion exactly where it was committed.
   */
  private void raceCompletions(boolean byPermit) throws SQLException {
    Random random = bench().random();
    RecordWriter records = bench().recordWriter();
    int rounds = tck().times(1_000);
    try (Connection connection = transaction()) {
      for (int round = 0; round < rounds; round++) {
        JournalWriter owner = bench().create();
        Place place = new Place(owner.shard(), round);
        String key = "permit " + round;
        Permit permit = byPermit ? new Permit(key, records.create(key, Workbench.NO_WORDS)) : null;
        long nonce = bench().id();
        boolean well = random.nextInt(4) != 0;
        Callable<Boolean> complete =
            () -> complete(connection, completion(place, owner, nonce), permit, well);
        Callable<Boolean> overtake =
            () -> {
              if (permit == null) {
                bench().claim(owner.shard(), owner.epoch());
              } else {
                records.write(key, permit.version(), null).orThrow();
              }
              return hasCompletion(place, nonce);
            };
        List<Boolean> seen = bench().together(List.of(complete, overtake));
        assertThat(seen.getLast()).as("round %s", round).isEqualTo(seen.getFirst());
        assertThat(complete(connection, completion(place, owner, nonce), permit, true)).isFalse();
        takeNote(place, seen.getFirst());
      }
    }
  }

  private static Completion completion(Place place, JournalWriter owner, long nonce) {
    return new Completion(place, owner.epoch(), nonce, Long.toString(nonce).getBytes(UTF_8));
  }

  /** Whether a completion was noted and committed. */
  private boolean complete(
      Connection connection, Completion completion, @Nullable Permit permit, boolean well)
      throws SQLException {
    boolean noted = transactions().complete(connection, completion, permit) == Answer.NOTED;
    return end(connection, noted && well);
  }

  private boolean hasCompletion(Place place, long nonce) {
    Settled settled = settled(place);
    while (settled.open()) {
      settled = settled(place);
    }
    Completion found = settled.completion();
    if (found != null) {
      assertThat(found.nonce()).isEqualTo(nonce);
      assertThat(found.outcome()).isEqualTo(Long.toString(nonce).getBytes(UTF_8));
    }
    return found != null;
  }

  private Settled settled(Place place) {
    return bench().ok(() -> transactions().settle(List.of(place))).getFirst();
  }

  /** The owner of now puts the outcome into the journal: with that, the completion goes. */
  private void takeNote(Place place, boolean completed) {
    JournalWriter owner = bench().claim(place.shard());
    Rider rider = new Rider(List.of(), List.of(), completed ? List.of(place) : List.of());
    assertThat(bench().ask(() -> owner.tryAppend(Workbench.NO_WORDS, rider)).isOk()).isTrue();
    assertThat(settled(place)).isEqualTo(new Settled(null, false));
  }
}
