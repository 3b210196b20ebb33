package dev.carillon.engine;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Folds a journal and tells the stories of occurrences that became dead letters as if each had been
 * a job of its own from the start: added, tried, dead.
 */
final class DeadOccurrences {
  private final ShardFold fold;
  private final Map<Long, List<Body.Retry>> attempts = new HashMap<>();
  private final List<Frame> stories = new ArrayList<>();

  DeadOccurrences(ShardFold fold) {
    this.fold = fold;
  }

  void apply(Frame frame) {
    long number = frame.job();
    ShardJob job = fold.job(number);
    byte[] body = job != null ? job.body() : null;
    if (fold.apply(frame) != ShardFold.Answer.APPLIED || job == null || body == null) {
      return;
    }
    switch (frame.kind()) {
      case RETRY -> {
        if (job.isRecurring()) {
          attempts
              .computeIfAbsent(number, n -> new ArrayList<>())
              .add(Body.Retry.decode(frame.reader()));
        }
      }
      case NEXT -> {
        Body.Next next = Body.Next.decode(frame.reader());
        List<Body.Retry> before = next.stays() ? null : attempts.remove(number);
        if (next.outcome() != null) {
          for (Body.Next.Child child : next.children()) {
            tell(body, next, child, before != null ? before : List.of());
          }
        }
      }
      case REPLACE, END -> attempts.remove(number);
      default -> {}
    }
  }

  private void tell(
      byte[] schedule, Body.Next next, Body.Next.Child child, List<Body.Retry> before) {
    long number = child.number();
    JobSpec spec = JobSpec.decode(schedule);
    byte[] body = spec.occurrence(child.occurrence(), child.due(), next.at());
    stories.add(Frame.of(Kind.ADD, number, body));
    for (Body.Retry retry : before) {
      stories.add(
          Frame.of(
              Kind.RETRY,
              number,
              new Body.Retry(
                      retry.attempt(),
                      0,
                      retry.at(),
                      retry.startedAt(),
                      retry.nextTime(),
                      retry.jitter(),
                      retry.error())
                  .encode()));
    }
    stories.add(Frame.of(Kind.END, number, ShardFold.deadEnd(next).encode()));
  }

  /** The stories so far. */
  List<Frame> stories() {
    return stories;
  }
}
