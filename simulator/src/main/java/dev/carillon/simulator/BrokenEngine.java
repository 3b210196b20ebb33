package dev.carillon.simulator;

import java.io.File;
import java.io.IOException;
import java.io.StringWriter;
import java.io.UncheckedIOException;
import java.net.MalformedURLException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Stream;
import javax.tools.JavaCompiler;
import javax.tools.StandardJavaFileManager;
import javax.tools.ToolProvider;

/**
 * An engine with a bug in it: a copy of the modules it touches, edited, compiled into a folder of
 * its own and loaded in front of the sound one, together with the simulator.
 */
final class BrokenEngine implements AutoCloseable {
  private static final Path SOURCES = Path.of("src/main/java");

  private final Path folder;
  private final URLClassLoader loader;

  private BrokenEngine(Path folder, URLClassLoader loader) {
    this.folder = folder;
    this.loader = loader;
  }

  /**
   * The root of the checkout: where the engine's sources are, from here or from the class files.
   */
  static Path root() {
    List<Path> starts = new ArrayList<>();
    starts.add(Path.of("").toAbsolutePath());
    for (String entry : classPath()) {
      starts.add(Path.of(entry).toAbsolutePath());
    }
    for (Path start : starts) {
      for (Path at = start; at != null; at = at.getParent()) {
        if (Files.isDirectory(at.resolve("engine").resolve(SOURCES))
            && Files.isDirectory(at.resolve("simulator/src/planted"))) {
          return at;
        }
      }
    }
    throw new IllegalStateException("source tree: not found (expected: run from a checkout)");
  }

  private static List<String> classPath() {
    return Stream.of(System.getProperty("java.class.path").split(File.pathSeparator))
        .filter(entry -> !entry.isEmpty())
        .toList();
  }

  static BrokenEngine with(PlantedBug bug, Path root) {
    try {
      Path folder = Files.createTempDirectory("carillon-planted-");
      Path classes = Files.createDirectories(folder.resolve("classes"));
      compile(sources(bug, root, folder), classes);
      List<URL> urls = new ArrayList<>();
      urls.add(classes.toUri().toURL());
      for (String entry : classPath()) {
        urls.add(Path.of(entry).toUri().toURL());
      }
      URLClassLoader loader =
          new URLClassLoader(urls.toArray(URL[]::new), ClassLoader.getPlatformClassLoader());
      return new BrokenEngine(folder, loader);
    } catch (MalformedURLException e) {
      throw new IllegalStateException("class path: " + classPath(), e);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** It uses libraries that only its users bring: what a bug leaves alone is there, compiled. */
  private static final String LIBRARY = "library";

  /** Copies the modules that the bug touches, of the library the files, with the bug in them. */
  private static List<Path> sources(PlantedBug bug, Path root, Path folder) throws IOException {
    Set<String> modules = new TreeSet<>();
    List<Path> sources = new ArrayList<>();
    for (PlantedBug.Edit edit : bug.edits()) {
      String module = edit.file().substring(0, edit.file().indexOf('/'));
      if (module.equals(LIBRARY)) {
        Path copy = folder.resolve(edit.file());
        Files.createDirectories(copy.getParent());
        Files.copy(root.resolve(edit.file()), copy, StandardCopyOption.REPLACE_EXISTING);
        sources.add(copy);
      } else {
        modules.add(module);
      }
    }
    for (String module : modules) {
      try (Stream<Path> files = Files.walk(root.resolve(module).resolve(SOURCES))) {
        for (Path file : files.filter(f -> f.toString().endsWith(".java")).toList()) {
          Path copy = folder.resolve(root.relativize(file).toString());
          Files.createDirectories(copy.getParent());
          Files.copy(file, copy);
          sources.add(copy);
        }
      }
    }
    for (PlantedBug.Edit edit : bug.edits()) {
      Path file = folder.resolve(edit.file());
      Files.writeString(file, edit.apply(Files.readString(file)));
    }
    return sources;
  }

  private static void compile(List<Path> sources, Path classes) throws IOException {
    JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
    if (compiler == null) {
      throw new IllegalStateException("compiler: none (expected: a JDK)");
    }
    StringWriter messages = new StringWriter();
    try (StandardJavaFileManager files = compiler.getStandardFileManager(null, null, null)) {
      boolean compiled =
          compiler
              .getTask(
                  messages,
                  files,
                  null,
                  List.of(
                      "-proc:none",
                      "-nowarn",
                      "-d",
                      classes.toString(),
                      "-cp",
                      System.getProperty("java.class.path")),
                  null,
                  files.getJavaFileObjectsFromPaths(sources))
              .call();
      if (!compiled) {
        throw new IllegalStateException("a planted bug does not compile: " + messages);
      }
    }
  }

  /** Runs seeds until one fails; see {@link Hunt}. */
  String hunt(Seed first, long seeds) {
    try {
      Object hunt =
          loader
              .loadClass(Hunt.class.getName())
              .getConstructor(long.class, int.class, boolean.class, int.class, long.class)
              .newInstance(
                  first.number(), first.nodes(), first.workflows(), first.workers(), seeds);
      return hunt.toString();
    } catch (ReflectiveOperationException e) {
      throw new IllegalStateException("hunt: could not run", e);
    }
  }

  @Override
  public void close() {
    try {
      loader.close();
      try (Stream<Path> files = Files.walk(folder)) {
        for (Path file : files.sorted((a, b) -> b.compareTo(a)).toList()) {
          Files.delete(file);
        }
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
