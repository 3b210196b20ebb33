package dev.carillon.engine.job;

import dev.carillon.engine.format.ByteReader;
import dev.carillon.engine.format.ByteWriter;
import java.util.ArrayList;
import java.util.List;

/**
 * What a workflow waits for while it holds no slot. A time, a signal or the end of a child ends the
 * wait; so does a cancel.
 *
 * @param untilMicros when the wait is over in any case; {@link #FOR_EVER} for never
 * @param all whether all signals and children are awaited, else the first of them
 * @param signals by type, and by how many signals of the type there are then
 * @param children by the numbers of the calls that started them
 * @param signalsRead how many signals the code has taken so far
 * @param seen how many entries of its history the code knew when it began to wait: a cancel among
 *     the later ones ends the wait
 */
public record WorkflowWait(
    long untilMicros,
    boolean all,
    List<AwaitedSignal> signals,
    List<Integer> children,
    int signalsRead,
    int seen) {

  /** Until the end of the year 9999. */
  public static final long FOR_EVER = 253_402_300_799_000_000L;

  public WorkflowWait {
    signals = List.copyOf(signals);
    children = List.copyOf(children);
  }

  /** A signal of a type: the one that makes {@code count} of them since the workflow began. */
  public record AwaitedSignal(String type, int count) {}

  /** A wait for a time alone. */
  public static WorkflowWait until(long micros, int signalsRead, int seen) {
    return new WorkflowWait(micros, false, List.of(), List.of(), signalsRead, seen);
  }

  /** The same until another time. */
  public WorkflowWait until(long micros) {
    return micros == untilMicros
        ? this
        : new WorkflowWait(micros, all, signals, children, signalsRead, seen);
  }

  /** long until, byte all, signals, children, varint signalsRead, varint seen. */
  public void write(ByteWriter out) {
    out.i64(untilMicros).u8(all ? 1 : 0).varint(signals.size());
    for (AwaitedSignal signal : signals) {
      out.string(signal.type()).varint(signal.count());
    }
    out.varint(children.size());
    children.forEach(out::varint);
    out.varint(signalsRead).varint(seen);
  }

  public static WorkflowWait read(ByteReader in) {
    long until = in.i64();
    boolean all = in.u8() != 0;
    int signalCount = in.length();
    List<AwaitedSignal> signals = new ArrayList<>(signalCount);
    for (int i = 0; i < signalCount; i++) {
      signals.add(new AwaitedSignal(in.string(), (int) in.varint()));
    }
    int childCount = in.length();
    List<Integer> children = new ArrayList<>(childCount);
    for (int i = 0; i < childCount; i++) {
      children.add((int) in.varint());
    }
    return new WorkflowWait(until, all, signals, children, (int) in.varint(), (int) in.varint());
  }
}
