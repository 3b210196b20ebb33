package dev.carillon.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.carillon.cli.text.Paint;
import dev.carillon.cli.text.PlainText;
import dev.carillon.cli.text.Table;
import dev.carillon.cli.text.Table.Cell;
import dev.carillon.cli.text.Table.Column;
import dev.carillon.cli.text.Terminal;
import dev.carillon.cli.text.Times;
import java.time.Duration;
import java.time.Instant;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What people see. */
class TableTest {
  private static final Instant NOW = Instant.parse("2026-03-01T12:00:00Z");

  private static Table table() {
    return new Table(
            Column.whole("id"),
            Column.number("count"),
            Column.cut("type"),
            Column.optional("note"),
            Column.optional("unused"))
        .row("j1", 7, "a-type-of-some-length", "a note that is rather long for a table", "")
        .row("j22", 12, new Cell("b", Paint.RED), "short", null);
  }

  @Test
  void wideScreenShowsEverythingThatIsUsed() {
    assertThat(table().lines(Terminal.screen(100, 24)))
        .containsExactly(
            "ID   COUNT  TYPE                   NOTE",
            "j1       7  a-type-of-some-length  a note that is rather long for a table",
            "j22     12  b                      short");
  }

  @ParameterizedTest
  @ValueSource(ints = {20, 30, 40, 50, 60, 80})
  void linesFitTheScreenAndIdsAreWhole(int columns) {
    assertThat(table().lines(Terminal.screen(columns, 24)))
        .allSatisfy(
            line -> assertThat(line.codePointCount(0, line.length())).isLessThanOrEqualTo(columns))
        .anySatisfy(line -> assertThat(line).startsWith("j22 "));
  }

  @Test
  void narrowScreenLeavesOutWhatIsOptional() {
    assertThat(table().lines(Terminal.screen(24, 24)))
        .containsExactly("ID   COUNT  TYPE", "j1       7  a-type-of-s…", "j22     12  b");
  }

  @Test
  void pipeHasWholeValuesAndTabsAndNoHeading() {
    assertThat(table().lines(Terminal.pipe()))
        .containsExactly(
            "j1\t7\ta-type-of-some-length\ta note that is rather long for a table\t",
            "j22\t12\tb\tshort\t");
  }

  @Test
  void coloursAreForScreensThatWantThem() {
    Terminal coloured = new Terminal(true, 80, 24, true);
    assertThat(table().lines(coloured).get(2)).contains("\u001b[31mb\u001b[0m");
    assertThat(table().lines(Terminal.screen(80, 24)).get(2)).doesNotContain("\u001b");
  }

  @Test
  void textsOfJobsCommandNoTerminal() {
    assertThat(PlainText.line("a\u001b[2Jb\u009b1mc\nd\te\u202ef\u0007"))
        .isEqualTo("a?[2Jb?1mc ⏎ d e?f?");
    assertThat(PlainText.lines("a\u001b]0;x\u0007\n\tb")).isEqualTo("a?]0;x?\n\tb");
  }

  @ParameterizedTest
  @CsvSource({
    "0, now",
    "1, in 1s",
    "-59, 59s ago",
    "75, in 1m 15s",
    "660, in 11m",
    "7500, in 2h 5m",
    "86400, in 1d",
    "-90000, 1d 1h ago",
    "86460, in 1d",
    "8640000, in 100d",
    "94608000, in 3y"
  })
  void timesAreWords(long seconds, String words) {
    assertThat(Times.words(NOW.plusSeconds(seconds), NOW)).isEqualTo(words);
  }

  @Test
  void durationsAreShort() {
    assertThat(Times.took(Duration.ofMillis(350))).isEqualTo("350ms");
    assertThat(Times.took(Duration.ofMillis(2_550))).isEqualTo("2.5s");
    assertThat(Times.took(Duration.ofSeconds(182))).isEqualTo("3m 2s");
  }
}
