package dev.carillon.server.login;

import dev.carillon.server.access.Caller;
import dev.carillon.server.access.Grant;
import dev.carillon.server.access.Role;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * A person who is signed in. Written as lines, since only a seal carries it.
 *
 * @param person what the provider calls the person
 * @param grants what the groups of the person may
 * @param until when the session ends
 */
record Session(String person, List<Grant> grants, Instant until) {
  Session {
    grants = List.copyOf(grants);
  }

  String text() {
    StringBuilder text = new StringBuilder(person).append('\n').append(until.toEpochMilli());
    for (Grant grant : grants) {
      text.append('\n').append(grant.role().word());
      grant.namespaces().words().forEach(name -> text.append('\t').append(name));
    }
    return text.toString();
  }

  static Optional<Session> parse(String text) {
    try {
      String[] lines = text.split("\n", -1);
      List<Grant> grants = new ArrayList<>();
      for (int i = 2; i < lines.length; i++) {
        List<String> words = List.of(lines[i].split("\t", -1));
        grants.add(
            new Grant(
                Role.ofWord(words.getFirst()).orElseThrow(),
                dev.carillon.server.access.Scope.of(words.subList(1, words.size()))));
      }
      return Optional.of(
          new Session(lines[0], grants, Instant.ofEpochMilli(Long.parseLong(lines[1]))));
    } catch (RuntimeException e) {
      return Optional.empty(); // of another version
    }
  }

  Caller caller() {
    return new Person(person, grants);
  }

  private record Person(String name, List<Grant> grants) implements Caller {
    @Override
    public boolean has(Role role, @Nullable String namespace) {
      return grants.stream().anyMatch(grant -> grant.has(role, namespace));
    }

    @Override
    public boolean mayUse(@Nullable String namespace, String queue) {
      return has(Role.VIEWER, namespace);
    }
  }
}
