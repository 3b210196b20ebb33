package dev.carillon.replay;

import dev.carillon.api.workflow.SignalType;
import org.jspecify.annotations.Nullable;

/** The signal that makes so many of its type. */
final class SignalPromise<T> extends ContextPromise<T> {
  private final SignalType<T> type;
  private final int count;
  private @Nullable T value;
  private boolean taken;

  SignalPromise(Context context, SignalType<T> type, int count) {
    super(context);
    this.type = type;
    this.count = count;
  }

  @Override
  int position(History history) {
    History.Arrival arrival = history.signal(type.name(), count);
    return arrival == null ? History.NONE : arrival.position();
  }

  private History.Arrival arrival(History history) {
    History.Arrival arrival = history.signal(type.name(), count);
    if (arrival == null) {
      throw new IllegalStateException("signal " + type.name() + ": has not come");
    }
    return arrival;
  }

  @Override
  long at(History history) {
    return arrival(history).signal().at();
  }

  @Override
  @SuppressWarnings({"unchecked", "NullAway"}) // decoded to the type; null where it carries nothing
  T taken() {
    if (!taken) {
      History.Arrival arrival = arrival(context.history());
      value = (T) context.decoded(arrival.signal().payload(), type.payload().type());
      context.history().taken(arrival);
      taken = true;
    }
    return value;
  }

  @Override
  void addTo(WaitList list) {
    list.signal(type.name(), count);
  }
}
