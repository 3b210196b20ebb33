package dev.carillon.simulator;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import org.junit.jupiter.api.Test;

class EventQueueTest {
  private record Event(long nanos, int order) {}

  @Test
  void eventsComeInOrderOfTimeThenOfBeingAskedFor() {
    EventQueue queue = new EventQueue();
    Chance chance = new Chance(1);
    List<Event> asked = new ArrayList<>();
    List<Event> happened = new ArrayList<>();
    for (int i = 0; i < 2_000; i++) {
      Event event = new Event(chance.below(100), i);
      asked.add(event);
      queue.at(event.nanos(), () -> happened.add(event));
    }

    while (!queue.isEmpty()) {
      queue.poll().run();
    }

    asked.sort(Comparator.comparingLong(Event::nanos).thenComparingInt(Event::order));
    assertThat(happened).isEqualTo(asked);
  }
}
