package dev.carillon.engine;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** The state of a fold in a form that can be compared: every live job's whole state, by number. */
record FoldState(List<String> jobs) {

  static FoldState of(ShardFold fold) {
    List<String> jobs = new ArrayList<>();
    fold.live()
        .forEach(
            job -> jobs.add(job.number + " " + Arrays.toString(ShardFold.stateOf(job).body())));
    jobs.sort(null);
    return new FoldState(jobs);
  }

  static ShardFold fold(List<Frame> frames) {
    ShardFold fold = new ShardFold((job, end) -> {});
    frames.forEach(fold::apply);
    return fold;
  }

  /** The frames that a compaction of this state would write. */
  static List<Frame> snapshot(ShardFold fold) {
    List<Frame> frames = new ArrayList<>();
    fold.live().forEach(job -> frames.add(ShardFold.stateOf(job)));
    return frames;
  }
}
