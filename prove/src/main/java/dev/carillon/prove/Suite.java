package dev.carillon.prove;

import java.nio.file.Path;
import java.util.function.Consumer;

/** A proof that can be run. */
interface Suite {

  /** What it is called on the command line and in its result. */
  String name();

  /** How many rounds it has unless it is told otherwise. */
  int rounds();

  /** The same where time is short. */
  int shortRounds();

  Proof run(Stage stage) throws InterruptedException;

  /**
   * Where and how much.
   *
   * @param folder for files of this run alone
   * @param postgres where PostgreSQL servers are unpacked and keep their data
   * @param shortRun whether to leave out what takes minutes
   * @param progress hears how far it is
   */
  record Stage(
      Path folder,
      Path postgres,
      int rounds,
      long seed,
      boolean shortRun,
      Consumer<String> progress) {

    /** What the children log. */
    Path errors() {
      return folder.resolve("errors.log");
    }
  }
}
