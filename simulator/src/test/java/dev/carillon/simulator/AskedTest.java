package dev.carillon.simulator;

import static org.assertj.core.api.Assertions.assertThat;

import dev.carillon.simulator.UserOperations.Kind;
import java.util.List;
import org.junit.jupiter.api.Test;

class AskedTest {
  private final Asked asked = new Asked();
  private final Control a = ask();
  private final Control b = ask();
  private final Control c = ask();

  @Test
  void aChangeIsOneOfTheRequestsThatItFits() {
    assertThat(written(b)).isTrue();
    assertThat(written(b)).isFalse();
    assertThat(asked.changed(control -> control.kind == Kind.TRIGGER)).isFalse();
  }

  @Test
  void changesAreExchangedAlongAChain() {
    assertThat(written(a, b)).isTrue();
    assertThat(written(b, c)).isTrue();
    assertThat(written(a)).as("a's goes to b, and b's to c").isTrue();
    assertThat(written(a, b, c)).isFalse();
  }

  @Test
  void oneThatIsDoneTakesTheChangeOfOneThatMayDoWithout() {
    assertThat(written(a, b)).isTrue();
    assertThat(told(b, Control.Told.DONE)).isTrue();
    assertThat(told(a, Control.Told.DONE)).as("there is one change of the two").isFalse();
  }

  @Test
  void oneThatIsDoneTakesAChangeAlongAChain() {
    assertThat(written(a, b)).isTrue();
    assertThat(written(a, c)).isTrue();
    assertThat(told(a, Control.Told.DONE)).isTrue();
    assertThat(told(b, Control.Told.DONE)).isTrue();
    assertThat(told(c, Control.Told.NOT_DONE)).isTrue();
  }

  @Test
  void oneThatIsNotDoneHandsItsChangeOn() {
    assertThat(written(a, b)).isTrue();
    assertThat(told(a, Control.Told.NOT_DONE)).isTrue();
    assertThat(told(b, Control.Told.NOT_DONE)).as("it is one of the two").isFalse();
  }

  @Test
  void aChangeIsNotThatOfOneWhoWasToldBefore() {
    assertThat(told(a, Control.Told.NOT_DONE)).isTrue();
    assertThat(written(a)).isFalse();
    assertThat(told(b, Control.Told.DONE)).isFalse();
  }

  private Control ask() {
    Control control = new Control(Kind.BACKFILL, null);
    asked.add(control);
    return control;
  }

  private boolean written(Control... whose) {
    return asked.changed(List.of(whose)::contains);
  }

  private boolean told(Control control, Control.Told told) {
    control.told = told;
    return asked.allows(control);
  }
}
