package dev.carillon.prove;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;

class NoteTest {

  @Test
  void everyNoteIsReadAsItWasWritten() {
    List<Note> notes =
        List.of(
            new Note.Requested("r", Note.Way.NAMED, Note.Behaviour.SLOW, 1, "n", "b"),
            new Note.Acknowledged("r", "j", true, 2),
            new Note.Refused("r", true, "a reason"),
            new Note.Moved("r", 3),
            new Note.NotMoved("r", "a reason"),
            new Note.CancelAsked("j"),
            new Note.CancelAnswered("j", Note.Answer.ENDED, "DEAD", 4),
            new Note.Started("r", "j", 2, 5, 6),
            new Note.Finished("r", false),
            new Note.Ended("r", "SUCCEEDED", 7),
            new Note.Loading(),
            new Note.Spread(8, 9),
            new Note.Gathered(),
            new Note.Counted(10, "claims=11"),
            new Note.Recurring("s", "j", 14),
            new Note.Recurs(),
            new Note.Ticked("s", 15, 1, 16),
            new Note.Halted("j", 17, true, "an answer"),
            new Note.Drained(),
            new Note.Closed(12, 13));
    assertThat(notes).allSatisfy(note -> assertThat(Note.parse(note.line())).isEqualTo(note));
  }

  @Test
  void everyOrderIsReadAsItWasWritten() {
    List<Order> orders =
        List.of(
            new Order.Cancel("j"),
            new Order.Spread(1),
            new Order.Gather(2, 3),
            new Order.Recur(4),
            new Order.Halt("j"),
            new Order.Count(),
            new Order.Rest(),
            new Order.Drain(),
            new Order.Stop());
    assertThat(orders).allSatisfy(order -> assertThat(Order.parse(order.line())).isEqualTo(order));
  }

  @Test
  void countersAreReadAsTheyWereWritten() {
    Counters counters = new Counters();
    assertThat(Counters.parse(counters.line())).isEmpty();
    counters.count("claims", 2);
    counters.count("claims", 3);
    counters.count("shards.lost", 1);
    assertThat(Counters.parse(counters.line()))
        .containsEntry("claims", 5L)
        .containsEntry("shards.lost", 1L);
  }
}
