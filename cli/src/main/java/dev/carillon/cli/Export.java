package dev.carillon.cli;

import dev.carillon.store.jdbc.SqliteStore;
import java.io.BufferedOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** Writes every job of a store as a line of JSON. */
@Command(
    name = "export",
    description = {
      "Writes every job of a store, ended ones too, as one JSON object a line.",
      "No node needs to run, none is disturbed, nothing is claimed.",
      "A shard that cannot be read is named on the error stream and left out; the",
      "exit code is 1 then."
    },
    footer = {"", "Example: ./carillon export jdbc:sqlite:jobs.db | jq .state"})
final class Export extends StoreCommand implements Callable<Integer> {
  @Option(
      names = {"-o", "--output"},
      paramLabel = "FILE",
      description = {
        "where to write; by default to the standard output.",
        "A file that is there is replaced once all is written."
      })
  private @Nullable Path output;

  @Override
  public Integer call() throws Exception {
    Path file = output;
    return conclude(file == null ? print() : write(file));
  }

  private Reading print() throws Exception {
    PrintWriter out = out();
    Reading reading =
        eachJob(
            story -> {
              out.println(JobJson.line(JobJson.of(story)));
              if (out.checkError()) {
                throw new IOException("output: closed before everything was written");
              }
            });
    out.flush();
    return reading;
  }

  private Reading write(Path file) throws Exception {
    refuseTheStoresOwn(file);
    Reading reading =
        Files.exists(file) && !Files.isRegularFile(file)
            ? writeTo(file) // a pipe, say: there is nothing to be kept
            : replace(file);
    err().println(reading.jobs() + " jobs written to " + file);
    return reading;
  }

  /** Who writes there writes over what is read. */
  private void refuseTheStoresOwn(Path file) throws IOException {
    Path store = storeFile();
    if (store == null) {
      return;
    }
    Path target = real(file);
    for (Path own : SqliteStore.filesOf(real(store))) {
      if (target.equals(own)) {
        throw new IllegalArgumentException(
            "output: " + file + " (expected: no file of the store that is read)");
      }
    }
  }

  /** Behind links, as far as it is there. */
  private static Path real(Path file) throws IOException {
    Path full = file.toAbsolutePath().normalize();
    if (Files.exists(full)) {
      return full.toRealPath();
    }
    Path folder = full.getParent();
    return folder != null && Files.isDirectory(folder)
        ? folder.toRealPath().resolve(full.getFileName())
        : full;
  }

  /** Writes beside the file and takes its place at the end: a failure leaves it as it was. */
  private Reading replace(Path file) throws Exception {
    Path target = Files.exists(file) ? file.toRealPath() : file.toAbsolutePath();
    Path folder = target.getParent();
    if (folder == null || !Files.isDirectory(folder)) {
      throw new NoSuchFileException(file.toString());
    }
    Path part =
        folder.resolve(target.getFileName() + "." + ProcessHandle.current().pid() + ".part");
    try {
      Reading reading = writeTo(part);
      Files.move(part, target, StandardCopyOption.ATOMIC_MOVE);
      return reading;
    } finally {
      Files.deleteIfExists(part);
    }
  }

  private Reading writeTo(Path file) throws Exception {
    try (OutputStream out = new BufferedOutputStream(Files.newOutputStream(file))) {
      return eachJob(
          story ->
              out.write((JobJson.line(JobJson.of(story)) + "\n").getBytes(StandardCharsets.UTF_8)));
    }
  }
}
