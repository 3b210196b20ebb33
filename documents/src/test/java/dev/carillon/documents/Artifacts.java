package dev.carillon.documents;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.jar.JarEntry;
import java.util.jar.JarOutputStream;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * A local Maven repository with the artifacts of this checkout, as {@code install} would leave
 * them: exactly those that the BOM names, the BOM and the parent. Their jars are made of the
 * classes that the build has compiled.
 */
final class Artifacts {
  private static final Pattern OWN =
      Pattern.compile("</parent>.*?<artifactId>([^<]+)</artifactId>", Pattern.DOTALL);
  private static final Pattern MANAGED =
      Pattern.compile("<artifactId>(carillon[^<]*)</artifactId>");
  private static final Pattern VERSION = Pattern.compile("<version>([^<]+)</version>");

  private final Path root;
  private final Path repository;
  private final String version;

  private Artifacts(Path root, Path repository) throws IOException {
    this.root = root;
    this.repository = repository;
    this.version = first(VERSION, Files.readString(root.resolve("pom.xml")));
  }

  /**
   * Installs all of them.
   *
   * @param root the checkout
   * @param repository an empty folder
   */
  static void install(Path root, Path repository) throws IOException {
    Artifacts artifacts = new Artifacts(root, repository);
    artifacts.pom("carillon-parent", root);
    artifacts.pom("carillon-bom", root.resolve("bom"));
    Set<String> wanted = new TreeSet<>();
    Matcher managed = MANAGED.matcher(Files.readString(root.resolve("bom/pom.xml")));
    while (managed.find()) {
      wanted.add(managed.group(1));
    }
    wanted.remove("carillon-bom");
    for (Path module : artifacts.modules()) {
      Matcher own = OWN.matcher(Files.readString(module.resolve("pom.xml")));
      if (own.find() && wanted.remove(own.group(1))) {
        artifacts.jar(own.group(1), module);
      }
    }
    if (!wanted.isEmpty()) {
      throw new IllegalStateException("the BOM names " + wanted + " (expected: modules)");
    }
  }

  private List<Path> modules() throws IOException {
    try (Stream<Path> folders = Files.list(root)) {
      return folders.filter(folder -> Files.exists(folder.resolve("pom.xml"))).toList();
    }
  }

  private Path pom(String artifact, Path module) throws IOException {
    Path folder =
        Files.createDirectories(repository.resolve("dev/carillon/" + artifact + "/" + version));
    Files.copy(module.resolve("pom.xml"), folder.resolve(artifact + "-" + version + ".pom"));
    return folder.resolve(artifact + "-" + version + ".jar");
  }

  private void jar(String artifact, Path module) throws IOException {
    Path jar = pom(artifact, module);
    Path classes = module.resolve("target/classes");
    try (OutputStream file = Files.newOutputStream(jar);
        JarOutputStream entries = new JarOutputStream(file)) {
      entries.putNextEntry(new JarEntry("META-INF/"));
      if (!Files.isDirectory(classes)) {
        return; // an artifact that only has dependencies
      }
      try (Stream<Path> files = Files.walk(classes)) {
        for (Path each : files.filter(Files::isRegularFile).toList()) {
          entries.putNextEntry(new JarEntry(classes.relativize(each).toString()));
          Files.copy(each, entries);
        }
      }
    }
  }

  private static String first(Pattern pattern, String text) {
    Matcher matcher = pattern.matcher(text);
    if (!matcher.find()) {
      throw new IllegalStateException("no " + pattern);
    }
    return matcher.group(1);
  }
}
