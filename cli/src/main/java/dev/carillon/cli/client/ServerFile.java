package dev.carillon.cli.client;

import dev.carillon.store.jdbc.SqliteStore;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.DateTimeException;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The file beside a SQLite file that says where its server answers: {@code FILE.server}. Its first
 * line is the address. Its second line names the server's process: a file that a killed process
 * left must not lead to another server that has the port now.
 *
 * <p>Immutable.
 */
public final class ServerFile {
  private static final String SQLITE = "jdbc:sqlite:";
  private static final Pattern PROCESS = Pattern.compile("process (\\d{1,18}) since (\\S+)");

  /** Start times of processes are told in hundredths of a second, from a clock that is adjusted. */
  private static final Duration TOLERANCE = Duration.ofSeconds(3);

  private final Path store;
  private final Path file;

  private ServerFile(Path store) {
    this.store = store;
    this.file = store.resolveSibling(store.getFileName() + ".server");
  }

  /** That of a SQLite file. */
  public static ServerFile beside(Path store) {
    return new ServerFile(store);
  }

  /** That of a store; null if it is not a SQLite file. */
  public static @Nullable ServerFile of(String url) {
    return url.toLowerCase(Locale.ROOT).startsWith(SQLITE)
        ? new ServerFile(SqliteStore.fileOf(url))
        : null;
  }

  /** Where it is. */
  public Path path() {
    return file;
  }

  /** Whether the SQLite file itself is there. */
  boolean hasStore() {
    return Files.exists(store);
  }

  /** Whether there is one. */
  public boolean exists() {
    return Files.exists(file);
  }

  /** Writes it for a server in this process, as a whole. */
  public void write(String address) throws IOException {
    ProcessHandle process = ProcessHandle.current();
    String since = process.info().startInstant().map(Instant::toString).orElse("?");
    Path part = file.resolveSibling(file.getFileName() + ".part");
    Files.writeString(part, address + "\nprocess " + process.pid() + " since " + since + "\n");
    Files.move(part, file, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
  }

  /** Removes it, if it is that of this process. */
  public void remove() {
    try {
      String own = "process " + ProcessHandle.current().pid() + " ";
      List<String> lines = Files.readAllLines(file);
      if (lines.size() > 1 && lines.get(1).startsWith(own)) {
        Files.deleteIfExists(file);
      }
    } catch (IOException e) {
      // The next start of a server overwrites it.
    }
  }

  /**
   * The address of the server.
   *
   * @return the address; null if there is no file
   * @throws CommandFailure if the file is not that of a server that runs
   */
  public @Nullable URI read() {
    List<String> lines;
    try {
      lines = Files.readAllLines(file);
      if (!Files.getOwner(file).equals(Files.getOwner(store))) {
        throw new CommandFailure(
            ExitCode.FAILED, file + ": of another owner than " + store + " (expected: the same)");
      }
    } catch (NoSuchFileException e) {
      return null;
    } catch (IOException e) {
      throw new CommandFailure(ExitCode.FAILED, file + ": cannot be read", e);
    }
    if (lines.isEmpty()) {
      throw new CommandFailure(ExitCode.FAILED, file + ": empty (expected: a server's address)");
    }
    if (lines.size() > 1 && !runs(lines.get(1))) {
      throw new CommandFailure(
          ExitCode.AWAY,
          "%s: its server, %s, does not run any more (expected: a running ./carillon serve)"
              .formatted(file, lines.getFirst()));
    }
    return ServerAddress.of(file.toString(), lines.getFirst().strip());
  }

  /** Whether the process still runs that the line names; true where nobody can tell. */
  private static boolean runs(String line) {
    Matcher process = PROCESS.matcher(line.strip());
    if (!process.matches()) {
      return true;
    }
    Optional<ProcessHandle> found = ProcessHandle.of(Long.parseLong(process.group(1)));
    if (found.isEmpty() || !found.get().isAlive()) {
      return false;
    }
    Optional<Instant> started = found.get().info().startInstant();
    try {
      Instant since = Instant.parse(process.group(2));
      return started.isEmpty()
          || Duration.between(since, started.get()).abs().compareTo(TOLERANCE) < 0;
    } catch (DateTimeException e) {
      return true;
    }
  }
}
