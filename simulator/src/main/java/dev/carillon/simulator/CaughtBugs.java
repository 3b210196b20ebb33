package dev.carillon.simulator;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Which planted bugs were caught, by an earlier run too: a run that was stopped goes on where it
 * was. What is known is known of these very sources and this very bug; once either is another, the
 * bug is hunted again. A text file, a line a bug: a digest of both, the name, what was caught.
 */
final class CaughtBugs {
  private static final String SEPARATOR = "\t";

  private final Path file;
  private final String sources;
  private final Map<String, List<String>> caught = new LinkedHashMap<>();

  /** Those of the checkout at {@code root}, in {@code file}. */
  CaughtBugs(Path root, Path file) {
    this.file = file;
    try {
      this.sources = digestOfSources(root);
      if (Files.exists(file)) {
        for (String line : Files.readAllLines(file)) {
          List<String> fields = Arrays.asList(line.split(SEPARATOR));
          if (fields.size() == 2 + PlantedBugs.FIRST_SEEDS.size()) { // else it was cut short
            caught.put(fields.getFirst(), fields.subList(2, fields.size()));
          }
        }
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** What caught it, from each first seed; null where that is not known. */
  @Nullable List<String> of(PlantedBug bug, long seeds) {
    return caught.get(key(bug, seeds));
  }

  void add(PlantedBug bug, long seeds, List<String> by) {
    String key = key(bug, seeds);
    caught.put(key, by);
    // After a line that was cut short it begins a new one.
    String line = "\n" + key + SEPARATOR + bug.name() + SEPARATOR + String.join(SEPARATOR, by);
    try {
      Files.createDirectories(file.toAbsolutePath().getParent());
      Files.writeString(file, line, StandardOpenOption.CREATE, StandardOpenOption.APPEND);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private String key(PlantedBug bug, long seeds) {
    MessageDigest digest = sha256();
    digest.update((sources + seeds + bug).getBytes(StandardCharsets.UTF_8));
    return HexFormat.of().formatHex(digest.digest());
  }

  /** Of what is compiled in all modules: the simulator's own too, which judges. */
  private static String digestOfSources(Path root) throws IOException {
    MessageDigest digest = sha256();
    try (Stream<Path> modules = Files.list(root)) {
      for (Path module : modules.sorted().toList()) {
        Path sources = module.resolve("src/main/java");
        if (Files.isDirectory(sources)) {
          try (Stream<Path> files = Files.walk(sources)) {
            for (Path source : files.filter(Files::isRegularFile).sorted().toList()) {
              digest.update(root.relativize(source).toString().getBytes(StandardCharsets.UTF_8));
              digest.update(Files.readAllBytes(source));
            }
          }
        }
      }
    }
    return HexFormat.of().formatHex(digest.digest());
  }

  private static MessageDigest sha256() {
    try {
      return MessageDigest.getInstance("SHA-256");
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException(e);
    }
  }
}
