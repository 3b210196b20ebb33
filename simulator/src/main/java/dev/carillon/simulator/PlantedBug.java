package dev.carillon.simulator;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/**
 * A bug to be put into a copy of the sources, so that the checker can show that it notices. Bugs
 * stand in {@code simulator/src/planted}, one a file:
 *
 * <pre>
 * What it breaks, in a line or more.
 * nodes: how many it takes to notice, where that is more than one
 * workflows: yes, where users schedule workflows too
 * workers: how many there are, where jobs of workers show it
 * --- path of a source file
 * &lt;&lt;&lt;&lt;
 * text that occurs there exactly once
 * ====
 * text to put in its place
 * &gt;&gt;&gt;&gt;
 * </pre>
 *
 * @param name the file's name without its ending
 * @param about the first line
 * @param first a seed of the kind that it is hunted with
 */
record PlantedBug(String name, String about, Seed first, List<Edit> edits) {
  private static final String ENDING = ".bug";
  private static final String NODES = "nodes: ";
  private static final String WORKFLOWS = "workflows: yes";
  private static final String WORKERS = "workers: ";

  /** One that plain jobs show. */
  PlantedBug(String name, String about, int nodes, List<Edit> edits) {
    this(name, about, new Seed(1, nodes), edits);
  }

  /** The seed of that number, as the bug is hunted with. */
  Seed seed(long number) {
    return first.of(number);
  }

  /** One exchange of text in a source file, whose path is relative to the root. */
  record Edit(String file, String before, String after) {

    /** The edited text; loud where the text to exchange is not there exactly once. */
    String apply(String source) {
      int at = source.indexOf(before);
      if (at < 0 || source.indexOf(before, at + 1) >= 0) {
        throw new IllegalStateException(
            file + ": " + (at < 0 ? "nowhere" : "more than once") + " (expected: once): " + before);
      }
      return source.substring(0, at) + after + source.substring(at + before.length());
    }
  }

  /** All bugs below {@code root}, by name. */
  static List<PlantedBug> all(Path root) {
    try (Stream<Path> files = Files.list(root.resolve("simulator/src/planted"))) {
      return files
          .filter(f -> f.toString().endsWith(ENDING))
          .sorted()
          .map(PlantedBug::read)
          .toList();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static PlantedBug read(Path file) {
    String name = file.getFileName().toString();
    try {
      return parse(name.substring(0, name.length() - ENDING.length()), Files.readAllLines(file));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  static PlantedBug parse(String name, List<String> lines) {
    List<Edit> edits = new ArrayList<>();
    String file = "";
    int nodes = 1;
    boolean workflows = false;
    int workers = 0;
    List<String> before = new ArrayList<>();
    List<String> text = new ArrayList<>();
    for (String line : lines) {
      if (line.startsWith(NODES) && file.isEmpty()) {
        nodes = Integer.parseInt(line.substring(NODES.length()));
      } else if (line.equals(WORKFLOWS) && file.isEmpty()) {
        workflows = true;
      } else if (line.startsWith(WORKERS) && file.isEmpty()) {
        workers = Integer.parseInt(line.substring(WORKERS.length()));
      } else if (line.startsWith("--- ")) {
        file = line.substring(4);
      } else if (line.equals("<<<<")) {
        text = new ArrayList<>();
      } else if (line.equals("====")) {
        before = text;
        text = new ArrayList<>();
      } else if (line.equals(">>>>")) {
        edits.add(new Edit(file, String.join("\n", before), String.join("\n", text)));
      } else {
        text.add(line);
      }
    }
    if (edits.isEmpty() || lines.getFirst().isBlank()) {
      throw new IllegalArgumentException("planted bug " + name + ": no edits, or no first line");
    }
    Seed first = new Seed(1, nodes, workflows, workers);
    return new PlantedBug(name, lines.getFirst(), first, edits);
  }
}
