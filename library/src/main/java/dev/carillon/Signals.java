package dev.carillon;

import dev.carillon.api.JobId;
import dev.carillon.api.Limits;
import dev.carillon.api.error.InvalidArgumentException;
import dev.carillon.api.workflow.SignalResult;
import dev.carillon.api.workflow.SignalType;
import dev.carillon.engine.job.JobRef;
import dev.carillon.store.Outcome;
import org.jspecify.annotations.Nullable;

/** Sends signals to workflows: encodes them and puts them to the node. */
final class Signals {
  private final NodeLoop loop;
  private final Tickets tickets;
  private final Payloads payloads;

  Signals(NodeLoop loop, Tickets tickets, Payloads payloads) {
    this.loop = loop;
    this.tickets = tickets;
    this.payloads = payloads;
  }

  /**
   * Sends one.
   *
   * @param key under which it is taken once; null for none
   * @param who asks
   */
  <T> SignalResult send(
      JobId id, SignalType<T> type, @Nullable T payload, @Nullable String key, String who) {
    Limits.checkPresent("signal", type);
    JobRef ref = tickets.place(id);
    if (ref == null) {
      return SignalResult.NOT_FOUND;
    }
    byte[] bytes = payloads.encode(payload, type.payload().type());
    if (bytes.length > Limits.SIGNAL_MAX_BYTES) {
      throw new InvalidArgumentException(
          "signal %s: %d bytes (expected: at most %d)"
              .formatted(type.name(), bytes.length, Limits.SIGNAL_MAX_BYTES));
    }
    String once = key == null ? "" : Limits.checkKey(key);
    String what = "signalling job " + id;
    JobControl.checkInterrupt(what);
    return loop.post(
            new Ask<SignalResult>(
                loop,
                what,
                Ask.Effect.WRITES,
                (node, asked) ->
                    node.signal(
                        ref,
                        type.name(),
                        once,
                        who,
                        bytes,
                        outcome -> {
                          if (outcome instanceof Outcome.Ok<SignalResult>(SignalResult result)) {
                            asked.answer(result);
                          } else {
                            asked.fail(StoreAnswers.notWritten(what, outcome));
                          }
                        })))
        .await();
  }
}
