package dev.carillon.documents;

import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;

/**
 * An empty folder with a pom that has nothing but dependencies of documents. Maven resolves its
 * class path: Carillon from a repository of its own, all else from that of the machine, without a
 * network.
 */
final class FreshFolder {
  private static final Pattern DEPENDENCY =
      Pattern.compile("<dependency>.*?</dependency>", Pattern.DOTALL);
  private static final Pattern MANAGEMENT =
      Pattern.compile("<dependencyManagement>.*?</dependencyManagement>", Pattern.DOTALL);
  private static final String RESOLVE =
      "org.apache.maven.plugins:maven-dependency-plugin:3.11.0:build-classpath";

  private final Path root;
  private final Path artifacts;
  private final Path machine;

  /**
   * Resolves from two repositories.
   *
   * @param root the checkout, for its Maven
   * @param artifacts the repository with the artifacts of the checkout
   * @param machine the local repository of the machine
   */
  FreshFolder(Path root, Path artifacts, Path machine) {
    this.root = root;
    this.artifacts = artifacts;
    this.machine = machine;
  }

  /** The class path of a program whose pom has these blocks of XML. */
  String classPath(Path folder, List<String> coordinates) throws Exception {
    Files.createDirectories(folder);
    Files.writeString(folder.resolve("pom.xml"), pom(coordinates));
    Path answer = folder.resolve("classpath.txt");
    Path log = folder.resolve("maven.log");
    ProcessBuilder builder =
        new ProcessBuilder(
                root.resolve("mvnw").toString(),
                "--offline",
                "--batch-mode",
                "--quiet",
                "-Dmaven.repo.local=" + artifacts,
                "-Dmaven.repo.local.tail=" + machine,
                "-Dmaven.repo.local.tail.ignoreAvailability=true",
                RESOLVE,
                "-Dmdep.outputFile=" + answer)
            .directory(folder.toFile())
            .redirectErrorStream(true)
            .redirectOutput(log.toFile());
    builder.environment().put("MAVEN_OPTS", "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC");
    Process maven = builder.start();
    if (!maven.waitFor(120, TimeUnit.SECONDS) || maven.exitValue() != 0) {
      maven.destroyForcibly();
      throw new AssertionError(
          "Maven does not resolve " + pom(coordinates) + ":\n" + Files.readString(log));
    }
    return Files.readString(answer).strip();
  }

  /** Dependencies and managed versions of all blocks, those of tests as any other. */
  private static String pom(List<String> coordinates) {
    List<String> dependencies = new ArrayList<>();
    StringBuilder management = new StringBuilder();
    for (String xml : coordinates) {
      MANAGEMENT.matcher(xml).results().map(MatchResult::group).forEach(management::append);
      String others = MANAGEMENT.matcher(xml).replaceAll("");
      DEPENDENCY.matcher(others).results().map(MatchResult::group).forEach(dependencies::add);
    }
    return """
    <project xmlns="http://maven.apache.org/POM/4.0.0">
      <modelVersion>4.0.0</modelVersion>
      <groupId>example</groupId>
      <artifactId>example</artifactId>
      <version>1</version>
      %s
      <dependencies>
        %s
      </dependencies>
    </project>
    """
        .formatted(management, String.join("\n", dependencies.stream().distinct().toList()));
  }

  static String join(String... entries) {
    return String.join(File.pathSeparator, entries);
  }
}
