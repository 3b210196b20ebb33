package dev.carillon;

import dev.carillon.engine.attempt.Attempt;
import dev.carillon.engine.environment.AttemptOutcome;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** An attempt while its code runs: of a handler, or the activation of a workflow. */
interface RunningAttempt {

  Attempt attempt();

  HandlerRunner runner();

  /** How it went, once the loop is told of it. */
  AttemptOutcome outcome();

  /** A result as it is kept. */
  byte[] encode(@Nullable Object result);

  /** Where its code reports of the job. */
  ReportRelay reports();

  /** Whether its code has returned, or waits. */
  boolean isOver();

  /** Where its code is now. */
  String stack();

  /** On the loop; false where it was asked for before. */
  boolean requestInterrupt();

  boolean interruptRequested();

  /** Interrupts its threads; may block. */
  void interrupt();

  /** The code was told of a pause: it may stop for it, even if the job is resumed meanwhile. */
  void pauseSeen();

  /** On the loop: its timeout has come; asks what follows, while its code may still run. */
  void judgeTimeout(Consumer<AttemptOutcome.Verdict> answer);
}
