package dev.carillon;

import static org.assertj.core.api.Assertions.assertThat;

import dev.carillon.engine.environment.Membership;
import dev.carillon.store.postgres.PostgresOptions;
import java.io.IOException;
import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.lang.reflect.RecordComponent;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * The page of options names every option, and the defaults that it states are those of the code.
 */
class OptionsGuideTest {
  private static final Path GUIDE = Path.of("..", "docs", "guides", "options.md");

  /** The rows of a section's table: option and default. */
  private static Map<String, String> rows(String section) throws IOException {
    String page = Files.readString(GUIDE);
    int from = page.indexOf("## " + section + "\n");
    assertThat(from).as("section " + section).isNotNegative();
    int to = page.indexOf("\n## ", from);
    Map<String, String> rows = new LinkedHashMap<>();
    page.substring(from, to < 0 ? page.length() : to)
        .lines()
        .filter(line -> line.startsWith("| `"))
        .map(line -> line.split("\\|", -1))
        .forEach(cells -> rows.put(cells[1].strip().replace("`", ""), cells[2].strip()));
    return rows;
  }

  private static Set<String> options(Class<?> builder) {
    return Arrays.stream(builder.getDeclaredMethods())
        .filter(method -> Modifier.isPublic(method.getModifiers()))
        .filter(method -> !Modifier.isStatic(method.getModifiers()))
        .filter(method -> method.getReturnType().equals(builder))
        .map(Method::getName)
        .filter(name -> !name.equals("advanced"))
        .collect(Collectors.toCollection(TreeSet::new));
  }

  @ParameterizedTest
  @CsvSource({
    "The builder, dev.carillon.CarillonBuilder",
    "Advanced, dev.carillon.AdvancedOptions",
    "A handler, dev.carillon.HandlerOptions"
  })
  void everyOptionHasItsRowAndEveryRowItsOption(String section, Class<?> builder)
      throws IOException {
    assertThat(rows(section).keySet()).containsExactlyInAnyOrderElementsOf(options(builder));
  }

  @Test
  void defaultsOfTheBuilderAreThoseOfTheCode() throws Exception {
    CarillonBuilder builder = Carillon.builder();
    Set<String> compared = new HashSet<>();
    compare(rows("The builder"), builder, compared);
    compare(rows("Advanced"), builder.advanced, compared);
    assertThat(rows("The builder"))
        .containsEntry(
            "retention", text(builder.successRetention) + ", " + text(builder.failureRetention));
    assertThat(rows("Advanced"))
        .containsEntry(
            "maxWaiting",
            text(builder.advanced.maxWaitingJobs)
                + " jobs, "
                + text(builder.advanced.maxWaitingBytes));
    assertThat(Membership.standard().timeout()).isEqualTo(Duration.ofMillis(2_500));
    assertThat(rows("Advanced"))
        .containsEntry("memberTimeout", "2.5 seconds")
        .containsEntry("clockLimit", text(Membership.CLOCK_LIMIT));
    assertThat(compared).contains("slots", "closeGrace", "scheduleTimeout", "historyBytes", "jmx");
  }

  @Test
  void optionsOfPostgresAreThoseOfTheCode() throws Exception {
    PostgresOptions options = PostgresOptions.at("jdbc:postgresql://localhost/test").build();
    Map<String, String> stated = new LinkedHashMap<>();
    for (RecordComponent component : PostgresOptions.class.getRecordComponents()) {
      Object value = component.getAccessor().invoke(options);
      if (!Set.of("url", "user", "password", "dataSource").contains(component.getName())) {
        stated.put(component.getName(), text(value));
      }
    }
    assertThat(rows("PostgreSQL")).isEqualTo(stated);
  }

  private static void compare(Map<String, String> rows, Object builder, Set<String> compared)
      throws IllegalAccessException {
    for (Field field : builder.getClass().getDeclaredFields()) {
      field.setAccessible(true);
      Object value = field.get(builder);
      boolean states =
          value instanceof Duration || value instanceof Number || value instanceof Boolean;
      if (states && rows.containsKey(field.getName())) {
        assertThat(rows).containsEntry(field.getName(), text(value));
        compared.add(field.getName());
      }
    }
  }

  private static String text(Object value) {
    if (value instanceof Duration duration) {
      if (duration.toDays() > 0) {
        return count(duration.toDays(), "day");
      }
      return duration.toMinutes() > 0
          ? count(duration.toMinutes(), "minute")
          : count(duration.toSeconds(), "second");
    }
    if (value instanceof Long bytes) {
      return bytes >= 1L << 30 ? (bytes >> 30) + " GiB" : (bytes >> 20) + " MiB";
    }
    return value instanceof Integer number
        ? String.format(Locale.ROOT, "%,d", number)
        : value.toString();
  }

  private static String count(long number, String unit) {
    return String.format(Locale.ROOT, "%,d %s%s", number, unit, number == 1 ? "" : "s");
  }
}
