package dev.carillon.documents;

import static org.assertj.core.api.Assertions.assertThat;

import dev.carillon.fixture.PostgresServer;
import java.io.BufferedReader;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.stream.Stream;
import javax.tools.DiagnosticCollector;
import javax.tools.JavaCompiler;
import javax.tools.JavaFileObject;
import javax.tools.StandardJavaFileManager;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * What README and guides show is what a user gets: from an empty folder, with the artifacts that
 * they name, every block of Java compiles, runs and prints what stands below it.
 */
@Timeout(value = 5, unit = TimeUnit.MINUTES)
class DocumentsTest {
  private static final Path ROOT = Path.of(System.getProperty("carillon.documents.root", ".."));
  private static final Path MACHINE = Path.of(System.getProperty("carillon.documents.repository"));
  private static final long PATIENCE_SECONDS = 120;

  @TempDir static Path folder;

  private static FreshFolder fresh;
  private static final Map<List<String>, String> classPaths = new HashMap<>();

  @BeforeAll
  static void install() throws IOException {
    Path artifacts = Files.createDirectories(folder.resolve("repository"));
    Artifacts.install(ROOT, artifacts);
    fresh = new FreshFolder(ROOT.toAbsolutePath(), artifacts, MACHINE);
  }

  private static List<String> documents() throws IOException {
    List<String> documents = new ArrayList<>(List.of("README.md"));
    try (Stream<Path> guides = Files.list(ROOT.resolve("docs/guides"))) {
      guides
          .map(guide -> "docs/guides/" + guide.getFileName())
          .filter(name -> name.endsWith(".md"))
          .sorted()
          .forEach(documents::add);
    }
    return documents;
  }

  @TestFactory
  List<DynamicTest> everySnippetCompilesRunsAndPrintsWhatTheDocumentShows() throws IOException {
    return documents().stream()
        .map(document -> DynamicTest.dynamicTest(document, () -> check(document)))
        .toList();
  }

  @Test
  void programsWithPostgresqlCarryNoSqlite() throws Exception {
    String postgres =
        """
        <dependency>
          <groupId>dev.carillon</groupId>
          <artifactId>carillon-postgres</artifactId>
          <version>0.1.0-SNAPSHOT</version>
        </dependency>
        """;
    assertThat(fresh.classPath(folder.resolve("postgres"), List.of(postgres)))
        .contains("postgresql")
        .doesNotContain("sqlite");
  }

  private static void check(String document) throws Exception {
    List<Snippet> snippets =
        Snippet.of(ROOT, document).stream().filter(Snippet::isCompiled).toList();
    if (snippets.isEmpty()) {
      return;
    }
    String classPath = classPath(document);
    List<String> failures = new ArrayList<>();
    List<Snippet> statements = new ArrayList<>();
    for (Snippet snippet : snippets) {
      String errors = compile(snippet, classPath);
      if (!errors.isEmpty()) {
        failures.add(snippet + " does not compile:\n" + errors);
      } else if (snippet.isRun() && snippet.isProgram()) {
        runProgram(snippet, classPath, failures);
      } else if (snippet.isRun()) {
        statements.add(snippet);
      }
    }
    runStatements(document, statements, classPath, failures);
    assertThat(failures).as("snippets of %s that fail", document).isEmpty();
  }

  /** That of the artifacts which README and the document itself name. */
  private static String classPath(String document) throws Exception {
    List<String> coordinates = new ArrayList<>(Snippet.coordinates(ROOT, "README.md"));
    if (!document.equals("README.md")) {
      coordinates.addAll(Snippet.coordinates(ROOT, document));
    }
    String known = classPaths.get(coordinates);
    if (known == null) {
      known = fresh.classPath(folder.resolve("pom" + classPaths.size()), coordinates);
      classPaths.put(coordinates, known);
    }
    return known;
  }

  /** The errors of the compiler, with the lines of the document; empty if there are none. */
  private static String compile(Snippet snippet, String classPath) throws IOException {
    Path home = Files.createDirectories(folder.resolve(snippet.folder()));
    Path source = home.resolve(snippet.className() + ".java");
    Files.writeString(source, Scaffolds.source(snippet));
    return compile(source, home, classPath);
  }

  private static String compile(Path source, Path home, String classPath) throws IOException {
    JavaCompiler javac = ToolProvider.getSystemJavaCompiler();
    DiagnosticCollector<JavaFileObject> found = new DiagnosticCollector<>();
    try (StandardJavaFileManager files = javac.getStandardFileManager(found, null, null)) {
      List<String> options =
          List.of("--release", "21", "-proc:none", "-cp", classPath, "-d", home.toString());
      boolean good =
          javac.getTask(null, files, found, options, null, files.getJavaFileObjects(source)).call();
      StringBuilder errors = new StringBuilder();
      found.getDiagnostics().stream()
          .filter(each -> !good)
          .forEach(each -> errors.append(each).append('\n'));
      return errors.toString();
    }
  }

  private static Process start(Path home, String classPath, List<String> arguments)
      throws IOException {
    List<String> command =
        new ArrayList<>(
            List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "--enable-native-access=ALL-UNNAMED",
                "-XX:TieredStopAtLevel=1", // lives for seconds only
                "-XX:+UseSerialGC",
                "-cp",
                FreshFolder.join(home.toString(), classPath)));
    command.addAll(arguments);
    return new ProcessBuilder(command)
        .directory(home.toFile())
        .redirectError(home.resolve("stderr.txt").toFile())
        .start();
  }

  /** A program prints what the document shows. It may go on then; without such lines it ends. */
  private static void runProgram(Snippet snippet, String classPath, List<String> failures)
      throws Exception {
    Path home = folder.resolve(snippet.folder());
    List<String> expected = snippet.output().lines().toList();
    Process process = start(home, classPath, List.of(snippet.className()));
    try (BufferedReader output = process.inputReader()) {
      CompletableFuture<List<String>> lines =
          CompletableFuture.supplyAsync(() -> output.lines().limit(expected.size()).toList());
      List<String> printed = lines.get(PATIENCE_SECONDS, TimeUnit.SECONDS);
      boolean good = printed.equals(expected);
      if (good && expected.isEmpty()) {
        good = process.waitFor(PATIENCE_SECONDS, TimeUnit.SECONDS) && process.exitValue() == 0;
      }
      if (!good) {
        failures.add(snippet + " prints " + printed + " instead of " + expected + said(home));
      }
    } catch (ExecutionException | TimeoutException e) {
      failures.add(snippet + " does not print " + expected + ": " + e + said(home));
    } finally {
      process.destroyForcibly().waitFor(PATIENCE_SECONDS, TimeUnit.SECONDS);
    }
  }

  private static String said(Path home) throws IOException {
    return "\n" + Files.readString(home.resolve("stderr.txt"));
  }

  /** The statements of a document run one after the other in one process. */
  private static void runStatements(
      String document, List<Snippet> snippets, String classPath, List<String> failures)
      throws Exception {
    if (snippets.isEmpty()) {
      return;
    }
    Path home = folder.resolve(snippets.getFirst().folder());
    Path runner = home.resolve("SnippetRunner.java");
    Files.writeString(runner, Scaffolds.resource("SnippetRunner.java"));
    assertThat(compile(runner, home, classPath)).isEmpty();
    List<String> arguments = new ArrayList<>();
    if (Files.readString(ROOT.resolve(document)).contains("(url)")) {
      arguments.add("-Dpostgres.url=" + PostgresServer.shared().url());
    }
    arguments.add("SnippetRunner");
    snippets.forEach(snippet -> arguments.add(snippet.className()));
    Process process = start(home, classPath, arguments);
    boolean ended = process.waitFor(PATIENCE_SECONDS * 2, TimeUnit.SECONDS);
    process.destroyForcibly();
    for (Snippet snippet : snippets) {
      Path printed = home.resolve(snippet.className() + ".out");
      Path error = home.resolve(snippet.className() + ".error");
      if (Files.exists(error)) {
        failures.add(snippet + " throws " + Files.readString(error));
      } else if (!Files.exists(printed)) {
        failures.add(snippet + (ended ? " ended the process" : " does not end") + said(home));
      } else if (!Files.readString(printed).equals(snippet.output())) {
        failures.add(
            "%s prints\n%sinstead of\n%s"
                .formatted(snippet, Files.readString(printed), snippet.output()));
      }
    }
  }
}
