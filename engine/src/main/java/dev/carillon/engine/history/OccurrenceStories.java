package dev.carillon.engine.history;

import dev.carillon.engine.fold.FoldedJob;
import dev.carillon.engine.fold.OperationBody;
import dev.carillon.engine.fold.ShardFold;
import dev.carillon.engine.fold.StateFormat;
import dev.carillon.engine.format.Frame;
import dev.carillon.engine.format.Kind;
import dev.carillon.engine.job.JobSpec;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.function.LongPredicate;

/**
 * Folds a journal and tells the stories of occurrences as if each had been a job of its own from
 * the start: of those that became dead letters all of it (added, tried, dead), of the others how
 * they were added, for the rest is told under their own number. Holds what the fold holds and the
 * failed attempts of each recurring job's last occurrence, however many it had.
 */
final class OccurrenceStories {
  private final ShardFold<FoldedJob> fold = new ShardFold<>(FoldedJob::new, (job, end) -> {});
  private final PastAttempts past = new PastAttempts();
  private final Map<Long, List<OperationBody.Retry>> attempts = new LinkedHashMap<>();
  private final LongPredicate wanted;
  private final SharedPayloads payloads;
  private final Consumer<Frame> tell;

  /** Tells {@code tell} the stories of the occurrences whose number {@code wanted} takes. */
  OccurrenceStories(LongPredicate wanted, SharedPayloads payloads, Consumer<Frame> tell) {
    this.wanted = wanted;
    this.payloads = payloads;
    this.tell = tell;
  }

  void apply(Frame frame) {
    long number = frame.job();
    FoldedJob job = fold.job(number);
    if (job == null || !job.isRecurring()) {
      ShardFold.Answer answer = fold.apply(frame);
      var unused = past.note(frame, answer, fold);
      return;
    }
    // Those of the occurrences of this operation, which may end the job.
    JobSpec head = frame.kind() == Kind.NEXT ? job.head() : null;
    FoldedJob.Payload payload = job.payload();
    int priority = job.priority;
    ShardFold.Answer answer = fold.apply(frame);
    boolean tellsAttempt = past.note(frame, answer, fold);
    if (answer != ShardFold.Answer.APPLIED && !tellsAttempt) {
      return;
    }
    switch (frame.kind()) {
      case RETRY ->
          attempts
              .computeIfAbsent(number, n -> new ArrayList<>())
              .add(OperationBody.Retry.decode(frame.reader()));
      case NEXT -> {
        OperationBody.Next next = OperationBody.Next.decode(frame.reader());
        List<OperationBody.Retry> before = next.stays() ? null : attempts.remove(number);
        for (OperationBody.Next.Child child : next.children()) {
          if (head != null && wanted.test(child.number())) {
            byte[] own = head.occurrence(child.occurrence(), child.due(), next.at(), priority);
            byte[] spec = payloads.spec(payload, own);
            tell(spec, next, child.number(), before != null ? before : List.of());
          }
        }
      }
      case CHANGE -> {
        if (OperationBody.Change.decode(frame.reader()).anew()) {
          attempts.remove(number);
        }
      }
      case REPLACE, END -> attempts.remove(number);
      default -> {}
    }
  }

  private void tell(
      byte[] spec, OperationBody.Next next, long number, List<OperationBody.Retry> before) {
    if (next.outcome() == null) {
      tell.accept(Frame.of(Kind.ADD, number, spec));
      return;
    }
    int untold = next.attempt() - 1 - before.size();
    tell.accept(untold == 0 ? Frame.of(Kind.ADD, number, spec) : stateAfter(untold, number, spec));
    for (OperationBody.Retry retry : before) {
      tell.accept(
          Frame.of(
              Kind.RETRY,
              number,
              new OperationBody.Retry(
                      retry.attempt(),
                      0,
                      retry.at(),
                      retry.ran(),
                      retry.nextTime(),
                      retry.jitter(),
                      retry.error())
                  .encode()));
    }
    tell.accept(Frame.of(Kind.END, number, ShardFold.deadEnd(next).encode()));
  }

  /**
   * The operation that was applied last, as it can stand without those of a recurring job: without
   * its occurrences, which are told as jobs of their own, and with the number that the payload it
   * shares has now.
   */
  Frame alone(Frame frame) {
    return switch (frame.kind()) {
      case NEXT -> {
        OperationBody.Next next =
            OperationBody.Next.decode(frame.reader()).withChildren(child -> false);
        yield Frame.of(Kind.NEXT, frame.job(), next.encode());
      }
      case ADD -> {
        FoldedJob job = fold.job(frame.job());
        yield job != null && job.sharesPayload()
            ? Frame.of(Kind.ADD, job.number, payloads.spec(job))
            : frame;
      }
      case STATE -> {
        FoldedJob job = fold.job(frame.job());
        yield job != null && job.sharesPayload() ? state(job, payloads.spec(job)) : frame;
      }
      default -> frame;
    };
  }

  private static Frame state(FoldedJob job, byte[] spec) {
    return Frame.of(Kind.STATE, job.number, StateFormat.write(job, spec));
  }

  /** Where the story begins if a compaction left the first of too many attempts behind. */
  private static Frame stateAfter(int attempts, long number, byte[] spec) {
    FoldedJob job = new FoldedJob(number, JobSpec.decodeHead(spec), spec, word -> word);
    job.attempts = attempts;
    return state(job, spec);
  }
}
