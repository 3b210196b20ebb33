package dev.carillon.engine.history;

import dev.carillon.engine.fold.OperationBody;
import dev.carillon.engine.fold.ShardFold;
import dev.carillon.engine.format.Frame;
import dev.carillon.engine.format.Kind;
import dev.carillon.engine.job.JobSpec;
import java.util.LinkedHashSet;
import java.util.Set;
import java.util.function.LongPredicate;
import org.jspecify.annotations.Nullable;

/**
 * What operations tell of wanted jobs: their own, and those of every recurring job, of which a
 * wanted one may be an occurrence, without the occurrences that are not wanted.
 */
public final class Selection {
  private final LongPredicate wanted;
  private final Set<Long> recurring = new LinkedHashSet<>();
  private boolean tooLate;

  public Selection(LongPredicate wanted) {
    this.wanted = wanted;
  }

  public boolean wants(long number) {
    return wanted.test(number);
  }

  /** What {@code frame} tells of wanted jobs; null where that is nothing. */
  public @Nullable Frame of(Frame frame) {
    if (!takes(frame)) {
      return null;
    }
    return frame.kind() == Kind.NEXT ? withWantedChildren(frame) : frame;
  }

  /** Others would be folded and never end, for their ends are not taken. */
  private Frame withWantedChildren(Frame frame) {
    OperationBody.Next next = OperationBody.Next.decode(frame.reader());
    OperationBody.Next told = next.withChildren(child -> wanted.test(child.number()));
    return told.children().size() == next.children().size()
        ? frame
        : Frame.of(Kind.NEXT, frame.job(), told.encode());
  }

  private boolean takes(Frame frame) {
    long number = frame.job();
    if (wanted.test(number)) {
      return true;
    }
    return switch (frame.kind()) {
      case PAYLOAD -> true;
      case ADD -> becomesRecurring(frame.body(), number) || recurring.contains(number);
      case STATE -> becomesRecurring(ShardFold.bodyIn(frame), number) || recurring.contains(number);
      case REPLACE -> {
        boolean known = recurring.contains(number);
        boolean late =
            becomesRecurring(OperationBody.Replace.decode(frame.reader()).spec(), number);
        tooLate |= late && !known;
        yield known;
      }
      case REPLAY, DISCARD -> false;
      default -> recurring.contains(number);
    };
  }

  private boolean becomesRecurring(byte[] spec, long number) {
    boolean so =
        (JobSpec.flags(spec) & JobSpec.MORE) != 0
            && JobSpec.decodeHead(spec).more().recurring() != null;
    if (so) {
      recurring.add(number);
    }
    return so;
  }

  /** Whether a job became recurring by a replace, after operations of it were passed over. */
  public boolean cameTooLate() {
    return tooLate;
  }

  /** The same, knowing all recurring jobs from the start. */
  public Selection again() {
    Selection again = new Selection(wanted);
    again.recurring.addAll(recurring);
    return again;
  }
}
