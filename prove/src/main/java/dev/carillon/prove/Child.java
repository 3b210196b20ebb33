package dev.carillon.prove;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** A child process and the thread that reads its notes into the ledger. */
final class Child {
  /** What the kernel reports of a process that signal 9 ended. */
  static final int KILLED = 128 + 9;

  private static final int ALIVE_POLL_MILLIS = 20;

  private final int incarnation;
  private final Process process;
  private final Thread reader;
  private final BlockingQueue<Note> answers = new LinkedBlockingQueue<>();
  private volatile @Nullable Throwable broken;

  private Child(int incarnation, Process process, Ledger ledger) {
    this.incarnation = incarnation;
    this.process = process;
    this.reader = Thread.ofPlatform().name("ledger").daemon().start(() -> read(ledger));
  }

  /** Starts a process with this one's class path. */
  static Child start(int incarnation, Path errors, Ledger ledger, List<String> arguments) {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.add("--enable-native-access=ALL-UNNAMED");
    command.add("-XX:TieredStopAtLevel=1"); // lives for seconds only
    command.add("-cp");
    command.add(System.getProperty("java.class.path"));
    command.add(Main.class.getName());
    command.add("node-child");
    command.add("--incarnation=" + incarnation);
    command.addAll(arguments);
    try {
      Process process =
          new ProcessBuilder(command)
              .redirectError(ProcessBuilder.Redirect.appendTo(errors.toFile()))
              .start();
      return new Child(incarnation, process, ledger);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private void read(Ledger ledger) {
    try (BufferedReader notes =
        new BufferedReader(
            new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8), 1 << 16)) {
      String line;
      while ((line = notes.readLine()) != null) {
        Note note = Note.parse(line);
        ledger.tell(incarnation, note);
        if (isAnswer(note)) {
          answers.add(note);
        }
      }
    } catch (IOException | RuntimeException e) {
      broken = e;
    }
  }

  private static boolean isAnswer(Note note) {
    return switch (note) {
      case Note.Loading n -> true;
      case Note.Spread n -> true;
      case Note.Gathered n -> true;
      case Note.Recurs n -> true;
      case Note.Counted n -> true;
      case Note.Drained n -> true;
      case Note.Closed n -> true;
      default -> false;
    };
  }

  /** Waits until it works; false where it ended instead. */
  boolean awaitLoading(long millis) throws InterruptedException {
    return await(Note.Loading.class, millis) != null;
  }

  /** Asks it to do something; nobody is asked where it is dead. */
  void order(Order... orders) {
    try {
      Writer in = process.outputWriter(StandardCharsets.UTF_8);
      for (Order order : orders) {
        in.write(order.line() + "\n");
      }
      in.flush();
    } catch (IOException e) {
      broken = process.isAlive() ? e : null;
    }
  }

  /** What it answers, in the order in which it was asked; null where it does not. */
  <N extends Note> @Nullable N await(Class<N> answer, long millis) throws InterruptedException {
    long deadline = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(millis);
    while (true) {
      Note note = answers.poll(ALIVE_POLL_MILLIS, TimeUnit.MILLISECONDS);
      if (note != null && answer.isInstance(note)) {
        return answer.cast(note);
      }
      if (note == null && (System.nanoTime() > deadline || !reader.isAlive())) {
        return null;
      }
    }
  }

  int incarnation() {
    return incarnation;
  }

  /** Lets it stand still. */
  void pause() throws InterruptedException {
    signal("-STOP");
  }

  /** Lets it go on. */
  void resume() throws InterruptedException {
    signal("-CONT");
  }

  private void signal(String signal) throws InterruptedException {
    try {
      int exit = new ProcessBuilder("kill", signal, Long.toString(process.pid())).start().waitFor();
      if (exit != 0) {
        throw new IllegalStateException("kill " + signal + ": exit code " + exit);
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /**
   * Kills it with SIGKILL and reads what it had told. Through the handle: {@link
   * Process#destroyForcibly} would close the pipe and lose what is still in it.
   *
   * @return its exit code
   */
  int kill() throws InterruptedException {
    process.toHandle().destroyForcibly();
    return await();
  }

  /** Ends it where it still runs, whatever it had to tell. */
  void destroy() {
    process.destroyForcibly();
  }

  /** Waits for its end, and for its last note to be in the ledger. */
  int await() throws InterruptedException {
    int exit = process.waitFor();
    reader.join();
    Throwable problem = broken;
    if (problem != null) {
      throw new IllegalStateException("the notes of a child cannot be read", problem);
    }
    return exit;
  }

  boolean awaitEnd(long millis) throws InterruptedException {
    return process.waitFor(millis, TimeUnit.MILLISECONDS);
  }
}
