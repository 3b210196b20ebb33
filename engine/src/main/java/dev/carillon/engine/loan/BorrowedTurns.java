package dev.carillon.engine.loan;

import dev.carillon.engine.attempt.Attempt;
import dev.carillon.engine.attempt.AttemptRunner;
import dev.carillon.engine.environment.NodeEnvironment;
import dev.carillon.engine.history.WorkflowHistory;
import dev.carillon.engine.job.HistoryEntry;
import dev.carillon.engine.job.WorkflowTurn;
import dev.carillon.engine.message.Message;
import dev.carillon.engine.message.Wire;
import dev.carillon.store.Outcome;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.function.LongPredicate;

/**
 * What the code of workflows does that this node runs for others: its lender writes it, and tells
 * each entry of the history back before it answers. The code has one turn under way at a time. Its
 * history so far is read from the store, where the loan says that it stands.
 *
 * <p>Crash table: the lender dies or is fenced: the code hears that nothing was recorded and does
 * nothing more; whoever has the shard runs it again from its history. This node dies: the lender
 * has what was said before.
 */
final class BorrowedTurns {
  private final NodeEnvironment env;
  private final AttemptRunner runner;
  private final Wire wire;
  private final Map<Long, Asked> asked = new LinkedHashMap<>();

  private record Asked(long lender, Consumer<Outcome<Boolean>> answer) {}

  BorrowedTurns(NodeEnvironment env, AttemptRunner runner, Wire wire) {
    this.env = env;
    this.runner = runner;
    this.wire = wire;
  }

  /** Brings the entries that the workflow had when it was lent. */
  void history(Attempt attempt, Consumer<Outcome<List<HistoryEntry>>> answer) {
    WorkflowHistory.Place place = attempt.history();
    if (place == null) {
      answer.accept(Outcome.ok(List.of()));
      return;
    }
    env.submit(
        NodeEnvironment.Channel.READ,
        store -> WorkflowHistory.read(store, place),
        outcome -> {
          env.metrics().count("workflows.replayed", 1);
          answer.accept(outcome);
        });
  }

  /** Has the lender write a turn. */
  void checkpoint(
      Attempt attempt, long lender, WorkflowTurn turn, Consumer<Outcome<Boolean>> answer) {
    Asked before = asked.put(attempt.nonce(), new Asked(lender, answer));
    if (before != null) {
      before.answer().accept(Outcome.ok(false));
    }
    wire.send(lender, Message.encode(new Message.Turn(attempt.nonce(), turn)));
  }

  /** The lender says what became of it. */
  void turned(long from, long nonce, Outcome<Boolean> outcome) {
    Asked one = asked.get(nonce);
    if (one != null && one.lender() == from) {
      asked.remove(nonce);
      one.answer().accept(outcome);
    }
  }

  /** The code of an attempt that was borrowed is told of an entry. */
  void recorded(Attempt attempt, int count, HistoryEntry entry) {
    runner.told(attempt.ref(), count, entry);
  }

  /** Those lenders answer no more. */
  void forget(LongPredicate lenders) {
    List<Asked> gone = new ArrayList<>();
    asked
        .values()
        .removeIf(
            one -> {
              boolean goes = lenders.test(one.lender());
              if (goes) {
                gone.add(one);
              }
              return goes;
            });
    gone.forEach(one -> one.answer().accept(Outcome.ok(false)));
  }

  boolean isEmpty() {
    return asked.isEmpty();
  }
}
