package dev.carillon.engine.loan;

import dev.carillon.engine.attempt.Attempt;
import dev.carillon.engine.environment.NodeEnvironment;
import dev.carillon.engine.environment.Timers;
import dev.carillon.engine.job.Report;
import dev.carillon.engine.message.Message;
import dev.carillon.engine.message.Wire;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * What handlers report of jobs that this node runs for others: it is sent to their owners, which
 * record it. The first report at once, later ones together once a second, the last one before the
 * outcome. One that is lost on its way is made good by the next.
 */
final class BorrowedReports {
  private static final long INTERVAL_NANOS = 1_000_000_000;

  private final NodeEnvironment env;
  private final Timers timers;
  private final Wire wire;

  /** Those of which something was sent within the last second, by the nonces of their attempts. */
  private final Map<Long, Recent> recent = new LinkedHashMap<>();

  BorrowedReports(NodeEnvironment env, Timers timers, Wire wire) {
    this.env = env;
    this.timers = timers;
    this.wire = wire;
  }

  private static final class Recent {
    final long lender;
    Report.@Nullable Source unsent;

    Recent(long lender) {
      this.lender = lender;
    }
  }

  /** An attempt of {@code lender}'s has something to report, which {@code source} has. */
  void report(Attempt attempt, long lender, Report.Source source) {
    Recent known = recent.get(attempt.nonce());
    if (known != null) {
      known.unsent = source;
      return;
    }
    Recent fresh = new Recent(lender);
    recent.put(attempt.nonce(), fresh);
    fresh.unsent = source;
    send(attempt.nonce(), fresh);
  }

  /** The attempt is over: what it reported last is sent before its outcome. */
  void last(long nonce) {
    Recent known = recent.remove(nonce);
    if (known != null) {
      send(nonce, known);
    }
  }

  private void send(long nonce, Recent of) {
    Report.Source source = of.unsent;
    of.unsent = null;
    if (source != null) {
      wire.send(of.lender, Message.encode(new Message.Reported(nonce, source.take())));
      timers.at(env.monotonicNanos() + INTERVAL_NANOS, () -> rested(nonce, of));
    }
  }

  private void rested(long nonce, Recent of) {
    if (recent.get(nonce) != of) {
      return;
    }
    if (of.unsent != null) {
      send(nonce, of);
    } else {
      recent.remove(nonce);
    }
  }
}
