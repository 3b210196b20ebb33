package dev.carillon.engine;

import dev.carillon.engine.fold.FoldedJob;
import dev.carillon.engine.fold.ShardFold;
import dev.carillon.engine.fold.StateFormat;
import dev.carillon.engine.format.Frame;
import dev.carillon.engine.format.Kind;
import dev.carillon.engine.history.SharedPayloads;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** The state of a fold in a form that can be compared: every live job's whole state, by number. */
record FoldState(List<String> jobs) {

  static FoldState of(ShardFold<FoldedJob> fold) {
    List<String> jobs = new ArrayList<>();
    fold.live()
        .forEach(
            job ->
                jobs.add(job.number + " " + Arrays.toString(StateFormat.write(job, job.body()))));
    jobs.sort(null);
    return new FoldState(jobs);
  }

  static ShardFold<FoldedJob> fold(List<Frame> frames) {
    ShardFold<FoldedJob> fold = new ShardFold<>(FoldedJob::new, (job, end) -> {});
    frames.forEach(fold::apply);
    return fold;
  }

  /** The frames that a compaction of this state would write. */
  static List<Frame> snapshot(ShardFold<FoldedJob> fold) {
    List<FoldedJob> jobs = new ArrayList<>();
    fold.live().forEach(jobs::add);
    jobs.sort((a, b) -> Long.compare(a.number, b.number));
    List<Frame> frames = new ArrayList<>();
    SharedPayloads payloads = new SharedPayloads(frames::add);
    for (FoldedJob job : jobs) {
      byte[] spec = payloads.spec(job);
      frames.add(Frame.of(Kind.STATE, job.number, StateFormat.write(job, spec)));
    }
    return frames;
  }
}
