package dev.carillon.cli.remote;

import dev.carillon.cli.client.CommandFailure;
import dev.carillon.cli.client.Surroundings;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/** Ids of jobs as arguments; {@code -} stands for those on the standard input, one a line. */
final class Ids {
  private static final int MOST = 100_000;

  private Ids() {}

  /** The ids. Of a line of the input only the first word counts, so that tables may come in. */
  static List<String> of(List<String> arguments, Surroundings surroundings) {
    List<String> ids = new ArrayList<>();
    for (String argument : arguments) {
      if (argument.equals("-")) {
        ids.addAll(read(surroundings));
      } else {
        ids.add(argument);
      }
    }
    return ids;
  }

  private static List<String> read(Surroundings surroundings) {
    BufferedReader in =
        new BufferedReader(new InputStreamReader(surroundings.input(), StandardCharsets.UTF_8));
    try {
      List<String> ids = new ArrayList<>();
      for (String line = in.readLine(); line != null; line = in.readLine()) {
        String id = line.strip().split("\\s", 2)[0];
        if (!id.isEmpty()) {
          ids.add(id);
        }
        if (ids.size() > MOST) {
          throw CommandFailure.invalid("-", "more than " + MOST + " ids", "at most so many");
        }
      }
      return ids;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
