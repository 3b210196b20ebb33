package dev.carillon.bench;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine.Command;

/** Two builds side by side: which figures count as worse, and what the command says of it. */
@Timeout(120)
class AgainstTest {
  private static final String RATE =
      "{\"scenario\":\"names\",\"system\":\"carillon\",\"metric\":\"rate\",\"unit\":\"jobs/s\","
          + "\"value\":%s}";
  private static final String TIME =
      "{\"scenario\":\"idle\",\"system\":\"carillon\",\"metric\":\"p99\",\"unit\":\"ms\","
          + "\"bound\":\"≤ 50\",\"value\":%s}";

  @TempDir Path folder;

  private record Ran(int exit, String out) {}

  /** A checkout whose benchmarks print these lines. */
  private Path printing(String name, String... lines) throws IOException {
    StringBuilder script = new StringBuilder();
    for (String line : lines) {
      script.append("echo '").append(line).append("'\n");
    }
    return checkout(name, script.toString());
  }

  private Path checkout(String name, String script) throws IOException {
    Path checkout = Files.createDirectories(folder.resolve(name));
    Path file = checkout.resolve("carillon");
    Files.writeString(file, "#!/usr/bin/env bash\nset -e\n" + script);
    Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rwxr-xr-x"));
    return checkout;
  }

  private static Ran against(Path other, Path own, String... options) {
    Stream<String> first = Stream.of("against", other.toString(), "--this", own.toString());
    String[] args = Stream.concat(first, Stream.of(options)).toArray(String[]::new);
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    PrintStream before = System.out;
    System.setOut(new PrintStream(out, true, StandardCharsets.UTF_8));
    try {
      return new Ran(Main.run(args), out.toString(StandardCharsets.UTF_8));
    } finally {
      System.setOut(before);
    }
  }

  @Test
  void buildIsNotWorseThanItself() throws Exception {
    String java = Path.of(System.getProperty("java.home"), "bin", "java").toString();
    String classes = System.getProperty("java.class.path");
    String main = Main.class.getName();
    Path own =
        checkout(
            "own",
            "shift\n'%s' -XX:TieredStopAtLevel=1 --enable-native-access=ALL-UNNAMED -cp '%s' %s \"$@\"\n"
                .formatted(java, classes, main));
    String tiny = "group --store memory --members 20 --rounds 1";
    Ran ran = against(own, own, "--benchmark", tiny, "--tolerance", "5000");
    assertThat(ran.exit()).as(ran.out()).isZero();
    assertThat(ran.out()).contains("others p99, somebody waits", "PASS: 0 of 2 figures");
  }

  @Test
  void figureThatGotWorseIsNamed() throws Exception {
    Path other = printing("other", RATE.formatted(98_000), TIME.formatted(10));
    Path own = printing("own", RATE.formatted(34_500), TIME.formatted(10.2));
    Ran ran = against(other, own, "--benchmark", "throughput --scenario named");
    assertThat(ran.exit()).isEqualTo(1);
    assertThat(ran.out())
        .containsPattern("names +rate +98,000 +34,500 jobs/s +0\\.352 +WORSE")
        .containsPattern("idle +p99 .* OK")
        .contains("FAIL: 1 of 2 figures got worse by more than 5 %");
  }

  @Test
  void timeThatGotLongerIsWorseAndOneThatGotShorterIsNot() throws Exception {
    Path quick = printing("quick", TIME.formatted(10));
    Path slow = printing("slow", TIME.formatted(12));
    assertThat(against(quick, slow, "--benchmark", "latency").exit()).isEqualTo(1);
    assertThat(against(slow, quick, "--benchmark", "latency").exit()).isZero();
    Ran tolerant = against(quick, slow, "--benchmark", "latency", "--tolerance", "25");
    assertThat(tolerant.exit()).as(tolerant.out()).isZero();
  }

  @Test
  void runsThatOverlapAreNoisyAndNotWorse() throws Exception {
    Path other = printing("other", RATE.formatted(100), RATE.formatted(80));
    Path own = printing("own", RATE.formatted(81), RATE.formatted(75));
    Ran ran = against(other, own, "--benchmark", "throughput", "--json");
    assertThat(ran.exit()).isZero();
    assertThat(ran.out()).contains("\"verdict\":\"NOISY\"");
  }

  @Test
  void factThatDoesNotHoldInThisBuildFails() throws Exception {
    String fact =
        "{\"scenario\":\"names\",\"system\":\"carillon\",\"metric\":\"a fresh process finds 7\","
            + "\"unit\":\"1=yes\",\"bound\":\"≥ 1\",\"value\":0}";
    Path other = printing("other", RATE.formatted(100));
    Path own = printing("own", RATE.formatted(100), fact);
    assertThat(against(other, own, "--benchmark", "throughput").exit()).isEqualTo(1);
    assertThat(against(own, other, "--benchmark", "throughput").exit()).isZero();
  }

  @Test
  void benchmarkThatFailsOrIsNotThereIsNoVerdict() throws Exception {
    Path other = printing("other", RATE.formatted(100));
    Path failing = checkout("failing", "test \"$2\" = --help || exit 70\n");
    assertThat(against(other, failing, "--benchmark", "throughput").exit()).isEqualTo(3);
    Path older = checkout("older", "test \"$2\" = --help || exit 2\n");
    assertThat(against(older, other, "--benchmark", "throughput").exit()).isEqualTo(3);
  }

  @Test
  void wrongBuildOrOptionIsRefused() throws Exception {
    Path own = printing("own", RATE.formatted(100));
    assertThat(against(folder.resolve("nowhere"), own).exit()).isEqualTo(2);
    assertThat(against(folder, own).exit()).isEqualTo(2);
    assertThat(against(own, folder).exit()).isEqualTo(2);
    assertThat(against(own, own, "--tolerance", "0").exit()).isEqualTo(2);
    assertThat(against(own, own, "--only", "no such benchmark").exit()).isEqualTo(2);
  }

  @Test
  void everyBenchmarkIsAmongTheDefault() {
    List<String> known =
        Stream.of(Main.class.getAnnotation(Command.class).subcommands())
            .map(type -> type.getAnnotation(Command.class))
            .filter(command -> !command.hidden() && !command.name().equals("against"))
            .map(Command::name)
            .toList();
    List<String> compared =
        AgainstCommand.ALL.stream().map(line -> line.split(" ", 2)[0]).distinct().toList();
    assertThat(compared).containsExactlyInAnyOrderElementsOf(known);
  }
}
