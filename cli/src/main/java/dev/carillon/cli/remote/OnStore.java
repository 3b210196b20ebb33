package dev.carillon.cli.remote;

import java.io.PrintWriter;
import java.util.List;

/** Commands that read or change a store by its address, without a server or a node. */
public interface OnStore {
  /**
   * Runs {@code cluster} on a store.
   *
   * @param arguments those behind the word, with the store's address
   * @return the exit code
   */
  int cluster(List<String> arguments, PrintWriter out, PrintWriter err);
}
