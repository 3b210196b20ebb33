package dev.carillon.cli;

import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.domain.JavaModifier;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption.Predefined;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;

/**
 * The rooms of the engine: one order, no exception that nobody needs, exports that are used, and
 * sizes that a reader can hold. The report of their figures is written to {@code target/rooms.txt}.
 */
class RoomsTest {
  private static final int MOST_EXCEPTIONS = 3;
  private static final int LONGEST_CLASS = 900;
  private static final int LONGEST_NODE = 700;
  private static final int MOST_CALLBACKS = 6;
  private static final int LONGEST_PAGE = 60;
  private static final String REPLAY = "dev.carillon.replay";

  private static final JavaClasses CLASSES =
      new ClassFileImporter()
          .withImportOption(Predefined.DO_NOT_INCLUDE_TESTS)
          .withImportOption(Predefined.DO_NOT_INCLUDE_PACKAGE_INFOS)
          .importPackages("dev.carillon");

  private final Rooms rooms = Rooms.read();

  @Test
  void everyTypeLivesInARoomOfTheList() {
    Set<String> found = new TreeSet<>();
    for (JavaClass type : CLASSES) {
      String room = Rooms.roomOf(type);
      if (room != null) {
        found.add(room);
      }
    }
    assertThat(rooms.order()).containsExactlyInAnyOrderElementsOf(found);
  }

  @Test
  void roomsUseOnlyRoomsBeforeThem() {
    assertThat(rooms.upwardEdges(CLASSES)).isEqualTo(rooms.exceptions().keySet());
    assertThat(rooms.exceptions()).hasSizeLessThanOrEqualTo(MOST_EXCEPTIONS);
    assertThat(rooms.exceptions().values()).noneMatch(String::isBlank);
  }

  @Test
  void otherModulesUseOnlyWhatIsExported() {
    Map<String, Set<String>> exported = new TreeMap<>(rooms.exports());
    exported.values().removeIf(Set::isEmpty);
    assertThat(Rooms.used(CLASSES)).isEqualTo(exported);
  }

  @Test
  void everyRoomHasItsPage() {
    for (String room : rooms.order()) {
      Path base = Rooms.ROOT.resolve("engine/src/main/java/dev/carillon/engine");
      Path page = (room.equals("engine") ? base : base.resolve(room)).resolve("package-info.java");
      assertThat(page).exists();
      assertThat(Rooms.lines(page)).as(page.toString()).hasSizeBetween(5, LONGEST_PAGE);
    }
  }

  @Test
  void classesFitIntoAHead() {
    for (String module : new String[] {"engine", "library"}) {
      Rooms.sourceLines(module)
          .forEach(
              (type, lines) ->
                  assertThat(lines).as("lines of %s", type).isLessThanOrEqualTo(bound(type)));
    }
  }

  private static int bound(String type) {
    return switch (type) {
      case "Node" -> LONGEST_NODE;
      default -> LONGEST_CLASS;
    };
  }

  @Test
  void callbacksAreSmall() {
    Map<String, Long> large = new TreeMap<>();
    for (JavaClass type : CLASSES) {
      boolean inside = Rooms.roomOf(type) != null || type.getPackageName().equals(REPLAY);
      if (inside && type.isInterface()) {
        long methods =
            type.getMethods().stream()
                .filter(method -> method.getModifiers().contains(JavaModifier.ABSTRACT))
                .count();
        if (methods > MOST_CALLBACKS) {
          large.put(type.getSimpleName(), methods);
        }
      }
    }
    assertThat(large.keySet()).containsExactly("NodeEnvironment"); // the I/O of a node
  }

  @Test
  void reportTellsTheFiguresOfEachRoom() throws IOException {
    String report = rooms.report(CLASSES);
    Files.writeString(Path.of("target", "rooms.txt"), report);
    assertThat(report).contains(rooms.order());
  }
}
