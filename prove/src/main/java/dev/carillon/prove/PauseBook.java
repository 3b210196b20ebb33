package dev.carillon.prove;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * When workflows were paused, by those who were answered, and when calls of theirs began. The times
 * are those of one wall clock, so it does not matter in which order processes are heard.
 */
final class PauseBook {
  /**
   * A call is past its last look at the pause when its body begins; the thread may have been kept
   * from the processor in between.
   */
  static final long GRACE_MILLIS = 100;

  private final Map<String, List<Long>> begins = new LinkedHashMap<>();
  private final Map<String, List<Pause>> pauses = new LinkedHashMap<>();
  private long count;

  /** From when on nothing may begin, until when. */
  private static final class Pause {
    final long fromMillis;
    long toMillis = Long.MAX_VALUE;

    Pause(long fromMillis) {
      this.fromMillis = fromMillis;
    }
  }

  void begins(String workflow, long millis) {
    begins.computeIfAbsent(workflow, w -> new ArrayList<>()).add(millis);
  }

  void paused(String workflow, long millis) {
    count++;
    pauses.computeIfAbsent(workflow, w -> new ArrayList<>()).add(new Pause(millis));
  }

  /** Whoever resumes says so first: every pause that began before ends here. */
  void resumed(String workflow, long millis) {
    for (Pause pause : pauses.getOrDefault(workflow, List.of())) {
      if (pause.fromMillis <= millis) {
        pause.toMillis = Math.min(pause.toMillis, millis);
      }
    }
  }

  long pauses() {
    return count;
  }

  /** Looks at every begin of a call. */
  Check check() {
    Check check = Check.ofTime("no call of a paused workflow begins, nor of its child");
    begins.forEach(
        (workflow, times) -> {
          for (long time : times) {
            check.that(!isPaused(workflow, time), "workflow " + workflow + ", at " + time);
          }
        });
    return check;
  }

  private boolean isPaused(String workflow, long millis) {
    for (Pause pause : pauses.getOrDefault(workflow, List.of())) {
      if (pause.fromMillis + GRACE_MILLIS < millis && millis < pause.toMillis) {
        return true;
      }
    }
    return false;
  }
}
