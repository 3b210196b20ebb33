package dev.carillon.engine.job;

import org.jspecify.annotations.Nullable;

/** A queue or a namespace, which operators pause and limit. */
public record FlowSubject(Scope scope, String name) {

  /** Which of the two. */
  public enum Scope {
    /** All jobs of a queue, in whatever namespace. */
    QUEUE("q"),
    /** All jobs of a namespace. */
    NAMESPACE("n");

    private final String code;

    Scope(String code) {
      this.code = code;
    }
  }

  /** The key of a record about it. */
  public String recordKey(String prefix) {
    return prefix + scope.code + "\0" + name;
  }

  /** The subject of a record whose key begins with {@code prefix}; null for another record. */
  public static @Nullable FlowSubject of(String prefix, String recordKey) {
    String rest = recordKey.substring(prefix.length());
    for (Scope scope : Scope.values()) {
      if (rest.startsWith(scope.code + "\0")) {
        return new FlowSubject(scope, rest.substring(scope.code.length() + 1));
      }
    }
    return null;
  }
}
