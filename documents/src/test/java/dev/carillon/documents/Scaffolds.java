package dev.carillon.documents;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;

/**
 * What statements of a document are compiled inside of: {@code scaffolds/NAME.java} of the test
 * resources, where CLASS is the name of the class and SNIPPET the line that the block replaces.
 */
final class Scaffolds {
  private static final String STANDARD = "standard";
  private static final String IMPORTS = resource("imports.txt");

  private Scaffolds() {}

  /** The source of a snippet's class. */
  static String source(Snippet snippet) {
    if (snippet.isProgram()) {
      return snippet.code().contains("import ") ? snippet.code() : IMPORTS + snippet.code();
    }
    String name = snippet.mark().equals(Snippet.SCAFFOLD) ? snippet.argument() : STANDARD;
    return IMPORTS
        + resource(name + ".java")
            .replace("CLASS", snippet.className())
            .replace("// SNIPPET", snippet.code());
  }

  static String resource(String name) {
    try (InputStream file = Scaffolds.class.getResourceAsStream("/scaffolds/" + name)) {
      if (file == null) {
        throw new IllegalArgumentException(
            "scaffold: " + name + " (expected: a file in documents/src/test/resources/scaffolds)");
      }
      return new String(file.readAllBytes(), StandardCharsets.UTF_8);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
