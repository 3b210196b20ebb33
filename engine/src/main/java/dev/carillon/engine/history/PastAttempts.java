package dev.carillon.engine.history;

import dev.carillon.engine.fold.FoldedJob;
import dev.carillon.engine.fold.ShardFold;
import dev.carillon.engine.format.ByteReader;
import dev.carillon.engine.format.Frame;
import dev.carillon.engine.format.Kind;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Where a generation tells the failed attempts of its live jobs, each since it was last at its
 * first attempt: what a compaction writes beside their states, so that a dead letter can tell every
 * attempt whenever its shard was compacted.
 *
 * <p>A compaction writes the {@link Kind#RETRY} of such an attempt as it was, behind the state that
 * counts it already. The fold takes it for stale, so the state is exactly what it was; readers of
 * history know it by its place: it is of that state's revision, counted by it, and nothing else of
 * its job stands between them.
 */
public final class PastAttempts {
  /**
   * So many of a job's last attempts are told again; a job that is tried for ever must not make its
   * shard grow for ever.
   */
  public static final int MOST = 50;

  private final Map<Long, Run> runs = new LinkedHashMap<>();
  private long index = -1;

  /** The attempts of one job. */
  private static final class Run {
    private boolean retelling;
    private int lastAttempt;
    private int count;
    private long[] places = new long[2];
    private int[] sizes = new int[2];

    Run(boolean retelling) {
      this.retelling = retelling;
    }

    void add(int attempt, long place, int size) {
      if (count == places.length && count < MOST) {
        places = Arrays.copyOf(places, Math.min(MOST, 2 * count));
        sizes = Arrays.copyOf(sizes, places.length);
      }
      lastAttempt = attempt;
      places[count % places.length] = place;
      sizes[count % places.length] = size;
      count++;
    }

    boolean has(long place) {
      for (int i = 0; i < Math.min(count, places.length); i++) {
        if (places[i] == place) {
          return true;
        }
      }
      return false;
    }

    long bytes() {
      return Arrays.stream(sizes).asLongStream().sum();
    }
  }

  /**
   * Notes the next operation of the generation, which {@code fold} has met with {@code answer}.
   *
   * @return whether it tells an attempt of a live job, for the first time or again
   */
  public boolean note(Frame frame, ShardFold.Answer answer, ShardFold<?> fold) {
    index++;
    if (frame.kind() == Kind.RETRY) {
      return retry(frame, answer, fold.job(frame.job()));
    }
    if (frame.kind() == Kind.STATE && answer == ShardFold.Answer.APPLIED) {
      state(frame.job(), fold.job(frame.job()));
    } else if (!runs.isEmpty() && !standsBehindState(frame.kind())) {
      other(frame.job(), fold.job(frame.job()));
    }
    return false;
  }

  /** Whether a compaction writes it between a state and the attempts that the state counts. */
  private static boolean standsBehindState(Kind kind) {
    return kind == Kind.HISTORY || kind == Kind.REPORT;
  }

  private void state(long number, @Nullable FoldedJob job) {
    if (job != null && job.attempts > 0) {
      runs.put(number, new Run(true));
    }
  }

  private boolean retry(Frame frame, ShardFold.Answer answer, @Nullable FoldedJob job) {
    Run run = runs.get(frame.job());
    ByteReader in = frame.reader();
    int attempt = (int) in.varint();
    int revision = (int) in.varint();
    boolean told =
        switch (answer) {
          case APPLIED -> true;
          case STALE ->
              run != null
                  && job != null
                  && run.retelling
                  && revision == job.revision
                  && attempt > run.lastAttempt
                  && attempt <= job.attempts;
          case NO_SUCH_JOB, DUPLICATE, FULL -> false;
        };
    if (told) {
      if (run == null) {
        run = new Run(false);
        runs.put(frame.job(), run);
      }
      run.retelling &= answer == ShardFold.Answer.STALE;
      run.add(attempt, index, frame.frameBytes());
    }
    return told;
  }

  /** It is no longer told again; if the next attempt is the first, those before do not count. */
  private void other(long number, @Nullable FoldedJob job) {
    Run run = runs.get(number);
    if (run != null) {
      run.retelling = false;
      if (job == null || job.attempts == 0) {
        runs.remove(number);
      }
    }
  }

  /** Whether the operation at {@code place}, from 0 on, tells one of a live job's last attempts. */
  boolean isAt(long number, long place) {
    Run run = runs.get(number);
    return run != null && run.has(place);
  }

  /** What all of them take in a journal. */
  long bytes() {
    return runs.values().stream().mapToLong(Run::bytes).sum();
  }
}
