package dev.carillon.cli;

import dev.carillon.api.JobInfo;
import dev.carillon.api.error.ClosedException;
import dev.carillon.api.error.StoreLockedException;
import dev.carillon.store.jdbc.SqliteStore;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.Callable;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** What Carillon does, in a minute. */
@Command(
    name = "demo",
    description = {
      "A durable little world in one file: bells that ring at their time, one that fails and is"
          + " tried again, one that is cancelled.",
      "Kill it at any moment, with Ctrl-C or kill -9, and resume it: nothing is lost."
    })
final class Demo implements Callable<Integer> {
  private static final String STORE = "jobs.db";
  private static final String LEDGER = "ledger.txt";
  private static final int PAUSES_A_RUN = 14;
  private static final int PAUSES_BEFORE_CANCEL = 3;

  @Option(
      names = "--dir",
      paramLabel = "DIR",
      description = "where it lives; by default a folder of its own among the temporary ones")
  private @Nullable Path givenFolder;

  @Option(names = "--resume", description = "go on with what the last run left")
  private boolean resume;

  @Option(
      names = "--seconds",
      paramLabel = "N",
      defaultValue = "30",
      description = "how long it runs at most (default: ${DEFAULT-VALUE})")
  private int seconds;

  @Option(
      names = {"-h", "--help"},
      usageHelp = true,
      description = "show this text")
  @SuppressWarnings("unused") // the parser acts on it
  private boolean help;

  @Spec private CommandSpec spec;

  Demo() {
    spec = CommandSpec.create(); // replaced by the parser
  }

  @Override
  public Integer call() throws Exception {
    if (seconds < 1 || seconds > 3_600) {
      throw new IllegalArgumentException("--seconds: " + seconds + " (expected: 1 to 3600)");
    }
    Path folder = folder();
    Path store = folder.resolve(STORE);
    if (resume && !Files.exists(store)) {
      throw new IOException(
          "nothing to resume in " + folder + " (expected: a demo that ran there)");
    }
    if (!resume) {
      clear(folder);
    }
    return run(folder, store);
  }

  private Path folder() throws IOException {
    Path folder =
        givenFolder != null
            ? givenFolder
            : Path.of(System.getProperty("java.io.tmpdir"))
                .resolve("carillon-demo-" + System.getProperty("user.name"));
    return Files.createDirectories(folder);
  }

  /** Removes an earlier world, unless somebody lives in it. */
  private static void clear(Path folder) throws IOException {
    Path store = folder.resolve(STORE);
    if (Files.exists(store)) {
      try {
        SqliteStore.open(store).close();
      } catch (StoreLockedException e) {
        throw new IOException("a demo is running in " + folder + " (expected: another --dir)", e);
      } catch (RuntimeException e) {
        // Whatever is wrong with it, it goes.
      }
    }
    try (DirectoryStream<Path> files = Files.newDirectoryStream(folder, STORE + "*")) {
      for (Path file : files) {
        Files.delete(file);
      }
    }
    Files.deleteIfExists(folder.resolve(LEDGER));
  }

  private int run(Path folder, Path store) throws Exception {
    PrintWriter out = spec.commandLine().getOut();
    DemoLedger ledger = DemoLedger.open(folder.resolve(LEDGER));
    AtomicBoolean over = new AtomicBoolean();
    try (DemoWorld world = new DemoWorld(store, ledger, out)) {
      onKill(world, over);
      introduce(store, out);
      DemoWorld.Standing before = resume ? tellWhatWasLeft(world, out) : null;
      return ring(world, before, out);
    } catch (ClosedException e) {
      return 1; // Ctrl-C closed it and said so
    } finally {
      over.set(true);
    }
  }

  private int ring(DemoWorld world, DemoWorld.@Nullable Standing before, PrintWriter out)
      throws InterruptedException {
    Duration pause = Duration.ofSeconds(seconds).dividedBy(PAUSES_A_RUN);
    Duration limit = Duration.ofSeconds(seconds);
    if (resume) {
      world.cancelWrongBell(); // it may be overdue, and rings as soon as there is a handler
      world.handle();
    } else {
      world.schedule(pause);
      world.handle();
      Duration beforeCancel = pause.multipliedBy(PAUSES_BEFORE_CANCEL);
      var unused = world.awaitEnd(beforeCancel);
      world.cancelWrongBell();
      limit = limit.minus(beforeCancel);
    }
    boolean done = world.awaitEnd(limit);
    DemoWorld.Standing standing = world.printLedger(before);
    if (!done) {
      out.println("Time is up; the rest waits in the file. Go on: " + resumeCommand());
    }
    out.flush();
    return standing.lost().isEmpty() ? 0 : 1;
  }

  private void introduce(Path store, PrintWriter out) {
    out.println("Bells in one file: " + store);
    out.println("Kill this whenever you like: Ctrl-C, or kill -9 " + ProcessHandle.current().pid());
    out.println("Then go on with:             " + resumeCommand());
    out.println();
    out.flush();
  }

  private String resumeCommand() {
    return "./carillon demo --resume" + (givenFolder == null ? "" : " --dir " + givenFolder);
  }

  private static DemoWorld.Standing tellWhatWasLeft(DemoWorld world, PrintWriter out) {
    DemoWorld.Standing left = world.standing();
    Instant now = Instant.now();
    long overdue = left.pending().stream().map(JobInfo::dueAt).filter(now::isAfter).count();
    out.printf(
        "Found from the last process: %d scheduled, %d ended, %d pending (%d overdue), %d lost%n%n",
        left.jobs().size(),
        left.found().size() - left.pending().size(),
        left.pending().size(),
        overdue,
        left.lost().size());
    out.flush();
    return left;
  }

  /** Ctrl-C ends in order and says how to go on; kill -9 cannot, and need not. */
  private void onKill(DemoWorld world, AtomicBoolean over) {
    PrintWriter out = spec.commandLine().getOut();
    Runtime.getRuntime()
        .addShutdownHook(
            new Thread(
                () -> {
                  if (!over.get()) {
                    world.close();
                    out.println();
                    out.println("Stopped. Nothing is lost; go on with: " + resumeCommand());
                    out.flush();
                  }
                },
                "carillon-demo-stop"));
  }
}
