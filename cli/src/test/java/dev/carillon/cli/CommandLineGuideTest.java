package dev.carillon.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.carillon.cli.client.ExitCode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;

/** The guide of the command line says what is so: its commands run, in order, in one shell. */
@Timeout(900)
class CommandLineGuideTest {
  private static final Path GUIDE = Path.of("..", "docs", "guides", "command-line.md");
  private static final Pattern BLOCK = Pattern.compile("```sh\n(.*?)```", Pattern.DOTALL);
  private static final Pattern INLINE =
      Pattern.compile("`(?:\\./carillon )?([a-z]+(?:-[a-z]+)?) ([a-z]+)\\b[^`]*`");
  private static final int FEWEST_COMMANDS = 50;

  @TempDir private Path folder;

  @Test
  void everyCommandOfTheGuideRuns() throws Exception {
    StoreOfJobs.fill(folder);
    Path launcher = folder.resolve("carillon");
    Files.writeString(
        launcher,
        "#!/bin/sh\nexec "
            + ServerProcess.javaMain().stream()
                .map(word -> "'" + word + "'")
                .collect(Collectors.joining(" "))
            + " \"$@\"\n");
    Files.setPosixFilePermissions(launcher, PosixFilePermissions.fromString("rwx------"));
    String commands = commands();
    assertThat(commands.split("\\./carillon", -1)).hasSizeGreaterThan(FEWEST_COMMANDS);
    Path script =
        Files.writeString(folder.resolve("guide.sh"), "set -euo pipefail\nset -x\n" + commands);
    try (ServerProcess server = ServerProcess.start(folder)) {
      assertThat(server.base()).isNotEmpty();
      ProcessBuilder builder =
          new ProcessBuilder("bash", script.toString())
              .directory(folder.toFile())
              .redirectErrorStream(true)
              .redirectOutput(folder.resolve("said").toFile());
      builder.environment().put("XDG_CONFIG_HOME", folder.resolve("config").toString());
      builder.environment().keySet().removeIf(name -> name.startsWith("CARILLON_"));
      Process shell = builder.start();
      boolean ended = shell.waitFor(14, TimeUnit.MINUTES);
      shell.destroyForcibly();
      String said = Files.readString(folder.resolve("said"));
      assertThat(ended).as(said).isTrue();
      assertThat(shell.exitValue()).as(said).isZero();
      assertThat(said)
          .contains("exit code 8")
          .contains("02:30 does not exist that day: runs at 03:00")
          .contains("\tended\t")
          .contains("carillon top  ");
    }
  }

  private static String commands() throws IOException {
    StringBuilder commands = new StringBuilder();
    Matcher block = BLOCK.matcher(Files.readString(GUIDE));
    while (block.find()) {
      commands.append(block.group(1));
    }
    return commands.toString();
  }

  @Test
  void commandsInItsSentencesAreThere() throws IOException {
    Matcher inline = INLINE.matcher(Files.readString(GUIDE));
    List<String> wrong = new ArrayList<>();
    int found = 0;
    while (inline.find()) {
      CommandLine group = Main.commandLine().getSubcommands().get(inline.group(1));
      if (group != null && !group.getSubcommands().isEmpty()) {
        found++;
        if (!group.getSubcommands().containsKey(inline.group(2))) {
          wrong.add(inline.group());
        }
      }
    }
    assertThat(wrong).isEmpty();
    assertThat(found).isPositive();
  }

  @Test
  void exitCodesOfItsTableAreThoseOfTheCommands() throws IOException {
    String guide = Files.readString(GUIDE);
    for (ExitCode exitCode : ExitCode.values()) {
      assertThat(guide).contains("\n| %d | %s |\n".formatted(exitCode.code(), exitCode.words()));
    }
  }

  @Test
  void everyCommandHasHelpThatFitsAndCompletion() {
    Shell shell = new Shell(folder);
    List<String> paths = new ArrayList<>();
    collect("", Main.commandLine(), paths);
    assertThat(paths).hasSizeGreaterThan(FEWEST_COMMANDS);
    for (String path : paths) {
      List<String> words = new ArrayList<>(List.of(path.split(" ")));
      words.add("--help");
      String help = shell.ok(words.toArray(String[]::new));
      assertThat(help).contains("Usage: ");
      assertThat(help.lines()).as(path).allMatch(line -> line.length() <= 80);
    }
    String bash = shell.ok("completion", "bash");
    String fish = shell.ok("completion", "fish");
    for (String path : paths) {
      assertThat(bash).contains("=(" + path + ")");
      assertThat(fish).contains("= \"" + path + "\"'");
    }
    assertThat(shell.run("completion", "tcsh")).isEqualTo(2);
    assertThat(shell.err()).contains("SHELL: tcsh (expected: bash, zsh or fish)");
  }

  private static void collect(String path, CommandLine command, List<String> paths) {
    command
        .getSubcommands()
        .forEach(
            (name, below) -> {
              if (!name.equals("help")) {
                String whole = path.isEmpty() ? name : path + " " + name;
                paths.add(whole);
                collect(whole, below, paths);
              }
            });
  }

  @Test
  void bashCompletesCommandsAndOptions() throws Exception {
    Path script = folder.resolve("completion");
    Files.writeString(script, new Shell(folder).ok("completion", "bash"));
    assertThat(completed(script, "carillon", "jobs", "resc")).isEqualTo("reschedule");
    assertThat(completed(script, "carillon", "jobs", "list", "--name")).contains("--name-prefix");
  }

  private String completed(Path script, String... words) throws Exception {
    String last = words[words.length - 1];
    String line =
        "compopt() { :; }; source '%s'; COMP_WORDS=(%s); COMP_CWORD=%d; _complete_carillon carillon %s %s; echo \"${COMPREPLY[@]}\""
            .formatted(
                script, String.join(" ", words), words.length - 1, last, words[words.length - 2]);
    Process bash =
        new ProcessBuilder("bash", "-c", line)
            .redirectError(folder.resolve("bash-errors").toFile())
            .start();
    String said =
        new String(bash.getInputStream().readAllBytes(), java.nio.charset.StandardCharsets.UTF_8);
    assertThat(bash.waitFor()).isZero();
    return said.strip();
  }
}
