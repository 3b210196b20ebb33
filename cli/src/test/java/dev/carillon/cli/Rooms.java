package dev.carillon.cli;

import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.domain.JavaField;
import com.tngtech.archunit.core.domain.JavaModifier;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The rooms of the engine: their order and exports as {@code docs/internals/rooms.txt} has them,
 * and what the class files and sources say.
 */
record Rooms(List<String> order, Map<String, Set<String>> exports, Map<Edge, String> exceptions) {
  static final Path ROOT = Path.of("..");
  static final String ENGINE = "dev.carillon.engine";

  /** The room of the node itself, which is the engine's own package. */
  private static final String TOP = "engine";

  /** A type that uses a type of a later room. */
  record Edge(String from, String to) {
    @Override
    public String toString() {
      return from + " -> " + to;
    }
  }

  static Rooms read() {
    List<String> order = new ArrayList<>();
    Map<String, Set<String>> exports = new LinkedHashMap<>();
    Map<Edge, String> exceptions = new LinkedHashMap<>();
    for (String line : lines(ROOT.resolve("docs/internals/rooms.txt"))) {
      String text = line.strip();
      if (text.startsWith("except ")) {
        String[] parts = text.substring("except ".length()).split(" -> |: ", 3);
        exceptions.put(new Edge(parts[0], parts[1]), parts[2]);
      } else if (!text.isEmpty() && !text.startsWith("#")) {
        String[] parts = text.split(":", 2);
        order.add(parts[0]);
        exports.put(parts[0], words(parts[1]));
      }
    }
    return new Rooms(order, exports, exceptions);
  }

  private static Set<String> words(String text) {
    return Stream.of(text.strip().split("\\s+"))
        .filter(word -> !word.isEmpty())
        .collect(Collectors.toCollection(TreeSet::new));
  }

  /** The room that a type lives in; null for a type outside the engine. */
  static @Nullable String roomOf(JavaClass type) {
    String name = type.getPackageName();
    if (name.equals(ENGINE)) {
      return TOP;
    }
    return name.startsWith(ENGINE + ".") ? name.substring(ENGINE.length() + 1) : null;
  }

  /** The name of the file's type that a nested type stands in. */
  static String topLevel(JavaClass type) {
    String name = type.getName().substring(type.getPackageName().length() + 1);
    int nested = name.indexOf('$');
    return nested < 0 ? name : name.substring(0, nested);
  }

  /** The uses of later rooms, whether they are excepted or not. */
  Set<Edge> upwardEdges(JavaClasses classes) {
    Set<Edge> upward = new TreeSet<>(Comparator.comparing(Edge::toString));
    for (JavaClass type : classes) {
      String from = roomOf(type);
      for (var dependency : type.getDirectDependenciesFromSelf()) {
        String to = roomOf(dependency.getTargetClass().getBaseComponentType());
        if (from != null && to != null && order.indexOf(to) > order.indexOf(from)) {
          upward.add(
              new Edge(
                  topLevel(type), topLevel(dependency.getTargetClass().getBaseComponentType())));
        }
      }
    }
    return upward;
  }

  /** The types of the engine that other modules use, by room. */
  static Map<String, Set<String>> used(JavaClasses classes) {
    Map<String, Set<String>> used = new TreeMap<>();
    for (JavaClass type : classes) {
      for (var dependency : type.getDirectDependenciesFromSelf()) {
        JavaClass target = dependency.getTargetClass().getBaseComponentType();
        String room = roomOf(target);
        if (roomOf(type) == null && room != null) {
          used.computeIfAbsent(room, r -> new TreeSet<>()).add(topLevel(target));
        }
      }
    }
    return used;
  }

  /** The sources of a module, by the name of their type, with their lines. */
  static Map<String, Integer> sourceLines(String module) {
    Map<String, Integer> found = new TreeMap<>();
    try (Stream<Path> files = Files.walk(ROOT.resolve(module).resolve("src/main/java"))) {
      files
          .filter(file -> file.toString().endsWith(".java"))
          .filter(file -> !file.endsWith("package-info.java"))
          .forEach(file -> found.put(nameOf(file), lines(file).size()));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return found;
  }

  private static String nameOf(Path file) {
    return file.getFileName().toString().replace(".java", "");
  }

  static List<String> lines(Path file) {
    try {
      return Files.readAllLines(file);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Types, lines, fan-in and fan-out of each room; mutable fields of the largest classes. */
  String report(JavaClasses classes) {
    Map<String, Integer> lines = sourceLines("engine");
    Map<String, Set<String>> types = new TreeMap<>();
    Map<String, Set<String>> in = new TreeMap<>();
    Map<String, Set<String>> out = new TreeMap<>();
    for (JavaClass type : classes) {
      String room = roomOf(type);
      if (room == null) {
        continue;
      }
      types.computeIfAbsent(room, r -> new TreeSet<>()).add(topLevel(type));
      for (var dependency : type.getDirectDependenciesFromSelf()) {
        String other = roomOf(dependency.getTargetClass().getBaseComponentType());
        if (other != null && !other.equals(room)) {
          out.computeIfAbsent(room, r -> new TreeSet<>()).add(other);
          in.computeIfAbsent(other, r -> new TreeSet<>()).add(room);
        }
      }
    }
    StringBuilder text = new StringBuilder("room          types  lines  fan-in  fan-out\n");
    for (String room : order) {
      Set<String> here = types.getOrDefault(room, Set.of());
      int sum = here.stream().mapToInt(type -> lines.getOrDefault(type, 0)).sum();
      text.append(
          "%-12s %6d %6d %7d %8d%n"
              .formatted(
                  room,
                  here.size(),
                  sum,
                  in.getOrDefault(room, Set.of()).size(),
                  out.getOrDefault(room, Set.of()).size()));
    }
    text.append("\nlargest classes    lines  mutable fields\n");
    lines.entrySet().stream()
        .sorted(Map.Entry.<String, Integer>comparingByValue().reversed())
        .limit(10)
        .forEach(
            each ->
                text.append(
                    "%-18s %5d %15d%n"
                        .formatted(
                            each.getKey(),
                            each.getValue(),
                            mutableFields(classes, each.getKey()))));
    return text.toString();
  }

  private static long mutableFields(JavaClasses classes, String topLevel) {
    return classes.stream()
        .filter(type -> roomOf(type) != null && topLevel(type).equals(topLevel))
        .flatMap(type -> type.getFields().stream())
        .filter(Rooms::isMutable)
        .count();
  }

  private static boolean isMutable(JavaField field) {
    return !field.getModifiers().contains(JavaModifier.FINAL)
        && !field.getModifiers().contains(JavaModifier.SYNTHETIC);
  }
}
