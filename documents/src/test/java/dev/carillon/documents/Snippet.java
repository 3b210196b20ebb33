package dev.carillon.documents;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A block of Java in a document, as CONTRIBUTING.md describes it.
 *
 * @param document the path of the document in the checkout
 * @param line where the block begins, from 1
 * @param code the lines of the block
 * @param output the block of text that follows, which the code must print; empty if there is none
 * @param mark the kind of comment before the block: scaffold, only compiled, not compiled, or empty
 * @param argument what the comment says after its colon
 */
record Snippet(
    String document, int line, String code, String output, String mark, String argument) {
  static final String SCAFFOLD = "scaffold";
  static final String ONLY_COMPILED = "only compiled";
  static final String NOT_COMPILED = "not compiled";

  private static final Pattern BLOCK =
      Pattern.compile(
          "(?:^<!-- (scaffold|only compiled|not compiled): ([^\\n]+) -->\\n+)?"
              + "^```java[^\\n]*\\n(.*?)^```$(?:\\s+^```text\\n(.*?)^```$)?",
          Pattern.MULTILINE | Pattern.DOTALL);
  private static final Pattern PROGRAM =
      Pattern.compile("\\bclass (\\w+)\\b.*\\bvoid main\\(", Pattern.DOTALL);
  private static final Pattern XML =
      Pattern.compile("^```xml\\n(.*?)^```$", Pattern.MULTILINE | Pattern.DOTALL);

  /** The blocks of Java of a document, in order. */
  static List<Snippet> of(Path root, String document) {
    String text = read(root.resolve(document));
    List<Snippet> snippets = new ArrayList<>();
    Matcher block = BLOCK.matcher(text);
    while (block.find()) {
      int line = 1 + (int) text.substring(0, block.start(3)).lines().count();
      snippets.add(
          new Snippet(
              document,
              line - 1,
              block.group(3),
              orEmpty(block.group(4)),
              orEmpty(block.group(1)),
              orEmpty(block.group(2))));
    }
    return snippets;
  }

  /** The blocks of XML of a document, which name artifacts. */
  static List<String> coordinates(Path root, String document) {
    return XML.matcher(read(root.resolve(document)))
        .results()
        .map(block -> block.group(1))
        .filter(xml -> xml.contains("<dependency>"))
        .toList();
  }

  private static String read(Path file) {
    try {
      return Files.readString(file);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static String orEmpty(String group) {
    return group == null ? "" : group;
  }

  boolean isCompiled() {
    return !mark.equals(NOT_COMPILED);
  }

  boolean isRun() {
    return isCompiled() && !mark.equals(ONLY_COMPILED);
  }

  /** Whether it is a whole program, with a main method, and not statements of one. */
  boolean isProgram() {
    return PROGRAM.matcher(code).find();
  }

  /** The class that it becomes. */
  String className() {
    Matcher program = PROGRAM.matcher(code);
    return program.find()
        ? program.group(1)
        : document.replaceAll("[^A-Za-z0-9]", "_") + "_" + line;
  }

  /** The folder of its sources and classes, for a program also the one that it runs in. */
  String folder() {
    return document.replaceAll("[^A-Za-z0-9]", "_") + (isProgram() ? "_" + line : "");
  }

  @Override
  public String toString() {
    return document + ":" + line;
  }
}
