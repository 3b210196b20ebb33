package dev.carillon.worker;

import dev.carillon.protocol.Attempt;
import dev.carillon.protocol.Outcome;
import dev.carillon.protocol.Token;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * An attempt in this process, from when it is given until its outcome is settled. The handler's
 * thread reads what it is asked for; all else belongs to the loop.
 */
final class Run {
  final Attempt given;

  /** The server that has its job, as far as is known. */
  @Nullable ServerLink link;

  /** When the last answered beat was sent, where no server vouches for it now. */
  long vouchedNanos;

  boolean leased;
  long leaseNanos;

  /** Nobody wants its outcome any more. */
  boolean stale;

  /** How it went; null while the handler runs. */
  @Nullable Outcome outcome;

  long saidNanos;
  long endedNanos;
  final List<Saving> savings = new ArrayList<>(0);

  /** The job was cancelled, its time is over, or another may have it. */
  volatile boolean cancelled;

  /** It is to save its position and to return, if it can. */
  volatile boolean paused;

  /** Whatever becomes of it does not count, unless somebody still has it as the current one. */
  volatile boolean elsewhere;

  /** Where it runs; of the surroundings. */
  volatile @Nullable HandlerRun running;

  Run(Attempt given, ServerLink link, long nowNanos) {
    this.given = given;
    this.link = link;
    this.vouchedNanos = nowNanos;
  }

  Token token() {
    return given.getToken();
  }

  boolean isOver() {
    return outcome != null;
  }

  /** When the last answered beat was sent by which somebody vouched for it. */
  long vouched() {
    ServerLink of = link;
    return of != null ? of.answeredNanos : vouchedNanos;
  }
}
