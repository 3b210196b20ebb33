package dev.carillon.simulator;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class StageTest {
  private final Stage stage = new Stage();
  private final List<String> said = new ArrayList<>();

  private Stage.Actor actor(String name) {
    return stage.actor(
        () -> {
          said.add(name + " begins");
          stage.current().rest();
          said.add(name + " ends");
        });
  }

  @Test
  void oneActorRunsAtATimeAndOnlyWhenToldTo() {
    Stage.Actor one = actor("one");
    Stage.Actor other = actor("other");
    one.goOn();
    other.goOn();
    said.add("both rest");
    other.goOn();
    one.goOn();

    assertThat(said)
        .containsExactly("one begins", "other begins", "both rest", "other ends", "one ends");
    assertThat(one.isOver()).isTrue();
  }

  @Test
  void failureOfAnActorIsThrownWhereItWasToldToGoOn() {
    Stage.Actor actor =
        stage.actor(
            () -> {
              throw new IllegalStateException("lost the text");
            });

    assertThatThrownBy(actor::goOn).hasMessage("lost the text");
  }

  @Test
  void closingEndsThreadsThatRest() {
    Stage.Actor resting = actor("resting");
    resting.goOn();
    Stage.Actor fresh = actor("fresh");
    stage.close();

    assertThat(said).containsExactly("resting begins");
    assertThat(resting.isOver()).isTrue();
    assertThat(fresh.isOver()).isTrue();
  }
}
