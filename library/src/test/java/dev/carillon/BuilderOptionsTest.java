package dev.carillon;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.time.Duration;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;

/** What a newcomer sees of the options, and where the others are. */
class BuilderOptionsTest {

  @Test
  void builderShowsAboutFifteenOptions() {
    Set<String> options = names(CarillonBuilder.class);
    options.removeAll(Set.of("open", "advanced"));
    assertThat(options).contains("url", "slots", "failurePolicy").hasSizeLessThanOrEqualTo(20);
  }

  @Test
  void noOptionIsInBothPlaces() {
    assertThat(names(AdvancedOptions.class))
        .doesNotContainAnyElementsOf(names(CarillonBuilder.class));
  }

  @Test
  void advancedOptionsAreUsed() {
    try (Carillon carillon =
        Carillon.builder()
            .inMemory()
            .daemon(true)
            .advanced(a -> a.memberTimeout(Duration.ofSeconds(1)))
            .advanced(a -> a.scheduleTimeout(Duration.ofSeconds(5)))
            .open()) {
      // a store in memory is shared only where the option says so
      assertThat(carillon.node().members()).hasSize(1);
      carillon.node().drain();
    }
    try (Carillon alone = Carillon.builder().inMemory().daemon(true).open()) {
      assertThatThrownBy(alone.node()::drain).isInstanceOf(IllegalStateException.class);
    }
  }

  private static Set<String> names(Class<?> type) {
    Set<String> names = new TreeSet<>();
    for (Method method : type.getDeclaredMethods()) {
      if (Modifier.isPublic(method.getModifiers()) && !method.isSynthetic()) {
        names.add(method.getName());
      }
    }
    return names;
  }
}
