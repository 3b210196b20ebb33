package dev.carillon.engine;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Folds a journal and tells the stories of occurrences as if each had been a job of its own from
 * the start: of those that became dead letters all of it (added, tried, dead), of the others how
 * they were added, for the rest is told under their own number.
 */
final class DeadOccurrences {
  private final ShardFold fold;
  private final PastAttempts past;
  private final Map<Long, List<Body.Retry>> attempts = new HashMap<>();
  private final Map<Long, List<Frame>> stories = new LinkedHashMap<>();
  private final Map<Long, Frame> adds = new HashMap<>();

  /** Folds into {@code fold} and notes attempts in {@code past}. */
  DeadOccurrences(ShardFold fold, PastAttempts past) {
    this.fold = fold;
    this.past = past;
  }

  void apply(Frame frame) {
    long number = frame.job();
    ShardJob job = fold.job(number);
    byte[] body = job != null ? job.body() : null;
    int priority = job != null ? job.priority : 0;
    ShardFold.Answer answer = fold.apply(frame);
    boolean tellsAttempt = past.note(frame, answer, fold);
    boolean counts = answer == ShardFold.Answer.APPLIED || tellsAttempt;
    if (!counts || job == null || body == null) {
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
        for (Body.Next.Child child : next.children()) {
          byte[] itsBody =
              JobSpec.decode(body).occurrence(child.occurrence(), child.due(), next.at(), priority);
          if (next.outcome() != null) {
            tell(itsBody, next, child, before != null ? before : List.of());
          } else {
            adds.put(child.number(), Frame.of(Kind.ADD, child.number(), itsBody));
          }
        }
      }
      case CHANGE -> {
        if (Body.Change.decode(frame.reader()).anew()) {
          attempts.remove(number);
        }
      }
      case REPLACE, END -> attempts.remove(number);
      default -> {}
    }
  }

  private void tell(byte[] body, Body.Next next, Body.Next.Child child, List<Body.Retry> before) {
    long number = child.number();
    List<Frame> story = new ArrayList<>();
    stories.put(number, story);
    int untold = next.attempt() - 1 - before.size();
    story.add(untold == 0 ? Frame.of(Kind.ADD, number, body) : stateAfter(untold, number, body));
    for (Body.Retry retry : before) {
      story.add(
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
    story.add(Frame.of(Kind.END, number, ShardFold.deadEnd(next).encode()));
  }

  /** Where the story begins if a compaction left the first of too many attempts behind. */
  private static Frame stateAfter(int attempts, long number, byte[] body) {
    ShardJob job = new ShardJob(number, JobSpec.decodeHead(body), body, word -> word);
    job.attempts = attempts;
    return ShardFold.stateOf(job);
  }

  /** How the occurrence was added, if that was as a job of its own to be run; else null. */
  @Nullable Frame add(long number) {
    return adds.get(number);
  }

  /** The stories of these. */
  List<Frame> stories(Set<Long> numbers) {
    List<Frame> told = new ArrayList<>();
    stories.forEach(
        (number, story) -> {
          if (numbers.contains(number)) {
            told.addAll(story);
          }
        });
    return told;
  }
}
