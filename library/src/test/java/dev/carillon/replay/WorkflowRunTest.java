package dev.carillon.replay;

import static dev.carillon.replay.Journal.BEGIN_MICROS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.carillon.api.FailurePolicy;
import dev.carillon.api.JobState;
import dev.carillon.api.JobType;
import dev.carillon.api.error.ChildFailedException;
import dev.carillon.api.error.InvalidArgumentException;
import dev.carillon.api.error.NotRetryableException;
import dev.carillon.api.error.StepFailedException;
import dev.carillon.api.error.WorkflowCancelledException;
import dev.carillon.api.workflow.Promise;
import dev.carillon.api.workflow.SignalType;
import dev.carillon.api.workflow.StepOptions;
import dev.carillon.api.workflow.WorkflowUnwound;
import dev.carillon.engine.environment.AttemptOutcome;
import dev.carillon.engine.environment.AttemptOutcome.Compensated;
import dev.carillon.engine.environment.AttemptOutcome.Diverged;
import dev.carillon.engine.environment.AttemptOutcome.Renewed;
import dev.carillon.engine.environment.AttemptOutcome.Succeeded;
import dev.carillon.engine.environment.AttemptOutcome.Verdict;
import dev.carillon.engine.environment.AttemptOutcome.Waiting;
import dev.carillon.engine.environment.AttemptOutcome.WorkflowFailed;
import dev.carillon.engine.job.HistoryEntry;
import dev.carillon.engine.job.HistoryEntry.CancelRequested;
import dev.carillon.engine.job.HistoryEntry.GivenUp;
import dev.carillon.engine.job.HistoryEntry.Signalled;
import dev.carillon.engine.job.HistoryEntry.StepBegun;
import dev.carillon.engine.job.HistoryEntry.StepDone;
import dev.carillon.engine.job.HistoryEntry.StepFailed;
import dev.carillon.engine.job.HistoryEntry.TimerFired;
import dev.carillon.engine.job.Report;
import dev.carillon.engine.job.WorkflowWait;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What the code of a workflow sees, live and from its history, and what is recorded of it. */
@Timeout(60)
class WorkflowRunTest {
  private static final SignalType<String> GO = SignalType.of("go", String.class);
  private static final JobType<Void, Integer> CHILD = JobType.of("child", Integer.class);
  private static final Duration SECOND = Duration.ofSeconds(1);
  private static final StepOptions TWICE = StepOptions.retry(FailurePolicy.constant(SECOND, 1));
  private static final StepOptions ONCE = StepOptions.retry(FailurePolicy.drop());

  private static String text(byte[] bytes) {
    return new String(bytes, java.nio.charset.StandardCharsets.UTF_8);
  }

  private static String result(AttemptOutcome outcome) {
    assertThat(outcome).isInstanceOf(Succeeded.class);
    return text(((Succeeded) outcome).result());
  }

  private static WorkflowWait waiting(Journal journal, AttemptOutcome outcome) {
    assertThat(outcome).isInstanceOf(Waiting.class);
    Waiting waiting = (Waiting) outcome;
    journal.write(waiting.turn());
    return waiting.waitFor();
  }

  private static String diverged(AttemptOutcome outcome) {
    assertThat(outcome).isInstanceOf(Diverged.class);
    return ((Diverged) outcome).error().message();
  }

  private static <T extends HistoryEntry> List<T> all(Journal journal, Class<T> type) {
    return journal.entries().stream().filter(type::isInstance).map(type::cast).toList();
  }

  // ---- steps

  @Test
  void stepWithARecordedResultDoesNotRunAgain() {
    AtomicInteger runs = new AtomicInteger();
    Journal journal =
        new Journal(
            (wf, seen) -> {
              int value = wf.step("count", Integer.class, runs::incrementAndGet);
              wf.step("nothing", () -> {});
              return "got " + value;
            });
    assertThat(result(journal.begin())).isEqualTo("got 1");
    assertThat(journal.entries()).hasSize(3);

    assertThat(result(journal.begin())).isEqualTo("got 1");
    assertThat(runs).hasValue(1);
  }

  @Test
  void idsAreTheSameWhereNothingWasDurableBeforeTheCodeBeganAgain() {
    Journal journal =
        new Journal(
            (wf, seen) -> {
              seen.add(wf.uuid() + " " + wf.random().nextLong());
              return "done";
            });
    assertThat(result(journal.begin())).isEqualTo("done");
    List<String> before = journal.seen();
    assertThat(journal.entries()).isEmpty();

    assertThat(result(journal.begin())).isEqualTo("done");
    assertThat(journal.seen()).isEqualTo(before).hasSize(1);
  }

  @Test
  void stepIsRetriedByItsPolicyAndHoldsNoSlotBetween() {
    Journal journal =
        new Journal(
            (wf, seen) ->
                wf.step(
                    "flaky",
                    String.class,
                    TWICE,
                    step -> {
                      if (step.attempt() == 1) {
                        throw new IOException("down");
                      }
                      return step.key() + " at try " + step.attempt();
                    }));
    WorkflowWait wait = waiting(journal, journal.begin());
    assertThat(wait.untilMicros()).isEqualTo(BEGIN_MICROS + 1_000_000);

    assertThat(waiting(journal, journal.resume()).untilMicros()).isEqualTo(wait.untilMicros());
    journal.pass(SECOND);
    assertThat(result(journal.resume())).isEqualTo("j1/1 at try 2");
  }

  @Test
  void failureForGoodIsTheSameLiveAndFromTheHistory() {
    Journal journal =
        new Journal(
            (wf, seen) -> {
              try {
                wf.step(
                    "fail",
                    ONCE,
                    () -> {
                      throw new java.io.FileNotFoundException("gone");
                    });
              } catch (StepFailedException e) {
                seen.add(e.getMessage() + e.is(IOException.class) + e.getCause());
              }
              return "done";
            });
    result(journal.begin());
    List<String> live = journal.seen();
    result(journal.begin());
    assertThat(journal.seen())
        .isEqualTo(live)
        .containsExactly(
            "step \"fail\": java.io.FileNotFoundException: gone (expected: a result)truenull");
  }

  @Test
  void recordedFailureThatLeavesTheHandlerIsNotRetried() {
    Journal journal =
        new Journal(
            (wf, seen) -> {
              wf.step(
                  "fail",
                  () -> {
                    throw new NotRetryableException("never");
                  });
              return null;
            });
    WorkflowFailed failed = (WorkflowFailed) journal.begin();
    assertThat(failed.verdict()).isEqualTo(new Verdict.NotRetryable());
    assertThat(failed.error().type()).isEqualTo(StepFailedException.class.getName());
    assertThat(failed.compensations()).isFalse();
  }

  @Test
  void resultThatCannotBeKeptFailsTheStepForGood() {
    Journal journal =
        new Journal(
            (wf, seen) -> {
              for (Object value : List.of("x".repeat(1 << 21), Thread.currentThread())) {
                try {
                  wf.step("large", Object.class, () -> value);
                } catch (StepFailedException e) {
                  seen.add(e.error().message());
                }
              }
              try {
                wf.step("undecodable", Short.class, TWICE, () -> (short) 1);
              } catch (StepFailedException e) {
                seen.add(e.error().message());
              }
              return null;
            });
    result(journal.begin());
    assertThat(journal.seen())
        .containsExactly(
            "payload bytes: 2097152 (expected: 0 to 1048576)",
            "value: a thread (expected: one that can be encoded)",
            "value: 1 (expected: one that can be decoded)");
  }

  @Test
  void tryThatTakesTooLongIsInterrupted() {
    Journal journal =
        new Journal(
            (wf, seen) -> {
              try {
                wf.step(
                    "slow",
                    ONCE.timeout(Duration.ofMillis(20)),
                    () -> new CountDownLatch(1).await());
              } catch (StepFailedException e) {
                seen.add(e.error().type());
              }
              return Thread.interrupted() ? "interrupted" : "clean";
            });
    assertThat(result(journal.begin())).isEqualTo("clean");
    assertThat(journal.seen()).containsExactly("java.util.concurrent.TimeoutException");
  }

  @Test
  void stepAtMostOnceThatWasCutOffHasFailed() {
    AtomicInteger runs = new AtomicInteger();
    Journal journal =
        new Journal(
            (wf, seen) -> {
              try {
                wf.step("pay", StepOptions.defaults().atMostOnce(), runs::incrementAndGet);
              } catch (StepFailedException e) {
                seen.add(e.error().type());
              }
              return "done";
            });
    result(journal.begin());
    int begun = journal.entries().indexOf(all(journal, StepBegun.class).getFirst());

    Journal crashed = journal.cut(begun + 1);
    result(crashed.begin());
    assertThat(crashed.seen()).containsExactly("cut off");
    assertThat(runs).hasValue(1);
    result(crashed.begin());
    assertThat(crashed.seen()).containsExactly("cut off");
  }

  @Test
  void stepsBesideTheCodeAreRecordedInTheOrderOfTheirEnds() {
    CountDownLatch fastWritten = new CountDownLatch(1);
    Journal journal =
        new Journal(
                (wf, seen) -> {
                  Promise<String> slow =
                      wf.startStep(
                          "slow",
                          String.class,
                          () -> {
                            fastWritten.await();
                            return "slow";
                          });
                  Promise<String> fast = wf.startStep("fast", String.class, () -> "fast");
                  seen.add((String) wf.first(List.of(slow, fast)).join());
                  fastWritten.countDown();
                  return String.join(" ", wf.all(List.of(slow, fast)));
                })
            .stepsOn(Thread.ofVirtual().factory());
    assertThat(result(journal.begin())).isEqualTo("slow fast");
    assertThat(all(journal, StepDone.class))
        .extracting(StepDone::name)
        .containsExactly("fast", "slow");
    assertThat(journal.seen()).containsExactly("fast");
    assertThat(result(journal.begin())).isEqualTo("slow fast");
    assertThat(journal.seen()).containsExactly("fast");
  }

  @Test
  void handlerThatReturnsWaitsForItsStepsAndOneThatThrowsInterruptsThem() throws Exception {
    CountDownLatch running = new CountDownLatch(1);
    AtomicReference<Throwable> thrown = new AtomicReference<>();
    Journal journal =
        new Journal(
                (wf, seen) -> {
                  wf.startStep(
                      "endless",
                      () -> {
                        running.countDown();
                        try {
                          new CountDownLatch(1).await();
                        } catch (InterruptedException e) {
                          thrown.set(e);
                          throw e;
                        }
                      });
                  wf.startStep("short", () -> {});
                  running.await();
                  throw new IllegalStateException("bug");
                })
            .stepsOn(Thread.ofVirtual().factory());
    WorkflowFailed failed = (WorkflowFailed) journal.begin();
    assertThat(failed.verdict()).isEqualTo(new Verdict.ByPolicy());
    assertThat(thrown.get()).isInstanceOf(InterruptedException.class);
    assertThat(all(journal, StepFailed.class)).isEmpty();
  }

  // ---- waiting

  @Test
  void timerFiresOnceItIsDueAndNotBefore() {
    Journal journal =
        new Journal(
            (wf, seen) -> {
              wf.sleep(SECOND);
              return Long.toString(wf.now().getEpochSecond());
            });
    WorkflowWait wait = waiting(journal, journal.begin());
    assertThat(wait.untilMicros()).isEqualTo(BEGIN_MICROS + 1_000_000);
    journal.pass(Duration.ofMillis(999));
    waiting(journal, journal.resume());
    assertThat(all(journal, TimerFired.class)).isEmpty();
    journal.pass(Duration.ofMillis(1));
    assertThat(result(journal.resume())).isEqualTo("1700000001");
    assertThat(all(journal, TimerFired.class)).hasSize(1);
  }

  @Test
  void signalsAreTakenInOrderAlsoThoseThatCameBefore() {
    Journal journal =
        new Journal(
            (wf, seen) ->
                wf.await(GO) + wf.await(GO, SECOND).orElse("late") + wf.await(GO) + wf.await(GO));
    journal.signal("go", "1");
    journal.signal("other", "x");
    WorkflowWait wait = waiting(journal, journal.begin());
    assertThat(wait.signals()).containsExactly(new WorkflowWait.AwaitedSignal("go", 2));
    assertThat(wait.signalsRead()).isEqualTo(1);
    journal.pass(SECOND);
    wait = waiting(journal, journal.resume());
    assertThat(wait.signals()).containsExactly(new WorkflowWait.AwaitedSignal("go", 2));
    assertThat(wait.untilMicros()).isEqualTo(WorkflowWait.FOR_EVER);
    journal.signal("go", "2");
    waiting(journal, journal.resume());
    journal.signal("go", "3");
    assertThat(result(journal.resume())).isEqualTo("1late23");
    assertThat(result(journal.begin())).isEqualTo("1late23");
  }

  @Test
  void firstOfTimerAndSignalIsTheFirstInTheHistory() {
    Journal journal =
        new Journal(
            (wf, seen) -> {
              Promise<String> go = wf.signal(GO);
              Promise<Void> timer = wf.timer(SECOND);
              return wf.first(List.of(timer, go)).equals(go) ? "signal " + go.join() : "timer";
            });
    waiting(journal, journal.begin());
    journal.signal("go", "x");
    journal.pass(SECOND);
    assertThat(result(journal.resume())).isEqualTo("signal x");
    assertThat(all(journal, TimerFired.class)).isEmpty();
  }

  @Test
  void signalThatArrivesWhileATimerFiresIsFirst() {
    Journal journal =
        new Journal((wf, seen) -> wf.await(GO, SECOND).map(go -> "signal").orElse("timeout"));
    waiting(journal, journal.begin());
    journal.pass(SECOND);
    journal.beforeCheckpoint(
        () -> journal.arrives(new Signalled(BEGIN_MICROS, "go", "", new byte[] {'x'})));
    assertThat(result(journal.resume())).isEqualTo("signal");
    assertThat(result(journal.begin())).isEqualTo("signal");
  }

  @Test
  void childrenAreAwaitedTogetherAndTheirFailuresAreThrown() {
    Journal journal =
        new Journal(
            (wf, seen) -> {
              var one = wf.start(CHILD.job());
              var two = wf.start(CHILD.job());
              seen.add(one.id().value());
              try {
                wf.all(List.of(one, two));
              } catch (ChildFailedException e) {
                seen.add(e.getMessage());
              }
              return "" + one.join();
            });
    WorkflowWait wait = waiting(journal, journal.begin());
    assertThat(wait.all()).isTrue();
    assertThat(wait.children()).containsExactly(1, 2);
    journal.childEnds(2, JobState.DEAD, "broken");
    wait = waiting(journal, journal.resume());
    assertThat(wait.children()).containsExactly(1);
    journal.childEnds(1, JobState.SUCCEEDED, "7");
    assertThat(result(journal.resume())).isEqualTo("7");
    assertThat(journal.seen().get(1)).contains("DEAD, child.Error: broken");
    List<String> live = journal.seen();
    assertThat(result(journal.begin())).isEqualTo("7");
    assertThat(journal.seen()).isEqualTo(live);
  }

  @Test
  void handlerThatReturnsWaitsForItsChildren() {
    Journal journal =
        new Journal(
            (wf, seen) -> {
              wf.start(CHILD.job());
              return "done";
            });
    assertThat(waiting(journal, journal.begin()).children()).containsExactly(1);
    journal.childEnds(1, JobState.FAILED, "x");
    assertThat(result(journal.resume())).isEqualTo("done");
  }

  @Test
  void refusedChildTakesItsNumberEachTime() {
    Journal journal =
        new Journal(
            (wf, seen) -> {
              try {
                wf.start(CHILD.job().named("x"));
              } catch (InvalidArgumentException e) {
                seen.add(e.getMessage());
              }
              wf.step("after", () -> {});
              return "done";
            });
    result(journal.begin());
    assertThat(all(journal, StepDone.class).getFirst().call()).isEqualTo(2);
    assertThat(result(journal.begin())).isEqualTo("done");
    assertThat(journal.seen()).hasSize(1);
  }

  @Test
  void joinWithATimeoutLeavesThePromise() {
    Journal journal =
        new Journal(
            (wf, seen) -> {
              Promise<String> go = wf.signal(GO);
              seen.add(go.join(SECOND).toString());
              seen.add(go.join(SECOND).toString());
              return go.join();
            });
    waiting(journal, journal.begin());
    journal.pass(SECOND);
    waiting(journal, journal.resume());
    journal.signal("go", "x");
    assertThat(result(journal.resume())).isEqualTo("x");
    assertThat(journal.seen())
        .containsExactly(Optional.empty().toString(), Optional.of("x").toString());
  }

  // ---- cancel and compensation

  private static final Journal.Code ORDER =
      (wf, seen) -> {
        wf.onFailure("one", () -> seen.add("undo one"));
        wf.step("a", () -> seen.add("a"));
        wf.onFailure("two", () -> seen.add("undo two"));
        try {
          wf.await(GO);
        } catch (WorkflowCancelledException e) {
          seen.add(e.getMessage());
          try {
            wf.step("b", () -> seen.add("b"));
          } catch (WorkflowCancelledException again) {
            seen.add("again");
            throw again;
          }
        }
        return "done";
      };

  @Test
  void cancelIsThrownByEachCallAndCompensationsRunInReverseOrder() {
    Journal journal = new Journal(ORDER);
    waiting(journal, journal.begin());
    journal.happens(new CancelRequested(BEGIN_MICROS, "no longer"));
    assertThat(journal.resume()).isEqualTo(new Compensated(null));
    assertThat(journal.seen())
        .containsExactly("a", "workflow: cancelled, no longer", "again", "undo two", "undo one");

    assertThat(journal.begin()).isEqualTo(new Compensated(null));
    assertThat(journal.seen()).containsExactly("workflow: cancelled, no longer", "again");
  }

  @Test
  void compensationThatFailsIsRetriedAndTheOthersRun() {
    AtomicInteger tries = new AtomicInteger();
    Journal journal =
        new Journal(
            (wf, seen) -> {
              wf.onFailure("one", () -> seen.add("undo one"));
              wf.onFailure(
                  "two",
                  () -> {
                    if (tries.incrementAndGet() == 1) {
                      throw new IOException("down");
                    }
                    throw new NotRetryableException("never");
                  });
              wf.step(
                  "fail",
                  ONCE,
                  () -> {
                    throw new IOException("x");
                  });
              return null;
            });
    WorkflowFailed failed = (WorkflowFailed) journal.begin();
    assertThat(failed.compensations()).isTrue();
    journal.write(failed.turn());
    journal.happens(new GivenUp(BEGIN_MICROS, JobState.DEAD, null, failed.error()));
    WorkflowWait wait = waiting(journal, journal.begin());
    journal.passTo(wait.untilMicros());
    Compensated compensated = (Compensated) journal.resume();
    assertThat(compensated.failure()).isNotNull();
    assertThat(compensated.failure().message()).isEqualTo("compensation \"two\": never");
    assertThat(journal.seen()).containsExactly("undo one");
  }

  @Test
  void cancelDuringAStepIsSeenByTheNextCall() {
    AtomicReference<Journal> own = new AtomicReference<>();
    Journal journal =
        new Journal(
            (wf, seen) -> {
              wf.step(
                  "a",
                  step -> {
                    if (own.get() != null) {
                      own.getAndSet(null).happens(new CancelRequested(BEGIN_MICROS, ""));
                      seen.add("requested " + step.cancellationRequested());
                    }
                  });
              seen.add("after a");
              wf.sleep(SECOND);
              seen.add("not here");
              return null;
            });
    own.set(journal);
    assertThat(journal.begin()).isEqualTo(new Compensated(null));
    assertThat(journal.seen()).containsExactly("requested true", "after a");
    assertThat(journal.begin()).isEqualTo(new Compensated(null));
    assertThat(journal.seen()).containsExactly("after a");
  }

  // ---- divergence and versions

  @Test
  void codeThatAsksForSomethingElseDiverges() {
    Journal journal =
        new Journal(
            (wf, seen) -> {
              wf.step("a", () -> {});
              wf.step("b", () -> {});
              wf.sleep(SECOND);
              return null;
            });
    waiting(journal, journal.begin());

    assertThat(
            diverged(
                journal
                    .with(
                        (wf, seen) -> {
                          wf.step("a", () -> {});
                          wf.step("c", () -> {});
                          return null;
                        })
                    .begin()))
        .isEqualTo(
            "call 2: step \"c\" (expected: step \"b\", as recorded; before it: call 1, step \"a\";"
                + " after it: call 3, timer)");
    assertThat(diverged(journal.with((wf, seen) -> wf.await(GO)).begin()))
        .startsWith("call 1: signal \"go\" (expected: step \"a\", as recorded");
    assertThat(diverged(journal.with((wf, seen) -> "early").begin()))
        .startsWith("call 1: the end of the handler (expected: step \"a\"");
    assertThat(
            diverged(
                journal
                    .with(
                        (wf, seen) -> {
                          throw new IllegalStateException("bug");
                        })
                    .begin()))
        .startsWith("call 1: the handler threw java.lang.IllegalStateException: bug");
    assertThat(
            diverged(
                journal
                    .with(
                        (wf, seen) -> {
                          wf.onFailure("a", () -> {});
                          wf.onFailure("x", () -> {});
                          return null;
                        })
                    .begin()))
        .startsWith("call 2: step \"x\" (expected: step \"b\"");
  }

  @Test
  void divergenceIsReportedAlsoToCodeThatCatchesEverything() {
    Journal journal = new Journal((wf, seen) -> wf.await(GO));
    waiting(journal, journal.begin());
    Journal other =
        journal.with(
            (wf, seen) -> {
              try {
                wf.step("a", () -> {});
              } catch (Throwable e) {
                seen.add(e.getClass().getSimpleName());
              }
              try {
                wf.step("a", () -> {});
              } catch (WorkflowUnwound e) {
                seen.add("again");
              }
              return "done";
            });
    diverged(other.begin());
    assertThat(other.seen()).containsExactly("WorkflowUnwound", "again");
  }

  @Test
  void versionIsZeroWhereTheHistoryHadPassedBefore() {
    Journal journal =
        new Journal(
            (wf, seen) -> {
              wf.step("a", () -> {});
              return wf.await(GO);
            });
    waiting(journal, journal.begin());
    Journal.Code newer =
        (wf, seen) -> {
          int before = wf.version("check", 2);
          wf.step("a", () -> {});
          String go = wf.await(GO);
          return before + go + wf.version("ship", 3);
        };
    Journal old = journal.with(newer);
    waiting(old, old.begin());
    old.signal("go", "x");
    assertThat(result(old.resume())).isEqualTo("0x3");

    Journal fresh = new Journal(newer);
    fresh.signal("go", "x");
    assertThat(result(fresh.begin())).isEqualTo("2x3");
    Journal newest =
        fresh.with(
            (wf, seen) -> {
              int before = wf.version("check", 5);
              wf.step("a", () -> {});
              return "" + before;
            });
    assertThat(result(newest.begin())).isEqualTo("2");
    Journal older = fresh.with((wf, seen) -> "" + wf.version("check", 1));
    assertThat(diverged(older.begin())).startsWith("call 1: version 2 of change \"check\"");
  }

  @Test
  void resultThatNoLongerDecodesIsSaid() {
    Journal journal =
        new Journal(
            (wf, seen) -> {
              wf.step("a", String.class, () -> "text");
              return wf.await(GO);
            });
    waiting(journal, journal.begin());
    Journal other = journal.with((wf, seen) -> "" + wf.step("a", Integer.class, () -> 1));
    assertThat(other.begin()).isInstanceOf(AttemptOutcome.Undecodable.class);
  }

  // ---- the same each time

  @Test
  void timeAndRandomNumbersAreTheSameEachTime() {
    Journal journal =
        new Journal(
            (wf, seen) -> {
              seen.add(wf.now() + " " + wf.uuid() + " " + wf.random().nextInt(100));
              wf.step("a", () -> {});
              seen.add(wf.now() + " " + wf.uuid());
              wf.sleep(SECOND);
              seen.add(wf.now().toString());
              return null;
            });
    waiting(journal, journal.begin());
    journal.pass(SECOND);
    result(journal.resume());
    List<String> live = journal.seen();
    journal.pass(SECOND);
    result(journal.begin());
    assertThat(journal.seen()).isEqualTo(live).hasSize(3);
  }

  @Test
  void codeKnowsWhetherItRunsAgain() {
    Journal journal =
        new Journal(
            (wf, seen) -> {
              seen.add("begin " + wf.replaying());
              wf.progress("begun");
              wf.step("a", () -> {});
              seen.add("a " + wf.replaying());
              Promise<String> go = wf.signal(GO);
              seen.add("asked " + wf.replaying());
              go.join();
              seen.add("got " + wf.replaying());
              wf.progress(1, 2, "half");
              return null;
            });
    waiting(journal, journal.begin());
    assertThat(journal.seen()).containsExactly("begin false", "a false", "asked false");
    journal.signal("go", "x");
    result(journal.begin());
    assertThat(journal.seen()).containsExactly("begin true", "a true", "asked true", "got false");
    assertThat(journal.reported()).extracting(Report::message).containsExactly("begun", "half");
  }

  @Test
  void reportOfWhichACrashMayHaveLostTheRecordIsMadeAgainOnceTheCodeGoesOn() {
    Journal journal =
        new Journal(
            (wf, seen) -> {
              wf.step("a", () -> {});
              wf.progress(1, 2, "half");
              wf.publish("value");
              wf.await(GO);
              return null;
            });
    waiting(journal, journal.begin());
    assertThat(journal.reported()).hasSize(2);
    waiting(journal, journal.begin());

    assertThat(journal.reported()).hasSize(3);
    assertThat(journal.reported().getLast().message()).isEqualTo("half");
    assertThat(journal.reported().getLast().isOfPublished()).isTrue();
  }

  @Test
  void workflowBeginsAnewWithTheSignalsItHasNotTaken() {
    Journal journal =
        new Journal(
            (wf, seen) -> {
              wf.await(GO);
              try {
                return wf.continueAsNew("next");
              } catch (Exception e) {
                seen.add("caught");
                throw e;
              }
            });
    journal.signal("other", "1");
    journal.signal("go", "2");
    journal.signal("go", "3");
    Renewed renewed = (Renewed) journal.begin();
    assertThat(text(renewed.input())).isEqualTo("next");
    assertThat(renewed.unread())
        .extracting(signal -> text(signal.payload()))
        .containsExactly("1", "3");
    assertThat(renewed.seen()).isEqualTo(3);
    assertThat(journal.seen()).isEmpty();
  }

  // ---- misuse, pause and the end of a thread

  @Test
  void contextIsRefusedWhereItMustNotBeUsed() {
    AtomicReference<dev.carillon.api.workflow.Workflow> kept = new AtomicReference<>();
    Journal journal =
        new Journal(
            (wf, seen) -> {
              kept.set(wf);
              List<Promise<?>> none = new ArrayList<>();
              assertThatThrownBy(() -> wf.first(none))
                  .isInstanceOf(InvalidArgumentException.class)
                  .hasMessageContaining("(expected: at least one)");
              assertThatThrownBy(() -> wf.sleep(Duration.ofSeconds(-1)))
                  .isInstanceOf(InvalidArgumentException.class)
                  .hasMessageStartingWith("delay: PT-1S (expected: ");
              assertThatThrownBy(() -> wf.step(" ", () -> {}))
                  .isInstanceOf(InvalidArgumentException.class)
                  .hasMessageStartingWith("step: \" \" (expected: ");
              try {
                wf.step("a", () -> wf.now());
              } catch (StepFailedException e) {
                seen.add(e.error().message());
              }
              Thread other =
                  Thread.ofVirtual()
                      .start(
                          () -> {
                            try {
                              wf.now();
                            } catch (IllegalStateException e) {
                              seen.add(e.getMessage());
                            }
                          });
              other.join();
              return null;
            });
    result(journal.begin());
    assertThat(journal.seen().get(0)).contains("in the body of a step");
    assertThat(journal.seen().get(1)).contains("(expected: the workflow's own;");
    assertThatThrownBy(() -> kept.get().sleep(SECOND)).isInstanceOf(IllegalStateException.class);
    assertThat(kept.get().type()).isEqualTo("test");
  }

  @Test
  void behaviourIsRecordedFirstAndThatOfAnotherVersionDiverges() {
    Journal journal = new Journal((wf, seen) -> "" + wf.step("a", String.class, () -> "x"));
    assertThat(result(journal.begin())).isEqualTo("x");
    assertThat(journal.entries().getFirst()).isInstanceOf(HistoryEntry.Begun.class);
    HistoryEntry.Begun begun = (HistoryEntry.Begun) journal.entries().getFirst();
    assertThat(begun.behaviour()).isEqualTo(1);

    Journal newer = new Journal((wf, seen) -> "" + wf.step("a", String.class, () -> "x"));
    newer.happens(new HistoryEntry.Begun(BEGIN_MICROS, 2, 7));
    assertThat(diverged(newer.begin())).contains("behaviour: 2 (expected: 1;");
    assertThat(newer.entries()).hasSize(1);
  }

  @Test
  void pauseEndsTheActivationBeforeTheNextCall() {
    Journal journal =
        new Journal(
            (wf, seen) -> {
              wf.step("a", () -> seen.add("a"));
              wf.step("b", () -> seen.add("b"));
              return "done";
            });
    journal.pause(true);
    WorkflowWait wait = waiting(journal, journal.begin());
    assertThat(wait.untilMicros()).isEqualTo(BEGIN_MICROS);
    assertThat(journal.seen()).isEmpty();
    journal.pause(false);
    assertThat(result(journal.resume())).isEqualTo("done");
  }

  @Test
  void codeDoesNotNoticeThatItsThreadIsUnwound() throws Exception {
    CountDownLatch unwound = new CountDownLatch(1);
    Journal journal =
        new Journal(
            (wf, seen) -> {
              try {
                return wf.await(GO);
              } catch (Exception e) {
                seen.add("caught");
                return "caught";
              } finally {
                unwound.countDown();
              }
            });
    waiting(journal, journal.begin());
    WorkflowRun run = journal.run();
    assertThat(run.isParked()).isTrue();
    run.unwind("needed elsewhere");
    unwound.await();
    assertThat(journal.seen()).isEmpty();
    journal.signal("go", "x");
    assertThat(result(journal.begin())).isEqualTo("x");
  }

  /** An interrupt that comes when the activation has just ended unwinds a run that waits. */
  @Test
  void runThatIsUnwoundWhileItWaitsIsNotResumed() throws Exception {
    Journal journal = new Journal((wf, seen) -> wf.await(GO));
    waiting(journal, journal.begin());
    WorkflowRun run = journal.run();
    assertThat(run.mayResume()).isTrue();
    run.unwind("interrupted");
    assertThat(run.mayResume()).isFalse();
    while (!run.isOver()) {
      Thread.onSpinWait();
    }
    assertThat(journal.resumes()).isFalse();
    journal.signal("go", "x");
    assertThat(result(journal.begin())).isEqualTo("x");
  }

  @Test
  void codeWhoseCheckpointIsLostDoesNotGoOn() {
    Journal journal =
        new Journal(
            (wf, seen) -> {
              try {
                wf.step("a", () -> {});
                seen.add("after");
              } catch (Throwable e) {
                seen.add("caught");
                wf.step("b", () -> seen.add("b"));
              }
              return "done";
            });
    assertThat(journal.losing().begin()).isEqualTo(new AttemptOutcome.Interrupted());
    assertThat(journal.seen()).containsExactly("caught");
    assertThat(journal.entries()).isEmpty();
  }

  @Test
  void stepThatIsInterruptedBecauseTheAttemptIsOverIsNotRecorded() throws Exception {
    CountDownLatch inside = new CountDownLatch(1);
    Journal journal =
        new Journal(
            (wf, seen) -> {
              wf.step(
                  "a",
                  () -> {
                    inside.countDown();
                    new CountDownLatch(1).await();
                  });
              return "done";
            });
    Thread interrupter =
        Thread.ofVirtual()
            .start(
                () -> {
                  try {
                    inside.await();
                  } catch (InterruptedException e) {
                    throw new AssertionError(e);
                  }
                  journal.run().unwind("the node stops");
                  journal.run().interrupt();
                });
    assertThat(journal.begin()).isEqualTo(new AttemptOutcome.Interrupted());
    interrupter.join();
    assertThat(journal.entries()).isEmpty();
  }
}
