package dev.carillon.server.access;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A role in some namespaces. Immutable.
 *
 * @param role the role
 * @param namespaces where
 */
public record Grant(Role role, Scope namespaces) {

  /**
   * Reads what people write: {@code operator@shop,billing}, or {@code viewer} for all namespaces.
   *
   * @param text the text
   * @return the grant
   * @throws IllegalArgumentException if it is none
   */
  public static Grant parse(String text) {
    int at = text.indexOf('@');
    String word = at < 0 ? text : text.substring(0, at);
    Role role =
        Role.ofWord(word)
            .orElseThrow(
                () ->
                    new IllegalArgumentException(
                        "role: " + word + " (expected: " + Role.EXPECTED + ")"));
    return new Grant(
        role, at < 0 ? Scope.ALL : Scope.of(List.of(text.substring(at + 1).split(",", -1))));
  }

  /** Whether it is enough. */
  public boolean has(Role needed, @Nullable String namespace) {
    return role.includes(needed)
        && (namespace != null ? namespaces.has(namespace) : namespaces.all());
  }
}
