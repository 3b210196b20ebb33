package dev.carillon.cli;

import java.io.BufferedOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** Writes every job of a store as a line of JSON. */
@Command(
    name = "export",
    description = {
      "Writes every job of a store, ended ones too, as one JSON object a line.",
      "No node needs to run, none is disturbed, nothing is claimed."
    },
    footer = {"", "Example: ./carillon export jdbc:sqlite:jobs.db | jq .state"})
final class Export extends StoreCommand implements Callable<Integer> {
  @Option(
      names = {"-o", "--output"},
      paramLabel = "FILE",
      description = "where to write; by default to the standard output")
  private @Nullable Path output;

  @Spec private CommandSpec spec;

  Export() {
    spec = CommandSpec.create(); // replaced by the parser
  }

  @Override
  public Integer call() throws Exception {
    Path file = output;
    if (file == null) {
      var out = spec.commandLine().getOut();
      eachJob(
          story -> {
            out.println(JobJson.line(JobJson.of(story)));
            if (out.checkError()) {
              throw new IOException("output: closed before everything was written");
            }
          });
      out.flush();
      return 0;
    }
    long jobs;
    try (OutputStream out = new BufferedOutputStream(Files.newOutputStream(file))) {
      jobs =
          eachJob(
              story ->
                  out.write(
                      (JobJson.line(JobJson.of(story)) + "\n").getBytes(StandardCharsets.UTF_8)));
    }
    spec.commandLine().getErr().println(jobs + " jobs written to " + file);
    return 0;
  }
}
