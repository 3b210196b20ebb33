package dev.carillon.prove;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.PrintWriter;
import java.io.StringWriter;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import picocli.CommandLine;

class KillCommandTest {

  @ParameterizedTest
  @ValueSource(strings = {"0", "-1"})
  void fewerRoundsThanOneAreRefused(String rounds) {
    StringWriter err = new StringWriter();
    CommandLine commandLine = new CommandLine(new KillCommand());
    commandLine.setErr(new PrintWriter(err));
    assertThat(commandLine.execute("--short", "--rounds=" + rounds)).isEqualTo(2);
    assertThat(err.toString()).startsWith("--rounds: " + rounds + " (expected: 1 or more)");
  }
}
